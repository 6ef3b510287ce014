// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/spool.h"

#include "lib/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int spool_open(struct spool *s, struct error *err)
{
	const char *dir = getenv("TMPDIR");
	char *name;

	dir = dir && *dir ? dir : "/var/tmp";
	*s = (struct spool){.fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
	if (s->fd < 0) { /* not every file system can */
		name = xasprintf("%s/zcost-XXXXXX", dir);
		s->fd = mkostemp(name, O_CLOEXEC);
		if (s->fd >= 0)
			unlink(name);
		free(name);
	}
	if (s->fd < 0)
		return error_sys(err, errno, "%s: cannot make a temporary file there (set TMPDIR)",
				 dir);
	return 0;
}

int spool_add(struct spool *s, const void *data, size_t len, struct error *err)
{
	const char *at = data;
	ssize_t n;

	while (len) {
		n = write(s->fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, errno, "writing a temporary file (set TMPDIR)");
		at += n;
		len -= (size_t)n;
		s->len += (size_t)n;
	}
	return 0;
}

void spool_close(struct spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
