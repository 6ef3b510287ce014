// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/costs/components.h"

#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>

EMBED_TEXT(components_rules, "analyze/costs/components.rules");

const char component_none[] = "unclassified";

enum match { EXACT, PREFIX, GLOB, MODULE, KIND, CONTEXT };

struct components_rule {
	enum match match;
	const char *component, *pattern;
	int value;  /* the kind or the context, for KIND and CONTEXT */
	size_t len; /* the length of a PREFIX, the most common glob: "tcp_*" without the star */
	size_t literals;     /* the characters of a glob that are no wildcards */
	unsigned char first; /* the first character of what matches; 0: can be any */
};

/*
 * Places are rules of modules, kinds and contexts. Those above the first name decide before names,
 * the others after them.
 */
struct components {
	struct components_rule *rules; /* in the order of the file */
	size_t n, cap;
	struct map exact;		      /* hash of the name -> index of its first rule + 1 */
	const struct components_rule **globs; /* the most specific first */
	size_t nglobs;
	const struct components_rule **places;
	size_t nplaces, nfirst; /* nfirst: places that decide before names */
	const char **names;
	size_t nnames, names_cap;
	bool has_basic, kept;  /* kept: the store frees them */
	unsigned int contexts; /* one bit for each context that a rule names */
	char *text;
	struct components_found {
		struct intern functions; /* all members of each struct function */
		const char **component;	 /* the component of each function */
		size_t n, cap;
	} * found; /* what components_of() has searched for */
};

/* --- reading --- */

static const struct {
	const char *prefix;
	enum match match;
} prefixes[] = {{"module:", MODULE}, {"kind:", KIND}, {"context:", CONTEXT}};

static const char *const kinds[] = {
	[DSO_KERNEL] = "kernel", [DSO_MODULE] = "module", [DSO_USER] = "user",
	[DSO_BPF] = "bpf",	 [DSO_GUEST] = "guest",
};

/* Returns the number of characters in a glob that are no wildcards. A set [...] is a wildcard. */
static size_t components_count_literals(const char *glob)
{
	size_t n = 0;

	for (; *glob; glob++) {
		if (*glob == '[' && strchr(glob, ']'))
			glob = strchr(glob, ']');
		else
			n += !strchr("*?", *glob);
	}
	return n;
}

/* Parses one pattern. Returns -1 for an unknown kind or context. */
static int components_parse_pattern(struct components_rule *r, const char *word)
{
	r->pattern = word;
	r->len = strcspn(word, "*?[");
	r->literals = components_count_literals(word);
	r->match = !word[r->len] ? EXACT : strcmp(word + r->len, "*") ? GLOB : PREFIX;
	for (size_t i = 0; i < array_size(prefixes); i++) {
		if (str_starts(word, prefixes[i].prefix)) {
			r->match = prefixes[i].match;
			r->pattern = word + strlen(prefixes[i].prefix);
		}
	}
	r->first = strchr("*?[\\", *r->pattern) ? 0 : (unsigned char)*r->pattern;
	if (r->match == KIND)
		r->value = str_index(kinds, array_size(kinds), r->pattern);
	if (r->match == CONTEXT)
		r->value = str_index(context_names, CTX_N, r->pattern);
	return r->value;
}

static void components_add_rule(struct components *c, const struct components_rule *r)
{
	uint64_t *slot;

	array_add(c->rules, c->n, c->cap, *r);
	if (r->match == CONTEXT)
		c->contexts |= 1u << r->value;
	if (r->match != EXACT)
		return;
	slot = map_at(&c->exact, hash_bytes(r->pattern, strlen(r->pattern), 0));
	if (!*slot)
		*slot = c->n;
}

/*
 * Parses a line, "fine | basic | patterns" or "name | patterns". A line that begins with a space
 * continues the rule before it.
 */
static int components_parse_line(struct components *c, char *line, bool basic,
				 const char **component)
{
	bool more = *line == ' ' || *line == '\t';
	char *rest = line, *fine, *second, *word;

	if (!more) {
		fine = str_trim(str_token(&rest, '|'));
		if (!rest)
			return -1;
		second = strchr(rest, '|') ? str_trim(str_token(&rest, '|')) : NULL;
		c->has_basic |= second != NULL;
		*component = basic && second ? second : fine;
		if (str_index(c->names, c->nnames, *component) < 0)
			array_add(c->names, c->nnames, c->names_cap, *component);
	}
	if (!*component)
		return -1;
	while ((word = str_token(&rest, ' '))) {
		struct components_rule r = {.component = *component};

		word = str_trim(word);
		if (!*word)
			continue;
		if (components_parse_pattern(&r, word) < 0)
			return -1;
		components_add_rule(c, &r);
	}
	return 0;
}

