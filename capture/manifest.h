/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * manifest.json: which runs a capture has (docs/formats.md). It is the truth: a run folder it does
 * not name does not count. Every save replaces the whole file at once.
 */
#ifndef ZC_CAPTURE_MANIFEST_H
#define ZC_CAPTURE_MANIFEST_H

#include "capture/order.h"
#include "capture/plan.h"

#include <jansson.h>

struct manifest {
	char *dir;    /* the capture */
	json_t *root; /* as in the file */
};

/* Reads DIR/manifest.json, or starts an empty one. -EBADMSG when the file is damaged. */
int manifest_open(struct manifest *m, const char *dir, struct error *err);
void manifest_close(struct manifest *m);
int manifest_save(const struct manifest *m, struct error *err);

/*
 * Enters the plan's variants. A variant that is there already must have the same settings; with
 * `whole`, the capture may have no others. -EEXIST says what differs.
 */
int manifest_adopt(struct manifest *m, const struct plan *p, bool whole, struct error *err);

bool manifest_has_run(const struct manifest *m, const char *run); /* in it, ok or failed */
bool manifest_run_ok(const struct manifest *m, const char *run);

/* The runs of `all` that are not done well yet; order_free. */
void manifest_runs_left(const struct manifest *m, const struct plan *p, const struct order *all,
			struct order *left);

/* Enters or replaces a run. `files` (path -> SHA-256) is taken over. why "" means ok. */
void manifest_add_run(struct manifest *m, const struct plan *p, const struct run_id *id,
		      const char *why, json_t *files);

/* Sums of hosts/, for the last save; sets `complete`. */
int manifest_finish(struct manifest *m, struct error *err);
bool manifest_complete(const struct manifest *m);

/* Every file under `dir`, path relative to it -> SHA-256, sorted; NULL after an error. */
json_t *manifest_sums(const char *dir, struct error *err);

/*
 * What a variant was measured under, as a flat JSON object of strings ("receiver.cpus": "1"). The
 * manifest keeps it, so that `capture` again adds to a capture only what is comparable with it.
 */
/* jansson holds UTF-8 only; anything else is kept byte by byte as Latin-1. */
json_t *settings_text(const char *s); /* a new reference */

json_t *settings_of(const struct plan *p, const struct variant *v); /* a new reference */

/* -EEXIST with the first difference, as words about variant `name`; 0 when equal. */
int settings_same(const json_t *then, const json_t *now, const char *name, struct error *err);

/* A member of an object that is a string; "" where there is none. */
static inline const char *json_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

#endif
