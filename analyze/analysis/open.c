// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/open.h"

#include "analyze/analysis/analysis.h"
#include "analyze/archive/archive.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/stop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Finds the folder of the raw files: the capture itself, or the unpacked folder beside an archive.
 * Sets *folder to NULL if only the archive has the files.
 */
static int capture_find_folder(const char *capture, char **folder, struct error *err)
{
	*folder = NULL;
	if (!reader_is_archive(capture)) {
		if (path_is_dir(capture) || !path_exists(capture)) {
			*folder = xstrdup(capture);
			return 0;
		}
		return error_set(
			err, EOPNOTSUPP,
			"%s: --from and --to need the capture's folder, with its raw files; a store alone has figures of whole windows only",
			capture);
	}
	*folder = packed_folder(capture);
	if (packed_folder_is(capture, *folder))
		return 0;
	free(*folder);
	*folder = NULL;
	return 0;
}

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

/* Makes a scratch folder and the path of a `folder` in it. The caller frees both. */
static int scratch_make(const char *archive, char **scratch, char **folder, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	char *beside = packed_folder(archive);
	const char *name = strrchr(beside, '/');

	*scratch = xasprintf("%s/zcost-XXXXXX", tmp && *tmp ? tmp : "/var/tmp");
	*folder = NULL;
	if (!mkdtemp(*scratch))
		error_sys(err, errno, "%s: cannot make a folder to unpack %s into (TMPDIR)",
			  *scratch, archive);
	else
		*folder = xasprintf("%s/%s", *scratch, name ? name + 1 : beside);
	free(beside);
	return *folder ? 0 : -err->code;
}

/*
 * Unpacks the archive into a scratch folder and makes the store. Removes the folder when the store
 * is made and when a signal stops zcost.
 */
static int slice_open_packed(struct store **store, const char *archive,
			     const struct open_options *o, struct error *err)
{
	struct unpack u = {.archive = archive};
	char *scratch, *folder;
	int rc = scratch_make(archive, &scratch, &folder, err);

	if (!rc) {
		u.folder = folder;
		stop_watch();
		rc = unpack_archive(&u, err); /* the analysis reports the findings in notes */
		if (!rc)
			rc = slice_open(store, folder, o, err);
		dir_remove(scratch, NULL);
		stop_if_asked();
		stop_unwatch();
		findings_free(&u.findings);
	}
	free(scratch);
	free(folder);
	return rc;
}

int capture_open(struct store **store, const char *capture, const struct open_options *o,
		 struct error *err)
{
	char *folder;
	int rc;

	*store = NULL;
	if (!slice_given(&o->slice))
		return store_open(store, capture, err);
	rc = slice_check(&o->slice, err);
	if (!rc)
		rc = capture_find_folder(capture, &folder, err);
	if (rc)
		return rc;
	rc = folder ? slice_open(store, folder, o, err) : slice_open_packed(store, capture, o, err);
	free(folder);
	return rc;
}
