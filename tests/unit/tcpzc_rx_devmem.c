// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receives with devmem TCP from control messages that the test lays out byte by byte, as the
 * kernel's uapi defines them. The test replaces two system calls. All other code is the mode's.
 */
#include <sys/socket.h>

static ssize_t our_recvmsg(int fd, struct msghdr *msg, int flags);
static int our_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
#define recvmsg	   our_recvmsg
#define setsockopt our_setsockopt
#include "samples/tcpzc/rx_devmem.c"
#include "tests/unit/unit.h"
#undef recvmsg
#undef setsockopt

enum { AREA = 64 * 4096, DMABUF = 79, LINEAR = 78, MESSAGES = 4096 };

/* The next receive. */
static struct {
	char control[MESSAGES];
	size_t len;
	ssize_t n; /* bytes, or -errno */
	int flags;
	char linear[4096];
} next;

static struct {
	unsigned int calls, tokens, refuse;
	uint32_t first[64], count[64];
} returned;

static ssize_t our_recvmsg(int fd, struct msghdr *msg, int flags)
{
	(void)fd;
	assert_true(flags & 0x2000000); /* MSG_SOCK_DEVMEM */
	if (next.n < 0) {
		errno = (int)-next.n;
		return -1;
	}
	memcpy(msg->msg_control, next.control, next.len);
	msg->msg_controllen = next.len;
	msg->msg_flags = next.flags;
	memcpy(msg->msg_iov[0].iov_base, next.linear, sizeof(next.linear));
	return next.n;
}

static int our_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	const uint32_t *t = value;
	unsigned int n = 0;

	(void)fd;
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, 80);
	assert_int_equal(len % 8, 0);
	assert_true(len / 8 <= 128);
	for (unsigned int i = 0; i < len / 8; i++) {
		if (i < 64) {
			returned.first[i] = t[2 * i];
			returned.count[i] = t[2 * i + 1];
		}
		n += t[2 * i + 1];
	}
	assert_true(n <= 1024);
	returned.calls++;
	returned.tokens += n;
	return (int)(n - returned.refuse);
}

/* Adds a control message: length, level, type, then 24 bytes; 40 bytes in all. */
static void message(int type, uint64_t offset, uint32_t size, uint32_t token)
{
	char *p = next.control + next.len;

	assert_true(next.len + 40 <= sizeof(next.control));
	memset(p, 0, 40);
	*(uint64_t *)p = 40;
	*(uint32_t *)(p + 8) = 1; /* SOL_SOCKET */
	*(int32_t *)(p + 12) = type;
	*(uint64_t *)(p + 16) = offset;
	*(uint32_t *)(p + 24) = size;
	*(uint32_t *)(p + 28) = token;
	*(uint32_t *)(p + 32) = 1; /* the dmabuf */
	next.len += 40;
}

struct fake {
	struct options opt;
	struct flow f;
	struct devmem_rx s;
	char area[AREA], linear[4096];
};

static struct fake *fake_new(void)
{
	struct fake *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	memset(&next, 0, sizeof(next));
	memset(&returned, 0, sizeof(returned));
	k->opt = (struct options){.size = 4096, .flows = 1, .verify = true};
	flow_init(&k->f, &k->opt, 0);
	k->f.hist[HIST_TOKENS] = calloc(1, sizeof(struct hist));
	k->f.hist[HIST_RETURNS] = calloc(1, sizeof(struct hist));
	k->f.hist[HIST_RECV_BYTES] = calloc(1, sizeof(struct hist));
	k->f.hist[HIST_RETURN_NS] = calloc(1, sizeof(struct hist));
	k->f.alone = true;
	k->f.state = &k->s;
	k->s.mem = (struct dmabuf){.fd = -1, .map = k->area, .size = AREA};
	k->s.linear = k->linear;
	k->s.control = calloc(1, CONTROL);
	return k;
}

static void fake_free(struct fake **fake)
{
	struct fake *k = *fake;

	free(k->s.control);
	flow_free(&k->f);
	free(k);
}

static void fresh(void)
{
	next.len = 0;
	next.n = 0;
}

static void arrive(struct fake *k, uint64_t *pos, uint64_t off, uint32_t len, uint32_t token)
{
	flow_fill(&k->f, k->area + off, *pos, len);
	*pos += len;
	next.n += len;
	message(DMABUF, off, len, token);
}

static void arrive_copied(struct fake *k, uint64_t *pos, uint32_t at, uint32_t len)
{
	flow_fill(&k->f, next.linear + at, *pos, len);
	*pos += len;
	next.n += len;
	message(LINEAR, 0, len, 0);
}

TEST(pieces)
{
	freed(fake_free) struct fake *k = fake_new();
	uint64_t pos = 0;

	arrive_copied(k, &pos, 0, 100);
	arrive(k, &pos, 4096, 1448, 7);
	arrive_copied(k, &pos, 100, 52);
	arrive(k, &pos, 8192 + 16, 900, 8);
	assert_int_equal(devmem_rx_step(&k->f), STEP_ON);
	assert_int_equal(k->f.bytes, 2500);
	assert_int_equal(k->f.mapped_bytes, 2348);
	assert_int_equal(k->f.copied_bytes, 152);
	assert_int_equal(k->f.bad_bytes, 0);
	assert_int_equal(k->f.receives, 1);
	assert_int_equal(k->s.tokens.count, 2);
	assert_int_equal(k->s.tokens.ranges, 1);
	assert_int_equal(returned.calls, 0);
	assert_int_equal(devmem_rx_drain(&k->f), 0);
	assert_int_equal(returned.first[0], 7);
	assert_int_equal(returned.count[0], 2);
}

