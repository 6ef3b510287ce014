// SPDX-License-Identifier: GPL-2.0-only
/* io_uring, and what of it a zero-copy workload uses. Spoken to directly: it takes four calls. */
#include "collect/doctor/uring.h"

#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int uring_open(uint32_t flags, struct io_uring_params *p)
{
	int fd;

	*p = (struct io_uring_params){.flags = flags};
	fd = (int)syscall(__NR_io_uring_setup, 8, p);
	return fd < 0 ? -errno : fd;
}

int uring_register(int fd, unsigned int op, void *arg, unsigned int n)
{
	return (int)syscall(__NR_io_uring_register, fd, op, arg, n) < 0 ? -errno : 0;
}

bool uring_has(int fd, unsigned int op)
{
	enum { OPS = 128 };
	struct io_uring_probe *p = xcalloc(1, sizeof(*p) + OPS * sizeof(p->ops[0]));
	bool has = !uring_register(fd, IORING_REGISTER_PROBE, p, OPS) && op < p->ops_len &&
		   op < OPS && (p->ops[op].flags & IO_URING_OP_SUPPORTED);

	free(p);
	return has;
}
