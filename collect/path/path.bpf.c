// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows one in N packets from tracepoint to tracepoint, and adds its times to histograms when it
 * has come to its end. Nothing is sent: user space reads the histograms after the window.
 *
 * A packet that is not followed costs a counter where packets are chosen, and elsewhere a look at
 * the number of packets that are on their way.
 */
#include "collect/path/path.h"

#include <bpf/bpf_endian.h>

// clang-format off
struct tcp_sock { uint32_t copied_seq, rcv_nxt, write_seq; } KERNEL;
struct iov_iter { unsigned long count; } KERNEL;
struct msghdr { struct iov_iter msg_iter; } KERNEL;
// clang-format on

enum {
	NET_RX = 3,
	TCP = 6,
	/*
	 * After it, a packet that waits for no socket, queue or thread is lost. A flow of 137
	 * Gbit/s comes to the same sequence numbers again after it.
	 */
	LOST_NS = 250000000,
};

struct path_shared path;

/* What is known of a thread of the workload. */
struct thread {
	uint32_t part;	    /* the part of the window in which all this was seen */
	uint32_t returning; /* it took packets in this call */
	uint64_t entered;   /* the call that it is in, or was in */
	uint64_t since;	    /* it waits for a CPU; 0: it does not */
	uint64_t filling;   /* since when the call fills packets; 0: it does not */
	uint64_t filled;    /* when it last began to fill one */
	uint64_t no_room;   /* ns that it waited for room in the send buffer */
	uint64_t rest;	    /* bytes that the call has behind the present piece */
	uint32_t written;   /* the next byte that it wrote then */
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
MAP(processes, HASH, PATH_PROCESSES, uint32_t, uint8_t, 0);
MAP(cpus, PERCPU_ARRAY, 1, uint32_t, struct path_cpu, 0);

#define ON(tracepoint) SEC("tp_btf/" #tracepoint) int path_##tracepoint(uint64_t *ctx)

/* Returns the state of this CPU, without what an earlier part of the window left unfinished. */
static __always_inline struct path_cpu *this_cpu(void)
{
	uint32_t zero = 0;
	struct path_cpu *c = bpf_map_lookup_elem(&cpus, &zero);

	if (c && c->part != path.part) {
		__builtin_memset(c, 0, __builtin_offsetof(struct path_cpu, seen));
		c->part = path.part;
	}
	return c;
}

/* Returns the state of a thread that was seen to be the workload's, or NULL. */
static __always_inline struct thread *known_thread(struct task_struct *task)
{
	struct thread *t = bpf_task_storage_get(&threads, task, 0, 0);

	if (t && t->part != path.part) {
		__builtin_memset(t, 0, sizeof(*t));
		t->part = path.part;
	}
	return t;
}

/* Returns the current thread if it is the workload's. */
static __always_inline struct thread *this_thread(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = known_thread(task);
	uint32_t tgid = task->tgid;

	if (t || !bpf_map_lookup_elem(&processes, &tgid))
		return t;
	t = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (t)
		t->part = path.part;
	return t;
}

/* Returns a number for a pointer. */
static __always_inline uint64_t id_of(const void *pointer)
{
	return (uint64_t)pointer - (uint64_t)&path;
}

/* --- packets on their way --- */

enum what {
	EXPIRE,	 /* it may be lost */
	MOVE,	 /* to `stage` */
	RECEIVE, /* enters the protocols */
	DELIVER, /* to TCP */
	READY,	 /* to be read */
	TAKE,	 /* the reader took it */
	RETURN,	 /* the reader's call returns */
	FILL,	 /* a call fills packets */
	QUEUE,	 /* TCP sends it to a device */
	PASS,	 /* a driver has it */
	FREE,	 /* its skb is freed */
	LEAVE,
};

/* What happens, and to which packets: those with the byte, the skb or the owner. */
struct event {
	enum what what;
	uint32_t ports, seq, len; /* len: bytes of data; 0: another key */
	uint64_t todo;		  /* slots to visit, a bit each */
	uint64_t skb, owner;	  /* 0: another key */
	uint64_t now, entered;	  /* entered: the softirq, or the socket of the skb */
	uint64_t info;		  /* the address of the skb's shared information */
	uint32_t stage, at;
	uint32_t flag; /* in the softirq; the call has ended; it was dropped */
};

/* Returns the slots with packets in the stages from one to another. */
static __always_inline uint64_t in_stages(uint32_t from, uint32_t to)
{
	uint64_t slots = 0;

	for (uint32_t stage = from; stage <= to; stage++)
		slots |= path.in[stage];
	return slots;
}

static __always_inline void set_stage(struct path_slot *s, uint32_t stage)
{
	__sync_fetch_and_and(&path.in[s->stage & 31], ~s->bit);
	__sync_fetch_and_or(&path.in[stage & 31], s->bit);
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

/* Inside leave() the compiler would compare stage - 1, and Linux 6.12 would refuse the program. */
__noinline int stage_leave(uint32_t stage)
{
	if (stage < PATH_STAGES)
		__sync_fetch_and_add(&path.stages[stage].left, 1);
	return 0;
}

/* The packet left the way, or nobody knows where it is. */
static __always_inline void leave(struct path_slot *s)
{
	if (s->stage)
		stage_leave(s->stage);
	set_stage(s, PATH_FREE);
}

__noinline int stage_add(uint32_t stage, uint64_t ns, uint64_t weight)
{
	struct path_stage_sums *sums = &path.stages[stage];

	if (stage >= PATH_STAGES)
		return 0;
	__sync_fetch_and_add(&sums->ns, ns * weight);
	__sync_fetch_and_add(&sums->passed, ns > 0);
	__sync_fetch_and_add(&sums->hist[path_bucket(ns)], weight);
	return 0;
}

/* Adds the times of a way's stages, from `first` to before `total`. */
__noinline int finish(int slot, uint32_t first, uint32_t total, uint64_t now)
{
	struct path_slot *s = &path.slots[slot & (PATH_SLOTS - 1)];
	uint64_t weight = s->weight, all = 0;
	uint32_t way = first == PATH_CALL;

	step(s, s->stage, now);
	for (uint32_t stage = 0; stage < PATH_STAGES; stage++)
		if (stage >= first && stage < total) {
			stage_add(stage, s->ns[stage], weight);
			all += s->ns[stage];
		}
	stage_add(total, all, weight);
	__sync_fetch_and_add(&path.ways[way].followed, 1);
	__sync_fetch_and_add(&path.ways[way].weight, weight);
	__sync_fetch_and_add(&path.ways[way].segments, s->segments * weight);
	__sync_fetch_and_add(&path.ways[way].bytes, s->bytes * weight);
	return 0;
}

/* The device layer may cut the packet up later. */
static __always_inline void set_size(struct path_slot *s, const struct event *e)
{
	uint64_t weight;

	s->skb = e->skb;
	if (s->bytes)
		return;
	s->bytes = e->len;
	weight = (uint64_t)s->weight * s->piece / e->len;
	s->weight = weight >> 32 ? (uint32_t)-1 : weight;
	s->segments = packet_segments((void *)e->info, e->len);
}

/* Returns for how long the thread waited for a CPU between two times. */
static __always_inline uint64_t waited(struct thread *t, uint64_t from, uint64_t to)
{
	uint64_t sum = 0, begin, end;

	for (int i = 0; i < PATH_WAITS; i++) {
		begin = t->waits[i].from > from ? t->waits[i].from : from;
		end = t->waits[i].to < to ? t->waits[i].to : to;
		sum += end > begin ? end - begin : 0;
	}
	return sum;
}

/* The packet waited for the thread to make the call, and then for the call to get to it. */
__noinline int take(int slot, struct thread *t, uint64_t now)
{
	struct path_slot *s = &path.slots[slot & (PATH_SLOTS - 1)];
	struct task_struct *task = bpf_get_current_task_btf();
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
	t->returning = 1;
	set_stage(s, PATH_RETURN);
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) { /* it never returns */
		finish(slot, PATH_INTERRUPT, PATH_RECEIVED, now);
		set_stage(s, PATH_FREE);
	}
	return 0;
}

/* A call that fills packets again without progress has waited for room in the send buffer. */
static __always_inline void fill(struct path_slot *s, const struct event *e)
{
	if ((int32_t)(e->at - s->byte) > 0) {
		step(s, PATH_QUEUE, e->now);
	} else if (e->flag) {
		leave(s); /* the call did not write it */
	} else {
		set_stage(s, e->at == s->written ? PATH_SNDBUF : PATH_BUILD);
		step(s, PATH_BUILD, e->now);
	}
	s->written = e->at;
}

/* Returns after which time in a stage a packet is lost. */
static __always_inline uint64_t lost_after(uint32_t stage)
{
	if (stage == PATH_READER || stage == PATH_QUEUE || stage == PATH_QDISC)
		return LOST_NS * 64ULL;
	if (stage <= PATH_PROTOCOL || stage == PATH_XMIT || stage == PATH_DRIVER)
		return LOST_NS;
	return LOST_NS * 4ULL;
}

static __noinline int happen(uint32_t i, struct event *e)
{
	struct path_slot *s = &path.slots[i & (PATH_SLOTS - 1)];
	struct thread *t;

	switch (e->what) {
	case EXPIRE:
		if (e->now > s->at + lost_after(s->stage))
			leave(s);
		break;
	case MOVE:
		step(s, e->stage, e->now);
		set_size(s, e);
		break;
	case RECEIVE:
		if (s->stage == PATH_SOFTIRQ)
			step(s, PATH_POLL, e->entered);
		step(s, PATH_PROTOCOL, e->now);
		set_size(s, e);
		s->in_softirq = e->flag;
		break;
	case DELIVER: /* in a thread, it was put back while the thread had locked the socket */
		if (s->in_softirq && !e->flag)
			set_stage(s, PATH_BACKLOG);
		step(s, path.no_ready ? PATH_READER : PATH_TCP, e->now);
		s->owner = e->owner;
		break;
	case READY: /* the reader gets no packet before those that TCP still misses */
		if ((int32_t)(e->at - s->end) >= 0)
			step(s, PATH_READER, e->now);
		break;
	case TAKE:
		if ((int32_t)(e->at - s->end) < 0)
			break;
		t = this_thread();
		if (t) {
			take(i, t, e->now);
			break;
		}
		__sync_fetch_and_add(&path.others, 1);
		set_stage(s, PATH_FREE);
		break;
	case RETURN:
		finish(i, PATH_INTERRUPT, PATH_RECEIVED, e->now);
		set_stage(s, PATH_FREE);
		break;
	case FILL:
		fill(s, e);
		break;
	case QUEUE:
		/* TCP sends it again, or sends later data, so nobody saw this packet leave. */
		if (s->stage == PATH_QDISC || s->byte - e->seq >= e->len) {
			leave(s);
			break;
		}
		step(s, PATH_XMIT, e->now);
		set_size(s, e);
		break;
	case PASS:
		if (e->stage) { /* the driver was busy */
			step(s, e->stage, e->now);
			break;
		}
		finish(i, PATH_CALL, PATH_SENT, e->now);
		set_stage(s, e->entered == s->owner ? PATH_COMPLETION : PATH_FREE);
		break;
	case FREE:
		if (s->stage == PATH_COMPLETION) {
			stage_add(PATH_COMPLETION, e->now - s->at, s->weight);
			set_stage(s, PATH_FREE);
		} else if (e->flag) {
			leave(s);
		}
		break;
	default:
		leave(s);
	}
	return 0;
}

/* Returns the place of the only bit. clang 14 cannot count zeros for BPF. */
__noinline int bit_place(uint64_t bit)
{
	uint32_t i = 0;

	for (uint32_t bits = PATH_SLOTS / 2; bits; bits /= 2)
		if (bit >> bits) {
			bit >>= bits;
			i += bits;
		}
	return i;
}

/* Visits the slot of the lowest bit. */
static int visit(uint32_t n, struct event *e)
{
	uint64_t low = e->todo & -e->todo;
	struct path_slot *s;
	uint32_t i;

	if (!low)
		return 1;
	e->todo ^= low;
	i = bit_place(low);
	s = &path.slots[i & (PATH_SLOTS - 1)];
	if (e->what == EXPIRE ? 1
	    : e->len	      ? s->ports == e->ports &&
			       (s->byte - e->seq < e->len ||
				(e->what == QUEUE && s->stage == PATH_QUEUE &&
				 s->owner == e->owner && (int32_t)(e->seq - s->byte) > 0))
	    : e->owner ? s->owner == e->owner
		       : s->skb == e->skb)
		happen(i, e);
	return 0;
}

static __always_inline int for_each(struct event *e)
{
	if (!e->todo)
		return 0;
	e->now = e->now ?: bpf_ktime_get_ns();
	bpf_loop(PATH_SLOTS, visit, e, 0);
	return 0;
}

/* --- choice --- */

/* Returns whether a packet may be chosen soon. Else nobody needs the time of what comes before. */
static __always_inline int is_near(const struct path_cpu *c, uint32_t way)
{
	return path.on && (int32_t)(c->next[way] - c->seen[way]) <= PATH_NEAR;
}

/*
 * Returns N. N doubles as soon as a period has had too many chosen packets, and halves where it had
 * too few: packets come in bursts. A chosen packet that is not followed, such as an
 * acknowledgement, counts too. Otherwise N stays 1 where there are only such packets, and each of
 * them is chosen.
 */
static __always_inline uint32_t adapt(uint32_t way, uint64_t now)
{
	uint32_t was = path.choice[way].n ?: 1, n = was, chosen = ++path.choice[way].chosen;
	uint64_t passed = now - path.choice[way].since;

	if (chosen > 2 * PATH_CHOSEN)
		n = was < PATH_OFTEN ? was * 2 : was;
	else if (passed < PATH_PERIOD)
		return was;
	else if (chosen < PATH_CHOSEN / 2 && was > 1)
		n = was / 2;
	path.choice[way].n = n;
	path.choice[way].since = now;
	path.choice[way].chosen = 0;
	return n;
}

/*
 * Says which packet of this CPU is next: one in N, at random. With a large N, every other packet of
 * a group is chosen and then none for long, so that most of the time no packet is on its way.
 * Returns the weight of the present one, which is the N before.
 */
static __always_inline uint32_t choose(struct path_cpu *c, uint32_t way, uint64_t now)
{
	uint32_t weight = path.choice[way].n ?: 1, n = adapt(way, now), mean = n;

	if (n > 2)
		mean = ++c->chosen[way] % PATH_GROUP ? 2 : PATH_GROUP * (n - 2) + 2;
	c->next[way] = c->seen[way] + 1 + bpf_get_prandom_u32() % (2 * mean - 1);
	return weight;
}

static __noinline int claim(uint32_t n, uint32_t *slot)
{
	if (path.slots[n & (PATH_SLOTS - 1)].stage ||
	    __sync_val_compare_and_swap(&path.slots[n & (PATH_SLOTS - 1)].stage, 0, PATH_STAGES))
		return 0;
	*slot = n;
	return 1;
}

/* Returns the slot of a packet that is followed from now on, or NULL. */
static __always_inline struct path_slot *follow(uint32_t weight, uint32_t piece, uint32_t stage,
						uint64_t now)
{
	struct event e = {.what = EXPIRE, .todo = in_stages(PATH_FREE + 1, PATH_COMPLETION)};
	uint32_t slot = PATH_SLOTS;
	struct path_slot *s;

	for_each(&e);
	bpf_loop(PATH_SLOTS, claim, &slot, 0);
	if (slot >= PATH_SLOTS) {
		__sync_fetch_and_add(&path.full, 1);
		return 0;
	}
	s = &path.slots[slot];
	/* The stage before `at` stays claimed. */
	__builtin_memset(&s->at, 0, sizeof(*s) - __builtin_offsetof(struct path_slot, at));
	s->bit = 1ULL << slot;
	s->weight = weight * path.scale * PATH_WEIGHT;
	s->piece = piece;
	s->at = now;
	set_stage(s, stage);
	return s;
}

/* --- headers --- */

/* Reads the TCP header of a packet. Returns 0 if there is no data behind the header. */
static __always_inline int view_tcp(struct event *e, struct sk_buff *skb, unsigned char *header)
{
	uint32_t words[4];

	if (bpf_probe_read_kernel(words, sizeof(words), header))
		return 0;
	e->skb = id_of(skb);
	e->ports = words[0];
	e->seq = bpf_ntohl(words[1]);
	e->len = skb->len - (uint32_t)((uint64_t)header - (uint64_t)skb->data) -
		 (bpf_ntohl(words[3]) >> 28) * 4;
	e->info = (uint64_t)(skb->head + skb->end);
	return (int32_t)e->len > 0;
}

/* The same where the packet begins with its IP header. */
static __always_inline int view_ip(struct event *e, struct sk_buff *skb)
{
	unsigned char ip[10], *data = skb->data;
	uint32_t len, linear = skb->len - skb->data_len;

	if (linear < 40 || bpf_probe_read_kernel(ip, sizeof(ip), data))
		return 0;
	len = ip[0] >> 4 == 4 && ip[9] == TCP	? (ip[0] & 15) * 4U
	      : ip[0] >> 4 == 6 && ip[6] == TCP ? 40
						: 0;
	return len && linear >= len + 20 && view_tcp(e, skb, data + len);
}

/* Tells all packets in the skb what happens to them. */
static __always_inline int in_skb(struct event e, struct sk_buff *skb)
{
	return view_tcp(&e, skb, skb->head + skb->transport_header) ? for_each(&e) : 0;
}

/* --- receive: interrupt, softirq, poll --- */

ON(irq_handler_entry)
{
	struct path_cpu *c = this_cpu();

	if (c && is_near(c, PATH_RECEIVE))
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

	if (c && !c->raised && is_near(c, PATH_RECEIVE)) {
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
	if (c->raised || path.in[PATH_SOFTIRQ])
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
	struct path_slot *s = 0;
	struct event e = {0};
	uint32_t weight;

	if (!c)
		return 0;
	weight = choose(c, PATH_RECEIVE, now);
	if (view_ip(&e, skb))
		s = follow(weight, e.len, polled ? PATH_INTERRUPT : PATH_SOFTIRQ, now);
	if (!s)
		return 0;
	s->ports = e.ports;
	s->byte = e.seq;
	s->end = e.seq + e.len;
	s->skb = polled ? 0 : e.skb; /* GRO may free it without a word */
	if (!polled)
		return 0;
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

#define ARRIVAL(tracepoint, polled)                    \
	ON(tracepoint)                                 \
	{                                              \
		return arrive((void *)ctx[0], polled); \
	}

ARRIVAL(netif_rx_entry, 0)
ARRIVAL(napi_gro_receive_entry, 1)
ARRIVAL(netif_receive_skb_entry, 1)

/* --- receive: protocols, socket, reader --- */

ON(netif_receive_skb)
{
	struct event e = {.what = RECEIVE, .todo = in_stages(PATH_INTERRUPT, PATH_GRO)};
	struct path_cpu *c = e.todo ? this_cpu() : 0;

	if (!c || !view_ip(&e, (void *)ctx[0]))
		return 0;
	e.entered = c->entered;
	e.flag = c->in_softirq;
	return for_each(&e);
}

/* sk, skb */
ON(tcp_probe)
{
	struct event e = {.what = DELIVER, .todo = path.in[PATH_PROTOCOL]};
	struct path_cpu *c = e.todo ? this_cpu() : 0;

	if (!c)
		return 0;
	e.owner = id_of((void *)ctx[0]);
	e.flag = c->in_softirq;
	return in_skb(e, (void *)ctx[1]);
}

ON(sk_data_ready)
{
	struct event e = {.what = READY, .todo = path.in[PATH_TCP]};

	if (!e.todo)
		return 0;
	e.owner = id_of((void *)ctx[0]);
	e.at = BPF_CORE_READ((struct tcp_sock *)ctx[0], rcv_nxt);
	return for_each(&e);
}

/* The socket's reader took data from it: it copied or mapped them. */
ON(tcp_rcv_space_adjust)
{
	struct event e = {.what = TAKE, .todo = in_stages(PATH_TCP, PATH_READER)};

	if (!e.todo)
		return 0;
	e.owner = id_of((void *)ctx[0]);
	e.at = BPF_CORE_READ((struct tcp_sock *)ctx[0], copied_seq);
	return for_each(&e);
}

ON(sys_enter)
{
	struct thread *t = this_thread();

	if (!t)
		return 0;
	t->entered = bpf_ktime_get_ns();
	t->filling = 0;
	t->rest = -1ULL;
	return 0;
}

ON(sys_exit)
{
	struct event e = {.what = RETURN, .todo = path.in[PATH_RETURN]};
	struct thread *t = known_thread(bpf_get_current_task_btf());

	if (!t || !t->returning)
		return 0;
	t->returning = 0;
	e.owner = id_of(bpf_get_current_task_btf());
	return for_each(&e);
}

ON(sched_waking)
{
	struct thread *t = known_thread((void *)ctx[0]);

	if (t && !t->since)
		t->since = bpf_ktime_get_ns();
	return 0;
}

/*
 * preempt, prev, next. A wake-up of a thread that was still running began no wait. A preempted
 * thread waits for a CPU, also one that was about to sleep.
 */
ON(sched_switch)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct thread *off = known_thread(prev);
	struct thread *on = known_thread(next);
	uint32_t i;

	if (off)
		off->since = !(ctx[0] & 1) && prev->__state ? 0 : bpf_ktime_get_ns();
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

/* task: the leader of a process ends last, as a rule, and path_look() adds one that did not. */
ON(sched_process_exit)
{
	struct task_struct *task = (void *)ctx[0];
	uint32_t tgid = task->tgid;

	if (task->pid == task->tgid)
		bpf_map_delete_elem(&processes, &tgid);
	return 0;
}

/* --- send --- */

/* Returns whether the call begins to fill another packet, and not the same one again. */
static __always_inline int send_begins(struct thread *t, uint32_t written, uint64_t now)
{
	int again = t->filling && t->written == written;

	if (!t->filling) {
		t->filling = now;
		t->no_room = 0;
	}
	if (again)
		t->no_room += now - t->filled;
	t->filled = now;
	t->written = written;
	return !again;
}

static __always_inline void send_fill(struct sock *sk, uint32_t written, int ended)
{
	struct event e = {.what = FILL, .todo = path.in[PATH_BUILD], .flag = ended};

	e.owner = id_of(sk);
	e.at = written;
	for_each(&e);
}

/*
 * sk, msg, skb, size_goal. A call comes here whenever it goes on to fill a packet, several times
 * for one packet. So the choice is among the pieces that the call's data have if each but the last
 * one is as long as a packet may be. The call may already be `past` the begin of a piece.
 */
ON(tcp_sendmsg_locked)
{
	struct sock *sk = (void *)ctx[0];
	struct msghdr *msg = (void *)ctx[1];
	uint16_t ports[2] = {bpf_htons(sk->__sk_common.skc_num), sk->__sk_common.skc_dport};
	uint32_t goal = ctx[3], written, weight;
	uint64_t count = msg->msg_iter.count, begin, piece = 0, past = 0;
	struct path_cpu *c = this_cpu();
	struct thread *t = path.on ? this_thread() : 0;
	uint64_t now, chosen = 0;
	struct path_slot *s;

	if (!c || (!t && !path.in[PATH_BUILD]))
		return 0;
	if (t && count <= t->rest) {
		begin = t->rest == -1ULL ? count : t->rest;
		past = begin - count;
		piece = begin < goal ? begin : goal;
		t->rest = begin - piece;
		chosen = ++c->seen[PATH_SEND] >= c->next[PATH_SEND];
	}
	if (!is_near(c, PATH_SEND) && !path.in[PATH_BUILD])
		return 0;
	written = BPF_CORE_READ((struct tcp_sock *)sk, write_seq);
	send_fill(sk, written, 0);
	if (!t)
		return 0;
	now = bpf_ktime_get_ns();
	if (!send_begins(t, written, now) || !chosen)
		return 0;
	weight = choose(c, PATH_SEND, now);
	s = piece > past ? follow(weight, piece, PATH_CALL, t->entered ?: now) : 0;
	if (!s)
		return 0;
	step(s, PATH_BUILD, t->filling);
	step(s, PATH_BUILD, now);
	s->ns[PATH_BUILD] -= t->no_room;
	s->ns[PATH_SNDBUF] += t->no_room;
	__builtin_memcpy(&s->ports, ports, sizeof(ports));
	s->owner = id_of(sk);
	s->written = written;
	s->byte = written + bpf_get_prandom_u32() % (piece - past);
	return 0;
}

/* sk: the end of the call */
ON(sock_send_length)
{
	struct thread *t = known_thread(bpf_get_current_task_btf());

	if (!t)
		return 0;
	t->filling = 0;
	t->rest = -1ULL;
	if (path.in[PATH_BUILD])
		send_fill((void *)ctx[0], BPF_CORE_READ((struct tcp_sock *)ctx[0], write_seq), 1);
	return 0;
}

static __always_inline int send_step(struct sk_buff *skb, enum what what, uint32_t stage,
				     uint64_t todo)
{
	struct event e = {.what = what, .todo = todo, .stage = stage};

	if (!todo || !skb)
		return 0;
	e.owner = id_of(skb->sk);
	return in_skb(e, skb);
}

#define SEND_STEP(tracepoint, skb, what, stage, todo)                  \
	ON(tracepoint)                                                 \
	{                                                              \
		return send_step((void *)ctx[skb], what, stage, todo); \
	}

SEND_STEP(net_dev_queue, 0, QUEUE, 0, in_stages(PATH_BUILD, PATH_DRIVER))
SEND_STEP(qdisc_enqueue, 2, MOVE, PATH_QDISC, path.in[PATH_XMIT])
SEND_STEP(qdisc_dequeue, 3, MOVE, PATH_XMIT, path.in[PATH_QDISC])
SEND_STEP(net_dev_start_xmit, 0, MOVE, PATH_DRIVER, in_stages(PATH_XMIT, PATH_QDISC))

/*
 * skb, rc, dev. The skb may be gone. A device of software, as veth, passes it on; any other one
 * frees it when the packet is on the wire.
 */
ON(net_dev_xmit)
{
	struct event e = {.what = PASS, .todo = path.in[PATH_DRIVER]};
	struct net_device *dev = (void *)ctx[2];
	struct sk_buff *skb = (void *)ctx[0];

	if (!e.todo)
		return 0;
	e.skb = id_of(skb);
	e.entered = dev->rtnl_link_ops ? 0 : id_of(skb->sk);
	e.stage = (int)ctx[1] ? PATH_QDISC : 0;
	return for_each(&e);
}

/* A device may complete a packet by either of the next two. */
ON(consume_skb)
{
	struct event e = {.what = FREE, .todo = path.in[PATH_COMPLETION]};

	e.skb = id_of((void *)ctx[0]);
	return for_each(&e);
}

ON(kfree_skb)
{
	struct event e = {.what = FREE, .flag = 1};

	e.todo = in_stages(PATH_INTERRUPT, PATH_TCP) | path.in[PATH_COMPLETION];
	e.skb = id_of((void *)ctx[0]);
	for_each(&e);
	return send_step((void *)ctx[0], LEAVE, 0, in_stages(PATH_XMIT, PATH_DRIVER));
}

ON(tcp_destroy_sock)
{
	struct event e = {.what = LEAVE, .todo = in_stages(PATH_TCP, PATH_DRIVER)};

	e.owner = id_of((void *)ctx[0]);
	return for_each(&e);
}
