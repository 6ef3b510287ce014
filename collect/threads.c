// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU time of the workload's processes and threads. A reading has a line for each:
 *
 *   p <ns> <line of /proc/PID/stat>                           a process, with its ended threads
 *   t <pid> <ns> <migrations> <CPUs> <line of /proc/PID/task/TID/stat>           a thread
 *
 * <ns> is the time on a CPU that the scheduler counts: of a process by its CPU clock, of a thread
 * by schedstat. <CPUs> are those that the thread may use. "-" stands where the kernel has no value.
 */
#include "collect/collect.h"

#include "collect/run/run.h"
#include "collect/run/tree.h"
#include "collect/host.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int threads_probe(struct collect *c)
{
	if (!access("/proc/thread-self/children", R_OK))
		return 0;
	return error_set(
		&c->err, ENOTSUP,
		"this kernel has no lists of children: it was built without CONFIG_PROC_CHILDREN");
}

static void threads_report(struct collect *c)
{
	const struct tree *t = &c->run->tree;

	if (c->reading.n)
		collect_info_int(c, "threads", (int64_t)t->most);
	if (c->reading.n && t->cut)
		collect_degraded(
			c,
			"the workload has more than %d processes or threads: zcost did not read the rest",
			TREE_THREADS);
}

enum { STAT_LEN = 1024, SCHED_LEN = 2048 };

/* Adds the CPU time of a process, from its CPU clock (clock_getcpuclockid(3) makes the number). */
static void threads_add_process_time(struct str *s, pid_t pid)
{
	clockid_t id = (clockid_t)(~(unsigned int)pid << 3 | 2);
	struct timespec ts;

	if (clock_gettime(id, &ts))
		str_puts(s, "- ");
	else
		str_printf(s, "%llu ",
			   (unsigned long long)ts.tv_sec * 1000000000 +
				   (unsigned long long)ts.tv_nsec);
}

/* CPUs that a thread may use. Most threads may use those of the thread before. */
struct allowed {
	uint64_t mask[CPUSET_MAX / 64];
	char *text;
};

static void threads_add_allowed(struct str *s, pid_t tid, struct allowed *last)
{
	struct cpuset set = {0};

	/* The kernel's mask and struct cpuset have the same layout. */
	if (sched_getaffinity(tid, sizeof(set.bits), (cpu_set_t *)set.bits)) {
		str_puts(s, "- ");
		return;
	}
	if (!last->text || memcmp(last->mask, set.bits, sizeof(set.bits))) {
		memcpy(last->mask, set.bits, sizeof(set.bits));
		free(last->text);
		last->text = cpuset_format(&set);
	}
	str_printf(s, "%s ", last->text);
}

static void threads_add_migrations(struct str *s, const struct tree_thread *t)
{
	static const char key[] = "\nse.nr_migrations";
	char text[SCHED_LEN], *at = NULL;
	unsigned long long n;

	if (tree_file(text, sizeof(text), "/proc/%d/task/%d/sched", (int)t->pid, (int)t->tid))
		at = strstr(text, key);
	if (at && sscanf(at + sizeof(key) - 1, " : %llu", &n) == 1)
		str_printf(s, "%llu ", n);
	else
		str_puts(s, "- ");
}

static void threads_add_thread(struct str *s, const struct tree_thread *t, struct allowed *allowed)
{
	char line[STAT_LEN];
	size_t before = s->len;

	str_printf(s, "t %d ", (int)t->pid);
	/* The first word of schedstat is the time on a CPU in ns. */
	if (tree_file(line, sizeof(line), "/proc/%d/task/%d/schedstat", (int)t->pid, (int)t->tid))
		str_printf(s, "%.*s ", (int)strcspn(line, " \n"), line);
	else
		str_puts(s, "- ");
	threads_add_migrations(s, t);
	threads_add_allowed(s, t->tid, allowed);
	if (tree_file(line, sizeof(line), "/proc/%d/task/%d/stat", (int)t->pid, (int)t->tid))
		str_puts(s, line);
	else
		s->buf[s->len = before] = '\0'; /* it is gone now */
}

