// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a plan with all combinations of its settings. It reads the text once for each combination,
 * because any value may have a variable that a setting changes. The plan gets the sides of each
 * reading, and its variants under names with the settings. [plan] must be the same in all readings.
 */
#include "capture/plan_read.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>

/* --- the matrix --- */

enum { MAX_COMBINATIONS = 1000 };

struct matrix_setting {
	const char *name;
	struct words value;
	const struct ini_entry **section; /* [value S=V] of each value, or NULL */
};

/* Strings and sections belong to the struct ini that the matrix was read from. */
struct matrix {
	struct matrix_setting *setting; /* in the order of the file */
	size_t n, cap;
	size_t *cross; /* indexes into `setting`, the one that changes least often first */
	size_t ncross;
	size_t count; /* the number of combinations, which is 1 without settings */
	struct matrix_exclude {
		struct words word; /* each is S=V */
		struct ini_at at;
		bool used; /* it left out a combination */
	} * exclude;
	size_t nexclude, exclude_cap;
};

static bool name_is(const char *name, const char *text, size_t len)
{
	return !strncmp(name, text, len) && !name[len];
}

struct set_value *combination_find(const struct combination *c, const char *setting, size_t len)
{
	return array_find(s, c->set, c->n, name_is(s->name, setting, len));
}

/* Says whether "S=V" is true of a combination. A setting that is not crossed has no value. */
static bool exclude_word_holds(const struct combination *c, const char *variant, const char *word)
{
	size_t len = strcspn(word, "=");
	const struct set_value *s = combination_find(c, word, len);
	const char *value = name_is("variant", word, len) ? variant : s ? s->value : NULL;

	return value && word[len] && str_matches(word + len + 1, value);
}

static bool matrix_excludes(struct matrix *m, const struct combination *c, const char *variant)
{
	bool any = false;
	size_t k;

	for (size_t i = 0; i < m->nexclude; i++) {
		struct matrix_exclude *e = &m->exclude[i];

		for (k = 0; k < e->word.n && exclude_word_holds(c, variant, e->word.word[k]); k++)
			;
		e->used |= k == e->word.n;
		any |= k == e->word.n;
	}
	return any;
}

/* Refuses a line of `exclude` that left out no combination. */
static int matrix_check_excludes(const struct matrix *m, struct error *err)
{
	for (size_t i = 0; i < m->nexclude; i++)
		if (!m->exclude[i].used)
			return ini_error(
				&m->exclude[i].at, err,
				"exclude: a line leaves out no combination: each word is SETTING=VALUE, of a setting in 'cross', or variant=NAME");
	return 0;
}

const struct ini_entry *combination_var(const struct combination *c, const char *name)
{
	const struct ini_entry *var = NULL;

	for (size_t i = 0; i < c->n && !var; i++)
		var = ini_get(c->set[i].section, name);
	return var;
}

