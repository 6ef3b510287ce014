/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a plan's text becomes a struct plan. plan_keys.c has the table of all keys. plan_read.c reads
 * the text once. plan_combine.c has it read once for each combination of the plan's settings.
 */
#ifndef ZC_CAPTURE_PLAN_READ_H
#define ZC_CAPTURE_PLAN_READ_H

#include "capture/plan.h"
#include "lib/words.h"

/* --- ini text --- */

/*
 * Reads ini text, the form of plans:
 *
 *     # a comment, also with ;
 *     [section name]
 *     key = value
 *         a line that starts with a blank continues the value (joined by a newline)
 *
 * There are no comments behind a value, because commands have # and ; in them. A section may stand
 * once, but [vars] and [matrix] may go on later. A key may stand once in its section.
 */
struct ini_at {
	const char *path;
	int line;
};

/* A key of a section, or the line that begins a section: then `key` is NULL. */
struct ini_entry {
	const char *kind, *name; /* [side receiver]: "side" and "receiver"; [plan]: "plan" and "" */
	const char *key, *value;
	struct ini_at at;
	int last_line; /* the last line of the value */
};

struct ini {
	char *text;		 /* all strings lie in it */
	struct ini_entry *entry; /* behind the last one stands one without a key */
	size_t n, cap;
};

/* Reads `text`. -EINVAL for bad syntax. The caller calls ini_free() in any case. */
int ini_read(struct ini *ini, const char *path, const char *text, struct error *err);
void ini_free(struct ini *ini);

/* Returns whether the entry is the line that begins a section of this kind. */
bool ini_begins(const struct ini_entry *e, const char *kind);

/* Returns the key of a section that begins at `section`, or NULL, also where `section` is NULL. */
const struct ini_entry *ini_get(const struct ini_entry *section, const char *key);

/* Returns a variable of [vars], or NULL. */
const struct ini_entry *ini_find_var(const struct ini *ini, const char *name, size_t len);

/* Sets "<path>:<line>: <text>", returns -EINVAL. */
int ini_error(const struct ini_at *at, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Refuses a key that its section does not have. `known` has the keys, with blanks between. */
int ini_unknown_key(const struct ini_entry *e, const char *known, struct error *err);

/* --- plan_combine.c --- */

/*
 * The matrix of a plan: its settings, their values, and which combinations of them are measured. It
 * is read first, because the rest of a plan is read once for each combination, with its values as
 * variables:
 *
 *     [setting S]    values = V..., what, save, before, after    ${S} is the value
 *     [value S=V]    what, label, save, before, after, and variables of [vars] that it changes
 *     [matrix]       cross = S...          default: all settings, in their order
 *                    exclude = S=V S=V     one line for each combination to leave out; V may be a
 *                                          glob, and S `variant`
 *
 * plan_read.c reads the hooks (save, before, after), because variables in them must be expanded.
 */
/* Returns the value that a combination has of a setting, or NULL. */
struct set_value *combination_find(const struct combination *c, const char *setting, size_t len);

/* Returns the value that a combination has for a variable of [vars], or NULL. */
const struct ini_entry *combination_var(const struct combination *c, const char *name);

/* --- the keys --- */

/* SECTION_HOOKS is both [setting S] and [value S=V]. The last two have no keys in the table. */
enum plan_section {
	SECTION_PLAN,
	SECTION_SIDE,
	SECTION_VARIANT,
	SECTION_HOOKS,
	SECTION_VARS,
	SECTION_SKIPPED
};

enum plan_key_kind { KIND_TEXT, KIND_SECONDS, KIND_COUNT, KIND_PASSES };

enum {
	KEY_OF_SIDE = 1,       /* ${bindir} in it is the folder of zcost on the side's host */
	KEY_MAY_BE_EMPTY = 2,  /* an empty value is not checked */
	KEY_RECORDED = 4,      /* a variant's setting in the manifest */
	KEY_OPTION = 8,	       /* << pass: an option of zcost collect in this pass */
	KEY_OF_ALL_RUNS = 128, /* no setting may change it */
};

struct plan_key {
	enum plan_section section;
	const char *name;
	enum plan_key_kind kind;
	size_t offset; /* in the section's struct */
	int (*check)(const char *value,
		     struct error *err); /* checks a KIND_TEXT; NULL where any text will do */
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

struct plan_source {
	const char *path;
	const struct ini *ini; /* its content */
	const char *plandir, *bindir;
};

/*
 * Reads the content into `p`, with the values of the settings in `with` as variables, and fills the
 * hooks in `with`.
 */
int plan_read_once(struct plan *p, const struct plan_source *source, const struct combination *with,
		   struct error *err);

#endif
