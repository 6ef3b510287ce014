/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions into components (data copy, TCP/IP, skb, ...) by an ordered table of rules: the first
 * that matches names the component. The table is data, analyze/measures/components.rules, which explains its
 * form; a user's own file replaces it. A function that no rule matches is unclassified.
 */
#ifndef ZC_COMPONENTS_H
#define ZC_COMPONENTS_H

#include "analyze/model/profile.h"
#include "analyze/store/store.h"
#include "lib/error.h"

struct components;

/* NULL for `path`: the table inside the program. `set`: "fine", the default, or "basic". */
int components_read(struct components **c, const char *path, const char *set, struct error *err);
/*
 * One component of the user's: "name=pattern,pattern,...", or a pattern alone, which is then its
 * own name. -EINVAL: neither.
 */
int components_group(struct components **c, const char *spec, struct error *err);
void components_free(struct components *c);

/* What is known of a function; NULL and CTX_UNKNOWN where it is not. */
struct function {
	const char *symbol, *module;
	enum dso_kind kind;
	enum context context;
};

/* The context as far as a rule asks for it, else unknown: samples need not be told apart by it. */
enum context components_context(const struct components *c, enum context context);

extern const char component_none[]; /* "unclassified" */

/* The component's name, `component_none` for none; lives as long as `c`. */
const char *components_of(const struct components *c, const struct function *f);

/* The name of component `i` in the table's order, or NULL. */
const char *components_name(const struct components *c, size_t i);

/* The name without what compilers add: .isra.0 .part.0 .constprop.0 .cold, _noprof, __pi_; _ for a
 * space. */
void function_normalize(const char *symbol, char *out, size_t size);

/* The components of all functions into a store that is being made, for those who ask it in SQL. */

/* By the rules inside the program, both sets; one transaction of its own. */
int components_store(struct store *s, struct error *err);

#endif
