// SPDX-License-Identifier: GPL-2.0-only
/* queues: the queues of interfaces, who serves them, and who owned them in the window. */
#include "analyze/scope/changes.h"

static const struct column queues_columns[] = {
	SIDE_COLUMNS,
	{"interface", .type = V_STR},
	{"queue", .type = V_STR, .what = "rx-0, tx-0; napi: an instance that no queue names"},
	{"owner", .type = V_STR,
	 .what = "zcrx (io_uring), devmem (a dmabuf), xsk (AF_XDP) or none"},
	{"owned_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "part of the window, from a reading each second; estimate over the runs"},
	{"from_s", "s", V_REAL, .digits = 2,
	 .what = "first reading with this owner, from the window's start"},
	{"to_s", "s", V_REAL, .digits = 2, .what = "last reading with this owner"},
	{"napi_id", .type = V_STR, .shape = STANDS_RIGHT,
	 .what = "the kernel's number of the NAPI instance; a|b: the runs differ"},
	{"irq", .type = V_STR, .shape = STANDS_RIGHT},
	{"pid", .type = V_STR, .shape = STANDS_RIGHT, .what = "its thread, if it has one"},
	{"threaded", .type = V_STR, .shape = STANDS_RIGHT,
	 .what = "1: a thread polls; 2: a thread polls all the time"},
	{"defer_hard_irqs", .type = V_STR, .shape = STANDS_RIGHT,
	 .what = "empty polls before interrupts are on again"},
	{"gro_flush_timeout", "ns", V_STR, .shape = STANDS_RIGHT},
	{"irq_suspend_timeout", "ns", V_STR, .shape = STANDS_RIGHT},
	{"runs", .type = V_INT, .what = "runs that saw it"},
};

enum { OWNER, FROM, TO, STATE, QUEUE_METRICS };
static const char *const queue_metrics[QUEUE_METRICS] = {"queue_owner_pct", "queue_owner_from_s",
							 "queue_owner_to_s", "queue_state"};

/* Fills the columns of the instance, which are called like its attributes. */
static void queues_put_napi(struct table *t, struct value *row, const struct changes *states,
			    const char *queue)
{
	for (size_t i = 0; i < array_size(queues_columns); i++) {
		autofree char *key = xstrdup(queues_columns[i].name), *state = NULL;

		str_replace(key, '_', '-');
		state = changes_state(states, queue, strcmp(key, "napi-id") ? key : "id", false);
		if (state)
			table_set(t, row, queues_columns[i].name, value_str(t, state));
	}
}

/* The counter is called "eth0/rx-0/zcrx", and that of an instance without a queue "eth0/napi/".
 */
static void queues_put_row(const struct block_table *k, const struct changes c[QUEUE_METRICS],
			   const struct change_row *r, const char *owner)
{
	static const char *const times[QUEUE_METRICS] = {[FROM] = "from_s", [TO] = "to_s"};
	struct table *t = k->t;
	struct value *row = block_row(t, &k->b->block);
	struct estimate e = changes_estimate(&c[OWNER], r, AS_COUNT);
	autofree char *queue = xstrndup(r->name, (size_t)(owner - r->name) - 1);
	char *rest = queue;

	queues_put_napi(t, row, &c[STATE], queue);
	table_set(t, row, "interface", value_str(t, str_token(&rest, '/')));
	table_set(t, row, "queue", value_str(t, rest));
	table_set(t, row, "runs", value_int((int64_t)e.n));
	if (!*owner)
		return;
	table_set(t, row, "owner", value_str(t, owner));
	put_estimate(t, row, "owned_pct", &e);
	for (int m = FROM; m <= TO; m++) {
		const struct change_row *at = changes_find(&c[m], r->name, NO_CPU);

		if (at)
			table_set(t, row, times[m],
				  value_real(changes_estimate(&c[m], at, AS_COUNT).value));
	}
}

/* Adds the queues that somebody owned first. */
static int queues_put_block(struct block_table *k, struct error *err)
{
	struct changes c[QUEUE_METRICS] = {0};
	size_t limit = query_limit(k->q, 20), before = k->t->rows;
	int rc = 0;

	for (size_t i = 0; i < QUEUE_METRICS && !rc; i++)
		rc = changes_read(&c[i], k, queue_metrics[i], OF_SIDE, err);
	for (int owned = 1; owned >= 0 && !rc; owned--)
		for (size_t i = 0; i < c[OWNER].n && k->t->rows - before < limit; i++) {
			const struct change_row *r = &c[OWNER].row[i];
			const char *slash = strrchr(r->name, '/');

			if (slash && owned == (slash[1] && strcmp(slash + 1, "none")))
				queues_put_row(k, c, r, slash + 1);
		}
	if (!rc && c[OWNER].n > limit)
		note_add_block(&k->t->notes, &k->b->block, rows_shown, limit, c[OWNER].n);
	for (size_t i = 0; i < QUEUE_METRICS; i++)
		changes_free(&c[i]);
	return rc;
}

const struct measure measure_queues = {
	.name = "queues",
	.what = "queues of interfaces: who owned them, and the NAPI that serves them",
	MEASURE_COLUMNS(queues_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "limit all"},
	.whole = "a queue serves all programs",
	.spare = "runs irq_suspend_timeout gro_flush_timeout defer_hard_irqs irq from_s to_s",
	.collectors = "queues",
	.block = queues_put_block,
	.how = "",
};
