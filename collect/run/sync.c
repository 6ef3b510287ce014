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

enum sync_event sync_read(struct sync *s)
{
	enum sync_event all = SYNC_NOTHING, heard;
	ssize_t n = read(s->fd, s->line + s->len, sizeof(s->line) - s->len);
	char *end;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return SYNC_NOTHING;
	if (n <= 0)
		return sync_set_aborted(s, "standard input was closed before the run was over");
	s->len += (size_t)n;
	while (all != SYNC_ABORT && (end = memchr(s->line, '\n', s->len))) {
		*end++ = '\0';
		heard = sync_parse(s, str_trim(s->line));
		all = heard > all ? heard : all;
		s->len -= (size_t)(end - s->line);
		memmove(s->line, end, s->len);
	}
	if (all != SYNC_ABORT && s->len == sizeof(s->line))
		return sync_set_aborted(s, "standard input: line too long");
	return all;
}
