// SPDX-License-Identifier: GPL-2.0-only
/*
 * sendfile(2) from a memfd. Plain: the file's own pages go into the packets. Direct: the file is
 * opened with O_DIRECT, and the kernel copies into new pages which go into the packets: one copy,
 * as in send(2), but into whole pages that belong to no file. That matters to a receiver by
 * TCP_ZEROCOPY_RECEIVE: since Linux 6.8 it maps no page that belongs to a file.
 *
 * The kernel does not report what became of shared pages on their way: plain sends count as
 * unknown.
 *
 * The file is sent round and round. Its length is a multiple of the page size and of at least
 * 4 MiB, so that pages stay whole in packets of whole pages. With --verify each round has
 * contents of its own: pages may still be under way or mapped by the receiver, so that the file
 * is cut to nothing and written anew, which gives it new pages.
 */
#include "tcpzc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

enum { FILE_MIN = 4 << 20, ALIGN = 1 << 16 };

struct state {
	int fd;
	bool direct;
	size_t length;
	char *buf; /* one round */
};

static int write_round(struct flow *f, struct state *s, uint64_t pos)
{
	size_t done = 0;

	if (f->fd >= 0) /* the contents depend on the connection */
		flow_fill(f, s->buf, pos, s->length);
	if (CALL(f, FTRUNCATE, ftruncate(s->fd, 0)))
		return flow_fail(f, errno, "memfd");
	while (done < s->length) {
		ssize_t n = CALL(f, PWRITE64,
				 pwrite(s->fd, s->buf + done, s->length - done, (off_t)done));

		if (n < 0 && errno != EINTR)
			return flow_fail(f, errno, "writing %zu bytes to a memfd", s->length);
		done += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

/* The same file once more, with O_DIRECT: memfd_create and F_SETFL do not give that. */
static int open_direct(struct flow *f, struct state *s)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fd);
	fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return flow_fail(f, errno,
				 "cannot open a memfd with O_DIRECT (Linux 6.6 or later)");
	close(s->fd);
	s->fd = fd;
	return 0;
}

static int open_file(struct flow *f, bool direct)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return flow_fail(f, ENOMEM, "memory");
	f->state = s;
	s->length = (f->size + ALIGN - 1) / ALIGN * ALIGN;
	if (s->length < FILE_MIN)
		s->length = FILE_MIN;
	s->fd = memfd_create("tcpzc", MFD_CLOEXEC);
	if (s->fd < 0)
		return flow_fail(f, errno, "memfd_create");
	s->direct = direct;
	s->buf = memory_get(f, s->length);
	if (!s->buf || write_round(f, s, 0) || (direct && open_direct(f, s)))
		return -f->error;
	return 0;
}

static int sendfile_open(struct flow *f)
{
	return open_file(f, false);
}

static int direct_open(struct flow *f)
{
	return open_file(f, true);
}

static int sendfile_step(struct flow *f)
{
	struct state *s = f->state;
	off_t at = (off_t)(f->bytes % s->length);
	size_t n = flow_message(f, f->bytes), rest = s->length - (size_t)at;
	ssize_t sent;

	if (!at && f->opt->verify && write_round(f, s, f->bytes))
		return -f->error;
	sent = CALL(f, SENDFILE, sendfile(f->fd, s->fd, &at, n < rest ? n : rest));
	if (sent < 0)
		return errno == EAGAIN	? STEP_WAIT
		       : errno == EINTR ? STEP_ON
					: flow_fail(f, errno, "sendfile");
	if (!sent)
		return flow_fail(f, EIO, "sendfile: the memfd ended");
	f->sends_copied += s->direct;
	flow_sent(f, (size_t)sent);
	return STEP_ON;
}

static void sendfile_close(struct flow *f)
{
	struct state *s = f->state;

	if (!s)
		return;
	memory_put(s->buf, s->length);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

const struct mode tx_sendfile = {
	.name = "sendfile",
	.what = "sendfile(2) from a memfd: its pages are shared, but not mappable since Linux 6.8",
	.flags = MODE_NONBLOCK,
	.open = sendfile_open,
	.step = sendfile_step,
	.close = sendfile_close,
};

const struct mode tx_sendfile_direct = {
	.name = "sendfile-direct",
	.what = "sendfile(2) from a memfd with O_DIRECT: copies once, into mappable pages",
	.needs = "Linux 6.6",
	.flags = MODE_NONBLOCK,
	.open = direct_open,
	.step = sendfile_step,
	.close = sendfile_close,
};
