// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packets that the kernel dropped in the window: kfree_skb, which the kernel calls for no other
 * packets. The kernel's half, drops.bpf.c, counts. drops.tsv has a row for each reason, place and
 * socket:
 *
 *   whose reason location drops segments bytes
 *
 * whose: workload (one of its sockets), namespace (of its network namespace), or host. A socket
 * that opened and closed inside the window is not known as the workload's.
 */
#include "collect/drops/drops.h"

#include "collect/bpf.h"
#include "collect/collect.h"
#include "collect/run/run.h"
#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>

__asm__(".section .rodata\n"
	".balign 16\n"
	"zcost_drops_bpf: .incbin \"" BPF_DROPS "\"\n"
	"zcost_drops_bpf_end:\n"
	".previous\n");
extern const char zcost_drops_bpf[], zcost_drops_bpf_end[];

/* As the kernel's program has it. */
struct control {
	uint32_t on, pad;
	uint64_t lost;
};

struct drops {
	struct bpf_object *obj;
	struct bpf_link *link;
	struct btf *btf; /* the kernel's types */
	volatile struct control *control;
	struct netns netns;
	struct tree_sockets sockets;
};

/* --- the kernel's types --- */

/* Returns the number of the tracepoint's arguments, or 0. */
static uint32_t drops_arguments(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "btf_trace_kfree_skb", BTF_KIND_TYPEDEF);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	for (int i = 0; t && i < 2; i++) /* the typedef, and the pointer behind it */
		t = btf__type_by_id(btf, t->type);
	/* the first parameter is the caller's data */
	return t && btf_is_func_proto(t) && btf_vlen(t) ? btf_vlen(t) - 1U : 0;
}

/* Adds the kernel's name of a reason, "NO_SOCKET". A reason without a name is its number. */
static void drops_print_reason(struct str *s, const struct btf *btf, uint32_t reason)
{
	static const char prefix[] = "SKB_DROP_REASON_";
	int id = btf__find_by_name_kind(btf, "skb_drop_reason", BTF_KIND_ENUM);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	const struct btf_enum *e = t ? btf_enum(t) : NULL;
	const char *name = NULL;

	for (uint32_t i = 0; t && i < btf_vlen(t) && !name; i++)
		if ((uint32_t)e[i].val == reason)
			name = btf__str_by_offset(btf, e[i].name_off);
	if (name)
		str_puts(s, str_starts(name, prefix) ? name + strlen(prefix) : name);
	else
		str_printf(s, "0x%x", reason);
}

/* --- the program --- */

static int drops_load(struct drops *d)
{
	struct bpf_map *map;
	uint32_t *arguments;
	size_t len;
	int rc;

	d->btf = btf__load_vmlinux_btf();
	d->obj = bpf_object__open_mem(zcost_drops_bpf,
				      (size_t)(zcost_drops_bpf_end - zcost_drops_bpf), NULL);
	if (!d->btf || !d->obj)
		return -errno;
	map = bpf_object__find_map_by_name(d->obj, ".rodata");
	arguments = (uint32_t *)bpf_map__initial_value(map, &len);
	*arguments = drops_arguments(d->btf);
	rc = bpf_object__load(d->obj);
	if (rc)
		return rc;
	map = bpf_object__find_map_by_name(d->obj, ".bss");
	d->control = mmap(NULL, sizeof(*d->control), PROT_READ | PROT_WRITE, MAP_SHARED,
			  bpf_map__fd(map), 0);
	if (d->control == MAP_FAILED)
		return -errno;
	d->link = bpf_program__attach(bpf_object__find_program_by_name(d->obj, "on_drop"));
	return d->link ? 0 : -errno;
}

/* --- drops.tsv --- */

static const char *drops_whose(const struct drops *d, const struct drop_key *key)
{
	if (key->socket && map_get(&d->sockets.pid_of, key->socket))
		return "workload";
	return key->netns == d->netns.id ? "namespace" : "host";
}

static void drops_print(struct str *s, const struct drops *d)
{
	int map = bpf_object__find_map_fd_by_name(d->obj, "places");
	struct drop_key key, *before = NULL;
	struct drop_count n;

	str_puts(s, "whose\treason\tlocation\tdrops\tsegments\tbytes\n");
	for (; !bpf_map_get_next_key(map, before, &key); before = &key) {
		if (bpf_map_lookup_elem(map, &key, &n))
			continue;
		str_printf(s, "%s\t", drops_whose(d, &key));
		drops_print_reason(s, d->btf, key.reason);
		str_printf(s, "\t0x%" PRIx64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
			   key.location, n.drops, n.segments, n.bytes);
	}
}

/* --- the collector --- */

static int drops_prepare(struct collect *c)
{
	struct drops *d = xcalloc(1, sizeof(*d));
	int rc = bpf_begin(&c->err);

	c->data = d;
	netns_init(&d->netns);
	if (rc)
		return rc;
	rc = drops_load(d);
	return rc ? bpf_refused(-rc, &c->err) : 0;
}

static int drops_follow(struct collect *c)
{
	netns_enter(&((struct drops *)c->data)->netns, c, NULL, NULL);
	return 0;
}

/* Looks for the workload's sockets, before the window and after it. */
static int drops_look(struct collect *c)
{
	struct drops *d = c->data;

	drops_follow(c);
	tree_find_sockets(tree_of(c->run), &d->sockets);
	return 0;
}

static int drops_start(struct collect *c)
{
	((struct drops *)c->data)->control->on = 1;
	return 0;
}

static int drops_stop(struct collect *c)
{
	((struct drops *)c->data)->control->on = 0;
	return 0;
}

static void drops_finish(struct collect *c)
{
	autofree struct drops *d = c->data;
	freed(str_free) struct str s = {0};

	if (c->run->end_ns && c->off.from) {
		drops_print(&s, d);
		collect_write(c, c->is->files[0], &s);
		tree_sockets_report(c, &d->sockets);
		c->lost = (int64_t)d->control->lost;
		if (c->lost)
			collect_degraded(c, "%lld drops had no room: too many places and sockets",
					 (long long)c->lost);
	}
	bpf_link__destroy(d->link);
	bpf_object__close(d->obj);
	btf__free(d->btf);
	map_free(&d->sockets.pid_of);
	netns_close(&d->netns);
}

#else

static int drops_prepare(struct collect *c)
{
	return error_set(&c->err, ENOSYS, "this zcost was built without clang, so without BPF");
}

#endif

const struct collector collector_drops = {
	.name = "drops",
	.what = "packets that the kernel dropped, by reason and place",
	.files = {"drops.tsv"},
	.passes = PASS_MEASURE,
	.prepare = drops_prepare,
#ifdef HAVE_BPF
	.before = drops_look,
	.start = drops_start,
	.snap = drops_follow,
	.stop = drops_stop,
	.after = drops_look,
	.finish = drops_finish,
#endif
};
