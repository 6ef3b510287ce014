// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much the kernel handles at once: packets in a poll of NAPI, segments in an aggregate (GSO,
 * GRO). The kernel's half, packets.bpf.c, counts. batches.tsv has a row for each CPU and interface:
 *
 *   cpu netns interface kind batches segments bytes full id
 *
 * A poll has no bytes, and no other kind has a budget.
 * drop_times.tsv says how long the kernel worked for packets before it dropped them. Each CPU times
 * one in 7 of the packets that it receives. A row is a reason and a place:
 *
 *   reason location drops ns
 *
 * pools.tsv has such rows for page pools: `batches` counts pages that the pool `id` got from the
 * allocator and gave back. A recycled page does neither.
 * netns: host or workload; interfaces of other namespaces have no row. The queue of a CPU (RPS,
 * loopback, veth) is no interface: it has neither.
 */
#include "collect/packets/packets.h"

#ifdef HAVE_BPF

#include "lib/alloc.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>

static const char *const kinds[BATCH_KINDS] = {"poll", "receive", "transmit", "held", "released"};

/* Returns NULL for a namespace that is neither. */
static const char *batches_netns(const struct packets *p, uint32_t netns)
{
	return !netns				 ? ""
	       : netns == p->netns->ours	 ? "host"
	       : netns == (uint32_t)p->netns->id ? "workload"
						 : NULL;
}

static void batches_print_row(struct str *s, const struct packets *p, int cpu,
			      const struct batch_count *n)
{
	const char *netns = batches_netns(p, (uint32_t)(n->key >> 32));
	uint32_t kind = (n->key & ((1 << BATCH_KIND_BITS) - 1)) - 1;

	if (!netns || !n->batches)
		return;
	str_printf(s, "%d\t%s\t%.16s\t%s\t%" PRIu64 "\t%" PRIu64, cpu, netns, n->name, kinds[kind],
		   n->batches, n->segments);
	str_printf(s, kind == BATCH_POLL ? "\t\t%" PRIu64 "\t%u\n" : "\t%" PRIu64 "\t\t%u\n",
		   kind == BATCH_POLL ? n->full : n->bytes, (uint32_t)n->key >> BATCH_KIND_BITS);
}

static void batches_print(struct str *s, const struct packets *p)
{
	int map = bpf_object__find_map_fd_by_name(p->obj, "batches"),
	    ncpus = libbpf_num_possible_cpus();
	autofree struct batch_count *n = xcalloc((size_t)ncpus, sizeof(*n));

	str_puts(s, "cpu\tnetns\tinterface\tkind\tbatches\tsegments\tbytes\tfull\tid\n");
	for (uint32_t i = 0; i < PACKETS_BATCHES; i++)
		for (int cpu = bpf_map_lookup_elem(map, &i, n) ? ncpus : 0; cpu < ncpus; cpu++)
			batches_print_row(s, p, cpu, &n[cpu]);
}

static void batches_finish(struct collect *c)
{
	packets_finish(c, (packets_print *[]){batches_print, drop_times_print});
}

#endif

#define BATCHES_HOOKS                                                                           \
	BPF_HOOKS(.prepare = packets_prepare, .before = packets_follow, .start = packets_start, \
		  .snap = packets_follow, .stop = packets_stop, .after = packets_follow,        \
		  .finish = batches_finish)

const struct collector collector_batches = {
	.name = "batches",
	.what = "packets in a poll of NAPI, segments in an aggregate",
	.files = {"batches.tsv", "drop_times.tsv"},
	.passes = PASS_SYSCALLS,
	BATCHES_HOOKS,
};

const struct collector collector_pools = {
	.name = "pools",
	.what = "pages that page pools got from the allocator, and gave back",
	.files = {"pools.tsv"},
	.passes = PASS_SYSCALLS,
	BATCHES_HOOKS,
};