static int components_parse(struct components *c, const char *path, bool basic, struct error *err)
{
	const char *component = NULL;
	char *rest = c->text, *line;
	int number = 0;

	while ((line = str_token(&rest, '\n'))) {
		number++;
		if (*line == '#' || !line[strspn(line, " \t\r")])
			continue;
		for (char *p = line; *p; p++)
			if (*p == '\t' || *p == '\r')
				*p = ' ';
		if (components_parse_line(c, line, basic, &component))
			return error_set(
				err, EBADMSG,
				"%s:%d: not a rule; a rule is 'component | pattern pattern ...', with kind: one of kernel module user bpf guest and context: one of user syscall softirq hardirq idle kthread",
				path, number);
	}
	return 0;
}

/* --- the order of rules --- */

/* Puts the more specific glob first. Of equals, the first in the file wins. */
static int components_compare_globs(const void *a, const void *b)
{
	const struct components_rule *l = *(const struct components_rule *const *)a;
	const struct components_rule *r = *(const struct components_rule *const *)b;

	return descending(l->literals, r->literals) ?: ascending(l, r);
}

static void components_index(struct components *c)
{
	bool named = false;

	c->globs = xmalloc((c->n + 1) * sizeof(*c->globs));
	c->places = xmalloc((c->n + 1) * sizeof(*c->places));
	for (size_t i = 0; i < c->n; i++) {
		const struct components_rule *r = &c->rules[i];

		if (r->match == PREFIX || r->match == GLOB)
			c->globs[c->nglobs++] = r;
		named |= r->match < MODULE;
		if (r->match < MODULE)
			continue;
		c->places[c->nplaces++] = r;
		c->nfirst += !named;
	}
	qsort(c->globs, c->nglobs, sizeof(*c->globs), components_compare_globs);
}

static struct components *components_new(void)
{
	struct components *c = xcalloc(1, sizeof(*c));

	c->found = xcalloc(1, sizeof(*c->found));
	return c;
}

/* Sets *out to the components, or frees them after an error. Returns `rc`. */
static int components_finish(struct components *c, int rc, struct components **out)
{
	if (rc) {
		components_free(c);
		return rc;
	}
	components_index(c);
	*out = c;
	return 0;
}

int components_read(struct components **out, const char *path, const char *set, struct error *err)
{
	bool basic = set && !strcmp(set, "basic");
	struct components *c;
	int rc = 0;

	if (set && !basic && strcmp(set, "fine"))
		return error_set(err, EINVAL,
				 "no set of components '%s'; the sets are fine and basic", set);
	c = components_new();
	if (path)
		rc = file_read_named(path, &c->text, NULL, err);
	else
		c->text = xstrdup(components_rules);
	rc = rc ?: components_parse(c, path ? path : "components.rules", basic, err);
	if (!rc && !c->n)
		rc = error_set(err, ENODATA, "%s: no rules in it", path);
	if (!rc && basic && !c->has_basic)
		rc = error_set(err, EINVAL, "%s: has no basic names (a second field)", path);
	return components_finish(c, rc, out);
}

int components_group(struct components **out, const char *spec, struct error *err)
{
	const char *equals = strchr(spec, '='), *component = NULL;
	struct components *c = components_new();
	int rc = 0;

	c->text = equals ? xasprintf("%.*s|%s", (int)(equals - spec), spec, equals + 1)
			 : xasprintf("%s|%s", spec, spec);
	for (char *p = strchr(c->text, '|'); *p; p++)
		if (*p == ',')
			*p = ' ';
	if (strchr(spec, '|') || *spec == '=' || isspace((unsigned char)*spec) ||
	    components_parse_line(c, c->text, false, &component) || !c->n)
		rc = error_set(
			err, EINVAL,
			"--group '%s' is not NAME=FUNCTION,FUNCTION,...; names of functions may be globs, module:GLOB selects a whole module",
			spec);
	return components_finish(c, rc, out);
}

static void components_release(void *kept)
{
	struct components *c = kept;

	map_free(&c->exact);
	intern_free(&c->found->functions);
	free(c->found->component);
	free(c->found);
	free(c->rules);
	free(c->globs);
	free(c->places);
	free(c->names);
	free(c->text);
	free(c);
}

void components_free(struct components *c)
{
	if (c && !c->kept)
		components_release(c);
}

int components_keep(struct components **out, struct store *s, const char *path, const char *set,
		    struct error *err)
{
	bool basic = set && !strcmp(set, "basic");
	void **place = s && !path
			       ? store_keep(s, basic ? KEEP_BASIC : KEEP_FINE, components_release)
			       : NULL;
	int rc = place && *place ? 0 : components_read(out, path, set, err);

	if (rc || !place)
		return rc;
	*out = *place = *place ?: *out;
	(*out)->kept = true;
	return 0;
}

/* --- lookup --- */

static const char *const suffixes[] = {".isra.", ".part.",     ".constprop.", ".cold",
				       ".llvm.", ".lto_priv.", ".localalias"};

