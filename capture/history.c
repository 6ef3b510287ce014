// SPDX-License-Identifier: GPL-2.0-only
/* How long runs took that are in a capture already: the best guess for those to come. */
#include "capture/manifest.h"
#include "capture/progress.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

static const char *json_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* Of the first side that there is; 0: unknown. */
static double history_run_seconds(const struct manifest *m, const json_t *run)
{
	const char *side = json_string_value(json_array_get(json_object_get(run, "sides"), 0));
	char *path = xasprintf(
		"%s/runs/%s/%s-%02d/%s/run.json", m->dir, json_text(run, "variant"), json_text(run, "pass"),
		(int)json_integer_value(json_object_get(run, "repeat")), side ? side : "local");
	json_t *o = json_load_file(path, 0, NULL);
	json_int_t from = json_integer_value(json_object_get(o, "started_ns"));
	json_int_t to = json_integer_value(json_object_get(o, "ended_ns"));

	json_decref(o);
	free(path);
	return from && to > from ? (double)(to - from) / 1e9 : 0;
}

static void history_learn_pass(const struct manifest *m, struct progress *p, enum pass pass)
{
	const json_t *runs = json_object_get(m->root, "runs");
	size_t i = json_array_size(runs);

	while (i--) {
		const json_t *run = json_array_get(runs, i);
		double s;

		if (strcmp(json_text(run, "pass"), pass_names[pass]) ||
		    strcmp(json_text(run, "status"), "ok"))
			continue;
		s = history_run_seconds(m, run);
		if (s > 0)
			progress_learn(p, pass, s);
		return;
	}
}

void history_learn(const struct manifest *m, struct progress *p)
{
	int pass;

	for (pass = 0; pass < PASS_COUNT; pass++)
		history_learn_pass(m, p, (enum pass)pass);
}
