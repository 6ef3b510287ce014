/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The runs of a capture folder, from manifest.json. The folder of a single `zcost collect` holds
 * run.json itself. Strings belong to the arena.
 */
#ifndef ZC_LAYOUT_H
#define ZC_LAYOUT_H

#include "analyze/model/notes.h"
#include "lib/error.h"

struct layout_entry {
	const char *variant, *pass, *side, *status, *why;
	const char *dir;
	const char
		*work; /* the sides that count this side's work, as in the plan; NULL: not said */
	const char *role; /* receiver, sender or proxy, as in the plan; NULL: not said */
	int repeat, position;
};

struct layout_variant {
	const char *name, *what, *base;
	struct layout_setting {
		const char *name, *value;
	} * settings; /* what it was measured under, in the plan's order */
	size_t nsettings;
	struct layout_setting *keys; /* the keys of the plan, with their values in the manifest */
	size_t nkeys;
	struct layout_setting *vars; /* the variables of the plan, as it is written */
	size_t nvars;
};

struct layout {
	const char *name, *created, *zcost_version, *estimator,
		*order; /* NULL where it is not known */
	const char *hosts_dir;
	bool has_manifest;
	char manifest_sha256[65],
		run_sha256[65]; /* run_sha256: of the run.json of a plain run; "": none */
	struct layout_variant *variants;
	struct layout_entry *entries; /* by position, receiver before sender */
	struct notes notes;	      /* what is not as it should be: makes the analysis lossy */
	size_t nvariants, variants_cap, nentries, entries_cap;
	struct arena arena;
};

/* Returns -ENOENT for a folder that is no capture, -EBADMSG for a damaged manifest. */
int layout_read(struct layout *l, const char *capture, struct error *err);
void layout_free(struct layout *l);

#endif
