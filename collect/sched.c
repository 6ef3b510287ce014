// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the workload's threads waited for a CPU. A reading has a line for each thread:
 *
 *   <pid> <tid> <ns run> <ns waited> <timeslices> <voluntary> <involuntary switches> <name>
 *
 * from /proc/PID/task/TID/schedstat and status, with the name as status spells it. A thread that
 * has ended and is not reaped yet has a line too.
 */
#include "collect/collect.h"
#include "collect/host.h"
#include "collect/run/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	return tree_probe(c);
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
	size_t i;

	for (i = 0; i < tree->nthreads; i++)
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
	.finish = tree_report,
};
