// SPDX-License-Identifier: GPL-2.0-only
/* The system calls that take most time per KiB on either side, with their number per MiB. */
#include "plot/chart.h"

#include "lib/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A system call of a side, and its largest time in any variant. */
struct syscall_group {
	const char *side, *name;
	double most;
	int place; /* of the side's role */
};

/* Time and calls of one variant: of one system call, or of all. */
struct syscall_cost {
	double ns, variance, calls;
};

/* Adds up the rows of this name in all commands of the side. NULL: of every name; then a single
 * call, which has no standard error, counts as if it could be off by all of its time. */
static struct syscall_cost syscalls_sum(const struct table *t, const char *variant,
					const char *side, const char *name)
{
	struct syscall_cost sum = {0, 0, 0};
	double ns, error;
	long row = row_find(t, 0, variant, side);

	for (; row >= 0; row = row_find(t, (size_t)row + 1, variant, side)) {
		ns = table_real(t, (size_t)row, "ns_per_kib");
		if (isnan(ns) || (name && strcmp(table_text(t, (size_t)row, "syscall"), name)))
			continue;
		sum.ns += ns;
		error = table_real(t, (size_t)row, "stddev_pct") / 100;
		if (table_real(t, (size_t)row, "calls") < 2)
			error = name ? NAN : 1;
		sum.variance += pow(ns * error, 2);
		sum.calls += table_real(t, (size_t)row, "calls_per_mib");
	}
	return sum;
}

/* The interval is that of the mean call; a single call has none. */
static struct estimate syscalls_time(const struct syscall_cost *c, size_t runs)
{
	double ci = 1.96 * sqrt(c->variance);

	return (struct estimate){.value = c->ns > 0 ? c->ns : NAN,
				 .lo = ci > c->ns ? 0 : c->ns - ci,
				 .hi = c->ns + ci,
				 .n = runs};
}

static int syscalls_place(const struct drawing *d, const char *side)
{
	const char *role = drawing_role(d, side);

	return !strcmp(role, "receiver") ? 0 : !strcmp(role, "sender") ? 2 : 1;
}

static int syscalls_by_time(const void *a, const void *b)
{
	const struct syscall_group *x = a, *y = b;

	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int syscalls_by_side(const void *a, const void *b)
{
	const struct syscall_group *x = a, *y = b;
	int order = x->place - y->place;

	order = order ? order : strcmp(x->side, y->side);
	return order ? order : syscalls_by_time(a, b);
}

static size_t syscalls_gather(const struct drawing *d, const struct figure *f,
			      const struct table *t, struct syscall_group *all)
{
	size_t row, i, n = 0;
	int b;

	for (row = 0; row < t->rows; row++) {
		const char *side = table_text(t, row, "side");
		struct syscall_group g = {side, table_text(t, row, "syscall"), 0,
					  syscalls_place(d, side)};

		for (b = 0; b < f->bars.n; b++)
			g.most = fmax(g.most,
				      syscalls_sum(t, f->bars.mark[b].name, g.side, g.name).ns);
		for (i = 0; i < n && syscalls_by_side(&all[i], &g); i++)
			;
		if (i == n && g.most > 0)
			all[n++] = g;
	}
	return n;
}

static void syscalls_put_bar(struct figure *f, const struct table *t, const struct syscall_group *g,
			     const int place[2])
{
	const char *variant = f->bars.mark[place[1]].name;
	struct syscall_cost cost = syscalls_sum(t, variant, g->side, g->name);
	struct estimate e = syscalls_time(&cost, 0);
	char calls[32];

	snprintf(calls, sizeof(calls), "%.10g", cost.calls);
	if (!isnan(e.value))
		figure_put_noted(f, place[0], place[1], e, calls);
	else if (syscalls_sum(t, variant, g->side, NULL).ns <= 0)
		figure_put_noted(f, place[0], place[1], e, "n/a");
}

static void syscalls_put_groups(struct figure *f, const struct table *t,
				const struct syscall_group *all, size_t n)
{
	bool one_side = !strcmp(all[0].side, all[n - 1].side);
	char *label;
	size_t i;
	int place[2];

	for (i = 0; i < n; i++) {
		label = one_side ? xstrdup(all[i].name)
				 : xasprintf("%s: %s", all[i].side, all[i].name);
		place[0] = figure_group(f, label);
		for (place[1] = 0; place[1] < f->bars.n; place[1]++)
			syscalls_put_bar(f, t, &all[i], place);
		free(label);
	}
}

static void syscalls_put_words(const struct drawing *d, struct figure *f, size_t shown, size_t n)
{
	if (shown < n)
		f->title = figure_text(f, "System calls: the %zu of %zu that take most time", shown,
				       n);
	else
		f->title = figure_text(f, "System calls: time per KiB and calls per MiB");
	f->subtitle = figure_text(
		f, "Time from entry to return, waiting included, per KiB moved%s; lower is better",
		figure_has_many(f) ? "" : "; beside it the calls per MiB moved");
	f->axis = figure_has_many(f) ? "ns per KiB" : "ns per KiB · calls per MiB";
	f->group_word = "syscall";
	f->note_word = "calls_per_mib";
	f->note_unit = "calls";
	f->absent = "no calls";
	f->lying = true;
	drawing_foot(d, f, FROM_COUNTED);
}

/* A call of less than a thousandth of the longest bar could not be seen; --limit shows it. */
static size_t syscalls_shown(const struct drawing *d, const struct figure *f,
			     const struct syscall_group *all, size_t n)
{
	size_t most = drawing_most_groups(d, f);

	n = n < most ? n : most;
	while (d->query.limit <= 0 && all[n - 1].most < all[0].most / 1000)
		n--;
	return n;
}

static int syscalls_draw(struct drawing *d, struct figure *f, struct error *err)
{
	struct syscall_group *all;
	const struct table *t;
	int rc = drawing_table(d, 0, &t, err);
	size_t n, shown;

	if (rc)
		return rc;
	drawing_bars_of(d, f, t, NULL, "ns_per_kib", "System calls not counted",
			"System calls counted, but the KiB moved are not known");
	all = xcalloc(t->rows + 1, sizeof(*all));
	n = syscalls_gather(d, f, t, all);
	if (n) {
		qsort(all, n, sizeof(*all), syscalls_by_time);
		shown = syscalls_shown(d, f, all, n);
		qsort(all, shown, sizeof(*all), syscalls_by_side);
		syscalls_put_groups(f, t, all, shown);
		syscalls_put_words(d, f, shown, n);
	} else {
		rc = error_set(
			err, ENODATA,
			"no run counted system calls of a workload with known bytes; capture with the passes measure and syscalls, and --units");
	}
	free(all);
	return rc;
}

const struct chart chart_syscalls = {
	.name = "syscalls",
	.what = "the top system calls of both sides: time per KiB, calls per MiB",
	.sources = {"syscalls"},
	.options = {CHART_OPTIONS "run workload-only side limit comm"},
	.most = CHART_ROWS,
	.flags = CHART_OF_SIDES | CHART_SUFFERS,
	.draw = syscalls_draw,
};
