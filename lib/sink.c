// SPDX-License-Identifier: GPL-2.0-only
#include "lib/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 20 };

/* After a failure nothing is written: not a file with a hole. */
static ssize_t sink_write(void *cookie, const char *buf, size_t len)
{
	struct sink *s = cookie;
	size_t done = 0;

	while (!s->failure && done < len) {
		ssize_t n = write(s->fd, buf + done, len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			s->failure = errno;
	}
	return (ssize_t)done; /* 0 is an error here */
}

static bool sink_is_stdout(const struct sink *s)
{
	return !s->path || !strcmp(s->path, "-");
}

static int sink_error(const struct sink *s, int code, struct error *err)
{
	return error_sys(err, code, "%s: cannot write",
			 sink_is_stdout(s) ? "standard output" : s->path);
}

int sink_open(struct sink *s, const char *path, struct error *err)
{
	*s = (struct sink){.path = path, .fd = STDOUT_FILENO};
	if (!sink_is_stdout(s))
		s->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (s->fd < 0)
		return sink_error(s, errno, err);
	s->f = fopencookie(s, "w", (cookie_io_functions_t){.write = sink_write});
	if (!s->f)
		return sink_error(s, errno, err);
	setvbuf(s->f, NULL, _IOFBF, BUFFER);
	return 0;
}

/* Not a device, and no name that only leads to the file. */
static void sink_remove_file(const char *path)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISREG(st.st_mode))
		unlink(path);
}

int sink_close(struct sink *s, int rc, struct error *err)
{
	if (!s->f)
		return rc;
	if (fclose(s->f) && !s->failure)
		s->failure = errno;
	if (!sink_is_stdout(s) && close(s->fd) && !s->failure)
		s->failure = errno;
	s->f = NULL;
	if (s->failure && !rc)
		rc = sink_error(s, s->failure, err);
	if (rc && !sink_is_stdout(s))
		sink_remove_file(s->path);
	return rc;
}
