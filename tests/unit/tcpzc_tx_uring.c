// SPDX-License-Identifier: GPL-2.0-only
/*
 * io_uring's zero-copy sendmsg on a ring and with an io_uring_enter that the test makes. They act
 * like kernels without registered buffers for it, and like kernels without a report of copies.
 */
#include "samples/tcpzc/tx_uring.c"
#include "tests/unit/unit.h"

enum { ENTRIES = 8, SLOTS = 2, SIZE = 64 };

/* The ring that the kernel shares, and the bits of ioprio that the kernel does not know. */
static struct kernel {
	struct options opt;
	struct flow f;
	struct uring_tx u;
	unsigned int sq_head, sq_tail, sq_flags, sq_array[ENTRIES];
	unsigned int cq_head, cq_tail, overflow;
	struct io_uring_sqe sqes[ENTRIES];
	struct io_uring_cqe cqes[ENTRIES];
	struct slot slots[SLOTS];
	struct uring_msg msgs[SLOTS];
	char mem[SLOTS * SIZE];
	unsigned int unknown;
	bool refuses; /* every request fails */
} * k;

static void complete(const struct io_uring_sqe *sqe, int res, unsigned int flags)
{
	k->cqes[k->cq_tail++ % ENTRIES] =
		(struct io_uring_cqe){.user_data = sqe->user_data, .res = res, .flags = flags};
}

/* Replaces liburing's function, which versions of liburing declare in different ways. */
int fake_enter(unsigned int fd, unsigned int submit, unsigned int wait, unsigned int flags,
	       void *arg, size_t size) __asm__("io_uring_enter2");
int fake_enter(unsigned int fd, unsigned int submit, unsigned int wait, unsigned int flags,
	       void *arg, size_t size)
{
	bool cancelled = false;

	(void)fd;
	(void)wait;
	(void)flags;
	(void)arg;
	(void)size;
	for (unsigned int i = 0; i < submit; i++) {
		const struct io_uring_sqe *sqe = &k->sqes[k->sq_array[k->sq_head++ % ENTRIES]];

		if (cancelled || k->refuses || sqe->ioprio & k->unknown) {
			complete(sqe, cancelled ? -ECANCELED : -EINVAL, 0);
			cancelled = true;
			continue;
		}
		complete(sqe, SIZE, IORING_CQE_F_MORE);
		complete(sqe, 0, IORING_CQE_F_NOTIF);
	}
	return (int)submit;
}

static void kernel_new(unsigned int unknown)
{
	k = calloc(1, sizeof(*k));
	assert_non_null(k);
	k->unknown = unknown;
	k->opt = (struct options){
		.size = SIZE, .mode = &tx_uring_sendmsg_zc, .flows = 1, .bytes = 4 * SIZE};
	flow_init(&k->f, &k->opt, 0);
	k->f.hist[HIST_COMPLETIONS] = calloc(1, sizeof(struct hist));
	k->f.hist[HIST_NOTIFY_NS] = calloc(1, sizeof(struct hist));
	k->f.alone = true;
	k->f.state = &k->u;
	k->f.buffers = BUFFERS_REGISTERED;
	k->u = (struct uring_tx){.prepare = uring_sendmsg_zc_prepare,
				 .usage = true,
				 .may_be_plain = true,
				 .msgs = k->msgs};
	k->u.slots = (struct slots){.mem = k->mem, .size = SIZE, .n = SLOTS, .slot = k->slots};
	k->u.ring.ring_fd = k->u.ring.enter_ring_fd = -1;
	k->u.ring.sq = (struct io_uring_sq){.khead = &k->sq_head,
					    .ktail = &k->sq_tail,
					    .kflags = &k->sq_flags,
					    .array = k->sq_array,
					    .sqes = k->sqes,
					    .ring_mask = ENTRIES - 1,
					    .ring_entries = ENTRIES};
	k->u.ring.cq = (struct io_uring_cq){.khead = &k->cq_head,
					    .ktail = &k->cq_tail,
					    .koverflow = &k->overflow,
					    .cqes = k->cqes,
					    .ring_mask = ENTRIES - 1,
					    .ring_entries = ENTRIES};
}

static void kernel_free(void)
{
	flow_free(&k->f);
	free(k);
}

/* Takes steps until everything is sent, but at most `steps`. */
static void send_all(unsigned int steps)
{
	while (steps-- && k->f.bytes < k->opt.bytes)
		if (uring_tx_step(&k->f) < 0)
			break;
}

TEST(new)
{
	kernel_new(0);
	send_all(2);
	assert_int_equal(k->f.bytes, 4 * SIZE);
	assert_int_equal(k->f.buffers, BUFFERS_REGISTERED);
	assert_int_equal(k->f.sends_zero_copy, 4);
	kernel_free();
}

TEST(plain_instead)
{
	kernel_new(ZC_IORING_RECVSEND_FIXED_BUF); /* 6.2 to 6.14 */
	send_all(3);
	assert_int_equal(k->f.error, 0);
	assert_int_equal(k->f.bytes, 4 * SIZE);
	assert_int_equal(k->f.buffers, BUFFERS_PLAIN);
	assert_int_equal(k->f.sends_zero_copy, 4);
	kernel_free();
}

TEST(no_report_either)
{
	kernel_new(ZC_IORING_RECVSEND_FIXED_BUF | ZC_IORING_SEND_ZC_REPORT_USAGE); /* 6.1 */
	send_all(4);
	assert_int_equal(k->f.error, 0);
	assert_int_equal(k->f.bytes, 4 * SIZE);
	assert_int_equal(k->f.buffers, BUFFERS_PLAIN);
	assert_int_equal(k->f.sends, 4);
	assert_int_equal(k->f.sends_zero_copy, 0);
	kernel_free();
}

/* It is an error when no older kind of send helps. */
TEST(refused)
{
	kernel_new(0);
	k->refuses = true;
	send_all(5);
	assert_int_equal(k->f.error, EINVAL);
	assert_int_equal(k->f.bytes, 0);
	kernel_free();
}
