// SPDX-License-Identifier: GPL-2.0-only
/* Sends from device memory and compares, byte by byte, what the kernel gets. */
#include <sys/socket.h>

static ssize_t our_sendmsg(int fd, const struct msghdr *msg, int flags);
static int our_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
#define sendmsg	   our_sendmsg
#define setsockopt our_setsockopt
#include "samples/tcpzc/tx_zerocopy.c"
#include "tests/unit/unit.h"
#undef sendmsg
#undef setsockopt

static struct {
	unsigned int calls;
	uint64_t offset, len;
	int flags, answer; /* the most bytes that it takes; 0: all */
	char control[64];
	size_t control_len;
} sent;

static char bound_to[32];

static ssize_t our_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	(void)fd;
	assert_int_equal(msg->msg_iovlen, 1);
	assert_true(msg->msg_controllen <= sizeof(sent.control));
	sent.calls++;
	sent.offset = (uintptr_t)msg->msg_iov[0].iov_base;
	sent.len = msg->msg_iov[0].iov_len;
	sent.flags = flags;
	sent.control_len = msg->msg_controllen;
	memcpy(sent.control, msg->msg_control, msg->msg_controllen);
	return sent.answer ? sent.answer : (ssize_t)sent.len;
}

static int our_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	(void)fd;
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, SO_BINDTODEVICE);
	snprintf(bound_to, sizeof(bound_to), "%.*s", (int)len, (const char *)value);
	errno = ENODEV;
	return strcmp(bound_to, "eth7") ? -1 : 0;
}

struct fake {
	struct options opt;
	struct flow f;
	struct devmem_tx s;
	char memory[4 * 1000];
	struct slot slot[4];
};

static struct fake *fake_new(void)
{
	struct fake *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	memset(&sent, 0, sizeof(sent));
	k->opt = (struct options){.size = 1000, .flows = 1, .nic = "eth7"};
	flow_init(&k->f, &k->opt, 0);
	k->f.alone = true;
	k->f.state = &k->s;
	k->f.size = 1000;
	k->f.allow = UINT64_MAX;
	k->s.mem = (struct dmabuf){.fd = -1, .id = 0x01020304, .map = k->memory, .size = 4000};
	k->s.zc.send = devmem_send;
	k->s.zc.slots = (struct slots){.mem = k->memory, .size = 1000, .n = 4, .slot = k->slot};
	return k;
}

TEST(request)
{
	static const unsigned char control[] = {20, 0, 0, 0, 0, 0, 0, 0, /* length */
						1,  0, 0, 0,		 /* SOL_SOCKET */
						79, 0, 0, 0,		 /* SCM_DEVMEM_DMABUF */
						4,  3, 2, 1};		 /* the binding */
	struct fake *k = fake_new();

	assert_int_equal(zerocopy_tx_step(&k->f), STEP_ON);
	assert_int_equal(sent.offset, 0);
	assert_int_equal(sent.len, 1000);
	assert_true(sent.flags & 0x4000000); /* MSG_ZEROCOPY */
	assert_int_equal(sent.control_len, 24);
	assert_memory_equal(sent.control, control, sizeof(control));
	assert_int_equal(zerocopy_tx_step(&k->f), STEP_ON);
	assert_int_equal(sent.offset, 1000); /* an offset in the dmabuf, not in our memory */
	assert_int_equal(k->f.sends, 2);
	assert_int_equal(k->s.zc.slots.in_flight, 2);
	flow_free(&k->f);
	free(k);
}

/* A short send continues in its slot. A dmabuf that cannot be mapped has the same offsets. */
TEST(short)
{
	struct fake *k = fake_new();

	k->s.mem.map = k->s.zc.slots.mem = NULL;
	sent.answer = 300;
	assert_int_equal(zerocopy_tx_step(&k->f), STEP_ON);
	sent.answer = 0;
	assert_int_equal(zerocopy_tx_step(&k->f), STEP_ON);
	assert_int_equal(sent.offset, 300);
	assert_int_equal(sent.len, 700);
	assert_int_equal(zerocopy_tx_step(&k->f), STEP_ON);
	assert_int_equal(sent.offset, 1000);
	assert_int_equal(k->f.bytes, 2000);
	flow_free(&k->f);
	free(k);
}

static char gpu_memory[4000];

static int gpu_take(uint64_t to, const void *from, size_t n)
{
	if (to < 0x10000 || to - 0x10000 + n > sizeof(gpu_memory))
		return 1;
	memcpy(gpu_memory + (to - 0x10000), from, n);
	return 0;
}

static int gpu_error_name(int code, const char **name)
{
	(void)code, (void)name;
	return 1;
}

/* --verify copies what is sent to the GPU; without it, the GPU's memory is sent as it is. */
TEST(memory_of_a_gpu)
{
	struct fake *k = fake_new();
	struct cuda gpu = {.calls = {.cuMemcpyHtoD_v2 = gpu_take, .cuGetErrorName = gpu_error_name},
			   .at = 0x10000};

	k->s.mem.gpu = &gpu;
	assert_int_equal(zerocopy_tx_step(&k->f), STEP_ON);
	assert_int_equal(gpu_memory[0], 0);
	k->opt.verify = true;
	assert_int_equal(zerocopy_tx_step(&k->f), STEP_ON);
	assert_int_equal(sent.offset, 1000);
	assert_memory_equal(gpu_memory + 1000, k->memory + 1000, 1000);
	assert_memory_not_equal(gpu_memory + 1000, gpu_memory, 1000);
	gpu.at = 0;
	assert_true(zerocopy_tx_step(&k->f) < 0);
	assert_int_equal(sent.calls, 2);
	assert_non_null(strstr(k->f.what, "cuMemcpyHtoD_v2: unknown error (1)"));
	flow_free(&k->f);
	free(k);
}

TEST(interface)
{
	struct fake *k = fake_new();

	k->opt.nic = "none0";
	assert_true(devmem_tx_attach(&k->f) < 0);
	assert_string_equal(bound_to, "none0");
	assert_non_null(strstr(k->f.what, "SO_BINDTODEVICE none0"));
	flow_free(&k->f);
	free(k);
}
