// SPDX-License-Identifier: GPL-2.0-only
/* System calls of the workload, counted by the first method that this host allows. */
#include "collect/syscalls/methods.h"

#include "collect/bpf.h"
#include "collect/collect.h"
#include "collect/run/run.h"
#include "lib/syscall_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* --- names --- */

/*
 * The build takes the names from the C library's headers. Newer calls have the same number on every
 * machine and stand in lib/syscall_facts.c.
 */

static const char *const names[SYSCALLS_NR] = {
#include "collect/syscall_names.inc"
};

/*
 * Calls that say by a flag what happens to the data. With it, they are rows of their own:
 * "sendmsg (MSG_ZEROCOPY)".
 */
static const struct {
	const char *call, *name;
	uint32_t nr, flag;
	uint8_t argument;
} flagged[] = {
	{"sendto", "sendto (MSG_ZEROCOPY)", SYS_sendto, MSG_ZEROCOPY, 3},
	{"sendmsg", "sendmsg (MSG_ZEROCOPY)", SYS_sendmsg, MSG_ZEROCOPY, 2},
	{"sendmmsg", "sendmmsg (MSG_ZEROCOPY)", SYS_sendmmsg, MSG_ZEROCOPY, 3},
	{"recvfrom", "recvfrom (MSG_TRUNC)", SYS_recvfrom, MSG_TRUNC, 3},
	{"recvmsg", "recvmsg (MSG_TRUNC)", SYS_recvmsg, MSG_TRUNC, 2},
};

static const char *syscall_plain_name(uint32_t index)
{
	if (index - SYSCALLS_FLAGGED < array_size(flagged))
		return flagged[index - SYSCALLS_FLAGGED].call;
	if (index >= SYSCALLS_NR)
		return NULL;
	return names[index] ? names[index] : syscall_name_on(NULL, index);
}

const char *syscall_name(uint32_t index)
{
	if (index - SYSCALLS_FLAGGED < array_size(flagged))
		return flagged[index - SYSCALLS_FLAGGED].name;
	return syscall_plain_name(index);
}

const struct syscall_trait *syscall_traits(void)
{
	static struct syscall_trait all[SYSCALLS_NR];
	static bool made;

	for (uint32_t nr = 0; nr < SYSCALLS_NR && !made; nr++) {
		const char *name = syscall_plain_name(nr);
		int bytes = syscall_name_bytes(name);

		all[nr].moves = bytes == SYSCALL_BYTES_RESULT;
		all[nr].sized = bytes < 0 ? 0 : (uint8_t)(1 + bytes);
		all[nr].restores = name && strstr(name, "sigreturn");
	}
	for (uint32_t i = 0; i < array_size(flagged) && !made; i++) {
		all[flagged[i].nr].flag = flagged[i].flag;
		all[flagged[i].nr].flagged = (uint16_t)(SYSCALLS_FLAGGED + i);
		all[flagged[i].nr].argument = flagged[i].argument;
	}
	made = true;
	return all;
}

/* --- syscalls.tsv --- */

typedef unsigned __int128 u128;

static const char heading[] =
	"comm\tpid\ttid\tnr\tname\tcalls\terrors\ttotal_ns\tmin_ns\tmax_ns\tm2_ns2\tbytes\tunfinished\ttime_hist\tsize_hist\ttimed\tfirst_ns\tfirst\n";

/*
 * Returns the sum of squared deviations from the mean: squares - total^2 / timed. Both terms are
 * nearly equal when all times are, so the difference is made in integers.
 */
static long double syscalls_m2(const struct syscall_cell *c)
{
	u128 squares = (u128)c->square_hi << 64 | c->square_lo;
	u128 total2 = (u128)c->total * c->total, whole = total2 / c->timed;
	long double rest = (long double)(total2 % c->timed) / (long double)c->timed;

	return (long double)(squares - whole) - rest;
}

static void syscalls_print_hist(struct str *s, const uint64_t *hist)
{
	const char *comma = "";

	for (int i = 0; i < SYSCALLS_BUCKETS; i++) {
		if (!hist[i])
			continue;
		str_printf(s, "%s%d:%" PRIu64, comma, i, hist[i]);
		comma = ",";
	}
}

