// SPDX-License-Identifier: GPL-2.0-only
#include "collect/packets/packets.h"

#include "lib/alloc.h"

#include <errno.h>

#ifdef HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

EMBED_BPF(packets);

/* Returns the number of arguments of the tracepoint kfree_skb, or 0. */
static uint32_t packets_arguments(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "btf_trace_kfree_skb", BTF_KIND_TYPEDEF);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	for (int i = 0; t && i < 2; i++) /* the typedef, and the pointer behind it */
		t = btf__type_by_id(btf, t->type);
	/* the first parameter is the caller's data */
	return t && btf_is_func_proto(t) && btf_vlen(t) ? btf_vlen(t) - 1U : 0;
}

/* Loads the programs that begin with the name, and attaches them. Returns 0 or -errno. */
static int packets_load(struct packets *p, const char *name)
{
	struct bpf_program *program;
	size_t len;
	int rc;

	p->btf = btf__load_vmlinux_btf();
	p->obj = OPEN_BPF(packets);
	if (!p->btf || !p->obj)
		return -errno;
	*(uint32_t *)bpf_map__initial_value(bpf_object__find_map_by_name(p->obj, ".rodata"), &len) =
		packets_arguments(p->btf);
	bpf_object__for_each_program(program, p->obj)
		bpf_program__set_autoload(program, str_starts(bpf_program__name(program), name));
	rc = bpf_object__load(p->obj);
	if (rc)
		return rc;
	p->control = bpf_map_memory(p->obj, ".bss", sizeof(*p->control));
	return p->control ? 0 : -errno;
}

int packets_prepare(struct collect *c)
{
	struct packets *p = xcalloc(1, sizeof(*p));
	int rc = bpf_begin(&c->err) ?: packets_load(p, c->is->name);

	c->data = p;
	p->netns = &c->netns;
	return bpf_ready(c, &p->links, p->obj, NULL, rc);
}

int packets_follow(struct collect *c)
{
	netns_enter(c, NULL, NULL);
	return 0;
}

int packets_start(struct collect *c)
{
	((struct packets *)c->data)->control->on = 1;
	return 0;
}

int packets_stop(struct collect *c)
{
	((struct packets *)c->data)->control->on = 0;
	return 0;
}

void packets_finish(struct collect *c, packets_print *const print[])
{
	autofree struct packets *p = c->data;
	freed(str_free) struct str s = {0};

	if (c->run->end_ns && c->off.from) {
		for (size_t i = 0; c->is->files[i]; i++) {
			str_reset(&s);
			print[i](&s, p);
			collect_write(c, c->is->files[i], &s);
		}
		c->lost = (int64_t)p->control->lost;
		if (c->lost)
			collect_degraded(c, "%lld packets had no room to be counted in",
					 (long long)c->lost);
	}
	bpf_links_free(&p->links);
	bpf_object__close(p->obj);
	btf__free(p->btf);
	map_free(&p->sockets.pid_of);
}

#endif
