// SPDX-License-Identifier: GPL-2.0-only
/*
 * splice(2) of a pipe's pages: the pages themselves go into the packets. write(2) fills one pipe
 * once. For each message, tee(2) shares its pages with a second pipe, and splice passes those to
 * the socket. Nothing is copied, however often the data is sent.
 *
 * The mode uses a pipe and not a file because, since Linux 6.8, a receiver with
 * TCP_ZEROCOPY_RECEIVE maps no page that belongs to a file system. A memfd's pages do, and a pipe's
 * pages do not.
 *
 * With --verify each message has other contents, so it is written and spliced. The kernel does not
 * report whether it copied pages later, so these sends count as unknown.
 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct splice_tx {
	int store[2], out[2]; /* read end, write end */
	size_t size;	      /* bytes in `store` */
	size_t left;	      /* bytes in `out` that are not spliced yet */
	char *buf;
};

static int splice_fill_pipe(struct flow *f, int fd, const char *buf, size_t n)
{
	while (n) {
		ssize_t k = CALL(f, WRITE, write(fd, buf, n));

		if (k < 0 && errno != EINTR)
			return flow_fail(f, errno, "writing to a pipe");
		buf += k < 0 ? 0 : k;
		n -= k < 0 ? 0 : (size_t)k;
	}
	return 0;
}

static int splice_open(struct flow *f)
{
	struct splice_tx *s = calloc(1, sizeof(*s));

	if (!s)
		return flow_fail(f, ENOMEM, "memory");
	f->state = s;
	s->store[0] = s->store[1] = s->out[0] = s->out[1] = -1;
	s->size = pipe_size(f);
	s->buf = memory_get(f, s->size);
	if (!s->buf || pipe_open(f, s->store, s->size) || pipe_open(f, s->out, s->size))
		return -f->error;
	return splice_fill_pipe(f, s->store[1], s->buf, s->size);
}

/* Puts the next message into `out`, or as much of it as the pipe holds. */
static int splice_load_message(struct flow *f, struct splice_tx *s)
{
	size_t n = flow_message(f, f->bytes);
	ssize_t k;

	if (n > s->size)
		n = s->size;
	if (f->opt->verify) {
		flow_fill(f, s->buf, f->bytes, n);
		s->left = n;
		return splice_fill_pipe(f, s->out[1], s->buf, n);
	}
	k = CALL(f, TEE, tee(s->store[0], s->out[1], n, 0));
	if (k < 0 && errno != EINTR)
		return flow_fail(f, errno, "tee");
	s->left = k < 0 ? 0 : (size_t)k;
	return 0;
}

static int splice_step(struct flow *f)
{
	struct splice_tx *s = f->state;

	if (!s->left && splice_load_message(f, s))
		return -f->error;
	if (!s->left)
		return STEP_ON;
	return pipe_send(f, s->out[0], &s->left);
}

static void splice_close(struct flow *f)
{
	struct splice_tx *s = f->state;

	if (!s)
		return;
	pipe_close(s->store);
	pipe_close(s->out);
	memory_put(f, s->buf, s->size);
	free(s);
}

const struct mode tx_splice = {
	.name = "splice",
	.what = "tee(2) and splice(2) from a pipe: its pages are shared, and mappable",
	.flags = MODE_NONBLOCK,
	.open = splice_open,
	.step = splice_step,
	.close = splice_close,
};
