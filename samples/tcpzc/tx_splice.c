// SPDX-License-Identifier: GPL-2.0-only
/*
 * splice(2) of a pipe's pages into packets. Nothing is copied, however often the data is sent. The
 * kernel does not report whether it copied pages later, so these sends count as unknown.
 *
 * write(2) fills one pipe once. For each message, tee(2) shares its pages with a second
 * pipe, and splice passes those to the socket. The mode uses a pipe and not a file because, since
 * Linux 6.8, a receiver with TCP_ZEROCOPY_RECEIVE maps no page that belongs to a file system. A
 * memfd's pages do, and a pipe's pages do not. With --verify each message has other contents, so it
 * is written and spliced.
 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>

enum { PIPE_MAX = 1 << 20, PAGE = 4096 };

struct splice_tx {
	int store[2], out[2]; /* read end, write end */
	size_t size;	      /* bytes that a pipe holds */
	size_t left;	      /* bytes in `out` that are not spliced yet */
	char *buf;
};

static int splice_open_pipe(struct flow *f, int fds[2], size_t size)
{
	if (pipe2(fds, O_CLOEXEC) || fcntl(fds[1], F_SETPIPE_SZ, (int)size) < 0)
		return flow_fail(f, errno, "a pipe of %zu bytes (fs.pipe-max-size)", size);
	return 0;
}

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

static int splice_load(struct flow *f, struct splice_tx *s, size_t n)
{
	ssize_t k;

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
	size_t n = flow_message(f, f->bytes);
	ssize_t sent;

	if (!s->left && splice_load(f, s, n < s->size ? n : s->size))
		return -f->error;
	if (!s->left)
		return STEP_ON;
	sent = CALL(f, SPLICE, splice(s->out[0], NULL, f->fd, NULL, s->left, SPLICE_F_MOVE));
	if (sent < 0)
		return flow_call_failed(f, "splice");
	s->left -= (size_t)sent;
	flow_sent(f, (size_t)sent);
	return STEP_ON;
}

static void splice_close(struct flow *f)
{
	struct splice_tx *s = f->state;
	const int fds[] = {s->store[0], s->store[1], s->out[0], s->out[1]};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int splice_open(struct flow *f)
{
	struct splice_tx *s = f->state;
	size_t size = (f->size + PAGE - 1) / PAGE * PAGE;

	s->store[0] = s->store[1] = s->out[0] = s->out[1] = -1;
	s->size = size < PIPE_MAX ? size : PIPE_MAX;
	s->buf = memory_get(f, s->size);
	if (!s->buf || splice_open_pipe(f, s->out, s->size) ||
	    splice_open_pipe(f, s->store, s->size))
		return -f->error;
	return splice_fill_pipe(f, s->store[1], s->buf, s->size);
}

const struct mode tx_splice = {
	.name = "splice",
	.what = "tee(2) and splice(2) from a pipe: its pages are shared, and mappable",
	.flags = MODE_NONBLOCK,
	.state_size = sizeof(struct splice_tx),
	.open = splice_open,
	.step = splice_step,
	.close = splice_close,
};
