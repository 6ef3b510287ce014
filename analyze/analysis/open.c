// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/analysis.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Sets the options of the analysis as the existing store records them. */
static int analysis_follow_store(struct analysis *a, char **meters, struct error *err)
{
	struct store *old;
	const char *value;

	*meters = NULL;
	if (store_open(&old, a->capture, NULL))
		return 0;
	a->inlines = store_capture_value(old, "inlines") != NULL;
	value = store_capture_value(old, "power_csv");
	*meters = value ? xstrdup(value) : NULL;
	value = store_capture_value(old, "units");
	a->units = value ? xstrdup(value) : NULL;
	return store_close(old, 0, err);
}

/* Fails with the reason if every selected run failed, because there is nothing to show. */
static int store_check_runs(struct store *s, const struct analysis *a, struct error *err)
{
	struct run_filter good = {.variant = a->variant},
			  every = {.variant = a->variant, .failed = true};
	struct run *runs;
	int n = store_runs(s, &good, &runs, err), rc = 0;

	if (n < 0)
		return n;
	free(runs);
	if (n)
		return 0;
	n = store_runs(s, &every, &runs, err);
	if (n < 0)
		return n;
	if (n)
		rc = error_set(err, ERANGE, "%s: no run can be used; %s/%s-%02d %s: %s", a->capture,
			       runs[0].variant, runs[0].pass, runs[0].repeat, runs[0].side,
			       runs[0].why ? runs[0].why : "failed");
	free(runs);
	return rc;
}

static int slice_open(struct store **store, const char *folder, const struct open_options *o,
		      struct error *err)
{
	struct analysis a = {
		.capture = folder, .jobs = o->jobs, .slice = o->slice, .variant = o->variant};
	char *meters;
	int rc = analysis_follow_store(&a, &meters, err);

	if (meters)
		str_printf(&a.absent, "power (imported by analyze %s)", meters);
	free(meters);
	if (!rc)
		rc = analyze_in_memory(&a, store, err);
	if (!rc)
		rc = store_check_runs(*store, &a, err);
	analysis_free(&a);
	return rc;
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
