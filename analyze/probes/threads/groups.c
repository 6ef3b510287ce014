// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/threads/groups.h"

#include <math.h>

bool thread_key_find(const char *by, enum thread_key *key)
{
	static const struct {
		const char *name;
		enum thread_key key;
	} keys[] = {{"comm", BY_COMM},
		    {"process", BY_PROCESS},
		    {"pid", BY_PROCESS},
		    {"thread", BY_THREAD},
		    {"tid", BY_THREAD}};

	for (size_t i = 0; i < array_size(keys); i++)
		if (!strcmp(keys[i].name, by)) {
			*key = keys[i].key;
			return true;
		}
	return false;
}

/*
 * Returns the name of a thread. A thread that ended before zcost read it has only its process's
 * name.
 */
static const char *thread_name_of(struct thread_groups *list, const struct thread_row *t,
				  enum thread_key key)
{
	const char *comm = t->comm ? t->comm : "?";

	if (!t->pid)
		return "(ended processes)";
	if (t->tid || key == BY_PROCESS)
		return comm;
	return arena_printf(&list->arena, "%s (ended threads)", comm);
}

static bool thread_same(const struct thread_group *g, const char *comm, const struct thread_row *t,
			enum thread_key key, int run)
{
	switch (key) {
	case BY_COMM:
		return !strcmp(g->comm, comm);
	case BY_PROCESS:
		return g->run == run && g->pid == t->pid;
	default:
		return g->run == run && g->pid == t->pid && g->tid == t->tid;
	}
}

static struct thread_group *thread_group_of(struct thread_groups *list, const struct thread_row *t,
					    enum thread_key key, int run)
{
	const char *comm = thread_name_of(list, t, key);
	struct thread_group *g;
	size_t i = list->n;

	while (key != BY_THREAD && i-- > 0)
		if (thread_same(&list->g[i], comm, t, key, run))
			return &list->g[i];
	g = array_new(list->g, list->n, list->cap);
	*g = (struct thread_group){.comm = comm, .run = key == BY_COMM ? -1 : run};
	g->pid = key == BY_COMM ? 0 : t->pid;
	g->tid = key == BY_THREAD ? t->tid : 0;
	g->of = arena_alloc(&list->arena, (size_t)list->nruns * sizeof(*g->of));
	g->count = arena_alloc(&list->arena, (size_t)list->nruns * sizeof(*g->count));
	for (int k = 0; k < list->nruns; k++)
		for (int f = 0; f < THREAD_FIGURES; f++)
			g->of[k][f] = NAN;
	return g;
}

static void thread_add(struct thread_group *g, const struct thread_row *t, int run)
{
	if (t->tid == t->pid && t->tid)
		g->comm = g->run < 0 ? g->comm
				     : t->comm; /* a process has the name of its first thread */
	g->cpus = t->cpus;
	g->count[run] += t->tid != 0;
	g->threads = g->count[run] > g->threads ? g->count[run] : g->threads;
	for (int f = 0; f < THREAD_FIGURES; f++)
		if (!isnan(t->f[f]))
			g->of[run][f] = (isnan(g->of[run][f]) ? 0 : g->of[run][f]) + t->f[f];
}

static int thread_compare_order(const void *a, const void *b)
{
	const struct thread_group *x = a, *y = b;

	return descending(x->order, y->order)
		       ?: ascending(x->run, y->run)
		       ?: ascending(x->tid, y->tid) ?: strcmp(x->comm, y->comm);
}

static void thread_sort(struct thread_groups *list, enum thread_figure order)
{
	for (size_t i = 0; i < list->n; i++)
		for (int k = 0; k < list->nruns; k++)
			list->g[i].order +=
				isnan(list->g[i].of[k][order]) ? 0 : list->g[i].of[k][order];
	array_sort(list->g, list->n, thread_compare_order);
}

int thread_groups_read(struct thread_groups *list, struct store *s, const struct block_runs *b,
		       enum thread_key key, const char *comm, enum thread_figure order,
		       struct error *err)
{
	*list = (struct thread_groups){.nruns = b->n};
	list->measured = arena_alloc(&list->arena, (size_t)b->n * sizeof(*list->measured) + 1);
	for (int run = 0; run < b->n; run++) {
		autofree struct thread_row *rows = NULL;
		int n = store_threads(s, b->runs[run].id, &rows, err);

		if (n < 0)
			return n;
		for (int i = 0; i < n; i++) {
			for (int f = 0; f < THREAD_FIGURES; f++)
				list->measured[run][f] |= !isnan(rows[i].f[f]);
			if (str_matches(comm, rows[i].comm ? rows[i].comm : ""))
				thread_add(thread_group_of(list, &rows[i], key, run), &rows[i],
					   run);
		}
	}
	thread_sort(list, order);
	return 0;
}

void thread_groups_free(struct thread_groups *list)
{
	free(list->g);
	arena_free(&list->arena);
	*list = (struct thread_groups){0};
}

struct estimate thread_estimate(const struct thread_groups *list, const struct thread_group *g,
				enum thread_figure f, enum estimator e)
{
	autofree double *x = xcalloc((size_t)list->nruns + 1, sizeof(*x));
	bool any = false;
	size_t n = 0;

	for (int k = 0; k < list->nruns; k++) {
		any |= !isnan(g->of[k][f]);
		if (!isnan(g->of[k][f]))
			x[n++] = g->of[k][f];
		else if (g->run < 0 && !g->count[k] && list->measured[k][f])
			x[n++] = 0;
	}
	return stats_estimate(e, x, any ? n : 0, 0.95);
}

void thread_columns(struct table *t, const struct column *columns, size_t n, enum thread_key key)
{
	static const char *const others[] = {
		[BY_COMM] = "run pid tid cpus", [BY_PROCESS] = "tid cpus", [BY_THREAD] = "threads"};

	t->columns = columns;
	t->ncolumns = (int)n;
	table_drop_columns(t, others[key]);
}

struct value *thread_group_row(const struct block_table *k, const struct thread_group *g)
{
	struct value *row = block_row(k->t, &k->b->block);

	if (g->run >= 0)
		table_set(k->t, row, "run", value_int(k->b->runs[g->run].repeat));
	table_set(k->t, row, "comm", value_str(k->t, g->comm));
	table_set(k->t, row, "pid", g->pid ? value_int(g->pid) : value_none());
	table_set(k->t, row, "tid", g->tid ? value_int(g->tid) : value_none());
	table_set(k->t, row, "threads", g->threads ? value_int(g->threads) : value_none());
	table_set(k->t, row, "cpus", value_str(k->t, g->cpus));
	return row;
}
