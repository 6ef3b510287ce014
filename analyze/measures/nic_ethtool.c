// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/nic_ethtool.h"

#include "analyze/texts/ethtool_text.h"
#include "analyze/measures/counter_kinds.h"
#include "analyze/measures/nic_names.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* NAN: an output at one end lacks it, or it went backwards. */
static double change_of(const struct ethtool_text *e, const struct ethtool_row *row)
{
	if (row->seen != e->outputs || row->last < row->first)
		return NAN;
	return (double)(row->last - row->first);
}

static double ethtool_rate_of(const struct ethtool_text *e, const struct ethtool_row *row,
			      const struct query *q)
{
	if (e->rates)
		return row->sum / e->outputs;
	return q->seconds > 0 ? change_of(e, row) / q->seconds : NAN;
}

static void ethtool_put_row(const struct ethtool_text *e, const struct ethtool_row *r,
			    const struct query *q, const char *queue, struct table *t)
{
	double count = e->rates ? NAN : change_of(e, r), rate = ethtool_rate_of(e, r, q);
	struct value *row = table_row(t);

	table_set(t, row, "interface", value_str(t, r->interface));
	table_set(t, row, "source", value_str(t, "driver"));
	table_set(t, row, "queue", value_str(t, *queue ? queue : NULL));
	table_set(t, row, "name", value_str(t, r->name));
	table_set(t, row, "kind", value_str(t, nic_kind(r->name)));
	table_set(t, row, "count", value_real(count));
	table_set(t, row, "per_s", value_real(rate));
}

static bool ethtool_changed(const struct ethtool_text *e, const struct ethtool_row *r)
{
	return e->rates ? r->sum > 0 : change_of(e, r) > 0;
}

static void ethtool_put_rows(const struct ethtool_text *e, const struct query *q, struct table *t)
{
	long left = q->limit ? q->limit : -1;
	size_t i;

	for (i = 0; i < e->n && left; i++) {
		char queue[32] = "";
		bool has_queue = nic_queue(e->rows[i].name, queue, sizeof(queue));

		if ((!q->all && !ethtool_changed(e, &e->rows[i])) || (q->by && !has_queue))
			continue;
		ethtool_put_row(e, &e->rows[i], q, queue, t);
		left--;
	}
}

/* What cannot be told, by name. */
static void note_unknown(const struct ethtool_text *e, struct table *t)
{
	struct str names = {0};
	size_t i, n = 0;

	for (i = 0; i < e->n && !e->rates; i++)
		if (isnan(change_of(e, &e->rows[i])) && n++ < 5)
			str_printf(&names, "%s%s", names.len ? ", " : "", e->rows[i].name);
	if (n) {
		note_add(&t->notes, ethtool_backwards, n, names.buf, n > 5 ? " ..." : "");
		t->lossy = true;
	}
	str_free(&names);
}

int nic_from_ethtool(const struct ethtool_text *e, const struct query *q, struct table *t,
		     struct error *err)
{
	if (q->by && strcmp(q->by, "queue"))
		return error_set(err, EINVAL, "of ethtool's text, table nic goes by queue alone");
	if (!e->rates && e->outputs < 2)
		return error_set(err, ENODATA,
				 "one output of ethtool -S tells no change: put a later one behind "
				 "it, and say with --seconds how much later");
	ethtool_put_rows(e, q, t);
	if (e->rates && e->outputs > 1)
		note_add(&t->notes, ethtool_rounds, e->outputs);
	else if (!e->rates && e->outputs > 2)
		note_add(&t->notes, ethtool_span, e->outputs);
	if (!e->rates && !(q->seconds > 0))
		note_add(&t->notes, ethtool_no_rates);
	if (!q->all)
		note_add(&t->notes, ethtool_changed_only,
			 e->rates ? "" : "; --all shows the others");
	note_unknown(e, t);
	return 0;
}
