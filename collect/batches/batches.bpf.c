// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts what the kernel handles at once, while the window is open. Each program runs once for a
 * poll or a packet, so it reads as little as possible.
 */
#include "collect/batches/batches.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define KERNEL __attribute__((preserve_access_index))

struct ns_common {
	unsigned int inum;
} KERNEL;

struct net {
	struct ns_common ns;
} KERNEL;

typedef struct {
	struct net *net;
} KERNEL possible_net_t;

struct net_device {
	char name[16];
	int ifindex;
	possible_net_t nd_net;
} KERNEL;

struct napi_struct {
	struct net_device *dev;
} KERNEL;

struct sk_buff {
	struct net_device *dev;
	unsigned int len;
	unsigned int end;
	unsigned char *head;
} KERNEL;

struct skb_shared_info {
	unsigned short gso_size, gso_segs;
} KERNEL;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, BATCHES_PLACES);
	__type(key, struct batch_key);
	__type(value, struct batch_count);
} places SEC(".maps");

struct {
	uint32_t on;
	uint32_t pad;
	uint64_t lost; /* batches without a place in the map */
} control;

static __noinline void place_add(const struct batch_key *key, struct net_device *dev)
{
	struct batch_count first = {0};

	if (dev)
		bpf_probe_read_kernel_str(first.name, sizeof(first.name), dev->name);
	bpf_map_update_elem(&places, key, &first, BPF_ANY);
}

static __always_inline struct batch_count *place_find(uint32_t kind, struct net_device *dev)
{
	struct batch_key key = {.kind = kind};
	struct batch_count *count;

	if (!control.on)
		return 0;
	if (dev) {
		key.netns = dev->nd_net.net->ns.inum;
		key.interface = dev->ifindex;
	}
	count = bpf_map_lookup_elem(&places, &key);
	if (count && count->batches)
		return count;
	place_add(&key, dev);
	count = bpf_map_lookup_elem(&places, &key);
	if (!count)
		__sync_fetch_and_add(&control.lost, 1);
	return count;
}

static __always_inline uint32_t packet_segments(struct sk_buff *skb, uint32_t len)
{
	struct skb_shared_info *info = (void *)(skb->head + skb->end);
	uint32_t size = BPF_CORE_READ(info, gso_size), segments;

	if (!size)
		return 1;
	segments = BPF_CORE_READ(info, gso_segs);
	return segments ? segments : (len + size - 1) / size;
}

static __always_inline int packet_add(uint32_t kind, struct sk_buff *skb, struct net_device *dev)
{
	struct batch_count *count = place_find(kind, dev);
	uint32_t len;

	if (!count)
		return 0;
	len = skb->len;
	count->batches++;
	count->segments += packet_segments(skb, len);
	count->bytes += len;
	return 0;
}

/* napi, work, budget */
SEC("tp_btf/napi_poll")
int on_poll(uint64_t *ctx)
{
	struct napi_struct *napi = (void *)ctx[0];
	struct batch_count *count = place_find(BATCH_POLL, napi->dev);
	uint32_t work = (uint32_t)ctx[1], budget = (uint32_t)ctx[2];

	if (!count)
		return 0;
	count->batches++;
	count->segments += work;
	count->full += work >= budget;
	return 0;
}

/* skb */
SEC("tp_btf/netif_receive_skb")
int on_receive(uint64_t *ctx)
{
	struct sk_buff *skb = (void *)ctx[0];

	return packet_add(BATCH_RECEIVE, skb, skb->dev);
}

/* skb, dev */
SEC("tp_btf/net_dev_start_xmit")
int on_transmit(uint64_t *ctx)
{
	return packet_add(BATCH_TRANSMIT, (void *)ctx[0], (void *)ctx[1]);
}

char LICENSE[] SEC("license") = "GPL";