/* Returns what a value is called in the names of variants, such as "mtu9000" and "gro-off". */
static char *value_label(const char *setting, const char *value, const struct ini_entry *given)
{
	char *label = given ? xstrdup(given->value)
			    : xasprintf("%s%s%s", setting,
					isdigit((unsigned char)*value) ? "" : "-", value);

	for (char *p = label; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_-.", *p))
			*p = '-';
	return label;
}

/* Fills combination n, with a value for each setting in `cross`. The hooks are empty. */
static void combination_fill(struct combination *c, const struct matrix *m, size_t n)
{
	size_t i = m->ncross;

	*c = (struct combination){.set = xcalloc(i + 1, sizeof(*c->set)), .n = i};
	while (i--) {
		const struct matrix_setting *s = &m->setting[m->cross[i]];
		const char *value = s->value.word[n % s->value.n];
		const struct ini_entry *section = s->section[n % s->value.n];
		const struct ini_entry *what = ini_get(section, "what");

		c->set[i] = (struct set_value){
			.name = xstrdup(s->name),
			.value = xstrdup(value),
			.label = value_label(s->name, value, ini_get(section, "label")),
			.what = what ? xstrdup(what->value) : xasprintf("%s %s", s->name, value),
			.section = section,
		};
		plan_keys_init(SECTION_HOOKS, &c->set[i].hooks);
		n /= s->value.n;
	}
}

static void matrix_free(struct matrix *m)
{
	for (size_t i = 0; i < m->n; i++) {
		words_free(&m->setting[i].value);
		free(m->setting[i].section);
	}
	for (size_t i = 0; i < m->nexclude; i++)
		words_free(&m->exclude[i].word);
	free(m->setting);
	free(m->exclude);
	free(m->cross);
	*m = (struct matrix){0};
}

/* --- reading --- */

static struct matrix_setting *matrix_setting_named(const struct matrix *m, const char *name,
						   size_t len)
{
	return array_find(s, m->setting, m->n, name_is(s->name, name, len));
}

static int matrix_split(struct words *w, const struct ini_entry *e, struct error *err)
{
	struct error why = {0};

	if (strstr(e->value, "${"))
		return ini_error(&e->at, err, "%s: write the words: a variable has no value here",
				 e->key);
	return words_split(w, e->value, &why) ? ini_error(&e->at, err, "%s: %s", e->key, why.text)
					      : 0;
}

static int matrix_add_setting(struct matrix *m, const struct ini_entry *e, struct error *err)
{
	if (!str_is_name(e->name, "_") || !isalpha((unsigned char)*e->name) ||
	    !strcmp(e->name, "variant"))
		return ini_error(
			&e->at, err,
			"'%s' is no name for a setting: letters, digits and _, a letter first, and not 'variant'",
			e->name);
	array_add(m->setting, m->n, m->cap, (struct matrix_setting){.name = e->name});
	return 0;
}

static size_t setting_find_value(const struct matrix_setting *s, const char *value)
{
	size_t i;

	for (i = 0; i < s->value.n && strcmp(s->value.word[i], value) != 0; i++)
		;
	return i;
}

static int setting_read_key(struct matrix_setting *s, const struct ini_entry *e, struct error *err)
{
	if (strcmp(e->key, "values") != 0)
		return str_matches_any("what save before after", e->key)
			       ? 0
			       : ini_unknown_key(e, "values what save before after", err);
	if (matrix_split(&s->value, e, err))
		return -EINVAL;
	for (size_t i = 0; i < s->value.n; i++)
		if (setting_find_value(s, s->value.word[i]) < i)
			return ini_error(&e->at, err, "values: '%s' appears twice",
					 s->value.word[i]);
	if (!s->value.n)
		return ini_error(&e->at, err, "values: the list is empty");
	s->section = xcalloc(s->value.n, sizeof(*s->section));
	return 0;
}

static int matrix_add_value(struct matrix *m, const struct ini_entry *e, struct error *err)
{
	size_t len = strcspn(e->name, "="), i;
	struct matrix_setting *s = matrix_setting_named(m, e->name, len);

	if (!s || !e->name[len])
		return ini_error(
			&e->at, err,
			"[value %s]: it is written [value SETTING=VALUE], and [setting SETTING] stands above",
			e->name);
	i = setting_find_value(s, e->name + len + 1);
	if (i < s->value.n) {
		s->section[i] = e;
		return 0;
	}
	return ini_error(&e->at, err, "[value %s]: setting '%s' has no such value", e->name,
			 s->name);
}

/* Refuses a variable that a value of another setting changes, too. */
static int value_check_var(const struct matrix *m, const struct ini_entry *e, struct error *err)
{
	const struct matrix_setting *own = matrix_setting_named(m, e->name, strcspn(e->name, "="));

	for (const struct matrix_setting *s = m->setting; s < m->setting + m->n; s++)
		for (size_t i = 0; s != own && i < s->value.n; i++)
			if (ini_get(s->section[i], e->key))
				return ini_error(&e->at, err,
						 "variable '%s' is changed by setting '%s' too: "
						 "only one setting may change it",
						 e->key, s->name);
	return 0;
}

static int value_read_key(const struct matrix *m, const struct ini *ini, const struct ini_entry *e,
			  struct error *err)
{
	static const char keys[] = "what label save before after";
	freed(str_free) struct str known = {0};

	if (str_matches_any(keys, e->key))
		return 0;
	if (ini_find_var(ini, e->key, strlen(e->key)))
		return value_check_var(m, e, err);
	str_printf(&known, "%s, and the variables of [vars]:", keys);
	for (const struct ini_entry *var = ini->entry; var < ini->entry + ini->n; var++)
		if (var->key && !strcmp(var->kind, "vars"))
			str_printf(&known, " %s", var->key);
	return ini_unknown_key(e, known.buf, err);
}

static int matrix_add_excludes(struct matrix *m, const struct ini_entry *e, struct error *err)
{
	char *line;

	each_part (line, e->value, '\n') {
		struct ini_entry one = *e;

		one.value = line;
		array_add(m->exclude, m->nexclude, m->exclude_cap,
			  (struct matrix_exclude){.at = e->at});
		if (matrix_split(&m->exclude[m->nexclude - 1].word, &one, err))
			return -EINVAL;
		if (!m->exclude[m->nexclude - 1].word.n)
			m->nexclude--;
	}
	return 0;
}

/* Adds the settings of `cross`, or all where `e` is NULL. */
static int matrix_cross(struct matrix *m, const struct ini_entry *e, struct error *err)
{
	freed(words_free) struct words w = {0};
	size_t k;
	int rc = e ? matrix_split(&w, e, err) : 0;

	m->cross = xcalloc(m->n + w.n + 1, sizeof(*m->cross));
	for (size_t i = 0; !e && i < m->n; i++)
		m->cross[m->ncross++] = i;
	for (size_t i = 0; i < w.n && !rc; i++) {
		const char *name = w.word[i];
		const struct matrix_setting *s = matrix_setting_named(m, name, strlen(name));

		for (k = 0; s && k < m->ncross && &m->setting[m->cross[k]] != s; k++)
			;
		if (!s)
			rc = ini_error(&e->at, err, "cross: there is no [setting %s]", name);
		else if (k < m->ncross)
			rc = ini_error(&e->at, err, "cross: '%s' appears twice", name);
		else
			m->cross[m->ncross++] = (size_t)(s - m->setting);
	}
	return rc;
}

/* Counts the combinations. */
static int matrix_check_size(struct matrix *m, const struct ini *ini, struct error *err)
{
	m->count = 1;
	for (size_t i = 0; i < m->ncross; i++) {
		m->count *= m->setting[m->cross[i]].value.n;
		if (m->count > MAX_COMBINATIONS)
			return error_set(err, EINVAL,
					 "%s: more than %d combinations of settings: cross fewer",
					 ini->entry->at.path, MAX_COMBINATIONS);
	}
	return 0;
}

/* Reads one entry. *cross is set to the key `cross`, which is read after all settings. */
static int matrix_read_entry(struct matrix *m, const struct ini *ini, const struct ini_entry *e,
			     const struct ini_entry **cross, struct error *err)
{
	if (ini_begins(e, "setting"))
		return matrix_add_setting(m, e, err);
	if (ini_begins(e, "value"))
		return matrix_add_value(m, e, err);
	if (!e->key)
		return 0;
	if (!strcmp(e->kind, "setting"))
		return setting_read_key(&m->setting[m->n - 1], e, err);
	if (!strcmp(e->kind, "value"))
		return value_read_key(m, ini, e, err);
	if (strcmp(e->kind, "matrix") != 0)
		return 0;
	if (!strcmp(e->key, "exclude"))
		return matrix_add_excludes(m, e, err);
	if (strcmp(e->key, "cross") != 0)
		return ini_unknown_key(e, "cross exclude", err);
	*cross = e;
	return 0;
}

/* Reads the matrix of a plan. -EINVAL with file:line. The caller frees it in any case. */
static int matrix_read(struct matrix *m, const struct ini *ini, struct error *err)
{
	const struct ini_entry *cross = NULL;
	int rc = 0;

	*m = (struct matrix){0};
	for (size_t i = 0; i < ini->n && !rc; i++)
		rc = matrix_read_entry(m, ini, &ini->entry[i], &cross, err);
	for (size_t i = 0; i < m->n && !rc; i++)
		if (!m->setting[i].value.n)
			rc = error_set(err, EINVAL,
				       "%s: setting '%s' has no values: add 'values = ...'",
				       ini->entry->at.path, m->setting[i].name);
	rc = rc ?: matrix_cross(m, cross, err);
	return rc ? rc : matrix_check_size(m, ini, err);
}

/* --- all combinations --- */

struct combining {
	struct plan *plan; /* gets all combinations */
	struct matrix *m;
	const struct plan_source *source;
};

/* Adds the settings to name and what: "mmap+mtu9000+gro-off", "send -> mmap, MTU 9000, GRO off". */
static int variant_rename(struct variant *v, const struct combination *c, const char *path,
			  struct error *err)
{
	struct str name = {0}, what = {0};
	struct error e = {0};
	int rc;

	str_puts(&name, v->base);
	str_puts(&what, v->what);
	for (size_t i = 0; i < c->n; i++) {
		str_printf(&name, "+%s", c->set[i].label);
		str_printf(&what, "%s%s", what.len ? ", " : "", c->set[i].what);
	}
	free(v->name);
	free(v->what);
	v->name = str_take(&name);
	v->what = str_take(&what);
	rc = plan_check_name(v->name, &e);
	return rc ? error_set(err, -rc, "%s: %s; a shorter 'label' in [value] makes it shorter",
			      path, e.text)
		  : 0;
}

/* Moves the variants of one reading from `from` to the plan. Excluded ones stay in `from`. */
static int combine_take_variants(struct combining *x, struct plan *from, size_t combination,
				 struct error *err)
{
	const struct combination *c = plan_combination(x->plan, combination);
	struct plan *p = x->plan;
	size_t left = 0;
	int rc = 0;

	for (size_t i = 0; i < from->nvariants; i++) {
		struct variant *v = &from->variants[i];

		if (rc || matrix_excludes(x->m, c, v->base)) {
			from->variants[left++] = *v;
			continue;
		}
		rc = variant_rename(v, c, x->source->path, err);
		if (!rc && plan_find_variant(p, v->name))
			rc = error_set(
				err, EINVAL,
				"%s: two combinations are named '%s': give the values different labels",
				x->source->path, v->name);
		v->combination = combination;
		array_add(p->variants, p->nvariants, p->variants_cap, *v);
	}
	from->nvariants = left;
	return rc;
}

/* Refuses a `before` without `after`: its setting would stay while other values are measured. */
static int combination_check_hooks(const struct combination *c, const char *path, struct error *err)
{
	for (size_t i = 0; i < c->n; i++)
		if (*c->set[i].hooks.before && !*c->set[i].hooks.after)
			return error_set(
				err, EINVAL,
				"%s: %s=%s has a 'before' but no 'after' that undoes it ('after = true' when there is nothing to undo)",
				path, c->set[i].name, c->set[i].value);
	return 0;
}

static int combine_add(struct combining *x, size_t n, struct error *err)
{
	struct plan *p = x->plan;
	struct combination *c = array_new(p->combinations, p->ncombinations, p->combinations_cap);
	int rc;

	combination_fill(c, x->m, n);
	c->plan = xmalloc(sizeof(*c->plan));
	plan_init(c->plan);
	rc = plan_read_once(c->plan, x->source, c, err);
	rc = rc ?: combination_check_hooks(c, x->source->path, err);
	return rc ? rc : combine_take_variants(x, c->plan, p->ncombinations - 1, err);
}

/* Reads [plan] and the sides with the first combination, and drops the variants. */
static int combine_read_first(struct combining *x, struct error *err)
{
	struct plan *p = x->plan;
	freed(plan_free_combination) struct combination first;
	int rc;

	combination_fill(&first, x->m, 0);
	rc = plan_read_once(p, x->source, &first, err);
	while (p->nvariants)
		plan_free_variant(&p->variants[--p->nvariants]);
	return rc;
}

static int combine_all(struct combining *x, struct error *err)
{
	size_t n = x->m->count;
	int rc = combine_read_first(x, err);

	for (size_t i = 0; i < n && !rc; i++)
		rc = combine_add(x, i, err);
	rc = rc ?: matrix_check_excludes(x->m, err);
	if (!rc && !x->plan->nvariants)
		rc = error_set(err, EINVAL, "%s: [matrix] exclude leaves no variant",
			       x->source->path);
	return rc;
}

int plan_parse(struct plan *p, const char *path, const char *text, const char *bindir,
	       struct error *err)
{
	autofree char *real = realpath(path, NULL) ?: xstrdup(path); /* tests have no file */
	freed(ini_free) struct ini ini;
	freed(matrix_free) struct matrix m = {0};
	struct plan_source source = {path, &ini, dirname(real), bindir};
	struct combining x = {.plan = p, .m = &m, .source = &source};
	int rc = ini_read(&ini, path, text, err);

	p->text = xstrdup(text);
	rc = rc ?: matrix_read(&m, &ini, err);
	if (!rc && m.ncross)
		rc = combine_all(&x, err);
	else if (!rc)
		rc = plan_read_once(p, &source, plan_combination(p, 0), err);
	return rc;
}

/* --- --set NAME=VALUE --- */

/*
 * The value is written into the text of the plan before the text is read. So plan.ini of the
 * capture is the plan as used, and [value] sections still replace the value.
 */

/* Replaces the lines of a value by one line. All lines keep their numbers. */
static char *text_replace_value(const char *text, const struct ini_entry *e, const char *with)
{
	autofree char *copy = xstrdup(text);
	char *rest = copy, *line;
	struct str s = {0};
	int n = 0;

	while ((line = str_token(&rest, '\n'))) {
		n++;
		if (n == e->at.line)
			str_puts(&s, with);
		else if (n < e->at.line || n > e->last_line)
			str_puts(&s, line);
		str_puts(&s, rest ? "\n" : "");
	}
	return str_take(&s);
}

static int set_unknown(const struct ini *ini, const char *path, const char *name, struct error *err)
{
	freed(str_free) struct str known = {0};

	for (size_t i = 0; i < ini->n; i++)
		if (ini->entry[i].key && !strcmp(ini->entry[i].kind, "vars"))
			str_printf(&known, " %s", ini->entry[i].key);
	return error_set(err, EINVAL, "--set %s: %s has no such variable; [vars] has:%s", name,
			 path, known.buf ? known.buf : " none");
}

/* Replaces a variable's value in `text`, the content of the plan `path`. `set` is NAME=VALUE. */
static int plan_set_variable(struct plan *p, const char *path, char **text, const char *set,
			     struct error *err)
{
	size_t len = strcspn(set, "=");
	autofree char *name = NULL, *with = NULL;
	char *was = *text;
	const struct ini_entry *e;
	freed(ini_free) struct ini ini = {0};
	int rc;

	if (!len || !set[len] || strpbrk(set, "\r\n"))
		return error_set(err, EINVAL, "--set '%s' is not NAME=VALUE on one line", set);
	name = xstrndup(set, len);
	rc = ini_read(&ini, path, *text, err);
	e = ini_find_var(&ini, name, len);
	if (!rc && !e)
		rc = set_unknown(&ini, path, name, err);
	if (!rc) {
		with = xasprintf("%s = %s", name, set + len + 1);
		*text = text_replace_value(was, e, with);
		free(was);
		was = p->sets;
		p->sets = xasprintf("%sset %s (%s in the plan)\n", was, with, e->value);
		free(was);
	}
	return rc;
}

int plan_read(struct plan *p, const char *path, const struct words *sets, const char *bindir,
	      struct error *err)
{
	autofree char *text = NULL;
	size_t len;
	int rc = file_read_named(path, &text, &len, err);

	if (rc)
		return rc;
	if (strlen(text) != len)
		rc = error_set(err, EINVAL, "%s: not a plan: there are zero bytes in it", path);
	for (size_t i = 0; i < sets->n && !rc; i++)
		rc = plan_set_variable(p, path, &text, sets->word[i], err);
	return rc ?: plan_parse(p, path, text, bindir, err);
}
