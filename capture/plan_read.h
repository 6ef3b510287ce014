/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a plan's text becomes a struct plan. plan_keys.c has the table of all keys. plan_read.c reads
 * the text once. plan_combine.c has it read once for each combination of the plan's settings.
 */
#ifndef ZC_CAPTURE_PLAN_READ_H
#define ZC_CAPTURE_PLAN_READ_H

#include "capture/matrix.h"
#include "capture/plan.h"

/* SECTION_HOOKS is both [setting S] and [value S=V]. The last two have no keys in the table. */
enum plan_section {
	SECTION_PLAN,
	SECTION_SIDE,
	SECTION_VARIANT,
	SECTION_HOOKS,
	SECTION_VARS,
	SECTION_SKIPPED
};

enum plan_key_kind { KIND_TEXT, KIND_SECONDS, KIND_COUNT, KIND_PASSES, KIND_ORDER };

enum {
	KEY_OF_SIDE = 1,      /* ${bindir} in it is the folder of zcost on the side's host */
	KEY_MAY_BE_EMPTY = 2, /* an empty value is not checked */
	KEY_RECORDED = 4,     /* a variant's setting in the manifest */
};

struct plan_key {
	enum plan_section section;
	const char *name;
	enum plan_key_kind kind;
	size_t offset;					    /* in the section's struct */
	int (*check)(const char *value, struct error *err); /* of KIND_TEXT; NULL: any text */
	unsigned int flags;
};

/* All keys. The last row has the name NULL. */
extern const struct plan_key plan_keys[];
/* The command of a side in [variant NAME]. The key is the name of the side. */
extern const struct plan_key plan_command_key;

const struct plan_key *plan_key_find(enum plan_section section, const char *name); /* or NULL */
int plan_key_set(const struct plan_key *k, void *base, const char *value, struct error *err);
char *plan_key_text(const struct plan_key *k, const void *base); /* the caller frees */

/* Makes all texts of a section's struct empty, or frees them. */
void plan_keys_init(enum plan_section section, void *base);
void plan_keys_free(enum plan_section section, void *base);

/* The first key of [plan] in which two plans differ, or NULL. */
const char *plan_keys_differ(const struct plan *a, const struct plan *b);

struct plan_source {
	const char *path;
	const struct ini *ini; /* its content */
	const char *plandir, *bindir;
	const char *side_bindir; /* ${bindir} in keys with KEY_OF_SIDE */
};

/*
 * Reads the content into `p`, with the values of the settings in `with` as variables, and fills the
 * hooks in `with`. `pick` is the same combination as indexes into `m`.
 */
int plan_read_once(struct plan *p, const struct plan_source *source, const struct matrix *m,
		   const size_t *pick, const struct combination *with, struct error *err);

#endif
