// SPDX-License-Identifier: GPL-2.0-only
#include "devmem.h"

#include <errno.h>
#include <string.h>

void devmem_read(struct devmem_reader *r, struct msghdr *msg, size_t area_size, size_t iov_size)
{
	*r = (struct devmem_reader){.msg = msg,
				    .next = CMSG_FIRSTHDR(msg),
				    .area_size = area_size,
				    .iov_size = iov_size};
}

static bool devmem_is_piece(const struct cmsghdr *c)
{
	return c->cmsg_level == SOL_SOCKET &&
	       (c->cmsg_type == ZC_SO_DEVMEM_DMABUF || c->cmsg_type == ZC_SO_DEVMEM_LINEAR) &&
	       c->cmsg_len >= CMSG_LEN(sizeof(struct zc_dmabuf_cmsg));
}

int devmem_next(struct devmem_reader *r, struct devmem_piece *p)
{
	struct zc_dmabuf_cmsg d;
	size_t size;

	while (r->next && !devmem_is_piece(r->next))
		r->next = CMSG_NXTHDR(r->msg, r->next);
	if (!r->next)
		return 0;
	memcpy(&d, CMSG_DATA(r->next), sizeof(d));
	*p = (struct devmem_piece){.linear = r->next->cmsg_type == ZC_SO_DEVMEM_LINEAR,
				   .offset = d.frag_offset,
				   .len = d.frag_size,
				   .token = d.frag_token};
	if (p->linear) {
		p->offset = r->linear;
		r->linear += p->len;
	}
	size = p->linear ? r->iov_size : r->area_size;
	r->next = CMSG_NXTHDR(r->msg, r->next);
	return p->offset <= size && p->len <= size - p->offset ? 1 : -EPROTO;
}

bool devmem_add(struct devmem_tokens *t, uint32_t token)
{
	struct zc_dmabuf_token *last = t->ranges ? &t->range[t->ranges - 1] : NULL;

	if (t->count == ZC_DEVMEM_MAX_FRAGS)
		return false;
	if (last && token == last->token_start + last->token_count) {
		last->token_count++;
	} else {
		if (t->ranges == ZC_DEVMEM_MAX_TOKENS)
			return false;
		t->range[t->ranges++] =
			(struct zc_dmabuf_token){.token_start = token, .token_count = 1};
	}
	t->count++;
	return true;
}
