// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/narrow.h"

#include "lib/alloc.h"

#include <string.h>

/* THE TABLE: columns that a table can spare, the least missed first. Costs and evidence are never
 * among them; "value_lo" is the interval of a value. */
static const struct {
	const char *table, *least;
} spared[] = {
	{"summary", "runs power_source"},
	{"runs", "end_ns start_ns host position cpus"},
	{"functions", "samples total_share dso self_share"},
	{"components", "samples self_share"},
	{"contexts", "samples self_share"},
	{"modules", "samples self_share"},
	{"groups", "samples total_share self_share"},
	{"hotspots", "samples dso self_share symbol"},
	{"syscalls", "stddev_pct min_ms p50_ms bytes_per_call total_ms"},
	{"cpu", "runs iowait_pct steal_pct"},
	{"sched", "max_end_s max_start_s"},
	{"counters", "mean runs value_lo running_pct"},
	{"power", "runs energy_j source"},
	{"softnet", "runs"},
	{"irq", "runs count"},
	{"snmp", "runs count per_mib"},
	{"nic", "runs count source"},
	{"idle", "runs source"},
	{"tcp",
	 "runs pacing_gbps rcv_space_kib rttvar_us ssthresh retrans_kib rmem_kib wmem_kib mss "
	 "rcv_rtt_us retrans_per_gb busy_pct out_of_order drops sndbuf_limited_pct "
	 "rwnd_limited_pct min_rtt_us congestion peer local acked_mb received_mb"},
	{"sizes", "runs"},
	{"scores", "runs better"},
	{"roi", "runs power_source"},
	{"compare metrics", "base_runs new_runs better"},
	{"compare functions", "state dso"},
	{"compare components", "state"},
	{"compare contexts", "state"},
	{"compare modules", "state"},
	{"compare groups", "state base_total_ns new_total_ns"},
	{"compare syscalls", "state delta_calls"},
	{"compare waterfall", "state"},
	{"compare self-test", "base_runs new_runs nominal_pct rows"},
};

void narrow_columns(struct table *t)
{
	size_t i;

	for (i = 0; i < array_size(spared); i++)
		if (t->name && !strcmp(t->name, spared[i].table))
			t->least = spared[i].least;
}
