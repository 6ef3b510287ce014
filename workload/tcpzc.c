// SPDX-License-Identifier: GPL-2.0-only
/* JSON lines of tcpzc, or of any program that prints such points: docs/reference/tcpzc.md. */
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/json.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

static void tcpzc_read_point(const json_t *line, struct points *ps)
{
	struct point p = {.t_ns = json_u64(line, "t_ns")};

	p.n[WORK_BYTES] = (double)json_u64(line, "bytes");
	p.n[WORK_MESSAGES] = (double)json_u64(line, "messages");
	ps->has[WORK_BYTES] = true;
	ps->has[WORK_MESSAGES] |= json_object_get(line, "messages") != NULL;
	points_add(ps, &p);
}

static void tcpzc_read_line(const json_t *line, struct account *a)
{
	const char *type = json_str(line, "type"), *what = json_str(line, "what");

	if (type && !strcmp(type, "point"))
		tcpzc_read_point(line, &a->points);
	else if (type && !strcmp(type, "summary"))
		a->summary = true;
	else if (type && !strcmp(type, "error") && !a->error)
		a->error = xstrdup(what && *what ? what : "(it does not say why)");
}

static int tcpzc_parse(const struct workload_run *run, char *text, struct account *a,
		       struct error *err)
{
	char *line;

	(void)run;
	(void)err;
	while ((line = str_token(&text, '\n'))) {
		json_t *object = *line ? json_loads(line, 0, NULL) : NULL;

		tcpzc_read_line(object, a);
		json_decref(object);
	}
	return 0;
}

const struct adapter adapter_tcpzc = {
	.name = "tcpzc", .summary = true, .read = workload_read_text, .parse = tcpzc_parse};
