// SPDX-License-Identifier: GPL-2.0-only
/* THE TABLE of measures. */
#include "analyze/measures/measure.h"

#include "analyze/measures/manner.h"
#include "analyze/measures/tables.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <string.h>

#define COLUMNS(c) c, (int)array_size(c)

static const struct measure measures[] = {
	{"summary", "each variant and side in a line: throughput, CPU, cost, zero copy",
	 COLUMNS(summary_columns), summary_run, NEEDS_STORE},
	{"variants", "which settings each variant was measured under", COLUMNS(variants_columns),
	 variants_run, NEEDS_STORE},
	{"runs", "every run with its state, and every note", COLUMNS(runs_columns), runs_run,
	 NEEDS_STORE},
	{"passes", "what the instruments of a pass cost the workload", COLUMNS(passes_columns),
	 passes_run, NEEDS_STORE},
	{"functions", "cost of each function: self, and with what it calls",
	 COLUMNS(functions_columns), functions_run, NEEDS_SOURCE},
	{"components", "cost of groups of functions: data copy, TCP/IP, skb, ...",
	 COLUMNS(components_columns), components_run, NEEDS_SOURCE},
	{"groups", "cost of your own groups of functions: --group 'alloc=build_skb,kmem_cache_*'",
	 COLUMNS(groups_columns), groups_run, NEEDS_SOURCE},
	{"hotspots", "cost of the instructions of a FUNCTION", COLUMNS(hotspots_columns),
	 hotspots_run, NEEDS_FUNCTION},
	{"contexts", "cost in user space, syscalls, softirq, hardirq", COLUMNS(contexts_columns),
	 contexts_run, NEEDS_SOURCE},
	{"modules", "cost in the kernel, its modules, programs and libraries",
	 COLUMNS(modules_columns), modules_run, NEEDS_SOURCE},
	{"syscalls", "calls, errors, times and sizes of system calls", COLUMNS(syscalls_columns),
	 syscalls_run, NEEDS_SOURCE},
	{"cpu", "how the side's CPUs spent the window; --by cpu, comm, process or thread",
	 COLUMNS(cpu_columns), cpu_run, NEEDS_STORE},
	{"roi", "scores: throughput^2 over CPU use, and over power", COLUMNS(roi_columns), roi_run,
	 NEEDS_SOURCE},
	{"scores", "what a byte cost: time, cycles, joules, system calls", COLUMNS(scores_columns),
	 scores_run, NEEDS_STORE},
	{"rates", "what a unit of work takes at a rate, and the difference: --rate A,B",
	 COLUMNS(rates_columns), rates_run, NEEDS_SOURCE},
	{"zerocopy", "was it zero copy: the evidence and a verdict", COLUMNS(zerocopy_columns),
	 zerocopy_run, NEEDS_STORE},
	{"host", "the hosts that were measured", COLUMNS(host_columns), host_run, NEEDS_STORE},
	{"topology", "packages, NUMA nodes, caches, network cards, and where the sides' CPUs lie",
	 COLUMNS(topology_columns), topology_run, NEEDS_STORE},
	{"counters", "hardware and software counters, and what follows from them",
	 COLUMNS(counters_columns), counters_run, NEEDS_SOURCE},
	{"power", "watts and joules by kind and domain, joules per GB, scores",
	 COLUMNS(power_columns), power_run, NEEDS_STORE},
	{"softnet", "packets processed, dropped and squeezed by the side's CPUs",
	 COLUMNS(softnet_columns), softnet_run, NEEDS_STORE},
	{"tcp", "the workload's sockets: rtt, cwnd, rates, retransmits, what limits them",
	 COLUMNS(tcp_columns), tcp_run, NEEDS_STORE},
	{"idle", "busy, idle, iowait, and the idle states that CPUs were in", COLUMNS(idle_columns),
	 idle_run, NEEDS_STORE},
	{"irq", "interrupts and softirqs: who, how often, on which CPUs", COLUMNS(irq_columns),
	 irq_run, NEEDS_STORE},
	{"nic", "what interfaces and their queues counted, and how they are set up",
	 COLUMNS(nic_columns), nic_run, NEEDS_SOURCE},
	{"snmp", "what the network stack counted: retransmits, drops, prunes, ...",
	 COLUMNS(snmp_columns), snmp_run, NEEDS_STORE},
	{"sizes", "how much each receive gave, and other histograms of the workload",
	 COLUMNS(family_columns), family_run, NEEDS_STORE},
	{"sched", "how long threads ran, and waited for a CPU (or --perf with sched events)",
	 COLUMNS(sched_columns), sched_run, NEEDS_SOURCE},
};

const struct measure *measure_at(size_t i)
{
	return i < array_size(measures) ? &measures[i] : NULL;
}

const struct measure *measure_find(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(measures); i++)
		if (!strcmp(measures[i].name, name))
			return &measures[i];
	return NULL;
}

bool measure_has_costs(const struct measure *m)
{
	return m->run == functions_run || m->run == components_run || m->run == groups_run ||
	       m->run == contexts_run || m->run == modules_run || m->run == hotspots_run;
}

bool measure_reads_tracepoints(const struct measure *m)
{
	return m->run == syscalls_run || m->run == sched_run;
}

int measure_run(const char *name, struct store *store, const struct query *q, struct table *t,
		struct error *err)
{
	const struct measure *m = measure_find(name);
	struct str names = {0};
	size_t i;
	int rc;

	table_init(t, m ? m->name : name, m ? m->columns : NULL, m ? m->ncolumns : 0);
	if (m && m->needs == NEEDS_STORE && !store)
		return error_set(err, EINVAL,
				 "table '%s' is made from a capture, not from a bare file", name);
	if (m) {
		rc = m->run(store, q, t, err);
		if (rc || !store)
			return rc;
		manner_say(store, measure_has_costs(m), t);
		return store_failed(store, err); /* what a statement left out is not absent */
	}
	for (i = 0; i < array_size(measures); i++)
		str_printf(&names, "%s%s", i ? " " : "", measures[i].name);
	rc = error_set(err, EINVAL, "no table '%s'; there are: %s", name, names.buf);
	str_free(&names);
	return rc;
}
