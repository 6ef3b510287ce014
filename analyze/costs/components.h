/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps functions to components (data copy, TCP/IP, skb, ...) with a table of rules. The most
 * specific rule that matches names the component. A function without a matching rule is
 * unclassified. The table is data: analyze/costs/components.rules, which explains the format. A
 * user's file can replace it.
 */
#ifndef ZC_COMPONENTS_H
#define ZC_COMPONENTS_H

#include "analyze/model/profile.h"
#include "analyze/store/store.h"

struct components;

/*
 * Reads the rules from `path`, or from the table inside the program when path is NULL. `set` is
 * "fine" (the default) or "basic".
 */
int components_read(struct components **c, const char *path, const char *set, struct error *err);
/*
 * Adds one component of the user: "name=pattern,pattern,...", or a single pattern, which is then
 * also the name. Returns -EINVAL for any other spec.
 */
int components_group(struct components **c, const char *spec, struct error *err);
/*
 * As components_read(), but the store keeps the components, with all names that they found, for the
 * next table. components_free() leaves them to the store. A NULL store keeps nothing.
 */
int components_keep(struct components **c, struct store *s, const char *path, const char *set,
		    struct error *err);
void components_free(struct components *c);

/* The properties of a function that rules match; NULL and CTX_UNKNOWN where not known. */
struct function {
	const char *symbol, *module;
	enum dso_kind kind;
	enum context context;
};

/*
 * Returns the context if a rule names it, else CTX_UNKNOWN. Samples that differ only in an unused
 * context can then share a row. The rules' softirq includes softirqs in system calls.
 */
enum context components_context(const struct components *c, enum context context);

extern const char component_none[]; /* "unclassified" */

/* Returns the component's name, or `component_none`. The name lives as long as `c`. */
const char *components_of(const struct components *c, const struct function *f);

/* Returns the name of component `i` in the table's order, or NULL. */
const char *components_name(const struct components *c, size_t i);

/*
 * Removes the suffixes and prefixes that compilers add: .isra.0 .part.0 .constprop.0 .cold,
 * _noprof, __pi_. Replaces spaces with _.
 */
void function_normalize(const char *symbol, char *out, size_t size);

/*
 * The analysis writes the components of all functions into the store, for users who query it with
 * SQL.
 */

/* Stores the components of both sets, from the rules inside the program, in one transaction. */
int components_store(struct store *s, struct error *err);

#endif
