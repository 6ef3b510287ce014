// SPDX-License-Identifier: GPL-2.0-only
#include "collect/syscalls_method.h"

#include "lib/file.h"
#include "lib/str.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef unsigned __int128 u128;

static const char heading[] =
	"comm\tpid\ttid\tnr\tname\tcalls\terrors\ttotal_ns\tmin_ns\tmax_ns\t"
	"m2_ns2\tbytes\tunfinished\ttime_hist\tsize_hist\ttimed\tfirst_ns\tfirst\n";

/*
 * Sum of squared deviations from the mean: squares - total^2 / timed. The two are nearly equal
 * where times are, so this is done in integers.
 */
static long double syscalls_m2(const struct syscall_cell *c)
{
	u128 squares = (u128)c->square_hi << 64 | c->square_lo;
	u128 total2 = (u128)c->total * c->total;
	long double rest = (long double)(total2 % c->timed) / (long double)c->timed;

	return (long double)(squares - total2 / c->timed) - rest;
}

static void syscalls_print_hist(struct str *s, const uint64_t *hist)
{
	const char *comma = "";
	int i;

	for (i = 0; i < SYSCALLS_BUCKETS; i++) {
		if (!hist[i])
			continue;
		str_printf(s, "%s%d:%" PRIu64, comma, i, hist[i]);
		comma = ",";
	}
}

/* A name is the workload's own choice: no tab or newline may come through. */
static void syscalls_print_comm(struct str *s, const char comm[SYSCALLS_COMM])
{
	size_t i;

	for (i = 0; i < SYSCALLS_COMM && comm[i]; i++)
		str_putc(s, (unsigned char)comm[i] < ' ' ? '?' : comm[i]);
}

static void syscalls_print_name(struct str *s, uint32_t nr)
{
	const char *name = syscall_name(nr);

	if (name)
		str_puts(s, name);
	else
		str_printf(s, "syscall_%u", nr);
}

/* `c` is NULL for a call that never returned: what was not measured stays empty. */
static void syscalls_print_row(struct str *s, const struct syscall_key *key, uint64_t unfinished,
			       uint64_t first, const struct syscall_cell *c)
{
	syscalls_print_comm(s, key->comm);
	str_printf(s, "\t%u\t%u\t%u\t", key->pid, key->tid, key->nr);
	syscalls_print_name(s, key->nr);
	if (c)
		str_printf(s,
			   "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
			   "\t%.0Lf\t",
			   c->calls, c->errors, c->total, c->min, c->max, syscalls_m2(c));
	else
		str_puts(s, "\t0\t0\t0\t\t\t\t");
	if (syscall_moves_bytes(key->nr))
		str_printf(s, "%" PRIu64, c ? c->bytes : 0);
	str_printf(s, "\t%" PRIu64 "\t", unfinished);
	if (c)
		syscalls_print_hist(s, c->time_hist);
	str_putc(s, '\t');
	if (c)
		syscalls_print_hist(s, c->size_hist);
	if (c)
		str_printf(s, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", c->timed, c->first_total,
			   first);
	else
		str_puts(s, "\t0\t0\t0\n");
}

static void syscalls_print_thread(struct str *s, const struct syscall_thread *t,
				  const struct syscall_counts *counts)
{
	struct syscall_key key = {.pid = t->pid, .tid = t->tid};

	memcpy(key.comm, t->comm, sizeof(key.comm));
	for (key.nr = 0; key.nr < SYSCALLS_NR; key.nr++) {
		uint32_t cell = t->cell[key.nr];
		const struct syscall_cell *c = &counts->cells[cell];
		bool unfinished = t->entered && t->nr == key.nr;

		if (cell && cell <= counts->ncells && c->calls)
			syscalls_print_row(s, &key, unfinished, syscall_first(c), c);
		else if (unfinished)
			syscalls_print_row(s, &key, 1, 0, NULL);
	}
}

static void syscalls_print_sum(struct str *s, const struct syscall_sum *sum)
{
	syscalls_print_row(s, &sum->key, sum->unfinished, sum->first,
			   sum->cell.calls ? &sum->cell : NULL);
}

int syscalls_write(const struct syscall_counts *counts, const char *path, struct error *err)
{
	struct str s = {0};
	size_t k;
	uint32_t i;
	int rc;

	str_puts(&s, heading);
	for (i = 1; i <= counts->nthreads; i++)
		syscalls_print_thread(&s, &counts->threads[i], counts);
	for (k = 0; k < counts->nended; k++)
		syscalls_print_sum(&s, &counts->ended[k]);
	rc = file_write(path, s.buf, s.len, err);
	str_free(&s);
	return rc;
}
