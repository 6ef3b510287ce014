// SPDX-License-Identifier: GPL-2.0-only
/* Receives with zcrx from completions that the test puts into a ring. All code is the mode's. */
#include "samples/tcpzc/rx_zcrx.c"
#include "tests/unit/unit.h"

enum { PAGE = 4096, RING = 8, AREA = 16 * PAGE };

/* A completion of 32 bytes takes the place of two CQEs. */
struct fake {
	struct options opt;
	struct flow f;
	struct zcrx_rx s;
	unsigned int mask, head, tail, overflow;
	struct io_uring_cqe cqes[2 * RING];
	char region[PAGE + RING * sizeof(struct zc_zcrx_rqe)];
	char area[AREA];
};

static struct fake *fake_new(void)
{
	struct fake *k = calloc(1, sizeof(*k));
	struct zc_zcrx_ifq_reg reg = {.rq_entries = RING,
				      .offsets = {.head = 0, .tail = 64, .rqes = PAGE}};
	struct zc_zcrx_area_reg area = {.rq_area_token = 5ULL << ZC_ZCRX_AREA_SHIFT};

	assert_non_null(k);
	k->opt = (struct options){.size = 4096, .flows = 1, .verify = true, .nic = "none"};
	flow_init(&k->f, &k->opt, 0);
	k->f.hist[HIST_COMPLETIONS] = calloc(1, sizeof(struct hist));
	k->f.hist[HIST_RECV_BYTES] = calloc(1, sizeof(struct hist));
	k->f.alone = true;
	k->f.state = &k->s;
	k->s.area = k->area;
	k->s.area_size = AREA;
	k->mask = RING - 1;
	k->s.ring.cq = (struct io_uring_cq){.khead = &k->head,
					    .ktail = &k->tail,
					    .kring_mask = &k->mask,
					    .koverflow = &k->overflow,
					    .ring_mask = RING - 1,
					    .ring_entries = RING,
					    .cqes = k->cqes};
	k->s.ring.flags = IORING_SETUP_CQE32;
	zcrx_ring_init(&k->s.refill, k->region, &reg, &area);
	k->s.armed = true;
	return k;
}

static void fake_free(struct fake **fake)
{
	struct fake *k = *fake;

	free(k->s.backlog);
	flow_free(&k->f);
	free(k);
}

static void complete(struct fake *k, int res, unsigned int flags, uint64_t off)
{
	struct io_uring_cqe *c = &k->cqes[2 * (k->tail++ & k->mask)];

	*c = (struct io_uring_cqe){.res = res, .flags = flags};
	*(struct zc_zcrx_cqe *)(c + 1) = (struct zc_zcrx_cqe){.off = off};
}

/* Puts the next bytes of the stream at `off` of the area and adds their completion. */
static void arrive(struct fake *k, uint64_t *pos, uint64_t off, unsigned int len)
{
	flow_fill(&k->f, k->area + off, *pos, len);
	*pos += len;
	complete(k, (int)len, IORING_CQE_F_MORE, off | 5ULL << ZC_ZCRX_AREA_SHIFT);
}

static uint32_t *kernel_head(struct fake *k)
{
	return (uint32_t *)k->region;
}

static uint32_t *published_tail(struct fake *k)
{
	return (uint32_t *)(k->region + 64);
}

static struct zc_zcrx_rqe *entry(struct fake *k, unsigned int i)
{
	return (struct zc_zcrx_rqe *)(k->region + PAGE) + (i & (RING - 1));
}

TEST(data)
{
	freed(fake_free) struct fake *k = fake_new();
	uint64_t pos = 0;

	arrive(k, &pos, 3 * PAGE, 1448);
	arrive(k, &pos, 7 * PAGE + 100, 999);
	assert_int_equal(zcrx_collect(&k->f, &k->s), STEP_ON);
	assert_int_equal(k->f.bytes, 2447);
	assert_int_equal(k->f.unknown_bytes, 2447);
	assert_int_equal(k->f.mapped_bytes + k->f.copied_bytes, 0);
	assert_int_equal(k->f.receives, 2);
	assert_int_equal(k->f.bad_bytes, 0);
	assert_int_equal(*published_tail(k), 2);
	assert_int_equal(entry(k, 1)->off, (7ULL * PAGE + 100) | 5ULL << ZC_ZCRX_AREA_SHIFT);
	assert_int_equal(entry(k, 1)->len, 999);
	assert_int_equal(k->head, 2); /* the kernel has the completions back */
	assert_true(k->s.armed);
}

TEST(wrong_byte)
{
	freed(fake_free) struct fake *k = fake_new();
	uint64_t pos = 0;

	arrive(k, &pos, PAGE, 4096);
	k->area[PAGE + 77] ^= 1;
	zcrx_collect(&k->f, &k->s);
	assert_int_equal(k->f.bad_bytes, 1);
	assert_int_equal(k->f.first_bad, 77);
}

