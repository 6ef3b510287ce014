// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows one in N packets from tracepoint to tracepoint, and adds its times to histograms when it
 * has come to its end. Nothing is sent: user space reads the histograms after the window.
 *
 * A packet that is not followed costs a counter where packets are chosen, and elsewhere a look at
 * the number of packets that are on their way.
 */
#include "collect/path/path.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

/* The members of the kernel's types that the programs read. */
// clang-format off
#define KERNEL __attribute__((preserve_access_index))

struct task_struct { int pid, tgid; unsigned int flags, __state; } KERNEL;
struct sock_common { uint16_t skc_dport, skc_num; } KERNEL;
struct sock { struct sock_common __sk_common; } KERNEL;
struct tcp_sock { uint32_t copied_seq, rcv_nxt, write_seq; } KERNEL;
struct ns_common { unsigned int inum; } KERNEL;
struct net { struct ns_common ns; } KERNEL;
typedef struct { struct net *net; } KERNEL possible_net_t;
struct net_device { possible_net_t nd_net; void *rtnl_link_ops; } KERNEL;
struct sk_buff { struct net_device *dev; struct sock *sk; unsigned int len, data_len, end; uint16_t transport_header;
	unsigned char *head, *data; } KERNEL;
struct skb_shared_info { unsigned short gso_size, gso_segs; } KERNEL;
struct iov_iter { unsigned long count; } KERNEL;
struct msghdr { struct iov_iter msg_iter; } KERNEL;
// clang-format on

enum {
	NET_RX = 3,
	TCP = 6,
	PF_IO_WORKER = 0x10,
	PF_KTHREAD = 0x200000,
	SOON_NS = 1000000000, /* a packet that is not in a socket or queue is lost after it */
	LATE_FACTOR = 16,
};

struct path_shared path;

/* What is known of a thread of the workload. */
struct thread {
	uint64_t entered;   /* the call that it is in, or was in */
	uint64_t since;	    /* it waits for a CPU; 0: it does not */
	uint32_t returning; /* it took packets in this call */
	uint32_t sent;	    /* the packets of this call have been counted */
	uint32_t nwaits;
	struct {
		uint64_t from, to;
	} waits[PATH_WAITS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* The ids of the workload's processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PATH_PROCESSES);
	__type(key, uint32_t);
	__type(value, uint8_t);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct path_cpu);
} cpus SEC(".maps");

#define ON(tracepoint) SEC("tp_btf/" #tracepoint) int path_##tracepoint(uint64_t *ctx)

