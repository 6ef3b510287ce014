// SPDX-License-Identifier: GPL-2.0-only
/*
 * io_uring's multishot receive on a ring and with an io_uring_enter that the test makes. They act
 * like a kernel with a full completion ring, and like one without memory for its backlog.
 */
#include "samples/tcpzc/rx_uring.c"
#include "tests/unit/unit.h"

enum { RING = 2, BUFS = 8, SIZE = 64 };

/* The ring that the kernel shares, and how the kernel acts. */
static struct kernel {
	struct options opt;
	struct flow f;
	struct multishot_rx s;
	unsigned int sq_head, sq_tail, sq_flags, sq_array[4];
	unsigned int cq_head, cq_tail, overflow;
	struct io_uring_sqe sqes[4];
	struct io_uring_cqe cqes[RING];
	struct io_uring_buf bufs[BUFS];
	char mem[BUFS * SIZE];
	unsigned int enters, requests;
	int rc;			       /* the result of the next enter */
	void (*then)(struct kernel *); /* what else the enter does */
} * k;

/* Replaces liburing's function, which versions of liburing declare in different ways. */
int fake_enter(unsigned int fd, unsigned int submit, unsigned int complete, unsigned int flags,
	       void *arg, size_t size) __asm__("io_uring_enter2");
int fake_enter(unsigned int fd, unsigned int submit, unsigned int complete, unsigned int flags,
	       void *arg, size_t size)
{
	(void)fd;
	(void)complete;
	(void)flags;
	(void)arg;
	(void)size;
	k->enters++;
	k->requests += submit;
	k->sq_head += submit;
	k->then(k);
	return k->rc;
}

static void complete(int res, unsigned int flags, unsigned int id)
{
	k->cqes[k->cq_tail++ % RING] = (struct io_uring_cqe){
		.res = res, .flags = flags | IORING_CQE_F_BUFFER | id << IORING_CQE_BUFFER_SHIFT};
}

static void nothing(struct kernel *unused)
{
	(void)unused;
}

static struct kernel *kernel_new(void)
{
	k = calloc(1, sizeof(*k));
	assert_non_null(k);
	k->then = nothing;
	k->opt = (struct options){.listen = true, .size = SIZE, .flows = 1};
	flow_init(&k->f, &k->opt, 0);
	k->f.hist[HIST_COMPLETIONS] = calloc(1, sizeof(struct hist));
	k->f.hist[HIST_RECV_BYTES] = calloc(1, sizeof(struct hist));
	k->f.alone = true;
	k->f.state = &k->s;
	k->s.mem = k->mem;
	k->s.bufs = (struct io_uring_buf_ring *)k->bufs;
	k->s.n = BUFS;
	k->s.ring.sq = (struct io_uring_sq){.khead = &k->sq_head,
					    .ktail = &k->sq_tail,
					    .kflags = &k->sq_flags,
					    .array = k->sq_array,
					    .sqes = k->sqes,
					    .ring_mask = 3,
					    .ring_entries = 4};
	k->s.ring.cq = (struct io_uring_cq){.khead = &k->cq_head,
					    .ktail = &k->cq_tail,
					    .koverflow = &k->overflow,
					    .cqes = k->cqes,
					    .ring_mask = RING - 1,
					    .ring_entries = RING};
	return k;
}

static void kernel_free(void)
{
	flow_free(&k->f);
	free(k);
}

/* The second completion fills the ring and ends the request. */
static void fills(struct kernel *unused)
{
	(void)unused;
	complete(SIZE, IORING_CQE_F_MORE, 0);
	complete(SIZE, IORING_CQE_F_MORE, 1);
	k->sq_flags |= IORING_SQ_CQ_OVERFLOW;
}

static void hands_the_backlog_over(struct kernel *unused)
{
	(void)unused;
	complete(10, 0, 2);
	k->sq_flags = 0;
}

TEST(full)
{
	kernel_new();
	k->then = fills;
	assert_int_equal(multishot_step(&k->f), STEP_ON);
	assert_int_equal(k->f.ring_overflow, 0); /* no enter has found a backlog so far */
	assert_true(k->s.armed);
	k->then = hands_the_backlog_over;
	assert_int_equal(multishot_step(&k->f), STEP_ON);
	assert_int_equal(k->f.ring_overflow, 1);
	assert_int_equal(k->f.rearmed[REARM_RING_FULL], 1);
	assert_int_equal(k->requests, 1);
	assert_false(k->s.armed);
	k->then = nothing;
	multishot_step(&k->f);
	assert_int_equal(k->requests, 2); /* the request was repeated */
	assert_int_equal(k->f.ring_overflow, 1);
	assert_int_equal(k->f.dropped_completions, 0);
	assert_int_equal(k->f.bytes, 2 * SIZE + 10);
	assert_int_equal(k->f.error, 0);
	kernel_free();
}

static void drops(struct kernel *unused)
{
	(void)unused;
	complete(SIZE, IORING_CQE_F_MORE, 0);
	k->overflow = 3;
}

/* Dropped completions are an error for any result of the enter. Kernels report EBADR. */
TEST(dropped)
{
	static const int said[] = {1, -EBADR, -EINTR};

	each (c, said) {
		kernel_new();
		k->then = drops;
		k->rc = *c;
		assert_true(multishot_step(&k->f) < 0);
		assert_int_equal(k->f.dropped_completions, 3);
		assert_non_null(strstr(k->f.what, "no memory to keep 3 completions"));
		assert_non_null(strstr(k->f.what, "data is lost"));
		assert_non_null(strstr(k->f.what, "--cq-entries"));
		kernel_free();
	}
}

/* The error of a sender says that other things are unknown. */
TEST(dropped_by_sender)
{
	kernel_new();
	k->f.tx = true;
	k->then = drops;
	assert_true(uring_enter(&k->f, &k->s.ring, 1) < 0);
	assert_non_null(strstr(k->f.what, "what was sent, and from which memory, is not known"));
	kernel_free();
}

/* Linux before 6.2 returns EBUSY while the ring has no room for the backlog: empty it first. */
TEST(busy)
{
	kernel_new();
	k->then = fills;
	k->rc = -EBUSY;
	assert_int_equal(multishot_step(&k->f), STEP_ON);
	assert_int_equal(k->f.bytes, 2 * SIZE);
	k->then = nothing;
	assert_int_equal(uring_enter(&k->f, &k->s.ring, 1), -EBUSY);
	assert_int_equal(k->f.error, EBUSY);
	kernel_free();
}

static void no_buffer(struct kernel *unused)
{
	(void)unused;
	k->cqes[k->cq_tail++ % RING] = (struct io_uring_cqe){.res = -ENOBUFS};
}

TEST(no_buffers)
{
	kernel_new();
	k->then = no_buffer;
	assert_int_equal(multishot_step(&k->f), STEP_ON);
	assert_int_equal(k->f.rearmed[REARM_NO_BUFFERS], 1);
	assert_int_equal(k->f.rearmed[REARM_RING_FULL], 0);
	assert_false(k->s.armed);
	kernel_free();
}
