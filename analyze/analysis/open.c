// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/analysis.h"

#include "lib/file.h"

#include <errno.h>

char *store_remembered(const char *capture, const char *key)
{
	autofree char *path = xasprintf("%s/zcost.db", capture); /* it may be older than the runs */
	struct store *old;
	const char *value;
	char *copy;

	if (store_open(&old, path, NULL))
		return NULL;
	value = store_capture_value(old, key);
	copy = value ? xstrdup(value) : NULL;
	if (!store_close(old, 0, NULL))
		return copy;
	free(copy);
	return NULL;
}

/* Fails with the reason if every selected run failed, because there is nothing to show. */
static int store_check_runs(struct store *s, const struct analysis *a, struct error *err)
{
	struct run_filter good = {.variant = a->variant},
			  every = {.variant = a->variant, .failed = true};
	autofree struct run *used = NULL, *runs = NULL;
	int n = store_runs(s, &good, &used, err);

	if (n)
		return n < 0 ? n : 0;
	n = store_runs(s, &every, &runs, err);
	if (n <= 0)
		return n;
	return error_set(err, ERANGE, "%s: no run can be used; %s/%s-%02d %s: %s", a->capture,
			 runs[0].variant, runs[0].pass, runs[0].repeat, runs[0].side,
			 runs[0].why ? runs[0].why : "failed");
}

static int slice_open(struct store **store, const char *folder, const struct open_options *o,
		      struct error *err)
{
	freed(analysis_free) struct analysis a = {
		.capture = folder, .jobs = o->jobs, .slice = o->slice, .variant = o->variant};
	autofree char *meters = store_remembered(folder, "power_csv");
	autofree char *inlines = store_remembered(folder, "inlines");
	int rc;

	a.inlines = inlines != NULL;
	a.units = store_remembered(folder, "units");
	if (meters)
		str_printf(&a.absent, "power (imported by analyze %s)", meters);
	rc = analyze_in_memory(&a, store, err);
	return rc ?: store_check_runs(*store, &a, err);
}

int capture_open(struct store **store, const char *capture, const struct open_options *o,
		 struct error *err)
{
	int rc;

	*store = NULL;
	if (!slice_given(&o->slice))
		return store_open(store, capture, err);
	rc = slice_check(&o->slice, err);
	if (!rc && path_exists(capture) && !path_is_dir(capture))
		rc = error_set(
			err, EOPNOTSUPP,
			"%s: --from and --to need the capture's folder, with its raw files, which 'zcost unpack' makes of an archive; a store alone has figures of whole windows only",
			capture);
	return rc ? rc : slice_open(store, capture, o, err);
}

/* --- the meters and units of an analysis --- */

static void layout_list_sides(const struct layout *l, struct str *s)
{
	for (size_t i = 0; i < l->nentries; i++) {
		const char *side = l->entries[i].side ? l->entries[i].side : "local";

		if (!s->buf || !str_matches_any(s->buf, side))
			str_printf(s, "%s%s", s->len ? " " : "", side);
	}
}

/* Returns whether a run has a log that the collector copied. */
static bool layout_has_log(const struct layout *l)
{
	bool found = false;

	for (size_t i = 0; i < l->nentries && !found; i++) {
		autofree char *path = xasprintf("%s/power.csv", l->entries[i].dir);

		found = path_exists(path);
	}
	return found;
}

/* Refuses the side that an option names, such as --power-csv SIDE=FILE, if no run has it. */
static int layout_require_side(const struct layout *l, const char *option, const char *side,
			       const char *value, struct error *err)
{
	freed(str_free) struct str sides = {0};
	int rc = 0;

	layout_list_sides(l, &sides);
	if (sides.len && !str_matches_any(sides.buf, side))
		rc = error_set(err, EINVAL, "%s %s=%s: the capture has no side '%s', only: %s",
			       option, side, value, side, sides.buf);
	return rc;
}

static int meter_check(const struct meter *m, const struct layout *l, struct error *err)
{
	if (!m->path && !layout_has_log(l))
		return error_set(
			err, EINVAL,
			"the capture has no log of a meter; give --power-csv FILE before --offset and --power-kind");
	return m->side ? layout_require_side(l, "--power-csv", m->side, m->path, err) : 0;
}

/* Checks the sides of the lines SIDE=ADAPTER. */
static int units_check_sides(const char *units, const struct layout *l, struct error *err)
{
	char *line;
	int rc = 0;

	each_part (line, units, '\n') {
		const char *side = str_token(&line, '=');

		if (*side && !rc)
			rc = layout_require_side(l, "--units", side, line, err);
	}
	return rc;
}

int meters_check(const struct analysis *a, const struct layout *l, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < a->nmeters && !rc; i++)
		rc = meter_check(&a->meters[i], l, err);
	return rc || !a->units ? rc : units_check_sides(a->units, l, err);
}
