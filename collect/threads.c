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
#include "lib/cpuset.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* Adds the line of a process, unless it is gone. The kernel's line ends with a newline. */
static void threads_add_process(struct str *s, pid_t pid)
{
	char line[STAT_LEN];

	if (!tree_file(line, sizeof(line), "/proc/%d/stat", (int)pid))
		return;
	str_puts(s, "p ");
	threads_add_process_time(s, pid);
	str_puts(s, line);
}

/* Adds the first word of schedstat: the time on a CPU in ns. */
static void threads_add_run(struct str *s, const struct tree_thread *t)
{
	char line[128];

	if (tree_file(line, sizeof(line), "/proc/%d/task/%d/schedstat", (int)t->pid, (int)t->tid))
		str_printf(s, "%.*s ", (int)strcspn(line, " \n"), line);
	else
		str_puts(s, "- ");
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
	threads_add_run(s, t);
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
	struct allowed allowed = {0};
	size_t i;

	for (i = 0; i < tree->nprocesses; i++)
		threads_add_process(&c->reading.text, tree->processes[i].pid);
	for (i = 0; i < tree->nthreads; i++)
		threads_add_thread(&c->reading.text, &tree->threads[i], &allowed);
	free(allowed.text);
	return 0;
}

static void threads_finish(struct collect *c)
{
	const struct run *r = c->run;

	if (r->end_ns && *r->named && !r->tree.nmatches)
		collect_degraded(c, "no process is named '%s'", r->named);
	tree_report(c);
}

const struct collector collector_threads = {
	.name = "threads",
	.what = "CPU time, CPUs and migrations of the workload's threads",
	.files = {"threads.snap"},
	.when = DATED,
	.passes = PASS_MEASURE,
	.probe = tree_probe,
	.read = threads_read,
	.finish = threads_finish,
};