void function_normalize(const char *symbol, char *out, size_t size)
{
	char *end = NULL, *at;
	size_t len;

	if (str_starts(symbol, "__pi_"))
		symbol += strlen("__pi_");
	len = strnlen(symbol, size - 1);
	memcpy(out, symbol, len);
	out[len] = '\0';
	for (size_t i = 0; i < array_size(suffixes); i++) {
		at = strstr(out, suffixes[i]);
		if (at && at > out && (!end || at < end))
			end = at;
	}
	if (end)
		*end = '\0';
	for (at = out; (at = strchr(at, ' '));) /* text copied from slides has spaces in names */
		*at = '_';
	if (str_ends(out, "_noprof"))
		out[strlen(out) - strlen("_noprof")] = '\0';
}

/* `name` is needed for patterns of names only. */
static bool components_matches(const struct components_rule *r, const struct function *f,
			       const char *name)
{
	switch (r->match) {
	case EXACT:
		return !strcmp(r->pattern, name);
	case PREFIX:
		return (!r->first || r->first == (unsigned char)*name) &&
		       !strncmp(r->pattern, name, r->len);
	case GLOB:
		return (!r->first || r->first == (unsigned char)*name) &&
		       !fnmatch(r->pattern, name, 0);
	case MODULE:
		return f->module && (!r->first || r->first == (unsigned char)*f->module) &&
		       !fnmatch(r->pattern, f->module, 0);
	case KIND:
		return (int)f->kind == r->value;
	case CONTEXT:
		return (int)f->context == r->value;
	}
	return false;
}

static const struct components_rule *components_find_exact(const struct components *c,
							   const struct function *f,
							   const char *name)
{
	const uint64_t *slot = map_get(&c->exact, hash_bytes(name, strlen(name), 0));
	const struct components_rule *r = slot ? &c->rules[*slot - 1] : NULL;

	return r && components_matches(r, f, name) ? r : NULL;
}

/* Returns the first of rules [from, to) that matches, or NULL. */
static const struct components_rule *components_find(const struct components_rule *const *rules,
						     size_t from, size_t to,
						     const struct function *f, const char *name)
{
	for (; from < to; from++)
		if (components_matches(rules[from], f, name))
			return rules[from];
	return NULL;
}

static const char *components_search(const struct components *c, const struct function *f)
{
	const struct components_rule *r = components_find(c->places, 0, c->nfirst, f, NULL);
	char name[256];

	function_normalize(f->symbol, name, sizeof(name));
	if (!r)
		r = components_find_exact(c, f, name);
	if (!r)
		r = components_find(c->globs, 0, c->nglobs, f, name);
	if (!r)
		r = components_find(c->places, c->nfirst, c->nplaces, f, NULL);
	return r ? r->component : component_none;
}

/* Searches once for each function, because a table meets it in all variants, sides and runs. */
const char *components_of(const struct components *c, const struct function *f)
{
	size_t symbol = strlen(f->symbol) + 1, module = f->module ? strlen(f->module) + 1 : 0;
	struct components_found *found = c->found;
	char key[512];
	uint32_t id;

	if (2 + symbol + module > sizeof(key))
		return components_search(c, f);
	key[0] = (char)f->kind;
	key[1] = (char)f->context;
	memcpy(key + 2, f->symbol, symbol);
	if (module)
		memcpy(key + 2 + symbol, f->module, module);
	id = intern_bytes(&found->functions, key, 2 + symbol + module);
	if (id == found->n)
		array_add(found->component, found->n, found->cap, components_search(c, f));
	return found->component[id];
}

const char *components_name(const struct components *c, size_t i)
{
	return i < c->nnames ? c->names[i] : NULL;
}

enum context components_context(const struct components *c, enum context context)
{
	if (context_is_softirq(context))
		context = CTX_SOFTIRQ;
	return c && c->contexts & 1u << context ? context : CTX_UNKNOWN;
}

/* --- components in the store --- */

static const char *components_store_name_of(const struct components *c, const struct function *fn)
{
	const char *name = components_of(c, fn);

	return name == component_none ? NULL : name;
}

static int components_store_put_all(struct store *s, const struct components *fine,
				    const struct components *basic, struct error *err)
{
	autofree struct leaf_row *rows = NULL;
	int n = store_leaves(s, &rows, err), rc = n < 0 ? n : 0;

	for (int i = 0; i < n && !rc; i++) {
		const struct leaf_row *r = &rows[i];
		struct function fn = {r->name, r->module, r->kind,
				      components_context(fine, r->context)};

		rc = store_component_put(s, r, components_store_name_of(fine, &fn),
					 components_store_name_of(basic, &fn), err);
	}
	return rc;
}

int components_store(struct store *s, struct error *err)
{
	struct components *fine = NULL, *basic = NULL;
	int rc = components_read(&fine, NULL, "fine", err);

	rc = rc ?: components_read(&basic, NULL, "basic", err);
	rc = rc ?: store_begin(s, err);
	rc = rc ?: components_store_put_all(s, fine, basic, err);
	rc = rc ?: store_commit(s, err);
	components_free(fine);
	components_free(basic);
	return rc;
}
