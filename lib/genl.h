/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink, mostly generic netlink: a request and its answer or dump. When the kernel refuses,
 * `said` has its own words (the extended acknowledgement). A request looks like this:
 *
 *   struct genl g;
 *   genl_open(&g, "netdev", &err);
 *   genl_begin(&g, CMD, 0);
 *   genl_put_u32(&g, ATTR, 1);
 *   rc = genl_ask(&g, on_answer, arg, &err);
 *   genl_close(&g);
 */
#ifndef ZC_GENL_H
#define ZC_GENL_H

#include "lib/error.h"

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

struct genl {
	int fd;
	uint16_t family;
	size_t head_len; /* the length of what stands before the attributes of an answer */
	uint32_t seq;
	size_t len;
	char said[256];	  /* the kernel's words for the last refusal, or "" */
	bool interrupted; /* what the last dump lists changed meanwhile */
	_Alignas(8) char msg[4096];
};

/* Returns -ENOENT if the kernel has no such family. */
int genl_open(struct genl *g, const char *family, struct error *err);
void genl_close(struct genl *g);

/*
 * Another kind of netlink, such as NETLINK_ROUTE: netlink_begin() begins a request of the type with
 * the fixed part `head`. Each answer has a fixed part of `head_len` bytes (netlink_head).
 */
int netlink_open(struct genl *g, int protocol, size_t head_len, struct error *err);
void netlink_begin(struct genl *g, uint16_t type, uint16_t flags, const void *head, size_t len);
static inline const void *netlink_head(const void *attrs, size_t head_len)
{
	return (const char *)attrs - NLMSG_ALIGN(head_len);
}

/* Begins a request. `flags` is NLM_F_DUMP or 0. */
void genl_begin(struct genl *g, uint8_t cmd, uint16_t flags);
void genl_put(struct genl *g, uint16_t type, const void *data, size_t len);
void genl_put_u32(struct genl *g, uint16_t type, uint32_t value);
/* Begins a nested attribute. Pass the result to genl_nest_end(). */
size_t genl_nest(struct genl *g, uint16_t type);
void genl_nest_end(struct genl *g, size_t nest);

/*
 * Sends the request and calls `on` (may be NULL) with the attributes of each answer. Returns 0, or
 * -errno of the kernel's refusal, of `on`, or of the socket.
 */
typedef int (*genl_answer)(void *arg, const void *attrs, size_t len);
int genl_ask(struct genl *g, genl_answer on, void *arg, struct error *err);

/* Returns the next attribute and moves *p and *len behind it. Returns NULL at the end. */
const struct nlattr *genl_next(const void **p, size_t *len);
/* Returns the first attribute of that type, or NULL. */
const struct nlattr *genl_find(const void *attrs, size_t len, uint16_t type);
static inline const void *genl_data(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}
static inline size_t genl_size(const struct nlattr *a)
{
	return a->nla_len - (size_t)NLA_HDRLEN;
}
uint32_t genl_u32(const struct nlattr *a); /* 0 if the attribute is too short */
uint64_t genl_u64(const struct nlattr *a); /* reads a number of 4 or 8 bytes */

#endif
