/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A child process spoken with in lines and bytes over its standard input and output, with patience
 * that ends. It says nothing to anybody but in return values:
 *
 *     -EPIPE      it has ended, or closed its end
 *     -ETIMEDOUT  nothing came for as long as we waited
 *     -EINTR      a signal came (only where `intr` is given)
 */
#ifndef ZC_CAPTURE_LINK_H
#define ZC_CAPTURE_LINK_H

#include "capture/interrupt.h"
#include "lib/str.h"

#include <stdint.h>
#include <sys/types.h>

struct link {
	pid_t pid;    /* 0: there is none */
	int to, from; /* its standard input and output */
	char buf[65536];
	size_t at, len; /* of buf: read and not taken yet */
};

/* What it says on standard error goes to the file `log`. */
int link_start(struct link *l, char *const argv[], const char *log, struct error *err);

int link_write_line(struct link *l, const char *line); /* without its newline */

/* One line without its newline into *line, which is emptied first. */
int link_read_line(struct link *l, struct interrupt *intr, double patience_s, struct str *line);

/* Up to `max` bytes; the number or an error. */
ssize_t link_read_bytes(struct link *l, struct interrupt *intr, double patience_s, void *to, size_t max);

/* Has it ended? Then *status is as of waitpid. */
bool link_ended(struct link *l, int *status);

/* Closes its input and waits for its end, the hard way after patience_s. *status may be NULL. */
void link_close(struct link *l, double patience_s, int *status);

#endif
