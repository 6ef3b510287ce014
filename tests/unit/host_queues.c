// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's lists of queues, NAPI instances and page pools as text. The answers for zcrx, devmem
 * TCP and page pools follow the kernel's netdev.yaml: no hardware that has them was seen.
 */
#include "collect/nic.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <sys/socket.h>

/* --- a kernel: the other end of a socket pair, with answers to requests that come later --- */

/* The attributes of a queue. */
enum { Q_ID = 1, Q_IFINDEX, Q_TYPE, Q_NAPI_ID, Q_DMABUF, Q_IO_URING, Q_XSK };

static struct genl g, message;
static int kernel;
static uint32_t answers; /* requests answered so far */

static void kernel_start(void)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	g = (struct genl){.fd = pair[0], .family = 20, .head_len = sizeof(struct genlmsghdr)};
	kernel = pair[1];
	answers = 1;
}

static void begin(void)
{
	netlink_begin(&message, 20, 0, &(struct genlmsghdr){0}, sizeof(struct genlmsghdr));
}

static void tell(uint16_t type, uint16_t flags)
{
	struct nlmsghdr *h = (struct nlmsghdr *)message.msg;

	h->nlmsg_type = type;
	h->nlmsg_flags = flags;
	h->nlmsg_seq = answers;
	h->nlmsg_len = (uint32_t)message.len;
	assert_int_equal(send(kernel, message.msg, message.len, 0), message.len);
}

/* Ends the answer to a request: type NLMSG_DONE, or NLMSG_ERROR with the errno. */
static void end(uint16_t type, int code)
{
	struct nlmsgerr e = {.error = -code};

	netlink_begin(&message, type, 0, &e, sizeof(e));
	tell(type, 0);
	answers++;
}

/* Reads the list. Its text is valid until the next call. */
static const char *list_text(enum netdev_list list)
{
	static struct str text;

	str_reset(&text);
	assert_int_equal(netdev_print_list(&g, list, &text), 0);
	return text.buf ? text.buf : "";
}

static void put_queue(uint32_t id, uint32_t napi, uint16_t nested, uint32_t dmabuf)
{
	begin();
	genl_put_u32(&message, Q_ID, id);
	genl_put_u32(&message, Q_TYPE, 0);
	genl_put_u32(&message, Q_IFINDEX, 4);
	if (napi)
		genl_put_u32(&message, Q_NAPI_ID, napi);
	if (nested)
		genl_nest_end(&message, genl_nest(&message, nested));
	if (dmabuf)
		genl_put_u32(&message, Q_DMABUF, dmabuf);
	tell(20, NLM_F_MULTI);
}

TEST(a_list_is_a_line_for_each_object)
{
	kernel_start();
	put_queue(0, 513, 0, 0);
	put_queue(1, 514, Q_IO_URING, 0);
	put_queue(2, 515, 0, 7);
	put_queue(3, 516, Q_XSK, 0);
	put_queue(4, 0, 300, 0); /* an attribute of a newer kernel */
	end(NLMSG_DONE, 0);
	assert_string_equal(list_text(NETDEV_QUEUE),
			    "queue\tid=0\ttype=0\tifindex=4\tnapi-id=513\n"
			    "queue\tid=1\ttype=0\tifindex=4\tnapi-id=514\tio-uring=1\n"
			    "queue\tid=2\ttype=0\tifindex=4\tnapi-id=515\tdmabuf=7\n"
			    "queue\tid=3\ttype=0\tifindex=4\tnapi-id=516\txsk=1\n"
			    "queue\tid=4\ttype=0\tifindex=4\n");
}

/* The pool's id is in a nest. A counter has 4 bytes while it is small. */
TEST(statistics_name_their_pool)
{
	const uint64_t many = 5000000000;
	size_t nest;

	kernel_start();
	begin();
	nest = genl_nest(&message, 1);
	genl_put_u32(&message, 1, 17);
	genl_put_u32(&message, 2, 4);
	genl_nest_end(&message, nest);
	genl_put(&message, 8, &many, sizeof(many));
	genl_put_u32(&message, 18, 3);
	tell(20, NLM_F_MULTI);
	end(NLMSG_DONE, 0);
	assert_string_equal(
		list_text(NETDEV_POOL_STATS),
		"page-pool-stats\tinfo=17\talloc-fast=5000000000\trecycle-released-refcnt=3\n");
}

TEST(a_list_that_changed_meanwhile_is_read_again)
{
	kernel_start();
	put_queue(0, 0, 0, 0);
	message.len = NLMSG_HDRLEN;
	tell(NLMSG_DONE, NLM_F_DUMP_INTR);
	answers++;
	put_queue(1, 0, 0, 0);
	end(NLMSG_DONE, 0);
	assert_string_equal(list_text(NETDEV_QUEUE), "queue\tid=1\ttype=0\tifindex=4\n");
}

TEST(a_list_that_the_kernel_lacks_is_no_failure_of_netlink)
{
	struct str text = {0};

	kernel_start();
	end(NLMSG_ERROR, EOPNOTSUPP);
	assert_int_equal(netdev_print_list(&g, NETDEV_POOL_STATS, &text), -EOPNOTSUPP);
	assert_int_equal(text.len, 0);
}

/* Each length in turn is wrong: of an attribute, of the message. */
TEST(damaged_messages_end_a_line_and_read_nothing_beyond)
{
	static const uint16_t lengths[] = {0, 3, 5, 7, 9, 40, 65535};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		kernel_start();
		begin();
		genl_put_u32(&message, Q_ID, 1);
		genl_put_u32(&message, Q_TYPE, 0);
		memcpy(message.msg + NLMSG_SPACE(sizeof(struct genlmsghdr)) + 8, &lengths[i],
		       sizeof(lengths[i]));
		tell(20, NLM_F_MULTI);
		message.len = NLMSG_HDRLEN + 2; /* shorter than its head */
		tell(20, NLM_F_MULTI);
		end(NLMSG_DONE, 0);
		assert_true(str_starts(list_text(NETDEV_QUEUE), "queue\tid=1"));
	}
}

static void stop(void)
{
	close(g.fd);
	close(kernel);
}

AROUND_TESTS(NULL, stop)
