// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the packets that the kernel drops, by reason, place and socket, while the window is open.
 * Nothing is sent: user space reads the map after the window.
 */
#include "collect/drops/drops.h"

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

struct sock_common {
	volatile unsigned char skc_state;
	possible_net_t skc_net;
} KERNEL;

struct inode {
	unsigned long i_ino;
} KERNEL;

struct socket {
	int state;
} KERNEL;

struct socket_alloc {
	struct socket socket;
	struct inode vfs_inode;
} KERNEL;

struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
} KERNEL;

struct net_device {
	possible_net_t nd_net;
} KERNEL;

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned int len;
	unsigned int end;
	unsigned char *head;
} KERNEL;

struct skb_shared_info {
	unsigned short gso_size, gso_segs;
} KERNEL;

struct nsproxy {
	struct net *net_ns;
} KERNEL;

struct task_struct {
	struct nsproxy *nsproxy;
} KERNEL;

enum { TCP_TIME_WAIT = 6, TCP_NEW_SYN_RECV = 12 }; /* such a struct sock ends before sk_socket */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DROPS_PLACES);
	__type(key, struct drop_key);
	__type(value, struct drop_count);
} places SEC(".maps");

/* The arguments of the tracepoint: 3 since Linux 5.17 (a reason), 4 since 6.11 (a socket). */
const volatile uint32_t arguments;

struct {
	uint32_t on;
	uint32_t pad;
	uint64_t lost; /* drops without a place in the map */
} control;

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

static __always_inline uint64_t packet_segments(struct sk_buff *skb, uint32_t len)
{
	struct skb_shared_info *info = (void *)(BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, end));
	uint32_t segments = BPF_CORE_READ(info, gso_segs), size = BPF_CORE_READ(info, gso_size);

	if (!segments && size) /* a virtual machine says the size alone */
		segments = (len + size - 1) / size;
	return segments ? segments : 1;
}

/* Returns the counts of a place. Sockets beyond the map's size share those of socket 0. */
static __always_inline struct drop_count *place_find(struct drop_key *key)
{
	const struct drop_count none = {0};
	struct drop_count *count = bpf_map_lookup_elem(&places, key);

	if (count)
		return count;
	bpf_map_update_elem(&places, key, &none, BPF_NOEXIST);
	count = bpf_map_lookup_elem(&places, key);
	if (count)
		return count;
	key->socket = 0;
	return bpf_map_lookup_elem(&places, key);
}

/* skb, location, reason, rx_sk */
SEC("raw_tp/kfree_skb")
int on_drop(struct bpf_raw_tracepoint_args *ctx)
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
	count = place_find(&key);
	if (!count) {
		__sync_fetch_and_add(&control.lost, 1);
		return 0;
	}
	__sync_fetch_and_add(&count->drops, 1);
	__sync_fetch_and_add(&count->segments, packet_segments(skb, len));
	__sync_fetch_and_add(&count->bytes, len);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
