// SPDX-License-Identifier: GPL-2.0-only
/* snmp: what the network stack counted, those that tell of trouble first. */
#include "analyze/measures/changes.h"
#include "analyze/measures/zerocopy.h"


static const struct column snmp_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"name", .type = V_STR, .what = "the name that nstat prints"},
	{"kind", .type = V_STR,
	 .what = "retransmit, drop, prune, pressure, error, or copy if the kernel copied payload"},
	{"count", .type = V_REAL, .digits = 1,
	 .what = "count in the window; estimate over the runs"},
	{"per_s", "1/s", V_REAL, .digits = 2, .spread = SPREAD_RANGE},
	{"per_mib", "1/MiB", V_REAL, .digits = 4, .what = "per MiB of the workload's bytes"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

/*
 * Adds the rows of counters that have a kind, or of those without a kind. Returns how many more
 * rows --limit allows.
 */
static long snmp_put_rows(const struct changes *c, const struct query *q, bool of_a_kind, long left,
			  struct table *t)
{
	struct value *row;
	size_t i;

	for (i = 0; i < c->n && left; i++) {
		const char *kind = snmp_kind(c->row[i].name);

		if (!kind == of_a_kind || (!q->all && !change_happened(c, &c->row[i])))
			continue;
		row = table_row(t);
		table_set(t, row, "variant", value_str(t, c->b->block.variant));
		table_set(t, row, "side", value_str(t, c->b->block.side));
		table_set(t, row, "name", value_str(t, c->row[i].name));
		table_set(t, row, "kind", value_str(t, kind));
		changes_put(c, &c->row[i], t, row);
		left--;
	}
	return left;
}

static int snmp_put_block(struct store *s, const struct query *q, const struct block_list *list,
			  int i, struct table *t, size_t *found, struct error *err)
{
	struct changes c;
	int rc = changes_read(&c, s, list, &list->blocks[i], "snmp:", err);

	*found += c.n;
	if (!rc)
		snmp_put_rows(&c, q, false, snmp_put_rows(&c, q, true, q->limit ? q->limit : -1, t),
			      t);
	changes_free(&c);
	return rc;
}

static int snmp_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct block_list list;
	size_t found = 0;
	int rc = block_list_read(&list, s, q, FOR_FIGURES, err), i;

	if (!rc)
		zero_copy_title(s, q, t);
	for (i = 0; i < list.n && !rc; i++)
		rc = snmp_put_block(s, q, &list, i, t, &found, err);
	if (!rc)
		changes_note(s, q, found, t);
	if (!rc)
		block_list_notes(&list, s, t);
	block_list_free(&list);
	return rc;
}

const struct measure measure_snmp = {
	.name = "snmp",
	.what = "counters of the network stack: retransmits, drops, prunes, ...",
	MEASURE_COLUMNS(snmp_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "limit all"},
	.spare = "runs count per_mib",
	.run = snmp_run,
};