static __always_inline struct path_cpu *this_cpu(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

/* Returns the current thread if it is the workload's. */
static __always_inline struct thread *this_thread(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);
	uint32_t tgid = task->tgid;

	if (t || !bpf_map_lookup_elem(&processes, &tgid))
		return t;
	return bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* --- slots --- */

/* Returns a number for a pointer. The verifier takes numbers only as arguments of functions. */
static __always_inline uint64_t id_of(const void *pointer)
{
	return (uint64_t)pointer - (uint64_t)&path;
}

static __always_inline struct path_slot *slot_at(int i)
{
	return &path.slots[i & (PATH_SLOTS - 1)];
}

static __always_inline uint32_t phase_of(uint32_t stage)
{
	return !stage			 ? PATH_NOWHERE
	       : stage < PATH_TCP	 ? PATH_ARRIVING
	       : stage < PATH_RECEIVED	 ? PATH_IN_SOCKET
	       : stage < PATH_COMPLETION ? PATH_SENDING
					 : PATH_COMPLETING;
}

static __always_inline void set_stage(struct path_slot *s, uint32_t stage)
{
	uint32_t from = phase_of(s->stage), to = phase_of(stage);

	if (from != to) {
		if (from)
			__sync_fetch_and_add(&path.pending[from], -1);
		if (to)
			__sync_fetch_and_add(&path.pending[to], 1);
	}
	s->stage = stage;
}

/* The stage ends, and the next one begins. Times of another CPU may be a little behind. */
static __always_inline void step(struct path_slot *s, uint32_t next, uint64_t now)
{
	if (now > s->at) {
		s->ns[s->stage & 31] += now - s->at;
		s->at = now;
	}
	set_stage(s, next);
}

/* The same for a stage that turns out to have been another one. */
static __always_inline void step_as(struct path_slot *s, uint32_t stage, uint32_t next,
				    uint64_t now)
{
	set_stage(s, stage);
	step(s, next, now);
}

/* The packet left the way, or nobody knows where it is. */
static __always_inline void leave(struct path_slot *s)
{
	uint32_t stage = s->stage;

	if (stage && stage < PATH_STAGES)
		__sync_fetch_and_add(&path.stages[stage].left, 1);
	set_stage(s, PATH_FREE);
}

/* Returns a free slot that begins with the stage, or -1. */
__noinline int slot_claim(uint32_t stage, uint64_t now)
{
	struct path_slot *s;

	for (int i = 0; i < PATH_SLOTS; i++) {
		uint32_t phase;
		uint64_t limit = SOON_NS;

		s = slot_at(i);
		phase = phase_of(s->stage);
		if (phase == PATH_IN_SOCKET || phase == PATH_SENDING)
			limit *= LATE_FACTOR;
		if (phase && now > s->at + limit)
			leave(s);
		if (s->stage || __sync_val_compare_and_swap(&s->stage, 0, PATH_STAGES))
			continue;
		__builtin_memset(s->ns, 0, sizeof(s->ns));
		s->segments = s->bytes = 0;
		s->skb = s->owner = 0;
		s->stage = PATH_FREE;
		set_stage(s, stage);
		return i;
	}
	return -1;
}

/*
 * The next functions return the first slot from a place on with a packet in the phase, or -1.
 * Several packets may be in one skb.
 */
__noinline int slot_of_data(int i, uint32_t phase, uint32_t ports, uint32_t seq, uint32_t len)
{
	for (int n = 0; n < PATH_SLOTS && i < PATH_SLOTS; n++, i++) {
		struct path_slot *s = slot_at(i);

		if (phase_of(s->stage) == phase && s->ports == ports && s->byte - seq < len)
			return i;
	}
	return -1;
}

__noinline int slot_of_owner(int i, uint32_t phase, uint64_t owner)
{
	for (int n = 0; n < PATH_SLOTS && i < PATH_SLOTS; n++, i++) {
		struct path_slot *s = slot_at(i);

		if (phase_of(s->stage) == phase && s->owner == owner)
			return i;
	}
	return -1;
}

__noinline int slot_of_skb(int i, uint64_t skb)
{
	for (int n = 0; n < PATH_SLOTS && i < PATH_SLOTS; n++, i++) {
		struct path_slot *s = slot_at(i);

		if (s->stage && s->skb == skb)
			return i;
	}
	return -1;
}

#define FOR_EACH_SLOT(i, find, ...)                                           \
	for (int i = find(0, __VA_ARGS__), n_ = 0; i >= 0 && n_ < PATH_SLOTS; \
	     i = find(i + 1, __VA_ARGS__), n_++)

/* --- choice --- */

/* Says which packet of this CPU is next: one in N, at random. */
static __always_inline void choose_next(struct path_cpu *c, uint32_t way)
{
	uint32_t n = path.choice[way].n ?: 1;

	c->next[way] = c->seen[way] + 1 + bpf_get_prandom_u32() % (2 * n - 1);
}

/*
 * Returns the weight of a packet that was chosen. N doubles as soon as a period has had too many
 * such packets, and halves where it had too few: packets come in bursts.
 */
static __always_inline uint32_t choose(uint32_t way, uint64_t now)
{
	uint32_t weight = path.choice[way].n ?: 1, n = weight, chosen = ++path.choice[way].chosen;
	uint64_t passed = now - path.choice[way].since;

	if (chosen > 2 * PATH_CHOSEN)
		n = weight < PATH_OFTEN ? weight * 2 : weight;
	else if (passed < PATH_PERIOD)
		return weight;
	else if (chosen < PATH_CHOSEN / 2 && weight > 1)
		n = weight / 2;
	path.choice[way].n = n;
	path.choice[way].since = now;
	path.choice[way].chosen = 0;
	return weight;
}

static __always_inline struct path_slot *follow(uint32_t way, uint32_t stage, uint64_t now)
{
	int i = slot_claim(stage, now);
	uint32_t weight = choose(way, now);
	struct path_slot *s;

	if (i < 0) {
		__sync_fetch_and_add(&path.full, 1);
		return 0;
	}
	s = slot_at(i);
	s->weight = weight;
	s->at = now;
	return s;
}

/* --- headers --- */

struct view {
	uint32_t ports, seq, len; /* len: bytes of data */
};

/* Reads a TCP header of the packet. Returns 0 if there is no data behind the header. */
static __always_inline int view_tcp(struct view *v, struct sk_buff *skb, unsigned char *header)
{
	uint32_t words[4], front;

	if (bpf_probe_read_kernel(words, sizeof(words), header))
		return 0;
	front = (uint32_t)((uint64_t)header - (uint64_t)skb->data) +
		(bpf_ntohl(words[3]) >> 28) * 4;
	v->ports = words[0];
	v->seq = bpf_ntohl(words[1]);
	v->len = skb->len - front;
	return (int32_t)v->len > 0;
}

static __always_inline int view_of_tcp(struct view *v, struct sk_buff *skb)
{
	return view_tcp(v, skb, skb->head + skb->transport_header);
}

/* The same where the packet begins with its IP header. */
static __always_inline int view_of_ip(struct view *v, struct sk_buff *skb)
{
	unsigned char ip[10], *data = skb->data;
	uint32_t len, linear = skb->len - skb->data_len;

	if (linear < 40 || bpf_probe_read_kernel(ip, sizeof(ip), data))
		return 0;
	len = ip[0] >> 4 == 4 && ip[9] == TCP	? (ip[0] & 15) * 4U
	      : ip[0] >> 4 == 6 && ip[6] == TCP ? 40
						: 0;
	return len && linear >= len + 20 && view_tcp(v, skb, data + len);
}

/* Returns the packets of the wire in a packet. */
static __always_inline uint32_t packet_segments(struct sk_buff *skb)
{
	struct skb_shared_info *info = (void *)(skb->head + skb->end);
	uint32_t segments = BPF_CORE_READ(info, gso_segs);

	return segments ? segments : 1;
}

/* --- the end of a way --- */

__noinline int stage_add(uint32_t stage, uint64_t ns, uint64_t weight)
{
	struct path_stage_sums *sums = &path.stages[stage];

	if (stage >= PATH_STAGES)
		return 0;
	__sync_fetch_and_add(&sums->ns, ns * weight);
	__sync_fetch_and_add(&sums->weight, weight);
	__sync_fetch_and_add(&sums->passed, ns > 0);
	__sync_fetch_and_add(&sums->hist[path_bucket(ns)], weight);
	return 0;
}

/* Adds the times of the stages from `first` to before `total`. The slot goes on in stage `next`. */
static __always_inline void finish(struct path_slot *s, uint32_t way, uint32_t first,
				   uint32_t total, uint32_t next, uint64_t now)
{
	uint64_t weight = s->weight, all = 0;

	step(s, s->stage, now);
	for (uint32_t stage = first; stage < total; stage++) {
		stage_add(stage, s->ns[stage], weight);
		all += s->ns[stage];
	}
	stage_add(total, all, weight);
	__sync_fetch_and_add(&path.ways[way].followed, 1);
	__sync_fetch_and_add(&path.ways[way].weight, weight);
	__sync_fetch_and_add(&path.ways[way].segments, s->segments * weight);
	__sync_fetch_and_add(&path.ways[way].bytes, s->bytes * weight);
	set_stage(s, next);
}

__noinline int finish_receive(int slot, uint64_t now)
{
	finish(slot_at(slot), PATH_RECEIVE, PATH_INTERRUPT, PATH_RECEIVED, PATH_FREE, now);
	return 0;
}

/* --- receive: interrupt, softirq, poll --- */

ON(irq_handler_entry)
{
	struct path_cpu *c = this_cpu();

	if (c)
		c->irq = bpf_ktime_get_ns();
	return 0;
}

ON(irq_handler_exit)
{
	struct path_cpu *c = this_cpu();

	if (c)
		c->irq = 0;
	return 0;
}

ON(softirq_raise)
{
	struct path_cpu *c = (uint32_t)ctx[0] == NET_RX ? this_cpu() : 0;

	if (c && !c->raised) {
		c->raised = bpf_ktime_get_ns();
		c->raised_irq = c->irq;
	}
	return 0;
}

ON(softirq_entry)
{
	struct path_cpu *c = (uint32_t)ctx[0] == NET_RX ? this_cpu() : 0;

	if (!c)
		return 0;
	c->entered = bpf_ktime_get_ns();
	c->was_raised = c->raised;
	c->was_irq = c->raised_irq;
	c->raised = 0;
	c->in_softirq = 1;
	return 0;
}

ON(softirq_exit)
{
	struct path_cpu *c = (uint32_t)ctx[0] == NET_RX ? this_cpu() : 0;

	if (c)
		c->in_softirq = 0;
	return 0;
}

/*
 * A packet that a poll found has been in its device for an unknown time. Its way begins with the
 * interrupt, or else the softirq, that led to the poll.
 */
static __noinline int arrive_chosen(struct sk_buff *skb, int polled)
{
	struct path_cpu *c = this_cpu();
	uint64_t now = bpf_ktime_get_ns();
	struct path_slot *s;
	struct view v = {0};

	if (!c)
		return 0;
	s = view_of_ip(&v, skb) ? follow(PATH_RECEIVE, polled ? PATH_INTERRUPT : PATH_SOFTIRQ, now)
				: 0;
	choose_next(c, PATH_RECEIVE);
	if (!s)
		return 0;
	s->ports = v.ports;
	s->byte = v.seq;
	s->end = v.seq + v.len;
	if (!polled) {
		s->skb = id_of(skb);
		return 0;
	}
	if (c->in_softirq && c->was_raised) {
		s->at = c->was_irq ?: c->was_raised;
		step(s, PATH_SOFTIRQ, c->was_raised);
		step(s, PATH_POLL, c->entered);
	}
	step(s, PATH_GRO, now);
	return 0;
}

static __always_inline int arrive(struct sk_buff *skb, int polled)
{
	struct path_cpu *c;
	uint32_t netns;

	if (!path.on)
		return 0;
	netns = skb->dev->nd_net.net->ns.inum;
	if (netns != path.netns[0] && netns != path.netns[1] && netns != path.netns[2] &&
	    netns != path.netns[3])
		return 0;
	c = this_cpu();
	if (!c || ++c->seen[PATH_RECEIVE] < c->next[PATH_RECEIVE])
		return 0;
	return arrive_chosen(skb, polled);
}

ON(netif_rx_entry)
{
	return arrive((void *)ctx[0], 0);
}

ON(napi_gro_receive_entry)
{
	return arrive((void *)ctx[0], 1);
}

ON(netif_receive_skb_entry)
{
	return arrive((void *)ctx[0], 1);
}

/* --- receive: protocols, socket --- */

ON(netif_receive_skb)
{
	struct sk_buff *skb = (void *)ctx[0];
	struct path_cpu *c;
	struct view v = {0};
	uint64_t now;

	if (!path.pending[PATH_ARRIVING])
		return 0;
	c = this_cpu();
	if (!c || !view_of_ip(&v, skb))
		return 0;
	now = bpf_ktime_get_ns();
	FOR_EACH_SLOT(i, slot_of_data, PATH_ARRIVING, v.ports, v.seq, v.len)
	{
		struct path_slot *s = slot_at(i);

		if (s->stage >= PATH_PROTOCOL)
			continue;
		if (s->stage == PATH_SOFTIRQ)
			step(s, PATH_POLL, c->entered);
		step(s, PATH_PROTOCOL, now);
		s->skb = id_of(skb);
		s->bytes = v.len;
		s->segments = packet_segments(skb);
		s->in_softirq = c->in_softirq;
	}
	return 0;
}

/*
 * sk, skb. Outside the softirq, the thread that had locked the socket handles the packets that came
 * meanwhile.
 */
ON(tcp_probe)
{
	struct sk_buff *skb = (void *)ctx[1];
	struct path_cpu *c;
	struct view v = {0};
	uint64_t now;

	if (!path.pending[PATH_ARRIVING])
		return 0;
	c = this_cpu();
	if (!c || !view_of_tcp(&v, skb))
		return 0;
	now = bpf_ktime_get_ns();
	FOR_EACH_SLOT(i, slot_of_data, PATH_ARRIVING, v.ports, v.seq, v.len)
	{
		struct path_slot *s = slot_at(i);

		step_as(s, s->in_softirq && !c->in_softirq ? PATH_BACKLOG : s->stage, PATH_TCP,
			now);
		s->owner = id_of((void *)ctx[0]);
	}
	return 0;
}

/* A packet behind one that is missing is not ready yet. */
ON(sk_data_ready)
{
	struct tcp_sock *tp = (void *)ctx[0];
	uint64_t owner = id_of((void *)ctx[0]), now;

	if (!path.pending[PATH_IN_SOCKET])
		return 0;
	now = bpf_ktime_get_ns();
	FOR_EACH_SLOT(i, slot_of_owner, PATH_IN_SOCKET, owner)
	{
		struct path_slot *s = slot_at(i);

		if (s->stage == PATH_TCP && (int32_t)(BPF_CORE_READ(tp, rcv_nxt) - s->end) >= 0)
			step(s, PATH_READER, now);
	}
	return 0;
}

/* --- receive: the reader --- */

/* Returns for how long the thread waited for a CPU between two times. */
__noinline uint64_t waited(struct thread *t, uint64_t from, uint64_t to)
{
	uint64_t sum = 0, begin, end;

	for (int i = 0; t && i < PATH_WAITS; i++) {
		begin = t->waits[i].from > from ? t->waits[i].from : from;
		end = t->waits[i].to < to ? t->waits[i].to : to;
		if (end > begin)
			sum += end - begin;
	}
	return sum;
}

/* The packet waited for the thread to make the call, and then for the call to get to it. */
__noinline int take(int slot, struct thread *t, uint64_t now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct path_slot *s = slot_at(slot);
	uint64_t ready, call, before, in;

	if (!t)
		return 0;
	if (s->stage == PATH_TCP)
		step(s, PATH_READER, now);
	ready = s->at < now ? s->at : now;
	call = t->entered ?: now;
	call = call < ready ? ready : call < now ? call : now;
	before = waited(t, ready, call);
	in = waited(t, call, now);
	s->ns[PATH_READER] += call - ready - before;
	s->ns[PATH_CPU] += before + in;
	s->ns[PATH_READ] += now - call - in;
	s->at = now;
	s->owner = id_of(task);
	set_stage(s, PATH_RETURN);
	t->returning = 1;
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER)) /* it never returns */
		finish_receive(slot, now);
	return 0;
}

