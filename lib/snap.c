// SPDX-License-Identifier: GPL-2.0-only
#include "lib/snap.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Parses the snapshot at *p and moves *p behind it. */
static int snap_parse_head(char **p, char *end, struct snap *snap)
{
	char *nl = memchr(*p, '\n', (size_t)(end - *p));
	char *behind_t, *behind_len;
	unsigned long long t;
	size_t len;

	if (!nl || **p != '@')
		return -EBADMSG;
	/* sscanf() would search for the end of the whole file at each snapshot. */
	t = strtoull(*p + 1, &behind_t, 10);
	len = strtoull(behind_t, &behind_len, 10);
	if (behind_t == *p + 1 || behind_len == behind_t || behind_len > nl)
		return -EBADMSG;
	if (len > (size_t)(end - nl - 1))
		return -EBADMSG;
	*snap = (struct snap){.mono_ns = t, .data = nl + 1, .len = len};
	*p = nl + 1 + len;
	return 0;
}

int snaps_read(struct snaps *s, const char *path, struct error *err)
{
	size_t len, cap = 0, i;
	char *p, *end;
	int rc;

	*s = (struct snaps){0};
	rc = file_read(path, &s->buf, &len, err);
	if (rc)
		return rc;
	end = s->buf + len;
	for (p = s->buf; p < end && !rc;) {
		char *at = p;

		array_grow(s->snap, s->n, cap);
		rc = snap_parse_head(&p, end, &s->snap[s->n]);
		if (rc)
			error_set(err, EBADMSG,
				  "%s: damaged snapshot at offset %zu; using the %zu before it",
				  path, (size_t)(at - s->buf), s->n);
		else
			s->n++;
	}
	/* The byte behind a snapshot is the '@' of the next one, which is parsed already. */
	for (i = 0; i < s->n; i++)
		((char *)s->snap[i].data)[s->snap[i].len] = '\0';
	return rc;
}

void snaps_free(struct snaps *s)
{
	free(s->snap);
	free(s->buf);
	*s = (struct snaps){0};
}
