/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZC_DOCTOR_URING_H
#define ZC_DOCTOR_URING_H

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>

/* A small ring with these IORING_SETUP_ flags: its descriptor, or -errno. *p: what the kernel said.
 */
int uring_open(uint32_t flags, struct io_uring_params *p);
int uring_register(int fd, unsigned int op, void *arg, unsigned int n); /* 0 or -errno */
/* Does IORING_REGISTER_PROBE know the opcode? That it works is another matter. */
bool uring_has(int fd, unsigned int op);

#endif