/* The socket's reader took data from it: it copied or mapped them. */
ON(tcp_rcv_space_adjust)
{
	struct tcp_sock *tp = (void *)ctx[0];
	uint64_t owner = id_of((void *)ctx[0]), now;
	uint32_t copied;
	struct thread *t;

	if (!path.pending[PATH_IN_SOCKET])
		return 0;
	t = this_thread();
	now = bpf_ktime_get_ns();
	copied = BPF_CORE_READ(tp, copied_seq);
	FOR_EACH_SLOT(i, slot_of_owner, PATH_IN_SOCKET, owner)
	{
		struct path_slot *s = slot_at(i);

		if ((int32_t)(copied - s->end) < 0)
			continue;
		if (t) {
			take(i, t, now);
			continue;
		}
		__sync_fetch_and_add(&path.others, 1);
		set_stage(s, PATH_FREE);
	}
	return 0;
}

ON(sys_enter)
{
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);

	if (!t)
		return 0;
	t->entered = bpf_ktime_get_ns();
	t->sent = 0;
	return 0;
}

ON(sys_exit)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);
	uint64_t now, owner = id_of(task);

	if (!t || !t->returning)
		return 0;
	t->returning = 0;
	now = bpf_ktime_get_ns();
	FOR_EACH_SLOT(i, slot_of_owner, PATH_IN_SOCKET, owner)
	finish_receive(i, now);
	return 0;
}

