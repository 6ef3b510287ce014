/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * manifest.json lists the runs of a capture (docs/reference/capture-folder.md). A run folder that
 * it does not list does not count. Every save replaces the whole file at once.
 */
#ifndef ZC_CAPTURE_MANIFEST_H
#define ZC_CAPTURE_MANIFEST_H

#include "capture/plan.h"

struct manifest {
	char *dir;    /* the capture */
	json_t *root; /* the file */
};

/* Reads DIR/manifest.json, or starts an empty one. -EBADMSG when the file is damaged. */
int manifest_open(struct manifest *m, const char *dir, struct error *err);
void manifest_close(struct manifest *m);
int manifest_save(const struct manifest *m, struct error *err);

/*
 * Adds the variants of the plan. A variant that is in the manifest must have the same settings.
 * With `whole`, the manifest may have no other variants. -EEXIST: the text says what differs.
 */
int manifest_adopt(struct manifest *m, const struct plan *p, bool whole, struct error *err);

bool manifest_has_run(const struct manifest *m, const char *run); /* ok or failed */

/* Fills *left with the runs of `all` that are not ok yet. The caller frees it with order_free. */
void manifest_runs_left(const struct manifest *m, const struct plan *p, const struct order *all,
			struct order *left);

/*
 * Adds or replaces a run, and owns `files` (path -> SHA-256). An empty `why` means ok. `earlier` is
 * a list of texts, one for each earlier try, or NULL.
 */
void manifest_add_run(struct manifest *m, const struct plan *p, const struct run_id *id,
		      const char *why, const json_t *earlier, json_t *files);

/* Adds the checksums of hosts/, sets `complete`, and saves. */
int manifest_finish(struct manifest *m, struct error *err);

/* Returns path -> SHA-256 of every file under `dir`, sorted by name. NULL after an error. */
json_t *manifest_sums(const char *dir, struct error *err);

/*
 * Returns all settings of a variant as a flat JSON object of strings ("receiver.cpus": "1"). The
 * manifest stores it, so that a later capture adds only runs that are comparable.
 */
json_t *settings_of(const struct plan *p, const struct variant *v);

/* Returns -EEXIST with the first difference between two settings of variant `name`, or 0. */
int settings_same(const json_t *then, const json_t *now, const char *name, struct error *err);

/* Returns a string that is a member of an object, or "". */
static inline const char *json_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

#endif
