// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a packet of the workload spends its time in the kernel. The kernel's half, path.bpf.c,
 * follows one in N packets and adds up their times. A packet's weight is how many packets of the
 * window it stands for. For each way and stage, path.tsv has these rows:
 *
 *   bucket  weight of the packets whose time was from from_ns to below to_ns
 *   ns      sum of the times, each counted by its packet's weight
 *   passed  packets that took time in the stage
 *   left    packets that were last seen in it
 *
 * and for each way, without a stage: followed (packets, to their end), weight, segments and bytes
 * (by weight). Without a way: full, others (packets that found no slot; packets that another
 * program took).
 */
#include "collect/path/path.h"

#include "collect/bpf.h"
#include "collect/collect.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"

#include <errno.h>
#include <inttypes.h>

#ifdef HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>

EMBED_BPF(path);

struct path {
	struct bpf_object *obj;
	struct path_shared *shared; /* the programs change it */
	struct bpf_links links;
	struct str missing; /* tracepoints that this kernel does not have */
	uint64_t since_ns;  /* the present part of the window began; 0: no program is attached */
	uint64_t attached_ns;
	uint64_t on_ns;	    /* the choice of packets began */
	uint64_t chosen_ns; /* the time for which the packets chosen before that stand */
	unsigned int tries; /* how often the present part has waited for its last packets */
	struct prng random;
	bool few;      /* packets were few at the last turn */
	double weight; /* the packets of the window for which a weight of 1 stands */
};

/* Leaves out the programs whose tracepoint does not exist. */
static void path_choose(struct path *p, const struct btf *btf)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, p->obj)
	{
		const char *name = strchr(bpf_program__section_name(program), '/') + 1;
		autofree char *type = xasprintf("btf_trace_%s", name);

		if (btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0)
			continue;
		bpf_program__set_autoload(program, false);
		str_printf(&p->missing, " %s", name);
	}
}

static int path_load(struct path *p)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int rc;

	p->obj = OPEN_BPF(path);
	if (!btf || !p->obj)
		return -errno;
	path_choose(p, btf);
	btf__free(btf);
	rc = bpf_object__load(p->obj);
	if (rc)
		return rc;
	p->shared = bpf_map_memory(p->obj, ".bss", sizeof(*p->shared));
	if (!p->shared)
		return -errno;
	p->shared->no_ready = p->missing.len && strstr(p->missing.buf, " sk_data_ready");
	return 0;
}

static int path_prepare(struct collect *c)
{
	struct path *p = c->data = xcalloc(1, sizeof(*p));
	int rc;

	prng_seed(&p->random, clock_mono_ns());
	rc = bpf_begin(&c->err) ?: bpf_check_pids(&c->err) ?: path_load(p);

	return bpf_ready(c, &p->links, p->obj, NULL, rc);
}

/* Tells the programs the network namespace of a process. */
static void path_add_netns(struct collect *c, struct path_shared *shared, uint32_t pid)
{
	autofree char *path = xasprintf("/proc/%u/ns/net", pid);
	struct stat st;

	if (stat(path, &st)) /* the process has ended */
		return;
	for (size_t i = 0; i < PATH_NETNS; i++)
		if (!shared->netns[i] || shared->netns[i] == st.st_ino) {
			shared->netns[i] = (uint32_t)st.st_ino;
			return;
		}
	collect_degraded(c,
			 "the workload has more than %d network namespaces: packets that arrive in "
			 "the others are not followed",
			 PATH_NETNS);
}

/* Tells the programs the workload's processes of now. */
static int path_look(struct collect *c)
{
	struct path *p = c->data;
	const struct tree *tree = tree_of(c->run);
	int map = bpf_object__find_map_fd_by_name(p->obj, "processes");
	const uint8_t yes = 1;

	for (size_t i = 0; i < tree->nprocesses; i++) {
		uint32_t pid = (uint32_t)tree->processes[i].pid;

		path_add_netns(c, p->shared, pid);
		if (bpf_map_update_elem(map, &pid, &yes, BPF_ANY))
			collect_degraded(c,
					 "the workload has more than %d processes: packets of the "
					 "others are not followed",
					 PATH_PROCESSES);
	}
	return 0;
}