static int threads_read(struct collect *c)
{
	const struct tree *tree = tree_of(c->run);
	struct str *text = &c->reading.text;
	struct allowed allowed = {0};
	char line[STAT_LEN];

	for (size_t i = 0; i < tree->nprocesses; i++) {
		pid_t pid = tree->processes[i].pid;

		if (!tree_file(line, sizeof(line), "/proc/%d/stat", (int)pid))
			continue; /* the process is gone */
		str_puts(text, "p ");
		threads_add_process_time(text, pid);
		str_puts(text, line); /* it ends with a newline */
	}
	for (size_t i = 0; i < tree->nthreads; i++)
		threads_add_thread(text, &tree->threads[i], &allowed);
	free(allowed.text);
	return 0;
}

static void threads_finish(struct collect *c)
{
	const struct run *r = c->run;

	if (r->end_ns && *r->named && !r->tree.nmatches)
		collect_degraded(c, "no process is named '%s'", r->named);
	threads_report(c);
}

const struct collector collector_threads = {
	.name = "threads",
	.what = "CPU time, CPUs and migrations of the workload's threads",
	.files = {"threads.snap"},
	.when = DATED,
	.passes = PASS_MEASURE,
	.probe = threads_probe,
	.read = threads_read,
	.finish = threads_finish,
};

/* --- sched --- */

/*
 * How long the workload's threads waited for a CPU. A reading has a line for each thread:
 *
 *   <pid> <tid> <ns run> <ns waited> <timeslices> <voluntary> <involuntary switches> <name>
 *
 * from /proc/PID/task/TID/schedstat and status, with the name as status spells it. A thread that
 * has ended and is not reaped yet has a line too.
 */

enum { STATUS_LEN = 8192 };

/*
 * Checks that the kernel counts: we have run for a while, so our own counts are above 0. ZCOST_PROC
 * names another /proc, for tests.
 */
static int sched_probe(struct collect *c)
{
	unsigned long long run, waited, slices;
	char line[128];

	if (!tree_file(line, sizeof(line), "%s/thread-self/schedstat", proc_root()) ||
	    sscanf(line, "%llu %llu %llu", &run, &waited, &slices) != 3 || !slices)
		return error_set(
			&c->err, EOPNOTSUPP,
			"%s/thread-self/schedstat counts nothing: boot with 'delayacct', or a kernel with CONFIG_SCHEDSTATS",
			proc_root());
	return threads_probe(c);
}

/* Adds the value of a key: "12 " for "voluntary_ctxt_switches:\t12", and "- " without the key. */
static void sched_add_field(struct str *s, const char *status, const char *key)
{
	const char *at = strstr(status, key);

	if (at)
		at += strlen(key) + strspn(at + strlen(key), " \t");
	str_printf(s, "%.*s ", at ? (int)strcspn(at, "\n") : 1, at ? at : "-");
}

static void sched_add_thread(struct str *s, const struct tree_thread *t)
{
	char line[128], status[STATUS_LEN], *name;
	int pid = t->pid, tid = t->tid;

	if (!tree_file(line, sizeof(line), "/proc/%d/task/%d/schedstat", pid, tid) ||
	    !tree_file(status, sizeof(status), "/proc/%d/task/%d/status", pid, tid))
		return; /* the thread is gone */
	line[strcspn(line, "\n")] = '\0';
	str_printf(s, "%d %d %s ", pid, tid, line);
	sched_add_field(s, status, "\nvoluntary_ctxt_switches:");
	sched_add_field(s, status, "\nnonvoluntary_ctxt_switches:");
	name = strncmp(status, "Name:\t", 6) ? "?" : status + 6;
	str_printf(s, "%.*s\n", (int)strcspn(name, "\n"), name);
}

static int sched_read(struct collect *c)
{
	const struct tree *tree = tree_of(c->run);

	for (size_t i = 0; i < tree->nthreads; i++)
		sched_add_thread(&c->reading.text, &tree->threads[i]);
	return 0;
}

const struct collector collector_sched = {
	.name = "sched",
	.what = "how long the workload's threads waited for a CPU, their switches",
	.files = {"sched.snap"},
	.when = DATED,
	.passes = PASS_MEASURE,
	.probe = sched_probe,
	.read = sched_read,
	.finish = threads_report,
};