ON(sched_waking)
{
	struct thread *t = bpf_task_storage_get(&threads, (struct task_struct *)ctx[0], 0, 0);

	if (t && !t->since)
		t->since = bpf_ktime_get_ns();
	return 0;
}

/* preempt, prev, next. A wake-up of a thread that was still running began no wait. */
ON(sched_switch)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct thread *off = bpf_task_storage_get(&threads, prev, 0, 0);
	struct thread *on = bpf_task_storage_get(&threads, next, 0, 0);
	uint32_t i;

	if (off)
		off->since = prev->__state ? 0 : bpf_ktime_get_ns();
	if (!on || !on->since)
		return 0;
	i = on->nwaits++ & (PATH_WAITS - 1);
	on->waits[i].from = on->since;
	on->waits[i].to = bpf_ktime_get_ns();
	on->since = 0;
	return 0;
}

/* parent, child */
ON(sched_process_fork)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	uint32_t from = parent->tgid, tgid = child->tgid;
	uint8_t yes = 1;

	if (from != tgid && bpf_map_lookup_elem(&processes, &from))
		bpf_map_update_elem(&processes, &tgid, &yes, BPF_ANY);
	return 0;
}

/* --- send: the call --- */

static __always_inline uint32_t ports_of(struct sock *sk)
{
	uint16_t ports[2] = {bpf_htons(sk->__sk_common.skc_num), sk->__sk_common.skc_dport};
	uint32_t both;

	__builtin_memcpy(&both, ports, sizeof(both));
	return both;
}

