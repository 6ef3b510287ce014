// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/syscalls_rows.h"

#include "analyze/measures/hist.h"
#include "lib/alloc.h"
#include "lib/intern.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 30 };

/* --- keys --- */

static const struct {
	const char *name;
	unsigned int keys;
} by_names[] = {
	{"comm", SYSCALLS_BY_COMM},
	{"pid", SYSCALLS_BY_COMM | SYSCALLS_BY_PID},
	{"tid", SYSCALLS_BY_COMM | SYSCALLS_BY_PID | SYSCALLS_BY_TID},
	{"thread", SYSCALLS_BY_COMM | SYSCALLS_BY_PID | SYSCALLS_BY_TID},
	{"syscall", 0},
	{"variant", SYSCALLS_BY_COMM},
	{"side", SYSCALLS_BY_COMM},
};

int syscalls_keys(const struct query *q, unsigned int *keys, struct error *err)
{
	char *text = xstrdup(q->by ? q->by : "comm"), *state = NULL, *word;
	size_t i;
	int rc = 0;

	*keys = 0;
	for (word = strtok_r(text, ",", &state); word && !rc; word = strtok_r(NULL, ",", &state)) {
		for (i = 0; i < array_size(by_names) && strcmp(by_names[i].name, word); i++)
			;
		if (i < array_size(by_names))
			*keys |= by_names[i].keys;
		else
			rc = error_set(err, EINVAL,
				       "--by: syscalls have no key '%s'; there are: comm pid tid "
				       "syscall variant side",
				       word);
	}
	free(text);
	return rc;
}

static const struct column key_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"pid", .type = V_INT, .what = "process"},
	{"tid", .type = V_INT, .what = "thread"},
};

void syscalls_set_columns(struct table *t, unsigned int keys, bool by_block)
{
	const bool wanted[] = {by_block, by_block, keys & SYSCALLS_BY_PID, keys & SYSCALLS_BY_TID};
	const struct column *from = t->columns;
	struct column *to;
	int n = 0, i;

	to = arena_alloc(&t->arena, sizeof(*to) * ((size_t)t->ncolumns + array_size(wanted)));
	for (i = 0; i < (int)array_size(wanted); i++)
		if (wanted[i])
			to[n++] = key_columns[i];
	for (i = 0; i < t->ncolumns; i++)
		if (keys & SYSCALLS_BY_COMM || strcmp(from[i].name, "comm"))
			to[n++] = from[i];
	t->columns = to;
	t->ncolumns = n;
}

/* --- adding up: sums of squares are merged by Chan's formula --- */

static double syscall_rows_mean_of(const struct syscall_row *r)
{
	return r->calls ? (double)r->total_ns / (double)r->calls : 0;
}

/* Two sets of calls as one. */
static void syscall_rows_merge(struct syscall_row *a, const struct syscall_row *b)
{
	double na = (double)a->calls, nb = (double)b->calls,
	       delta = syscall_rows_mean_of(b) - syscall_rows_mean_of(a);
	int i;

	if (nb > 0) {
		a->m2 += b->m2 + delta * delta * na * nb / (na + nb);
		a->min_ns = na > 0 && a->min_ns < b->min_ns ? a->min_ns : b->min_ns;
		a->max_ns = a->max_ns > b->max_ns ? a->max_ns : b->max_ns;
	}
	a->calls += b->calls;
	a->errors += b->errors;
	a->total_ns += b->total_ns;
	a->unfinished += b->unfinished;
	a->bytes += b->bytes;
	a->has_bytes |= b->has_bytes;
	for (i = 0; i < 64; i++) {
		a->time_hist[i] += b->time_hist[i];
		a->size_hist[i] += b->size_hist[i];
	}
}

static bool syscall_rows_same(unsigned int keys, const struct syscall_row *a,
			      const struct syscall_row *b)
{
	return !strcmp(a->name, b->name) && (!(keys & SYSCALLS_BY_PID) || a->pid == b->pid) &&
	       (!(keys & SYSCALLS_BY_TID) || a->tid == b->tid) &&
	       (!(keys & SYSCALLS_BY_COMM) || !strcmp(a->comm, b->comm));
}

void syscalls_add(struct syscall_sums *s, const struct syscall_row *r)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (syscall_rows_same(s->keys, &s->rows[i], r))
			break;
	if (i < s->n) {
		syscall_rows_merge(&s->rows[i], r);
		return;
	}
	array_grow(s->rows, s->n, s->cap);
	s->rows[s->n++] = *r;
}

