// SPDX-License-Identifier: GPL-2.0-only
/*
 * sendfile(2) from a memfd: the file's own pages go into the packets. Since Linux 6.8, a receiver
 * with TCP_ZEROCOPY_RECEIVE maps no page that belongs to a file. A page that is truncated off its
 * file while it is in flight belongs to none, and the receiver maps it. That happens with --verify.
 * It would also happen to the last few MiB if the file were closed before the receiver has read
 * them.
 *
 * The kernel does not report whether it copied shared pages later, so these sends count as unknown.
 */
#include "memory.h"
#include "tx_sendfile.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

enum { FILE_MIN = 4 << 20, ALIGN = 1 << 16 };

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

int sendfile_tx_open(struct flow *f)
{
	struct sendfile_tx *s = calloc(1, sizeof(*s));

	if (!s)
		return flow_fail(f, ENOMEM, "memory");
	f->state = s;
	s->length = (f->size + ALIGN - 1) / ALIGN * ALIGN;
	if (s->length < FILE_MIN)
		s->length = FILE_MIN;
	s->fd = memfd_create("tcpzc", MFD_CLOEXEC);
	if (s->fd < 0)
		return flow_fail(f, errno, "memfd_create");
	s->buf = memory_get(f, s->length);
	return s->buf && !sendfile_write_round(f, s, 0) ? 0 : -f->error;
}

int sendfile_tx_step(struct flow *f)
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

void sendfile_tx_close(struct flow *f)
{
	struct sendfile_tx *s = f->state;

	if (!s)
		return;
	memory_put(f, s->buf, s->length);
	f->kept_fd = s->fd; /* pages in flight must stay part of the file */
	free(s);
}

const struct mode tx_sendfile = {
	.name = "sendfile",
	.what = "sendfile(2) from a memfd: shared pages; since Linux 6.8, receivers map them only after they have left the file (--verify)",
	.flags = MODE_NONBLOCK,
	.open = sendfile_tx_open,
	.step = sendfile_tx_step,
	.close = sendfile_tx_close,
};