/*
 * A tracepoint costs more than the program on it, even if the program has nothing to do. So where
 * packets are many, the programs are attached in parts of the window. The first part begins with
 * the window, and each later one at a random time. No part ends while a packet is on its way,
 * because then the long times would be missing.
 */
enum {
	PART = 80000000, /* ns */
	PAUSE = 12,	 /* at least so many times as long as a part; at most twice that */
	SCALE = 1 + PAUSE + PAUSE / 2, /* a part and the pause behind it, on average / the part */
	FEW = 4,		       /* up to this N, the programs stay attached */
	TRY = 5000000, /* a part waits this long for its last packets, at most TRIES times */
	TRIES = 20,
};

/* Switches the choice of packets on or off. From now on, a chosen packet counts `scale` times. */
static void path_switch(struct path *p, bool on, uint32_t scale)
{
	uint64_t now = clock_mono_ns();

	if (p->shared->on)
		p->chosen_ns += (now - p->on_ns) * p->shared->scale;
	p->on_ns = now;
	p->shared->scale = scale;
	__atomic_store_n(&p->shared->on, on, __ATOMIC_SEQ_CST);
}

static void path_open(struct collect *c, uint32_t scale)
{
	struct path *p = c->data;

	path_switch(p, true, scale);
	p->since_ns = p->on_ns;
	c->turn_ns = p->since_ns + PART;
}

static int path_start(struct collect *c)
{
	path_open(c, 1);
	return 0;
}

/* Forgets the processes, and the packets that were chosen as the last part ended. */
static void path_clear(const struct path *p)
{
	int map = bpf_object__find_map_fd_by_name(p->obj, "processes");
	struct path_shared *shared = p->shared;
	uint32_t pid;

	while (!bpf_map_get_next_key(map, NULL, &pid) && !bpf_map_delete_elem(map, &pid))
		;
	for (struct path_slot *s = shared->slots; s < shared->slots + PATH_SLOTS; s++) {
		if (s->stage && s->stage < PATH_STAGES)
			shared->stages[s->stage].left++;
		*s = (struct path_slot){0};
	}
	memset(shared->in, 0, sizeof(shared->in));
	for (size_t way = 0; way < PATH_WAYS; way++) {
		shared->choice[way].since = clock_mono_ns();
		shared->choice[way].chosen = 0;
	}
	shared->part++;
}

static void path_detach(struct collect *c)
{
	bpf_links_free(&((struct path *)c->data)->links);
	c->programs = NULL;
}

static int path_begin_part(struct collect *c)
{
	struct path *p = c->data;
	int rc;

	c->turn_ns = UINT64_MAX; /* no part comes after one that cannot begin */
	if (c->run->until_ns && c->run->until_ns < clock_mono_ns() + PART)
		return 0;
	path_clear(p);
	rc = bpf_ready(c, &p->links, p->obj, NULL, 0) ?: path_look(c);
	if (rc)
		path_detach(c);
	else
		path_open(c, SCALE);
	return rc;
}

static bool path_is_empty(const struct path_shared *p)
{
	uint64_t slots = 0;

	for (uint32_t stage = PATH_FREE + 1; stage < PATH_STAGES; stage++)
		slots |= p->in[stage];
	return !slots;
}

static void path_end_part(struct collect *c)
{
	struct path *p = c->data;
	uint64_t now = clock_mono_ns(), part = now - p->since_ns;

	path_detach(c);
	p->attached_ns += part;
	p->since_ns = 0;
	if (part > PART + TRIES * TRY) /* it waited, or packets were few */
		part = PART + TRIES * TRY;
	c->turn_ns = now + PAUSE * part + prng_below(&p->random, PAUSE * part);
}

