/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dumps of rtnetlink: all links, the counters of all links. Attributes are walked with genl_next
 * (lib/genl.h). A socket speaks to the network namespace that it was opened in.
 */
#ifndef ZC_RTNL_H
#define ZC_RTNL_H

#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor or -errno. */
int rtnl_open(void);

/*
 * Asks for a dump by message `type`, whose request is `head`, and calls `each` for every message of
 * `answer` type: its head, which is as long as the request's, and the attributes. 0 or -errno.
 */
int rtnl_dump(int fd, uint16_t type, uint16_t answer, const void *head, size_t head_len,
	      void (*each)(void *arg, const void *head, const void *attrs, size_t len), void *arg);

#endif
