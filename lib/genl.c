// SPDX-License-Identifier: GPL-2.0-only
#include "lib/genl.h"

#include "lib/file.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { ANSWER = 32768, PATIENCE_S = 10 };

const struct nlattr *genl_next(const void **p, size_t *len)
{
	const struct nlattr *a = *p;
	size_t step;

	if (*len < (size_t)NLA_HDRLEN || a->nla_len < NLA_HDRLEN || a->nla_len > *len)
		return NULL;
	step = NLA_ALIGN((size_t)a->nla_len);
	if (step > *len)
		step = *len;
	*p = (const char *)*p + step;
	*len -= step;
	return a;
}

const struct nlattr *genl_find(const void *attrs, size_t len, uint16_t type)
{
	const struct nlattr *a;

	while ((a = genl_next(&attrs, &len)))
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

uint32_t genl_u32(const struct nlattr *a)
{
	uint32_t v = 0;

	if (genl_size(a) >= sizeof(v))
		memcpy(&v, genl_data(a), sizeof(v));
	return v;
}

uint64_t genl_u64(const struct nlattr *a)
{
	uint64_t v = 0;

	if (genl_size(a) < sizeof(v))
		return genl_u32(a);
	memcpy(&v, genl_data(a), sizeof(v));
	return v;
}

static struct nlmsghdr *genl_header(struct genl *g)
{
	return (struct nlmsghdr *)g->msg;
}

void netlink_begin(struct genl *g, uint16_t type, uint16_t flags, const void *head, size_t len)
{
	memset(g->msg, 0, NLMSG_SPACE(len));
	memcpy(g->msg + NLMSG_HDRLEN, head, len);
	g->len = NLMSG_SPACE(len);
	g->said[0] = '\0';
	genl_header(g)->nlmsg_type = type;
	genl_header(g)->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
}

void genl_begin(struct genl *g, uint8_t cmd, uint16_t flags)
{
	const struct genlmsghdr head = {.cmd = cmd, .version = 1};

	netlink_begin(g, g->family, flags, &head, sizeof(head));
}

/* An attribute that does not fit makes `len` too long, and genl_ask() then refuses to send. */
void genl_put(struct genl *g, uint16_t type, const void *data, size_t len)
{
	size_t all = NLA_ALIGN(NLA_HDRLEN + len);
	struct nlattr *a = (struct nlattr *)(g->msg + g->len);

	if (g->len > sizeof(g->msg) || all > sizeof(g->msg) - g->len) {
		g->len = sizeof(g->msg) + 1;
		return;
	}
	memset(a, 0, all);
	a->nla_type = type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + len);
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
	g->len += all;
}

void genl_put_u32(struct genl *g, uint16_t type, uint32_t value)
{
	genl_put(g, type, &value, sizeof(value));
}

size_t genl_nest(struct genl *g, uint16_t type)
{
	size_t at = g->len;

	genl_put(g, type | NLA_F_NESTED, NULL, 0);
	return at;
}

void genl_nest_end(struct genl *g, size_t nest)
{
	if (g->len <= sizeof(g->msg))
		((struct nlattr *)(g->msg + nest))->nla_len = (uint16_t)(g->len - nest);
}

/* Reads the kernel's text, which follows the copy of the request in an error message. */
static void genl_read_words(struct genl *g, const struct nlmsghdr *h)
{
	const struct nlmsgerr *e = NLMSG_DATA(h);
	size_t skip = NLMSG_HDRLEN + sizeof(*e);
	const struct nlattr *a;

	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(e->msg.nlmsg_len) - NLMSG_HDRLEN;
	if (skip >= h->nlmsg_len)
		return;
	a = genl_find((const char *)h + skip, h->nlmsg_len - skip, NLMSGERR_ATTR_MSG);
	if (a)
		snprintf(g->said, sizeof(g->said), "%.*s", (int)genl_size(a),
			 (const char *)genl_data(a));
}

static int genl_read_error(struct genl *g, const struct nlmsghdr *h, struct error *err)
{
	const struct nlmsgerr *e = NLMSG_DATA(h);

	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*e)))
		return error_set(err, EBADMSG, "netlink: a short answer");
	if (!e->error)
		return 0;
	genl_read_words(g, h);
	return error_set(err, -e->error, "netlink: %s%s%s", strerror(-e->error),
			 g->said[0] ? ": " : "", g->said);
}