static int path_turn(struct collect *c)
{
	struct path *p = c->data;
	struct path_shared *shared = p->shared;
	const bool few =
		shared->choice[PATH_RECEIVE].n <= FEW && shared->choice[PATH_SEND].n <= FEW;

	if (!p->since_ns)
		return path_begin_part(c);
	if (!shared->on && path_is_empty(shared)) {
		path_end_part(c);
		return 0;
	}
	c->turn_ns = clock_mono_ns() + PART;
	if (shared->on && (few || p->few)) {
		p->few = few;
		path_switch(p, true, few ? 1 : SCALE); /* a stream that became fast begins a part */
		return 0;
	}
	p->tries = shared->on ? 0 : p->tries + 1;
	path_switch(p, p->tries >= TRIES, shared->scale);
	if (!shared->on)
		c->turn_ns = clock_mono_ns() + TRY;
	return 0;
}

static int path_stop(struct collect *c)
{
	double window = (double)(c->off.from - c->on.from);
	struct path *p = c->data;

	path_switch(p, false, p->shared->scale);
	if (p->since_ns)
		p->attached_ns += p->on_ns - p->since_ns;
	collect_info_int(c, "attached_ns", (int64_t)p->attached_ns);
	c->cost.timed_ns = (uint64_t)((double)c->cost.timed_ns * window / (double)p->attached_ns);
	p->weight = window / (double)p->chosen_ns / PATH_WEIGHT;
	return 0;
}

static const char *const ways[PATH_WAYS] = {"receive", "send"};

#define STAGE_NAME(id, name) name,
static const char *const stages[PATH_STAGES] = {PATH_LIST(STAGE_NAME)};

static void path_print_row(struct str *s, const char *way, const char *stage, const char *what,
			   double value)
{
	str_printf(s, "%s\t%s\t%s\t\t\t%.15g\n", way, stage, what, value);
}

static void path_print_stage(struct str *s, const struct path_shared *p, double weight,
			     uint32_t stage)
{
	const char *way = ways[stage > PATH_RECEIVED], *name = stages[stage];
	const struct path_stage_sums *sums = &p->stages[stage];

	path_print_row(s, way, name, "passed", sums->passed);
	path_print_row(s, way, name, "left", /* also the packets that are still on their way */
		       sums->left + (uint64_t)__builtin_popcountll(p->in[stage]));
	path_print_row(s, way, name, "ns", (double)sums->ns * weight);
	for (uint32_t i = 0; i < PATH_BUCKETS; i++)
		if (sums->hist[i])
			str_printf(s, "%s\t%s\tbucket\t%" PRIu64 "\t%" PRIu64 "\t%.15g\n", way,
				   name, path_bucket_start(i), path_bucket_start(i + 1),
				   (double)sums->hist[i] * weight);
}

static void path_print(struct str *s, const struct path_shared *p, double weight)
{
	str_puts(s, "way\tstage\twhat\tfrom_ns\tto_ns\tvalue\n");
	for (size_t way = 0; way < PATH_WAYS; way++) {
		path_print_row(s, ways[way], "", "followed", p->ways[way].followed);
		path_print_row(s, ways[way], "", "weight", (double)p->ways[way].weight * weight);
		path_print_row(s, ways[way], "", "segments",
			       (double)p->ways[way].segments * weight);
		path_print_row(s, ways[way], "", "bytes", (double)p->ways[way].bytes * weight);
	}
	path_print_row(s, "", "", "full", p->full);
	path_print_row(s, "", "", "others", p->others);
	for (uint32_t stage = PATH_FREE + 1; stage < PATH_STAGES; stage++)
		path_print_stage(s, p, weight, stage);
}

static void path_finish(struct collect *c)
{
	autofree struct path *p = c->data;
	freed(str_free) struct str s = {0};

	if (c->run->end_ns && c->off.from) {
		path_print(&s, p->shared, p->weight);
		collect_write(c, "path.tsv", &s);
		if (p->missing.len)
			collect_degraded(c, "this kernel has no tracepoint%s", p->missing.buf);
	}
	bpf_links_free(&p->links);
	str_free(&p->missing);
	bpf_object__close(p->obj);
}

#endif

const struct collector collector_path = {
	.name = "path",
	.what = "the way of TCP packets through the kernel, with the time of each stage",
	.files = {"path.tsv"},
	.passes = PASS_TRACE,
	BPF_HOOKS(.prepare = path_prepare, .before = path_look, .start = path_start,
		  .snap = path_look, .turn = path_turn, .stop = path_stop, .finish = path_finish),
};
