// SPDX-License-Identifier: GPL-2.0-only
#include "lib/snap.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <stdio.h>
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

enum { HEAD = 64 }; /* the longest head of a snapshot */

/* Parses the head of the snapshot at `at`. */
static int snap_read_head(const struct snaps *s, uint64_t at, uint64_t size, struct snap *snap)
{
	char head[HEAD + 1], *nl, *behind_t, *behind_len;
	unsigned long long t;
	ssize_t n = file_read_at(s->fd, head, HEAD, at);
	size_t len;

	if (n < 0)
		return (int)n;
	head[n] = '\0';
	nl = strchr(head, '\n');
	if (!nl || *head != '@')
		return -EBADMSG;
	t = strtoull(head + 1, &behind_t, 10);
	len = strtoull(behind_t, &behind_len, 10);
	if (behind_t == head + 1 || behind_len == behind_t || behind_len > nl)
		return -EBADMSG;
	at += (size_t)(nl + 1 - head);
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
	ssize_t n;

	s->text = xrealloc(s->text, snap->len + 1);
	n = file_read_at(s->fd, s->text, snap->len, snap->at);
	if (n < 0 || (size_t)n < snap->len) {
		error_sys(&s->failed, n < 0 ? (int)-n : EIO, "%s: cannot read", s->path);
		n = 0;
	}
	s->text[n] = '\0';
	return s->text;
}

void snaps_free(struct snaps *s)
{
	free(s->snap);
	free(s->text);
	if (s->path)
		close(s->fd);
	free(s->path);
	*s = (struct snaps){0};
}
