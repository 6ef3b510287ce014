// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the packets that the kernel drops, by reason, place and socket, and how many it handles at
 * once. Nothing is sent: user space reads the maps after the window. The programs of batches run
 * for each poll and packet, so they read as little as possible.
 */
#include "collect/packets/packets.h"

// clang-format off
struct nsproxy { struct net *net_ns; } KERNEL;

struct inode { unsigned long i_ino; } KERNEL;
struct socket { int state; } KERNEL;
struct socket_alloc { struct socket socket; struct inode vfs_inode; } KERNEL;

struct napi_struct { struct net_device *dev; } KERNEL;
struct kobject { const char *name; } KERNEL;
struct device { struct kobject kobj; } KERNEL;
struct page_pool_params_fast { struct device *dev; } KERNEL;
struct page_pool_params_slow { struct net_device *netdev; } KERNEL;
struct page_pool_user { unsigned int id; } KERNEL;
struct page_pool { struct page_pool_params_fast p; struct page_pool_params_slow slow; struct page_pool_user user;
	unsigned int xdp_mem_id; } KERNEL;
// clang-format on

enum { TCP_TIME_WAIT = 6, TCP_NEW_SYN_RECV = 12 }; /* such a struct sock ends before sk_socket */

struct packets_control control;

/* --- drops --- */

MAP(drops, HASH, PACKETS_DROPS, struct drop_key, struct drop_count, 0);

/* The arguments of the tracepoint: 3 since Linux 5.17 (a reason), 4 since 6.11 (a socket). */
const volatile uint32_t arguments;

static __always_inline uint64_t socket_inode(struct sock *sk)
{
	unsigned char state = BPF_CORE_READ(sk, __sk_common.skc_state);
	struct socket *socket;

	if (state == TCP_TIME_WAIT || state == TCP_NEW_SYN_RECV)
		return 0;
	socket = BPF_CORE_READ(sk, sk_socket);
	return socket ? BPF_CORE_READ((struct socket_alloc *)socket, vfs_inode.i_ino) : 0;
}

/*
 * The device is not one where a socket's queue uses its place for other data. No address of the
 * kernel looks like these data, so the read fails. Then a process is receiving the packet.
 */
static __always_inline uint32_t packet_netns(struct sk_buff *skb, struct sock *sk)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	uint32_t id;

	id = sk ? BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum)
		: BPF_CORE_READ(skb, dev, nd_net.net, ns.inum);
	return id ? id : BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
}

/* Returns the counts of a place. Sockets beyond the map's size share those of socket 0. */
static __always_inline struct drop_count *drop_find(struct drop_key *key)
{
	const struct drop_count none = {0};
	struct drop_count *count = bpf_map_lookup_elem(&drops, key);

	if (count)
		return count;
	bpf_map_update_elem(&drops, key, &none, BPF_NOEXIST);
	count = bpf_map_lookup_elem(&drops, key);
	if (count)
		return count;
	key->socket = 0;
	count = bpf_map_lookup_elem(&drops, key);
	if (!count)
		__sync_fetch_and_add(&control.lost, 1);
	return count;
}

/* skb, location, reason, rx_sk */
SEC("raw_tp/kfree_skb")
int drops_free(struct bpf_raw_tracepoint_args *ctx)
{
	struct sk_buff *skb = (void *)ctx->args[0];
	struct drop_key key = {0};
	struct drop_count *count;
	struct sock *sk = 0;
	uint32_t len;

	if (!control.on)
		return 0;
	if (arguments > 3)
		sk = (void *)ctx->args[3];
	if (!sk)
		sk = BPF_CORE_READ(skb, sk);
	len = BPF_CORE_READ(skb, len);
	key.location = ctx->args[1];
	key.socket = sk ? socket_inode(sk) : 0;
	key.netns = packet_netns(skb, sk);
	key.reason = arguments > 2 ? (uint32_t)ctx->args[2] : 0;
	count = drop_find(&key);
	if (!count)
		return 0;
	__sync_fetch_and_add(&count->drops, 1);
	__sync_fetch_and_add(
		&count->segments,
		packet_segments(BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, end), len));
	__sync_fetch_and_add(&count->bytes, len);
	return 0;
}

/* --- batches --- */

MAP(timed, PERCPU_ARRAY, 1, uint32_t, struct timed_packet, 0);

static __always_inline struct timed_packet *timed_packet(void)
{
	const uint32_t only = 0;

	return bpf_map_lookup_elem(&timed, &only);
}

/*
 * A hash table that each CPU has for itself. Since Linux 6.10, looking into an array takes no call.
 * An interrupt that takes the same place just as it is taken counts for the other key, once.
 */
MAP(batches, PERCPU_ARRAY, PACKETS_BATCHES, uint32_t, struct batch_count, 0);

static __always_inline struct batch_count *batch_get(uint32_t kind, uint32_t netns,
						     uint32_t interface, const char *name)
{
	uint64_t key = (uint64_t)netns << 32 | interface << BATCH_KIND_BITS | (kind + 1);
	uint32_t first = key * 0x9e3779b97f4a7c15 >> 32, i, at;
	struct batch_count *count;

	for (i = 0; i < BATCH_TRIES; i++) {
		at = (first + i) % PACKETS_BATCHES;
		count = bpf_map_lookup_elem(&batches, &at);
		if (!count)
			break;
		if (!*(volatile uint64_t *)&count->key) {
			count->key = key;
			if (name)
				bpf_probe_read_kernel_str(count->name, sizeof(count->name), name);
		}
		if (*(volatile uint64_t *)&count->key == key)
			return count;
	}
	__sync_fetch_and_add(&control.lost, 1);
	return 0;
}

