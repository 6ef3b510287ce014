// SPDX-License-Identifier: GPL-2.0-only
#include "lib/snap.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

int snap_append(int fd, uint64_t mono_ns, const void *data, size_t len)
{
	char head[64];
	int n = snprintf(head, sizeof(head), "@%llu %zu\n", (unsigned long long)mono_ns, len);
	struct iovec iov[2] = {{head, (size_t)n}, {(void *)data, len}};
	ssize_t done = writev(fd, iov, 2);

	if (done < 0)
		return -errno;
	return (size_t)done == (size_t)n + len ? 0 : -ENOSPC;
}

/* HEAD: the longest head of a snapshot. The others: how much is read at once. */
enum { HEAD = 64, HEADS_AHEAD = 4096, TEXTS_AHEAD = 65536 };

/*
 * Finds the n bytes of the file at `at`. If they are not in memory, it reads them and what follows
 * them, `ahead` bytes or more. Returns the number of bytes that there are, or -errno.
 */
static ssize_t snaps_find_bytes(struct snaps *s, uint64_t at, size_t n, size_t ahead, char **bytes)
{
	ssize_t got;

	if (!s->buf || at < s->from || at + n > s->to) {
		ahead = n > ahead ? n : ahead;
		if (!s->buf || ahead + 1 > s->cap) {
			s->cap = ahead + 1;
			s->buf = xrealloc(s->buf, s->cap);
		}
		got = file_read_at(s->fd, s->buf, ahead, at);
		s->base = s->from = at;
		s->to = at + (got > 0 ? (uint64_t)got : 0);
		s->buf[s->to - at] = '\0';
		if (got < 0)
			return got;
	}
	*bytes = s->buf + (at - s->base);
	return (ssize_t)(s->to - at);
}

/* Parses the head of the snapshot at `at`. */
static int snap_read_head(struct snaps *s, uint64_t at, uint64_t size, struct snap *snap)
{
	char *p, *nl, *behind_t, *behind_len;
	unsigned long long t;
	ssize_t n = snaps_find_bytes(s, at, HEAD, HEADS_AHEAD, &p);
	size_t len;

	if (n < 0)
		return (int)n;
	nl = n ? memchr(p, '\n', (size_t)n) : NULL;
	if (!nl || *p != '@')
		return -EBADMSG;
	t = strtoull(p + 1, &behind_t, 10);
	len = strtoull(behind_t, &behind_len, 10);
	if (behind_t == p + 1 || behind_len == behind_t || behind_len > nl)
		return -EBADMSG;
	at += (size_t)(nl + 1 - p);
	if (at > size || len > size - at)
		return -EBADMSG;
	*snap = (struct snap){.mono_ns = t, .at = at, .len = len};
	return 0;
}

static int snaps_read_heads(struct snaps *s, uint64_t size, struct error *err)
{
	uint64_t at = 0;
	size_t cap = 0;
	int rc;

	while (at < size) {
		array_grow(s->snap, s->n, cap);
		rc = snap_read_head(s, at, size, &s->snap[s->n]);
		if (rc == -EBADMSG)
			return error_set(
				err, EBADMSG,
				"%s: damaged snapshot at offset %llu; using the %zu before it",
				s->path, (unsigned long long)at, s->n);
		if (rc)
			return error_sys(err, -rc, "%s: cannot read", s->path);
		at = s->snap[s->n].at + s->snap[s->n].len;
		s->n++;
	}
	return 0;
}

int snaps_read(struct snaps *s, const char *path, struct error *err)
{
	struct stat st;

	*s = (struct snaps){.fd = file_open(path, err)};
	if (s->fd < 0)
		return s->fd;
	s->path = xstrdup(path);
	if (fstat(s->fd, &st))
		return error_sys(err, errno, "%s: cannot read", path);
	return snaps_read_heads(s, (uint64_t)st.st_size, err);
}

char *snaps_text(struct snaps *s, size_t i)
{
	const struct snap *snap = &s->snap[i];
	char *text;
	ssize_t n = snaps_find_bytes(s, snap->at, snap->len, TEXTS_AHEAD, &text);

	if (n < 0 || (size_t)n < snap->len) {
		error_sys(&s->failed, n < 0 ? (int)-n : EIO, "%s: cannot read", s->path);
		s->to = s->from;
		*s->buf = '\0';
		return s->buf;
	}
	/* The byte behind a snapshot is the '@' of the next one, and its head is parsed already. */
	text[snap->len] = '\0';
	s->from = snap->at + snap->len + 1;
	s->to = s->to > s->from ? s->to : s->from;
	return text;
}

void snaps_free(struct snaps *s)
{
	free(s->snap);
	free(s->buf);
	if (s->path)
		close(s->fd);
	free(s->path);
	*s = (struct snaps){0};
}
