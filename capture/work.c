// SPDX-License-Identifier: GPL-2.0-only
/*
 * Did the workload do anything? Only one whose output an adapter reads can be asked. Stopped at the
 * window's end it has no exit status to tell it by: its output is all there is.
 */
#include "capture/work.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct work {
	double done;  /* bytes or messages; any number above 0 is some */
	char *failed; /* the workload's own word of what went wrong; owned, NULL: none */
};

static double json_number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static const char *json_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void work_fail(struct work *w, const char *why)
{
	if (!w->failed)
		w->failed = xstrdup(*why ? why : "(it does not say why)");
}

/* One line each: points, a summary, or the error that ended it. */
static void work_read_tcpzc(char *out, struct work *w)
{
	char *rest = out, *line;

	while ((line = str_token(&rest, '\n'))) {
		json_t *o = json_loads(line, 0, NULL);

		if (!strcmp(json_text(o, "type"), "error"))
			work_fail(w, json_text(o, "what"));
		w->done += json_number(o, "bytes") + json_number(o, "messages");
		json_decref(o);
	}
}

/* A test that was stopped at the window's end has worked, and says "interrupt - the ..." of it. */
static void work_read_iperf3(char *out, struct work *w)
{
	json_t *root = json_loads(out, JSON_DISABLE_EOF_CHECK, NULL), *interval;
	const char *error = json_text(root, "error");
	size_t i;

	json_array_foreach (json_object_get(root, "intervals"), i, interval)
		w->done += json_number(json_object_get(interval, "sum"), "bytes");
	if (*error && !(w->done > 0 && str_starts(error, "interrupt")))
		work_fail(w, error);
	json_decref(root);
}

/* Lines with rates in them: there are some, or none. */
static void work_read_any(char *out, struct work *w)
{
	w->done = (double)strlen(str_trim(out));
}

/* THE TABLE of work_adapters; of what is not in it ("none") nothing is asked. */
static const struct {
	const char *units;
	void (*read)(char *out, struct work *w);
} work_adapters[] = {
	{"tcpzc", work_read_tcpzc},
	{"iperf3", work_read_iperf3},
	{"pps", work_read_any},
	{"regex", work_read_any},
};

static void work_read(const char *dir, void (*read)(char *out, struct work *w), struct work *w)
{
	char *path = xasprintf("%s/workload.out", dir), *out;

	if (!file_read(path, &out, NULL, NULL)) {
		read(out, w);
		free(out);
	}
	free(path);
}

char *work_undone(const char *dir, const char *units, bool *quoted)
{
	size_t len = strcspn(units, ":"), i;
	struct work w = {0};
	char *why;

	for (i = 0; i < array_size(work_adapters); i++)
		if (strlen(work_adapters[i].units) == len && !strncmp(work_adapters[i].units, units, len))
			break;
	if (i == array_size(work_adapters))
		return NULL;
	work_read(dir, work_adapters[i].read, &w);
	if (w.failed)
		why = xasprintf("the workload reports an error: \"%s\"", w.failed);
	else if (w.done > 0)
		why = NULL;
	else
		why = xasprintf("the workload did nothing: there is no work in its output (units = "
				"%s)",
				work_adapters[i].units);
	*quoted = w.failed != NULL;
	free(w.failed);
	return why;
}