/* A call that comes here again without progress has waited for room in the send buffer. */
static __always_inline void send_progress(uint64_t owner, uint32_t written, int ended)
{
	uint64_t now = bpf_ktime_get_ns();

	FOR_EACH_SLOT(i, slot_of_owner, PATH_SENDING, owner)
	{
		struct path_slot *s = slot_at(i);

		if (s->stage != PATH_BUILD)
			continue;
		if ((int32_t)(written - s->byte) > 0)
			step(s, PATH_QUEUE, now);
		else if (ended)
			leave(s); /* the call did not write it */
		else
			step_as(s, written == s->written ? PATH_SNDBUF : PATH_BUILD, PATH_BUILD,
				now);
		s->written = written;
	}
}

/* Chooses among the packets that the call will probably fill, at its first one. */
static __always_inline int send_choose(struct sock *sk, uint64_t count, uint32_t goal,
				       uint32_t written)
{
	struct path_cpu *c = this_cpu();
	struct thread *t = path.on ? this_thread() : 0;
	uint64_t now, at;
	uint32_t packets;
	struct path_slot *s;

	if (!c || !t || t->sent || !count || !goal)
		return 0;
	t->sent = 1;
	packets = (count + goal - 1) / goal;
	c->seen[PATH_SEND] += packets;
	if ((int32_t)(c->seen[PATH_SEND] - c->next[PATH_SEND]) < 0)
		return 0;
	at = c->seen[PATH_SEND] - c->next[PATH_SEND];
	at = (at < packets ? packets - 1 - at : 0) * goal + bpf_get_prandom_u32() % goal;
	now = bpf_ktime_get_ns();
	s = t->entered ? follow(PATH_SEND, PATH_CALL, t->entered) : 0;
	choose_next(c, PATH_SEND);
	if (!s)
		return 0;
	step(s, PATH_BUILD, now);
	s->ports = ports_of(sk);
	s->owner = id_of(sk);
	s->written = written;
	s->byte = written + (at < count ? at : count - 1);
	return 0;
}

