// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packets that the kernel dropped in the window: kfree_skb, which the kernel calls for no other
 * packets. The kernel's half, packets.bpf.c, counts. drops.tsv has a row for each reason, place and
 * socket:
 *
 *   whose reason location drops segments bytes
 *
 * whose: workload (one of its sockets), namespace (of its network namespace), or host. A socket
 * that opened and closed inside the window is not known as the workload's.
 */
#include "collect/packets/packets.h"

#ifdef HAVE_BPF

#include "lib/alloc.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <string.h>

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

static const char *drops_whose(const struct packets *p, const struct drop_key *key)
{
	if (key->socket && map_get(&p->sockets.pid_of, key->socket))
		return "workload";
	return key->netns == p->netns->id ? "namespace" : "host";
}

/* Adds a row for each key: what was dropped, or how long the kernel worked for it. */
static void drops_print_rows(struct str *s, const struct packets *p, bool times)
{
	int map = bpf_object__find_map_fd_by_name(p->obj, "drops");
	struct drop_key key, *before = NULL;
	struct drop_count n;

	for (; !bpf_map_get_next_key(map, before, &key); before = &key) {
		if (bpf_map_lookup_elem(map, &key, &n))
			continue;
		if (!times)
			str_printf(s, "%s\t", drops_whose(p, &key));
		drops_print_reason(s, p->btf, key.reason);
		str_printf(s, "\t0x%" PRIx64 "\t%" PRIu64, key.location, n.drops);
		if (times)
			str_printf(s, "\t%" PRIu64 "\n", n.ns);
		else
			str_printf(s, "\t%" PRIu64 "\t%" PRIu64 "\n", n.segments, n.bytes);
	}
}

static void drops_print(struct str *s, const struct packets *p)
{
	str_puts(s, "whose\treason\tlocation\tdrops\tsegments\tbytes\n");
	drops_print_rows(s, p, false);
}

void drop_times_print(struct str *s, const struct packets *p)
{
	str_puts(s, "reason\tlocation\tdrops\tns\n");
	drops_print_rows(s, p, true);
}

/* Looks for the workload's sockets, before the window and after it. */
static int drops_look(struct collect *c)
{
	packets_follow(c);
	tree_find_sockets(tree_of(c->run), &((struct packets *)c->data)->sockets);
	return 0;
}

static void drops_finish(struct collect *c)
{
	tree_sockets_report(c, &((struct packets *)c->data)->sockets);
	packets_finish(c, (packets_print *[]){drops_print});
}

#endif

const struct collector collector_drops = {
	.name = "drops",
	.what = "packets that the kernel dropped, by reason and place",
	.files = {"drops.tsv"},
	.passes = PASS_MEASURE,
	BPF_HOOKS(.prepare = packets_prepare, .before = drops_look, .start = packets_start,
		  .snap = packets_follow, .stop = packets_stop, .after = drops_look,
		  .finish = drops_finish),
};