/* `c` is all 0 for a call that never returned. */
static void syscalls_print_row(struct str *s, const struct syscall_thread *t, uint32_t nr,
			       const struct syscall_cell *c)
{
	const struct syscall_trait *trait = &syscall_traits()[nr];
	uint64_t unfinished = c->unfinished + (t->entered && t->nr == nr);
	/* Threads that used one slot under different names are "..." together. */
	bool several = *t->was && strncmp(t->was, t->comm, SYSCALLS_COMM);
	const char *comm = several ? "..." : t->comm, *name = syscall_name(nr);

	if (!c->calls && !unfinished)
		return;
	/* The workload chooses its names: they may have a tab or a newline. */
	for (size_t i = 0; i < SYSCALLS_COMM && comm[i]; i++)
		str_putc(s, (unsigned char)comm[i] < ' ' ? '?' : comm[i]);
	str_printf(s, "\t%u\t%u\t%u\t", t->pid, t->tid, nr);
	if (name)
		str_puts(s, name);
	else
		str_printf(s, "syscall_%u", nr);
	str_printf(s, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", c->calls, c->errors, c->total);
	if (c->calls)
		str_printf(s, "%" PRIu64 "\t%" PRIu64 "\t%.0Lf\t", c->min, c->max, syscalls_m2(c));
	else
		str_puts(s, "\t\t\t");
	if (trait->moves || trait->sized)
		str_printf(s, "%" PRIu64, c->bytes);
	str_printf(s, "\t%" PRIu64 "\t", unfinished);
	syscalls_print_hist(s, c->time_hist);
	str_putc(s, '\t');
	syscalls_print_hist(s, c->size_hist);
	str_printf(s, "\t%" PRIu64 "\t%" PRIu64 "\t%d\n", c->timed, c->first_total,
		   c->timed < SYSCALLS_FIRST ? (int)c->timed : SYSCALLS_FIRST);
}

void syscalls_print(struct str *s, const struct syscall_counts *counts)
{
	static const struct syscall_cell none;
	uint32_t at;

	str_puts(s, heading);
	for (uint32_t i = 1; i <= counts->nthreads; i++) {
		for (uint32_t nr = 0; nr < SYSCALLS_NR; nr++) {
			at = counts->threads[i].cell[nr];
			syscalls_print_row(s, &counts->threads[i], nr,
					   at && at <= counts->ncells ? &counts->cells[at] : &none);
		}
	}
}

/* --- socket_copies.tsv --- */

static void socket_copies_print(struct str *s, const struct syscall_counts *counts)
{
	static const char *const events[SOCKET_COPY_KINDS] = {
		[SOCKET_COPY_OUT] = "skb_copy_datagram_iovec",
		[SOCKET_COPY_FRAGS] = "skb_copy_ubufs",
		[SOCKET_COPY_PINS] = "__zerocopy_sg_from_iter",
	};

	str_puts(s, "event\tcalls\tbytes\n");
	for (int i = 0; i < SOCKET_COPY_KINDS; i++)
		if (counts->copies_known[i])
			str_printf(s, "%s\t%" PRIu64 "\t%" PRIu64 "\n", events[i],
				   counts->copies[i].calls, counts->copies[i].bytes);
}

/* --- the collector --- */

struct syscalls {
	const struct syscalls_method *method;
	void *self;
};

static const struct syscalls_method *const methods[] = {&syscalls_bpf, &syscalls_tracepoint};

/* Chooses the first method that works, and says why a better one does not. */
static int syscalls_prepare(struct collect *c)
{
	struct syscalls *s = c->data = xcalloc(1, sizeof(*s));
	const char *only = c->run->syscalls_method;
	unsigned int one_in = c->run->time_one_in;
	freed(str_free) struct str reasons = {0};

	for (size_t i = 0; i < array_size(methods) && !s->method; i++) {
		struct error err = {0};

		if (only && strcmp(only, methods[i]->name) != 0)
			continue;
		if (!methods[i]->open(&s->self, &err)) {
			s->method = methods[i];
			break;
		}
		str_printf(&reasons, "%s%s: %s", reasons.len ? "; " : "", methods[i]->name,
			   err.text);
		if (s->self)
			methods[i]->close(s->self);
		s->self = NULL;
	}
	if (s->method) {
		/* A method that can only time every call is more exact, and costs more. */
		one_in = one_in > 1 && s->method->time_one_in ? one_in : 1;
		if (one_in > 1)
			s->method->time_one_in(s->self, one_in);
		if (s->method->programs)
			c->programs = s->method->programs(s->self);
		collect_info_str(c, "method", s->method->name);
		collect_info_int(c, "time_one_in", one_in);
		if (reasons.len)
			collect_why(c, "%s", reasons.buf);
	} else {
		error_set(&c->err, ENOSYS, "%s", reasons.buf);
	}
	return -c->err.code;
}

/* Adds the processes that zcost did not start. */
static int syscalls_before(struct collect *c)
{
	const struct syscalls *s = c->data;

	if (!run_has_strangers(c->run))
		return 0;
	if (!s->method->add)
		return error_set(
			&c->err, EOPNOTSUPP,
			"the method %s counts only processes that zcost starts, not those of --processes and --pid",
			s->method->name);
	return bpf_add_threads(c, s->method->add, s->self);
}

static int syscalls_start(struct collect *c)
{
	struct syscalls *s = c->data;

	return s->method->start(s->self, &c->err);
}

static int syscalls_stop(struct collect *c)
{
	struct syscalls *s = c->data;

	return s->method->stop(s->self, &c->err);
}

static void syscalls_save(struct collect *c, struct syscalls *s)
{
	struct syscall_counts counts = {0};
	freed(str_free) struct str calls = {0}, copies = {0};

	s->method->counts(s->self, &counts);
	c->lost = (int64_t)counts.lost;
	if (counts.lost)
		collect_degraded(c, "%llu calls or events were lost",
				 (unsigned long long)counts.lost);
	if (counts.copies_failed)
		collect_degraded(c,
				 "not every counter of copies between sockets and memory worked");
	syscalls_print(&calls, &counts);
	socket_copies_print(&copies, &counts);
	collect_write(c, c->is->files[0], &calls);
	collect_write(c, c->is->files[1], &copies);
}

static void syscalls_finish(struct collect *c)
{
	autofree struct syscalls *s = c->data;

	if (s->method) {
		if (c->run->end_ns)
			syscalls_save(c, s);
		s->method->close(s->self);
	}
}

const struct collector collector_syscalls = {
	.name = "syscalls",
	.what = "system calls of the workload: calls, errors, times, bytes per thread",
	.files = {"syscalls.tsv", "socket_copies.tsv"},
	.passes = PASS_SYSCALLS,
	.required = PASS_SYSCALLS,
	.prepare = syscalls_prepare,
	.before = syscalls_before,
	.start = syscalls_start,
	.stop = syscalls_stop,
	.finish = syscalls_finish,
};