/* sk, msg, skb, size_goal. A call comes here for each packet that it begins to fill. */
ON(tcp_sendmsg_locked)
{
	struct sock *sk = (void *)ctx[0];
	struct msghdr *msg = (void *)ctx[1];
	uint32_t written = BPF_CORE_READ((struct tcp_sock *)sk, write_seq);

	if (path.pending[PATH_SENDING])
		send_progress(id_of(sk), written, 0);
	return send_choose(sk, msg->msg_iter.count, (uint32_t)ctx[3], written);
}

/* sk, ret, flags: the end of the call */
ON(sock_send_length)
{
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);

	if (!t)
		return 0;
	t->sent = 0;
	if (path.pending[PATH_SENDING])
		send_progress(id_of((void *)ctx[0]),
			      BPF_CORE_READ((struct tcp_sock *)ctx[0], write_seq), 1);
	return 0;
}

/* --- send: the device --- */

/* A packet that TCP sends again was lost on its first way. */
static __always_inline int send_step(struct sk_buff *skb, uint32_t stage, int from_tcp)
{
	struct view v = {0};
	uint64_t now;

	if (!path.pending[PATH_SENDING] || !skb || !view_of_tcp(&v, skb))
		return 0;
	now = bpf_ktime_get_ns();
	FOR_EACH_SLOT(i, slot_of_data, PATH_SENDING, v.ports, v.seq, v.len)
	{
		struct path_slot *s = slot_at(i);

		if (from_tcp && s->stage == PATH_QDISC) {
			leave(s);
			continue;
		}
		step(s, stage, now);
		s->skb = id_of(skb);
		if (s->bytes) /* the device layer may cut it up */
			continue;
		s->bytes = v.len;
		s->segments = packet_segments(skb);
	}
	return 0;
}

