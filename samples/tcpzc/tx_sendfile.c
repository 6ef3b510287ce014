// SPDX-License-Identifier: GPL-2.0-only
/*
 * sendfile(2) from a memfd, over and over. Its length is a multiple of the page size and at least
 * 4 MiB, so that packets carry whole pages. With --verify each round has other contents. Pages may
 * still be in flight or mapped by the receiver, so the file is truncated to nothing and rewritten,
 * which gives it new pages.
 *
 * sendfile: the file's own pages go into the packets. Since Linux 6.8, a receiver with
 * TCP_ZEROCOPY_RECEIVE maps no page that belongs to a file. A page that is truncated off its file
 * while it is in flight belongs to none, and the receiver maps it. That happens with --verify. It
 * would also happen to the last few MiB if the file were closed before the receiver has read them.
 * The kernel does not report whether it copied shared pages later, so these sends count as unknown.
 *
 * sendfile-direct: with O_DIRECT the kernel copies into new pages, which go into the packets. That
 * is one copy, as in send(2), but into whole pages that belong to no file and can be mapped.
 */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

enum { FILE_MIN = 4 << 20, ALIGN = 1 << 16 };

struct sendfile_tx {
	int fd;
	bool copies; /* each send copies once */
	size_t length;
	char *buf; /* one round */
};

static int sendfile_write_round(struct flow *f, struct sendfile_tx *s, uint64_t pos)
{
	size_t done = 0;

	if (f->fd >= 0) /* the pattern depends on the connection */
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

static int sendfile_open(struct flow *f)
{
	struct sendfile_tx *s = f->state;

	s->length = (f->size + ALIGN - 1) / ALIGN * ALIGN;
	if (s->length < FILE_MIN)
		s->length = FILE_MIN;
	s->fd = memfd_create("tcpzc", MFD_CLOEXEC);
	if (s->fd < 0)
		return flow_fail(f, errno, "memfd_create");
	s->buf = memory_get(f, s->length);
	return s->buf && !sendfile_write_round(f, s, 0) ? 0 : -f->error;
}

static int sendfile_step(struct flow *f)
{
	struct sendfile_tx *s = f->state;
	off_t at = (off_t)(f->bytes % s->length);
	size_t n = flow_message(f, f->bytes), rest = s->length - (size_t)at;
	ssize_t sent;

	if (!at && f->opt->verify && sendfile_write_round(f, s, f->bytes))
		return -f->error;
	sent = CALL(f, SENDFILE, sendfile(f->fd, s->fd, &at, n < rest ? n : rest));
	if (sent < 0)
		return flow_call_failed(f, "sendfile");
	if (!sent)
		return flow_fail(f, EIO, "sendfile: the memfd ended");
	f->sends_copied += s->copies;
	flow_sent(f, (size_t)sent);
	return STEP_ON;
}

static void sendfile_close(struct flow *f)
{
	struct sendfile_tx *s = f->state;

	f->kept_fd = s->fd; /* pages in flight must stay part of the file */
}

/* Opens the file again with O_DIRECT, which memfd_create and F_SETFL do not offer. */
static int sendfile_direct_open(struct flow *f)
{
	struct sendfile_tx *s = f->state;
	char path[64];
	int fd;

	if (sendfile_open(f))
		return -f->error;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fd);
	fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return flow_fail(f, errno,
				 "cannot open a memfd with O_DIRECT (Linux 6.6 or later)");
	close(s->fd);
	s->fd = fd;
	s->copies = true;
	return 0;
}

const struct mode tx_sendfile = {
	.name = "sendfile",
	.what = "sendfile(2) from a memfd: shared pages; since Linux 6.8, receivers map them only after they have left the file (--verify)",
	.flags = MODE_NONBLOCK,
	.state_size = sizeof(struct sendfile_tx),
	.open = sendfile_open,
	.step = sendfile_step,
	.close = sendfile_close,
};

const struct mode tx_sendfile_direct = {
	.name = "sendfile-direct",
	.what = "sendfile(2) from a memfd with O_DIRECT: copies once, into mappable pages",
	.needs = "Linux 6.6",
	.flags = MODE_NONBLOCK,
	.state_size = sizeof(struct sendfile_tx),
	.open = sendfile_direct_open,
	.step = sendfile_step,
	.close = sendfile_close,
};
