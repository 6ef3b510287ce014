// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON lines on standard output; docs/reference/tcpzc.md describes them. A point is printed while
 * data flows, so it is one write(2) and allocates no memory.
 */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report_write(struct run *r, const char *text, size_t n)
{
	while (n) {
		ssize_t k = CALL(r->boss, WRITE, write(STDOUT_FILENO, text, n));

		if (k < 0 && errno != EINTR) {
			r->out_error = errno;
			stop_requested = 1;
			return -errno;
		}
		text += k < 0 ? 0 : k;
		n -= k < 0 ? 0 : (size_t)k;
	}
	return 0;
}

void report_point(struct run *r, uint64_t t_ns)
{
	uint64_t bytes = 0, messages = 0;
	char line[160];
	unsigned int i;
	int n;

	for (i = 0; t_ns != r->start_ns && i < r->n_flows; i++) {
		uint64_t done = __atomic_load_n(&r->flows[i].bytes, __ATOMIC_RELAXED);

		bytes += done;
		messages += done / r->flows[i].size;
	}
	n = snprintf(line, sizeof(line),
		     "{\"type\":\"point\",\"t_ns\":%" PRIu64 ",\"bytes\":%" PRIu64
		     ",\"messages\":%" PRIu64 "}\n",
		     t_ns, bytes, messages);
	report_write(r, line, (size_t)n);
}

/* Prints the line and frees it. */
static void report_write_json(struct run *r, json_t *line)
{
	char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
	size_t n = text ? strlen(text) : 0;

	json_decref(line);
	if (!text) {
		r->out_error = ENOMEM;
		return;
	}
	text[n] = '\n'; /* replaces the NUL */
	report_write(r, text, n + 1);
	free(text);
}

void report_summary(struct run *r)
{
	report_write_json(r, summary_json(r));
}

void report_error(struct run *r)
{
	const struct flow *f = NULL;
	unsigned int i, more = 0;
	char what[1200];

	for (i = 0; i < r->n_flows; i++) {
		more += f && r->flows[i].error;
		if (!f && r->flows[i].error)
			f = &r->flows[i];
	}
	snprintf(what, sizeof(what), "%s", f ? f->what : "out of memory");
	if (more)
		snprintf(what + strlen(what), sizeof(what) - strlen(what),
			 " (and %u more flows failed)", more);
	fprintf(stderr, "tcpzc: %s\n", what);
	report_write_json(r, json_pack("{s:s,s:s}", "type", "error", "what", what));
}