/* Reads one message. Returns 1 if more follow, 0 at the end, or -errno. */
static int genl_read_message(struct genl *g, const struct nlmsghdr *h, genl_answer on, void *arg,
			     struct error *err)
{
	size_t head = NLMSG_SPACE(g->head_len);
	int rc, code = 0;

	if (h->nlmsg_seq != g->seq)
		return 1;
	g->interrupted |= h->nlmsg_flags & NLM_F_DUMP_INTR;
	if (h->nlmsg_type == NLMSG_ERROR)
		return genl_read_error(g, h, err);
	if (h->nlmsg_type == NLMSG_DONE) { /* the end of a list may carry an error */
		if (h->nlmsg_len >= NLMSG_LENGTH(sizeof(code)))
			memcpy(&code, NLMSG_DATA(h), sizeof(code));
		return code < 0 ? error_sys(err, -code, "netlink") : 0;
	}
	if (!on || h->nlmsg_len < head)
		return 1;
	rc = on(arg, (const char *)h + head, h->nlmsg_len - head);
	return rc ? rc : 1;
}

static int genl_read_answers(struct genl *g, genl_answer on, void *arg, struct error *err)
{
	_Alignas(8) char buf[ANSWER];

	for (;;) {
		ssize_t got = recv(g->fd, buf, sizeof(buf), MSG_TRUNC);
		const struct nlmsghdr *h = (const struct nlmsghdr *)buf;
		int rc;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_sys(err, errno, "netlink");
		if ((size_t)got > sizeof(buf))
			return error_set(err, EMSGSIZE, "netlink: an answer of %zd bytes", got);
		for (unsigned int left = (unsigned int)got; NLMSG_OK(h, left);
		     h = NLMSG_NEXT(h, left)) {
			rc = genl_read_message(g, h, on, arg, err);
			if (rc <= 0)
				return rc;
			if (NLMSG_ALIGN(h->nlmsg_len) > left) /* the last one is not padded */
				break;
		}
	}
}

int genl_ask(struct genl *g, genl_answer on, void *arg, struct error *err)
{
	if (g->len > sizeof(g->msg))
		return error_set(err, EMSGSIZE, "netlink: the request is too long");
	genl_header(g)->nlmsg_len = (uint32_t)g->len;
	genl_header(g)->nlmsg_seq = ++g->seq;
	g->interrupted = false;
	if (send(g->fd, g->msg, g->len, 0) < 0)
		return error_sys(err, errno, "netlink");
	return genl_read_answers(g, on, arg, err);
}

static int genl_read_family(void *arg, const void *attrs, size_t len)
{
	const struct nlattr *a = genl_find(attrs, len, CTRL_ATTR_FAMILY_ID);

	if (a && genl_size(a) >= sizeof(uint16_t))
		memcpy(arg, genl_data(a), sizeof(uint16_t));
	return 0;
}

int netlink_open(struct genl *g, int protocol, size_t head_len, struct error *err)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	int one = 1;

	*g = (struct genl){.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol),
			   .head_len = head_len};
	if (g->fd < 0)
		return error_sys(err, errno, "netlink");
	setsockopt(g->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(g->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return 0;
}

int genl_open(struct genl *g, const char *family, struct error *err)
{
	int rc = netlink_open(g, NETLINK_GENERIC, sizeof(struct genlmsghdr), err);

	if (rc)
		return rc;
	g->family = GENL_ID_CTRL;
	genl_begin(g, CTRL_CMD_GETFAMILY, 0);
	g->family = 0;
	genl_put(g, CTRL_ATTR_FAMILY_NAME, family, strlen(family) + 1);
	rc = genl_ask(g, genl_read_family, &g->family, err);
	if (!rc && !g->family)
		rc = error_set(err, ENOENT, "netlink: no family '%s'", family);
	if (rc)
		genl_close(g);
	return rc;
}

void genl_close(struct genl *g)
{
	fd_close(&g->fd);
}
