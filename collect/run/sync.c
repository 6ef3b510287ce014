// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/run.h"

#include "lib/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int sync_print_ready(struct error *err)
{
	if (fputs("ready\n", stdout) == EOF || fflush(stdout))
		return error_sys(err, errno, "cannot print 'ready' on standard output");
	return 0;
}

void sync_print(const struct run *r, const char *fmt, ...)
{
	va_list ap;

	if (!r->sync)
		return;
	va_start(ap, fmt);
	vfprintf(stdout, fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout); /* the end of standard input reports that nobody listens */
}

static enum sync_event sync_set_aborted(struct sync *s, const char *why)
{
	snprintf(s->why, sizeof(s->why), "%s", why);
	s->closed = true;
	return SYNC_ABORT;
}

static enum sync_event sync_parse(struct sync *s, const char *line)
{
	uint64_t start, duration;
	char end;

	if (!strcmp(line, "abort"))
		return sync_set_aborted(s, "aborted through standard input");
	if (sscanf(line, "go %" SCNu64 " %" SCNu64 "%c", &start, &duration, &end) != 2)
		return sync_set_aborted(
			s, "standard input has neither 'go START_NS DURATION_NS' nor 'abort'");
	if (s->start_ns)
		return SYNC_NOTHING;
	s->start_ns = start ? start : 1;
	s->duration_ns = duration;
	return SYNC_GO;
}

/* Takes the first whole line out of the buffer. */
static enum sync_event sync_parse_next(struct sync *s)
{
	char *nl = memchr(s->line, '\n', s->len), line[sizeof(s->line)];
	size_t used;

	if (!nl)
		return s->len == sizeof(s->line)
			       ? sync_set_aborted(s, "standard input: line too long")
			       : SYNC_NOTHING;
	used = (size_t)(nl - s->line) + 1;
	memcpy(line, s->line, used - 1);
	line[used - 1] = '\0';
	s->len -= used;
	memmove(s->line, s->line + used, s->len);
	return sync_parse(s, str_trim(line));
}

enum sync_event sync_read(struct sync *s)
{
	enum sync_event all = SYNC_NOTHING, heard;
	ssize_t n = read(s->fd, s->line + s->len, sizeof(s->line) - s->len);
	bool more;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return SYNC_NOTHING;
	if (n <= 0)
		return sync_set_aborted(s, "standard input was closed before the run was over");
	s->len += (size_t)n;
	do {
		more = memchr(s->line, '\n', s->len) != NULL;
		heard = sync_parse_next(s);
		all = heard > all ? heard : all;
	} while (more && all != SYNC_ABORT);
	return all;
}
