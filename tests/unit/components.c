// SPDX-License-Identifier: GPL-2.0-only
/* Which component a function belongs to. */
#include "analyze/costs/components.h"

#include "tests/unit/unit.h"

static const char *part(const struct components *c, const char *symbol, enum dso_kind kind)
{
	struct function f = {symbol, kind == DSO_MODULE ? "veth" : "kernel", kind, CTX_UNKNOWN};

	return components_of(c, &f);
}

TEST(components)
{
	struct components *c, *basic;
	char name[64];

	assert_int_equal(components_read(&c, NULL, NULL, &err), 0);
	assert_string_equal(part(c, "_copy_to_iter", DSO_KERNEL), "data copy");
	assert_string_equal(part(c, "tcp_zerocopy_receive", DSO_KERNEL), "page mapping");
	assert_string_equal(part(c, "vm_insert_pages", DSO_KERNEL), "page mapping");
	assert_string_equal(part(c, "tcp_v4_rcv", DSO_KERNEL), "TCP/IP");
	assert_string_equal(part(c, "tcp_ack.constprop.0", DSO_KERNEL), "TCP/IP");
	assert_string_equal(part(c, "kmem_cache_alloc_noprof", DSO_KERNEL), "memory");
	assert_string_equal(part(c, "__pi_memcpy", DSO_KERNEL), "data copy");
	assert_string_equal(part(c, "memcpy", DSO_USER), "user");
	assert_string_equal(part(c, "some_driver_poll", DSO_MODULE), "netdevice");
	assert_string_equal(part(c, "io_recvmsg", DSO_KERNEL), "io_uring");
	assert_string_equal(part(c, "zz_nobody_knows", DSO_KERNEL), component_none);
	assert_int_equal(components_read(&basic, NULL, "basic", &err), 0);
	assert_string_equal(part(basic, "vm_insert_pages", DSO_KERNEL), "memory");
	assert_string_equal(part(basic, "io_recvmsg", DSO_KERNEL), "other");
	function_normalize("foo.isra.0.cold", name, sizeof(name));
	assert_string_equal(name, "foo");
	function_normalize("tcp recvmsg dmabuf", name, sizeof(name));
	assert_string_equal(name, "tcp_recvmsg_dmabuf");
	assert_int_equal(components_read(&c, "/nonexistent", NULL, &err), -ENOENT);
	components_free(c);
	components_free(basic);
}

/* The frame's user time has the kernel's code between user mode and the tracepoint of a call. */
TEST(kernel_code_in_user_time_has_the_component_of_its_name)
{
	struct function entry = {"do_syscall_64", "kernel", DSO_KERNEL, CTX_USER};
	struct function unknown = {"[user]", "kernel", DSO_KERNEL, CTX_USER};
	struct components *c;

	assert_int_equal(components_read(&c, NULL, NULL, &err), 0);
	assert_string_equal(components_of(c, &entry), "entry");
	assert_string_equal(components_of(c, &unknown), "user");
	components_free(c);
}

/* Reads rules from a text. The caller frees them. */
static struct components *rules_of(const char *text)
{
	char path[] = "/tmp/zcost-test.XXXXXX";
	struct components *c;
	int fd = mkstemp(path);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(components_read(&c, path, NULL, NULL), 0);
	unlink(path);
	return c;
}

TEST(most_specific_name_decides_in_any_order)
{
	static const char *const orders[] = {
		"all | *\nnet | tcp_*\nack | tcp_a?k*\none | tcp_ack\nend | *_acks\n",
		"end | *_acks\none | tcp_ack\nack | tcp_a?k*\nnet | tcp_*\nall | *\n",
	};

	each (r, orders) {
		struct components *c = rules_of(*r);

		assert_string_equal(part(c, "tcp_ack", DSO_KERNEL), "one");
		assert_string_equal(part(c, "tcp_ack.isra.0", DSO_KERNEL), "one");
		assert_string_equal(part(c, "tcp_ackx", DSO_KERNEL), "ack");
		assert_string_equal(part(c, "tcp_acks", DSO_KERNEL),
				    "ack"); /* 6 characters beat 5 */
		assert_string_equal(part(c, "tcp_x", DSO_KERNEL), "net");
		assert_string_equal(part(c, "udp_acks", DSO_KERNEL), "end");
		assert_string_equal(part(c, "udp_x", DSO_KERNEL), "all");
		components_free(c);
	}
}

