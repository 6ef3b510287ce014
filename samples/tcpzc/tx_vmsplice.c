// SPDX-License-Identifier: GPL-2.0-only
/*
 * vmsplice(2) of our own pages into a pipe, and splice(2) from the pipe to the socket. Nothing is
 * copied. The kernel never reports that it is done with the pages, so a program must not write to
 * them again. Without --verify, the mode never changes the data. With --verify, each message is in
 * new pages, which are unmapped at once and live on in the packets. The kernel does not report
 * whether it copied pages later, so these sends count as unknown.
 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

struct vmsplice_tx {
	int pipe[2];
	size_t size; /* bytes that the pipe takes at once */
	size_t left; /* bytes in the pipe that are not spliced yet */
	char *buf;
};

static int vmsplice_open(struct flow *f)
{
	struct vmsplice_tx *s = calloc(1, sizeof(*s));

	if (!s)
		return flow_fail(f, ENOMEM, "memory");
	f->state = s;
	s->pipe[0] = s->pipe[1] = -1;
	s->size = pipe_size(f);
	s->buf = memory_get(f, s->size);
	return s->buf ? pipe_open(f, s->pipe, s->size) : -f->error;
}

static char *vmsplice_get_pages(struct flow *f, struct vmsplice_tx *s, size_t n)
{
	char *p;

	if (!f->opt->verify)
		return s->buf;
	p = CALL(f, MMAP,
		 mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (p == MAP_FAILED) {
		flow_fail(f, errno, "%zu bytes of memory", n);
		return NULL;
	}
	flow_fill(f, p, f->bytes, n);
	return p;
}

/* Puts the pages of the next message into the pipe, or as many as it takes. */
static int vmsplice_load_message(struct flow *f, struct vmsplice_tx *s)
{
	size_t n = flow_message(f, f->bytes);
	struct iovec iov = {.iov_len = n > s->size ? s->size : n};
	ssize_t k;

	iov.iov_base = vmsplice_get_pages(f, s, iov.iov_len);
	if (!iov.iov_base)
		return -f->error;
	do
		k = CALL(f, VMSPLICE, vmsplice(s->pipe[1], &iov, 1, 0));
	while (k < 0 && errno == EINTR);
	if (k < 0)
		flow_fail(f, errno, "vmsplice");
	s->left = k < 0 ? 0 : (size_t)k;
	if (iov.iov_base != s->buf)
		CALL(f, MUNMAP, munmap(iov.iov_base, iov.iov_len));
	return -f->error;
}

static int vmsplice_step(struct flow *f)
{
	struct vmsplice_tx *s = f->state;

	if (!s->left && vmsplice_load_message(f, s))
		return -f->error;
	return pipe_send(f, s->pipe[0], &s->left);
}

static void vmsplice_close(struct flow *f)
{
	struct vmsplice_tx *s = f->state;

	if (!s)
		return;
	pipe_close(s->pipe);
	memory_put(f, s->buf, s->size);
	free(s);
}

const struct mode tx_vmsplice = {
	.name = "vmsplice",
	.what = "vmsplice(2) of our pages and splice(2): shared pages, and no report when they are free",
	.flags = MODE_NONBLOCK,
	.open = vmsplice_open,
	.step = vmsplice_step,
	.close = vmsplice_close,
};