TEST(wrong_byte)
{
	freed(fake_free) struct fake *k = fake_new();
	uint64_t pos = 0;

	arrive(k, &pos, 4096, 4096, 1);
	k->area[4096 + 9] ^= 4;
	devmem_rx_step(&k->f);
	assert_int_equal(k->f.bad_bytes, 1);
	assert_int_equal(k->f.first_bad, 9);
}

/* Copies from the fake's area, as if it were memory of a GPU at address 0x10000. */
static const char *gpu_area;

static int gpu_copy(void *to, uint64_t from, size_t n)
{
	memcpy(to, gpu_area + (from - 0x10000), n);
	return gpu_area[from - 0x10000] ? 0 : 2;
}

static int gpu_error_name(int code, const char **name)
{
	*name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : NULL;
	return 0;
}

TEST(memory_of_a_gpu_is_copied_for_verify_only)
{
	freed(fake_free) struct fake *k = fake_new();
	struct cuda gpu = {.calls = {.cuMemcpyDtoH_v2 = gpu_copy, .cuGetErrorName = gpu_error_name},
			   .at = 0x10000};
	uint64_t pos = 0;

	gpu_area = k->area;
	k->s.mem.gpu = &gpu;
	k->s.mem.map = NULL;
	arrive(k, &pos, 4096, 1448, 7);
	arrive(k, &pos, 8192 + 16, 4000, 8);
	k->area[8192 + 16 + 9] ^= 4;
	assert_int_equal(devmem_rx_step(&k->f), STEP_ON);
	assert_int_equal(k->f.mapped_bytes, 5448);
	assert_int_equal(k->f.bad_bytes, 1);
	assert_int_equal(k->f.first_bad, 1448 + 9);
	assert_int_equal(gpu.room, 4000);

	fresh();
	arrive(k, &pos, 0, 10, 9);
	k->area[0] = 0; /* makes the copy fail */
	assert_true(devmem_rx_step(&k->f) < 0);
	assert_non_null(
		strstr(k->f.what, "cuMemcpyDtoH_v2: CUDA_ERROR_OUT_OF_MEMORY (2). Way out"));

	k->opt.verify = false;
	gpu.calls.cuMemcpyDtoH_v2 = NULL;
	assert_int_equal(devmem_rx_step(&k->f), STEP_ON);
	free(gpu.copy);
}

/* Tokens go back in batches, the rest at the end, and each token once. */
TEST(batches)
{
	freed(fake_free) struct fake *k = fake_new();
	uint64_t pos = 0;

	for (unsigned int i = 0; i < DONTNEED_BATCH + 1; i++) {
		fresh();
		arrive(k, &pos, 0, 64, 100 + i);
		assert_int_equal(devmem_rx_step(&k->f), STEP_ON);
	}
	assert_int_equal(returned.tokens, DONTNEED_BATCH);
	devmem_rx_drain(&k->f);
	assert_int_equal(returned.tokens, DONTNEED_BATCH + 1);
	assert_int_equal(k->f.hist[HIST_RETURN_NS]->count, DONTNEED_BATCH + 1);
	assert_int_equal(returned.calls, 2);
}

/* One call takes 128 ranges, so 129 tokens that are not neighbours take two calls. */
TEST(many_ranges)
{
	freed(fake_free) struct fake *k = fake_new();
	uint64_t pos = 0;

	for (unsigned int i = 0; i < 129; i++) {
		fresh();
		arrive(k, &pos, 0, 16, 3 * i);
		assert_int_equal(devmem_rx_step(&k->f), STEP_ON);
	}
	assert_int_equal(returned.calls, 1);
	assert_int_equal(returned.tokens, 128);
	assert_int_equal(k->s.tokens.count, 1);
}

/* An unbound socket gives bytes without a message, which must be an error. */
TEST(no_message)
{
	freed(fake_free) struct fake *k = fake_new();

	next.n = 300;
	assert_true(devmem_rx_step(&k->f) < 0);
	assert_non_null(strstr(k->f.what, "300 of 300 bytes came without a control message"));
}

TEST(bad_messages)
{
	freed(fake_free) struct fake *k = fake_new();

	message(DMABUF, AREA - 10, 11, 1); /* one byte beyond the end */
	next.n = 11;
	assert_true(devmem_rx_step(&k->f) < 0);
	assert_non_null(strstr(k->f.what, "outside of the dmabuf"));
	fake_free(&k);

	k = fake_new();
	message(DMABUF, 0, 5, 1);
	next.n = 5;
	next.flags = MSG_CTRUNC;
	assert_true(devmem_rx_step(&k->f) < 0);
	assert_non_null(strstr(k->f.what, "cut off"));
	fake_free(&k);

	k = fake_new();
	message(DMABUF, 0, 5, 1);
	next.n = 5;
	assert_int_equal(devmem_rx_step(&k->f), STEP_ON);
	returned.refuse = 1;
	assert_true(devmem_rx_drain(&k->f) < 0);
	assert_non_null(strstr(k->f.what, "took 0 of 1 tokens back"));
}

TEST(ends)
{
	freed(fake_free) struct fake *k = fake_new();
	uint64_t pos = 0;

	arrive(k, &pos, 0, 64, 1);
	assert_int_equal(devmem_rx_step(&k->f), STEP_ON);
	next.n = -EAGAIN;
	assert_int_equal(devmem_rx_step(&k->f), STEP_WAIT);
	assert_int_equal(returned.tokens, 1); /* the NIC may need the memory during the wait */
	fresh();
	assert_int_equal(devmem_rx_step(&k->f), STEP_END);
	next.n = -ECONNRESET;
	assert_int_equal(devmem_rx_step(&k->f), -ECONNRESET);
}