/* A set [...] is a wildcard. Of globs with as many characters of a name, the first decides. */
TEST(glob_with_more_characters_of_the_name_decides)
{
	static const struct {
		const char *rules, *symbol, *owner;
	} cases[] = {
		{"one | a[bx]*d\ntwo | ?b*d\n", "abcd", "one"},
		{"one | a[bxyz]*d\ntwo | ab*d\n", "abcd", "two"},
		{"one | [x][y]*\ntwo | x*[y]\n", "xy", "two"},
		{"one | a?????d\ntwo | ab*d\n", "abcdefd", "two"},
	};

	each (r, cases) {
		struct components *c = rules_of(r->rules);

		assert_string_equal(part(c, r->symbol, DSO_KERNEL), r->owner);
		components_free(c);
	}
}

TEST(function_of_one_module_is_not_that_of_another)
{
	struct components *c = rules_of("one | module:bc\ntwo | module:c\n");
	struct function in_bc = {"a", "bc", DSO_MODULE, CTX_UNKNOWN},
			in_c = {"ab", "c", DSO_MODULE, CTX_UNKNOWN};

	assert_string_equal(components_of(c, &in_bc), "one");
	assert_string_equal(components_of(c, &in_c), "two");
	components_free(c);
}

TEST(rules_may_have_tabs_carriage_returns_and_lines_that_continue)
{
	struct components *c = rules_of(
		"# a comment\r\none\t|\ttcp_a\ttcp_b\r\n\ttcp_c\r\n \r\ntwo | udp_a\r\n  udp_b");

	assert_string_equal(part(c, "tcp_a", DSO_KERNEL), "one");
	assert_string_equal(part(c, "tcp_b", DSO_KERNEL), "one");
	assert_string_equal(part(c, "tcp_c", DSO_KERNEL), "one");
	assert_string_equal(part(c, "udp_a", DSO_KERNEL), "two");
	assert_string_equal(part(c, "udp_b", DSO_KERNEL), "two");
	components_free(c);
}

TEST(wrong_rules_are_refused_with_their_line)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"one | a\n\ntwo | kind:colour\n", ":3: not a rule"},
		{"one | context:colour\n", ":1: not a rule"},
		{"# c\none\n", ":2: not a rule"},
		{" one | a\n", ":1: not a rule"},
		{"# nothing\n", "no rules in it"},
	};

	each (r, cases) {
		char path[] = "/tmp/zcost-test.XXXXXX";
		struct error err = {0};
		struct components *c;
		int fd = mkstemp(path);

		assert_int_equal(write(fd, r->text, strlen(r->text)), strlen(r->text));
		close(fd);
		assert_true(components_read(&c, path, NULL, &err) < 0);
		if (!strstr(err.text, r->says))
			fail_msg("'%s' does not say '%s'", err.text, r->says);
		unlink(path);
	}
}

/* A place above the first name decides before names, a place below it after them. */
TEST(places_decide_before_or_after_names)
{
	struct components *before = rules_of("driver | module:veth\nskb | skb_*\n"),
			  *after = rules_of(
				  "skb | skb_*\ndriver | module:veth\nkernel | kind:kernel\n");

	assert_string_equal(part(before, "skb_x", DSO_MODULE), "driver");
	assert_string_equal(part(before, "skb_x", DSO_KERNEL), "skb");
	assert_string_equal(part(after, "skb_x", DSO_MODULE), "skb");
	assert_string_equal(part(after, "poll", DSO_MODULE), "driver");
	assert_string_equal(part(after, "poll", DSO_KERNEL), "kernel");
	components_free(before);
	components_free(after);
}