static __always_inline struct batch_count *batch_find(uint32_t kind, struct net_device *dev)
{
	if (!control.on)
		return 0;
	return dev ? batch_get(kind, dev->nd_net.net->ns.inum, dev->ifindex, dev->name)
		   : batch_get(kind, 0, 0, 0);
}

static __always_inline int batch_add_packet(uint32_t kind, struct sk_buff *skb,
					    struct net_device *dev)
{
	struct batch_count *count = batch_find(kind, dev);
	uint32_t len;

	if (!count)
		return 0;
	len = skb->len;
	count->batches++;
	count->segments += packet_segments(skb->head + skb->end, len);
	count->bytes += len;
	return 0;
}

/* napi, work, budget */
SEC("tp_btf/napi_poll")
int batches_poll(uint64_t *ctx)
{
	struct napi_struct *napi = (void *)ctx[0];
	struct batch_count *count = batch_find(BATCH_POLL, napi->dev);
	uint32_t work = (uint32_t)ctx[1], budget = (uint32_t)ctx[2];
	struct timed_packet *t = timed_packet();

	if (t)
		t->skb = 0; /* a later drop waited before */
	if (!count)
		return 0;
	count->batches++;
	count->segments += work;
	count->full += work >= budget;
	return 0;
}

struct pt_regs {
	unsigned long ip; /* x86 */
	uint64_t pc;	  /* arm64 */
} KERNEL;

/*
 * Returns where the task that runs entered the kernel. Outside of a softirq no poll ends, so a
 * packet that waits in a queue keeps its time until its reader drops it in another call.
 */
static __always_inline uint64_t entered_at(void)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	if (bpf_core_field_exists(regs->ip))
		return regs->ip;
	return bpf_core_field_exists(regs->pc) ? regs->pc : 0;
}

/* skb. Its memory may be that of a timed packet, which has ended then. */
SEC("tp_btf/netif_receive_skb")
int batches_receive(uint64_t *ctx)
{
	struct sk_buff *skb = (void *)ctx[0];
	struct timed_packet *t = timed_packet();

	batch_add_packet(BATCH_RECEIVE, skb, skb->dev);
	if (!t)
		return 0;
	if (!(t->received++ % TIMED_ONE_IN)) {
		t->skb = ctx[0];
		t->task = bpf_get_current_task();
		t->entered = entered_at();
		t->at = bpf_ktime_get_ns();
	} else if (t->skb == ctx[0]) {
		t->skb = 0;
	}
	return 0;
}

/*
 * skb, location, reason. A driver may hand over several packets at once, so a packet that is
 * dropped before the timed one may have been in front of it: the time counts from that drop on.
 */
SEC("raw_tp/kfree_skb")
int batches_drop(struct bpf_raw_tracepoint_args *ctx)
{
	struct drop_key key = {.location = ctx->args[1]};
	struct timed_packet *t = timed_packet();
	struct drop_count *count;
	uint64_t now;

	if (!control.on || !t || !t->skb)
		return 0;
	now = bpf_ktime_get_ns();
	if (t->skb != ctx->args[0]) {
		t->at = now;
		return 0;
	}
	t->skb = 0;
	if (t->task != bpf_get_current_task() || t->entered != entered_at())
		return 0;
	key.reason = arguments > 2 ? (uint32_t)ctx->args[2] : 0;
	count = drop_find(&key);
	if (!count)
		return 0;
	__sync_fetch_and_add(&count->drops, 1);
	__sync_fetch_and_add(&count->ns, now - t->at);
	return 0;
}

/* skb, dev */
SEC("tp_btf/net_dev_start_xmit")
int batches_transmit(uint64_t *ctx)
{
	return batch_add_packet(BATCH_TRANSMIT, (void *)ctx[0], (void *)ctx[1]);
}

/* --- page pools --- */

/*
 * The kernel knows the interface of most pools. Others have the device that the pages are for, and
 * so have all pools before Linux 6.8. That kernel gave pools the number that page-pool-get lists.
 */
static __always_inline int pool_count(uint32_t kind, struct page_pool *pool)
{
	struct net_device *dev = 0;
	struct batch_count *count;
	uint32_t id;

	if (!control.on)
		return 0;
	id = bpf_core_field_exists(pool->user) ? pool->user.id : pool->xdp_mem_id;
	if (bpf_core_field_exists(pool->slow))
		dev = pool->slow.netdev;
	count = batch_get(kind, dev ? dev->nd_net.net->ns.inum : 0, id,
			  dev ? dev->name : pool->p.dev->kobj.name);
	if (count)
		count->batches++;
	return 0;
}

/* pool, page, number */
SEC("tp_btf/page_pool_state_hold")
int pools_hold(uint64_t *ctx)
{
	return pool_count(POOL_HELD, (void *)ctx[0]);
}

SEC("tp_btf/page_pool_state_release")
int pools_release(uint64_t *ctx)
{
	return pool_count(POOL_RELEASED, (void *)ctx[0]);
}
