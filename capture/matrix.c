// SPDX-License-Identifier: GPL-2.0-only
#include "capture/plan_read.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COMBINATIONS = 1000 };

size_t matrix_count(const struct matrix *m)
{
	size_t i, n = 1;

	for (i = 0; i < m->ncross; i++)
		n *= m->setting[m->cross[i]].value.n;
	return n;
}

static bool name_is(const char *name, const char *text, size_t len)
{
	return !strncmp(name, text, len) && !name[len];
}

struct set_value *combination_find(const struct combination *c, const char *setting, size_t len)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (name_is(c->set[i].name, setting, len))
			return &c->set[i];
	return NULL;
}

/* Says whether "S=V" is true of a combination. A setting that is not crossed has no value. */
static bool exclude_word_holds(const struct combination *c, const char *variant, const char *word)
{
	size_t len = strcspn(word, "=");
	const struct set_value *s = combination_find(c, word, len);
	const char *value = name_is("variant", word, len) ? variant : s ? s->value : NULL;

	return value && word[len] && str_matches(word + len + 1, value);
}

bool matrix_excludes(struct matrix *m, const struct combination *c, const char *variant)
{
	bool any = false;
	size_t i, k;

	for (i = 0; i < m->nexclude; i++) {
		struct matrix_exclude *e = &m->exclude[i];

		for (k = 0; k < e->word.n && exclude_word_holds(c, variant, e->word.word[k]); k++)
			;
		e->used |= k == e->word.n;
		any |= k == e->word.n;
	}
	return any;
}

int matrix_check_excludes(const struct matrix *m, struct error *err)
{
	size_t i;

	for (i = 0; i < m->nexclude; i++)
		if (!m->exclude[i].used)
			return ini_error(
				&m->exclude[i].at, err,
				"exclude: a line leaves out no combination: each word is SETTING=VALUE, of a setting in 'cross', or variant=NAME");
	return 0;
}

const struct ini_entry *combination_var(const struct combination *c, const char *name)
{
	const struct ini_entry *var = NULL;
	size_t i;

	for (i = 0; i < c->n && !var; i++)
		var = ini_get(c->set[i].section, name);
	return var;
}

/* Returns what a value is called in the names of variants, such as "mtu9000" and "gro-off". */
static char *value_label(const char *setting, const char *value, const struct ini_entry *given)
{
	char *label = given ? xstrdup(given->value)
			    : xasprintf("%s%s%s", setting,
					isdigit((unsigned char)*value) ? "" : "-", value);
	char *p;

	for (p = label; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_-.", *p))
			*p = '-';
	return label;
}

void combination_fill(struct combination *c, const struct matrix *m, size_t n)
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

void matrix_free(struct matrix *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		words_free(&m->setting[i].value);
		free(m->setting[i].section);
	}
	for (i = 0; i < m->nexclude; i++)
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
	size_t i;

	for (i = 0; i < m->n; i++)
		if (name_is(m->setting[i].name, name, len))
			return &m->setting[i];
	return NULL;
}

static int matrix_split(struct words *w, const struct ini_entry *e, struct error *err)
{
	struct error why = {0};

	return words_split(w, e->value, &why) ? ini_error(&e->at, err, "%s: %s", e->key, why.text)
					      : 0;
}

static int matrix_add_setting(struct matrix *m, const struct ini_entry *e, struct error *err)
{
	const char *p;

	for (p = e->name; isalnum((unsigned char)*p) || *p == '_'; p++)
		;
	if (*p || !isalpha((unsigned char)*e->name) || !strcmp(e->name, "variant"))
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
	size_t i;

	if (strcmp(e->key, "values") != 0)
		return str_matches_any("what save before after", e->key)
			       ? 0
			       : ini_unknown_key(e, "values what save before after", err);
	if (matrix_split(&s->value, e, err))
		return -EINVAL;
	for (i = 0; i < s->value.n; i++)
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
	const struct matrix_setting *s;
	size_t i;

	for (s = m->setting; s < m->setting + m->n; s++)
		for (i = 0; s != own && i < s->value.n; i++)
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
	const struct ini_entry *var;
	freed(str_free) struct str known = {0};

	if (str_matches_any(keys, e->key))
		return 0;
	if (ini_find_var(ini, e->key, strlen(e->key)))
		return value_check_var(m, e, err);
	str_printf(&known, "%s, and the variables of [vars]:", keys);
	for (var = ini->entry; var < ini->entry + ini->n; var++)
		if (var->key && !strcmp(var->kind, "vars"))
			str_printf(&known, " %s", var->key);
	ini_unknown_key(e, known.buf, err);
	return -EINVAL;
}

static int matrix_add_excludes(struct matrix *m, const struct ini_entry *e, struct error *err)
{
	char *copy = xstrdup(e->value), *rest = copy, *line;
	int rc = 0;

	while (!rc && (line = str_token(&rest, '\n'))) {
		struct ini_entry one = *e;

		one.value = line;
		array_add(m->exclude, m->nexclude, m->exclude_cap,
			  (struct matrix_exclude){.at = e->at});
		rc = matrix_split(&m->exclude[m->nexclude - 1].word, &one, err);
		if (!rc && !m->exclude[m->nexclude - 1].word.n)
			m->nexclude--;
	}
	free(copy);
	return rc;
}

static bool matrix_crosses(const struct matrix *m, const struct matrix_setting *s)
{
	size_t i;

	for (i = 0; i < m->ncross; i++)
		if (&m->setting[m->cross[i]] == s)
			return true;
	return false;
}

/* Adds the settings of `cross`, or all where `e` is NULL. */
static int matrix_cross(struct matrix *m, const struct ini_entry *e, struct error *err)
{
	freed(words_free) struct words w = {0};
	size_t i;
	int rc = e ? matrix_split(&w, e, err) : 0;

	m->cross = xcalloc(m->n + w.n + 1, sizeof(*m->cross));
	for (i = 0; !e && i < m->n; i++)
		m->cross[m->ncross++] = i;
	for (i = 0; i < w.n && !rc; i++) {
		const char *name = w.word[i];
		const struct matrix_setting *s = matrix_setting_named(m, name, strlen(name));

		if (!s)
			rc = ini_error(&e->at, err, "cross: there is no [setting %s]", name);
		else if (matrix_crosses(m, s))
			rc = ini_error(&e->at, err, "cross: '%s' appears twice", name);
		else
			m->cross[m->ncross++] = (size_t)(s - m->setting);
	}
	return rc;
}

static int matrix_check_size(const struct matrix *m, const struct ini *ini, struct error *err)
{
	size_t i, n = 1;

	for (i = 0; i < m->ncross; i++) {
		n *= m->setting[m->cross[i]].value.n;
		if (n > MAX_COMBINATIONS)
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

int matrix_read(struct matrix *m, const struct ini *ini, struct error *err)
{
	const struct ini_entry *cross = NULL;
	size_t i;
	int rc = 0;

	*m = (struct matrix){0};
	for (i = 0; i < ini->n && !rc; i++)
		rc = matrix_read_entry(m, ini, &ini->entry[i], &cross, err);
	for (i = 0; i < m->n && !rc; i++)
		if (!m->setting[i].value.n)
			rc = error_set(err, EINVAL,
				       "%s: setting '%s' has no values: add 'values = ...'",
				       ini->entry->at.path, m->setting[i].name);
	if (!rc)
		rc = matrix_cross(m, cross, err);
	return rc ? rc : matrix_check_size(m, ini, err);
}