ON(net_dev_queue)
{
	return send_step((void *)ctx[0], PATH_XMIT, 1);
}

/* qdisc, txq, skb */
ON(qdisc_enqueue)
{
	return send_step((void *)ctx[2], PATH_QDISC, 0);
}

/* qdisc, txq, packets, skb */
ON(qdisc_dequeue)
{
	return send_step((void *)ctx[3], PATH_XMIT, 0);
}

ON(net_dev_start_xmit)
{
	return send_step((void *)ctx[0], PATH_DRIVER, 0);
}

/*
 * skb, rc, dev. The skb may be gone. A device of software, as veth, passes it on; any other one
 * frees it when the packet is on the wire.
 */
ON(net_dev_xmit)
{
	struct sk_buff *skb = (void *)ctx[0];
	struct net_device *dev = (void *)ctx[2];
	uint64_t now, id = id_of(skb);
	uint32_t next;

	if (!path.pending[PATH_SENDING])
		return 0;
	now = bpf_ktime_get_ns();
	FOR_EACH_SLOT(i, slot_of_skb, id)
	{
		struct path_slot *s = slot_at(i);

		next = !dev->rtnl_link_ops && id_of(skb->sk) == s->owner ? PATH_COMPLETION
									 : PATH_FREE;
		if (s->stage != PATH_DRIVER)
			continue;
		if ((int)ctx[1]) /* the driver was busy */
			step(s, PATH_QDISC, now);
		else
			finish(s, PATH_SEND, PATH_CALL, PATH_SENT, next, now);
	}
	return 0;
}

/* A device may complete a packet by either function; the second one also drops packets. */
static __always_inline int freed(uint64_t skb, int dropped)
{
	uint64_t now = bpf_ktime_get_ns();

	FOR_EACH_SLOT(i, slot_of_skb, skb)
	{
		struct path_slot *s = slot_at(i);

		if (s->stage == PATH_COMPLETION) {
			stage_add(PATH_COMPLETION, now - s->at, s->weight);
			set_stage(s, PATH_FREE);
		} else if (dropped && s->stage <= PATH_TCP) {
			leave(s);
		}
	}
	return 0;
}

ON(consume_skb)
{
	return path.pending[PATH_COMPLETING] ? freed(id_of((void *)ctx[0]), 0) : 0;
}

ON(kfree_skb)
{
	struct sk_buff *skb = (void *)ctx[0];
	struct view v = {0};

	/* The device layer may have cut the packet up, and dropped a piece. */
	if (path.pending[PATH_SENDING] && view_of_tcp(&v, skb))
		FOR_EACH_SLOT(i, slot_of_data, PATH_SENDING, v.ports, v.seq, v.len)
			leave(slot_at(i));
	return path.pending[PATH_ARRIVING] || path.pending[PATH_IN_SOCKET] ||
			       path.pending[PATH_COMPLETING]
		       ? freed(id_of(skb), 1)
		       : 0;
}

ON(tcp_destroy_sock)
{
	uint64_t owner = id_of((void *)ctx[0]);

	FOR_EACH_SLOT(i, slot_of_owner, PATH_IN_SOCKET, owner)
	leave(slot_at(i));
	FOR_EACH_SLOT(j, slot_of_owner, PATH_SENDING, owner)
	leave(slot_at(j));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
