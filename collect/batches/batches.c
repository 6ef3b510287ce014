// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much the kernel handles at once: packets in a poll of NAPI, segments in an aggregate (GSO,
 * GRO). The kernel's half, batches.bpf.c, counts. batches.tsv has a row for each CPU and interface:
 *
 *   cpu netns interface kind batches segments bytes full
 *
 * A poll has no bytes, and no other kind has a budget.
 * netns: host or workload; interfaces of other namespaces have no row. The queue of a CPU (RPS,
 * loopback, veth) is no interface: it has neither.
 */
#include "collect/batches/batches.h"

#include "collect/bpf.h"
#include "collect/collect.h"
#include "collect/run/run.h"
#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#ifdef HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>

__asm__(".section .rodata\n"
	".balign 16\n"
	"zcost_batches_bpf: .incbin \"" BPF_BATCHES "\"\n"
	"zcost_batches_bpf_end:\n"
	".previous\n");
extern const char zcost_batches_bpf[], zcost_batches_bpf_end[];

/* As the kernel's program has it. */
struct control {
	uint32_t on, pad;
	uint64_t lost;
};

struct batches {
	struct bpf_object *obj;
	struct bpf_link *links[BATCH_KINDS];
	volatile struct control *control;
	struct netns netns;
};

static int batches_load(struct batches *b)
{
	struct bpf_program *p;
	size_t n = 0;
	int rc;

	b->obj = bpf_object__open_mem(zcost_batches_bpf,
				      (size_t)(zcost_batches_bpf_end - zcost_batches_bpf), NULL);
	if (!b->obj)
		return -errno;
	rc = bpf_object__load(b->obj);
	if (rc)
		return rc;
	b->control = mmap(NULL, sizeof(*b->control), PROT_READ | PROT_WRITE, MAP_SHARED,
			  bpf_object__find_map_fd_by_name(b->obj, ".bss"), 0);
	if (b->control == MAP_FAILED)
		return -errno;
	bpf_object__for_each_program(p, b->obj)
	{
		b->links[n] = bpf_program__attach(p);
		if (!b->links[n++])
			return -errno;
	}
	return 0;
}

/* --- batches.tsv --- */

static const char *const kinds[BATCH_KINDS] = {"poll", "receive", "transmit"};

/* Returns NULL for a namespace that is neither. */
static const char *batches_netns(const struct batches *b, uint32_t netns)
{
	return !netns				? ""
	       : netns == b->netns.ours		? "host"
	       : netns == (uint32_t)b->netns.id ? "workload"
						: NULL;
}

static void batches_print(struct str *s, const struct batches *b)
{
	int map = bpf_object__find_map_fd_by_name(b->obj, "places"),
	    ncpus = libbpf_num_possible_cpus();
	struct batch_count *n = xcalloc((size_t)ncpus, sizeof(*n));
	struct batch_key key, *before = NULL;
	const char *netns;

	str_puts(s, "cpu\tnetns\tinterface\tkind\tbatches\tsegments\tbytes\tfull\n");
	for (; !bpf_map_get_next_key(map, before, &key); before = &key) {
		netns = batches_netns(b, key.netns);
		if (!netns || bpf_map_lookup_elem(map, &key, n))
			continue;
		for (int cpu = 0; cpu < ncpus; cpu++) {
			if (!n[cpu].batches)
				continue;
			str_printf(s, "%d\t%s\t%.16s\t%s\t%" PRIu64 "\t%" PRIu64, cpu, netns,
				   n[cpu].name, kinds[key.kind], n[cpu].batches, n[cpu].segments);
			str_printf(s,
				   key.kind == BATCH_POLL ? "\t\t%" PRIu64 "\n"
							  : "\t%" PRIu64 "\t\n",
				   key.kind == BATCH_POLL ? n[cpu].full : n[cpu].bytes);
		}
	}
	free(n);
}

/* --- the collector --- */

static int batches_prepare(struct collect *c)
{
	struct batches *b = xcalloc(1, sizeof(*b));
	int rc = bpf_begin(&c->err);

	c->data = b;
	netns_init(&b->netns);
	if (rc)
		return rc;
	rc = batches_load(b);
	return rc ? bpf_refused(-rc, &c->err) : 0;
}

static int batches_look(struct collect *c)
{
	netns_enter(&((struct batches *)c->data)->netns, c, NULL, NULL);
	return 0;
}

static int batches_start(struct collect *c)
{
	((struct batches *)c->data)->control->on = 1;
	return 0;
}

static int batches_stop(struct collect *c)
{
	((struct batches *)c->data)->control->on = 0;
	return 0;
}

static void batches_finish(struct collect *c)
{
	autofree struct batches *b = c->data;
	freed(str_free) struct str s = {0};

	if (c->run->end_ns && c->off.from) {
		batches_print(&s, b);
		collect_write(c, c->is->files[0], &s);
		c->lost = (int64_t)b->control->lost;
		if (c->lost)
			collect_degraded(c, "%lld batches had no room: too many interfaces",
					 (long long)c->lost);
	}
	for (size_t i = 0; i < BATCH_KINDS; i++)
		bpf_link__destroy(b->links[i]);
	bpf_object__close(b->obj);
	netns_close(&b->netns);
}

#else

static int batches_prepare(struct collect *c)
{
	return error_set(&c->err, ENOSYS, "this zcost was built without clang, so without BPF");
}

#endif

const struct collector collector_batches = {
	.name = "batches",
	.what = "packets in a poll of NAPI, segments in an aggregate",
	.files = {"batches.tsv"},
	.passes = PASS_SYSCALLS,
	.prepare = batches_prepare,
#ifdef HAVE_BPF
	.before = batches_look,
	.start = batches_start,
	.snap = batches_look,
	.stop = batches_stop,
	.after = batches_look,
	.finish = batches_finish,
#endif
};