/* --- printing --- */

static int syscall_rows_by_time(const void *a, const void *b)
{
	const struct syscall_row *x = a, *y = b;
	int c;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	c = strcmp(x->name, y->name);
	if (!c)
		c = strcmp(x->comm, y->comm);
	return c ? c : (x->tid > y->tid) - (x->tid < y->tid);
}

static double stddev_pct(const struct syscall_row *r)
{
	double n = (double)r->calls, mean = syscall_rows_mean_of(r);

	if (n < 2 || !(mean > 0))
		return 0;
	return 100 * sqrt(r->m2 / (n - 1) / n) / mean;
}

static void syscall_rows_put_times(struct table *t, struct value *row, const struct syscall_row *r)
{
	double min = (double)r->min_ns, max = (double)r->max_ns;

	table_set(t, row, "total_ms", value_real((double)r->total_ns / 1e6));
	if (!r->calls)
		return;
	table_set(t, row, "min_ms", value_real(min / 1e6));
	table_set(t, row, "avg_ms", value_real(syscall_rows_mean_of(r) / 1e6));
	table_set(t, row, "max_ms", value_real(max / 1e6));
	table_set(t, row, "stddev_pct", value_real(stddev_pct(r)));
	table_set(t, row, "p50_ms", value_real(hist_quantile(r->time_hist, 0.5, min, max) / 1e6));
	table_set(t, row, "p99_ms", value_real(hist_quantile(r->time_hist, 0.99, min, max) / 1e6));
	if (r->has_bytes)
		table_set(t, row, "bytes_per_call",
			  value_real((double)r->bytes / (double)r->calls));
}

static void syscall_rows_put_row(struct table *t, const struct syscall_row *r, double kib,
				 const char *variant, const char *side)
{
	struct value *row = table_row(t);

	table_set(t, row, "variant", value_str(t, variant));
	table_set(t, row, "side", value_str(t, side));
	table_set(t, row, "pid", r->pid <= 0 ? value_none() : value_int(r->pid));
	table_set(t, row, "tid", r->tid <= 0 ? value_none() : value_int(r->tid));
	table_set(t, row, "comm", value_str(t, r->comm));
	table_set(t, row, "syscall", value_str(t, r->name));
	table_set(t, row, "calls", value_int((int64_t)r->calls));
	table_set(t, row, "errors", value_int((int64_t)r->errors));
	syscall_rows_put_times(t, row, r);
	if (kib > 0) {
		table_set(t, row, "calls_per_mib", value_real((double)r->calls / (kib / 1024)));
		table_set(t, row, "ns_per_kib", value_real((double)r->total_ns / kib));
	}
}

size_t syscalls_put(struct table *t, const struct query *q, struct syscall_sums *s,
		    const char *variant, const char *side)
{
	size_t limit = q->limit > 0 ? (size_t)q->limit : LIMIT, i;

	if (s->n)
		qsort(s->rows, s->n, sizeof(*s->rows), syscall_rows_by_time);
	if (q->all || s->n < limit)
		limit = s->n;
	for (i = 0; i < limit; i++)
		syscall_rows_put_row(t, &s->rows[i], s->kib, variant, side);
	return limit;
}

uint64_t syscalls_of_ended(const struct syscall_sums *s)
{
	uint64_t calls = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		if ((s->keys & SYSCALLS_BY_TID && !s->rows[i].tid) ||
		    (s->keys & SYSCALLS_BY_PID && !s->rows[i].pid))
			calls += s->rows[i].calls;
	return calls;
}

char *syscalls_unfinished(const struct syscall_sums *s)
{
	struct str text = {0};
	struct intern names = {0};
	uint64_t *sums = xcalloc(s->n + 1, sizeof(*sums));
	uint32_t k;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->rows[i].unfinished)
			sums[intern_str(&names, s->rows[i].name)] += s->rows[i].unfinished;
	for (k = 0; k < names.n; k++)
		str_printf(&text, "%s%s %llu", k ? ", " : "", intern_get(&names, k),
			   (unsigned long long)sums[k]);
	intern_free(&names);
	free(sums);
	return str_take(&text);
}

double syscalls_work_kib(const struct query *q)
{
	if (!q->unit || strcmp(q->unit, "KiB"))
		return NAN;
	if (q->units > 0)
		return q->units;
	return q->rate > 0 && q->seconds > 0 ? q->rate * q->seconds : NAN;
}