/* While the ring is full, memory waits. None is lost, and none is given back twice. */
TEST(full_ring)
{
	freed(fake_free) struct fake *k = fake_new();
	uint64_t pos = 0, seen = 0;

	for (unsigned int i = 0; i < RING; i++)
		arrive(k, &pos, i * PAGE, 64);
	zcrx_collect(&k->f, &k->s);
	for (unsigned int i = RING; i < RING + 3; i++)
		arrive(k, &pos, i * PAGE, 64);
	zcrx_collect(&k->f, &k->s);
	assert_int_equal(*published_tail(k), RING);
	assert_int_equal(k->s.nbacklog, 3);
	zcrx_give_back_backlog(&k->f, &k->s);
	assert_int_equal(k->s.nbacklog, 3);
	for (unsigned int i = 0; i < RING; i++)
		seen |= 1ULL << ((entry(k, i)->off & 0xffffffff) / PAGE);
	*kernel_head(k) = RING;
	zcrx_give_back_backlog(&k->f, &k->s);
	zcrx_publish(&k->s.refill);
	assert_int_equal(k->s.nbacklog, 0);
	assert_int_equal(*published_tail(k), RING + 3);
	for (unsigned int i = RING; i < RING + 3; i++)
		seen |= 1ULL << ((entry(k, i)->off & 0xffffffff) / PAGE);
	assert_int_equal(seen, (1ULL << (RING + 3)) - 1);
	assert_int_equal(k->f.bytes, (RING + 3) * 64);
}

/* A piece is ours until its entry is in the ring. A ring that the kernel has emptied is counted. */
TEST(returns)
{
	freed(fake_free) struct fake *k = fake_new();
	struct hist *h = k->f.hist[HIST_RETURN_NS] = calloc(1, sizeof(*h));
	uint64_t pos = 0;

	for (unsigned int i = 0; i < RING + 1; i++)
		arrive(k, &pos, i * PAGE, 64);
	zcrx_collect(&k->f, &k->s);
	assert_int_equal(h->count, RING);
	assert_int_equal(k->f.refill_empty, 1);
	*kernel_head(k) = 1;
	zcrx_give_back_backlog(&k->f, &k->s);
	zcrx_return(&k->f, &k->s);
	assert_int_equal(h->count, RING + 1);
	assert_int_equal(k->f.refill_empty, 1);
	assert_in_range(h->max, 1, 10000000000);
}

/* Positions of the ring wrap at 2^32. */
TEST(wrap)
{
	freed(fake_free) struct fake *k = fake_new();
	uint64_t pos = 0;

	*kernel_head(k) = *published_tail(k) = UINT32_MAX;
	k->s.refill.next = UINT32_MAX;
	arrive(k, &pos, 0, 10);
	arrive(k, &pos, PAGE, 10);
	zcrx_collect(&k->f, &k->s);
	assert_int_equal(*published_tail(k), 1);
	assert_int_equal(entry(k, UINT32_MAX)->len, 10);
	assert_int_equal(entry(k, 0)->len, 10);
	assert_int_equal(k->s.nbacklog, 0);
}

TEST(ends)
{
	freed(fake_free) struct fake *k = fake_new();

	complete(k, -ENOSPC, 0, 0);
	assert_int_equal(zcrx_collect(&k->f, &k->s), STEP_ON);
	assert_false(k->s.armed); /* the request must be repeated */
	assert_int_equal(k->f.rearmed[REARM_RING_FULL], 1);
	k->s.armed = true;
	complete(k, 0, 0, 0);
	assert_int_equal(zcrx_collect(&k->f, &k->s), STEP_END);
	assert_int_equal(k->f.error, 0);
}

TEST(errors)
{
	freed(fake_free) struct fake *k = fake_new();

	complete(k, -ECONNRESET, 0, 0);
	assert_int_equal(zcrx_collect(&k->f, &k->s), -ECONNRESET);
	assert_int_equal(k->f.error, ECONNRESET);
	fake_free(&k);

	k = fake_new();
	complete(k, 4096, IORING_CQE_F_MORE, AREA - 100); /* would end outside of the area */
	assert_true(zcrx_collect(&k->f, &k->s) < 0);
	assert_non_null(strstr(k->f.what, "outside of the area"));
	assert_int_equal(k->f.bytes, 0);
}

TEST(request)
{
	struct io_uring_sqe sqe;

	memset(&sqe, 0xff, sizeof(sqe));
	zcrx_prepare(&sqe, 11, 3);
	assert_int_equal(sqe.opcode, 58);
	assert_int_equal(sqe.fd, 11);
	assert_int_equal(sqe.ioprio, 2);
	assert_int_equal(((const uint32_t *)&sqe)[11], 3); /* byte 44: zcrx_ifq_idx */
	assert_int_equal(sqe.len, 0);
	assert_int_equal(sqe.addr, 0);
}
