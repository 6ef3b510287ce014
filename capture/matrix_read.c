// SPDX-License-Identifier: GPL-2.0-only
#include "capture/matrix.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum scan_section { IN_OTHER, IN_VARS, IN_SETTING, IN_VALUE, IN_MATRIX };

struct matrix_scan {
	struct matrix *m;
	enum scan_section in;
	struct matrix_setting *setting;
	struct matrix_value *value;
	struct words vars, variants; /* all names in [vars], and all variants */
	char *cross;		     /* the value of `cross`, checked at the end */
	struct ini_at cross_at;
};

/* --- checks of the whole --- */

enum { MAX_COMBINATIONS = 1000 };

static struct matrix_setting *matrix_setting_named(const struct matrix *m, const char *name,
						   size_t len)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (strlen(m->setting[i].name) == len && !memcmp(m->setting[i].name, name, len))
			return &m->setting[i];
	return NULL;
}

static char *matrix_list_values(const struct matrix_setting *s)
{
	struct str list = {0};
	size_t i;

	for (i = 0; i < s->n; i++)
		str_printf(&list, " %s", s->value[i].value);
	return str_take(&list);
}

static char *matrix_list_settings(const struct matrix *m)
{
	struct str list = {0};
	size_t i;

	for (i = 0; i < m->n; i++)
		str_printf(&list, " %s", m->setting[i].name);
	return str_take(&list);
}

static int matrix_unknown_setting(const struct matrix *m, const struct ini_at *at, const char *key,
				  const char *name, size_t len, struct error *err)
{
	char *known = matrix_list_settings(m);

	ini_error(at, err, "%s: there is no [setting %.*s]; there are:%s", key, (int)len, name,
		  *known ? known : " none");
	free(known);
	return -EINVAL;
}

static int cross_add(struct matrix *m, const struct ini_at *at, const char *name, struct error *err)
{
	struct matrix_setting *s = matrix_setting_named(m, name, strlen(name));

	if (!s)
		return matrix_unknown_setting(m, at, "cross", name, strlen(name), err);
	if (matrix_find(m, name) >= 0)
		return ini_error(at, err, "cross: '%s' appears twice", name);
	m->cross[m->ncross++] = (size_t)(s - m->setting);
	return 0;
}

static int cross_choose(struct matrix_scan *s, struct error *err)
{
	struct matrix *m = s->m;
	struct words w = {0};
	struct error e = {0};
	size_t i;
	int rc = 0;

	m->cross = xcalloc(m->n + 1, sizeof(*m->cross));
	if (!s->cross) {
		for (i = 0; i < m->n; i++)
			m->cross[m->ncross++] = i;
		return 0;
	}
	if (words_split(&w, s->cross, &e))
		rc = ini_error(&s->cross_at, err, "cross: %s", e.text);
	for (i = 0; i < w.n && !rc; i++)
		rc = cross_add(m, &s->cross_at, w.word[i], err);
	words_free(&w);
	return rc;
}

/* Checks "S=V" of an exclude. A misspelled name would leave no combination out. */
static int exclude_check_word(const struct matrix_scan *s, const struct ini_at *at,
			      const char *word, struct error *err)
{
	size_t len = strcspn(word, "="), i;
	const struct matrix_setting *of = matrix_setting_named(s->m, word, len);
	bool variant = len == strlen("variant") && str_starts(word, "variant");
	const char *pattern = word + len + 1;
	char *values;

	if (!word[len])
		return ini_error(at, err, "exclude: '%s' is not SETTING=VALUE or variant=NAME",
				 word);
	for (i = 0; variant && i < s->variants.n; i++)
		if (str_matches(pattern, s->variants.word[i]))
			return 0;
	if (variant)
		return ini_error(at, err, "exclude: no variant is '%s'", pattern);
	if (!of)
		return matrix_unknown_setting(s->m, at, "exclude", word, len, err);
	if (matrix_find(s->m, of->name) < 0)
		return ini_error(
			at, err,
			"exclude: '%s' is not in 'cross', so this line would exclude nothing",
			of->name);
	for (i = 0; i < of->n; i++)
		if (str_matches(pattern, of->value[i].value))
			return 0;
	values = matrix_list_values(of);
	ini_error(at, err, "exclude: no value of '%s' is '%s'; there are:%s", of->name, pattern,
		  values);
	free(values);
	return -EINVAL;
}

static int excludes_check(const struct matrix_scan *s, struct error *err)
{
	const struct matrix *m = s->m;
	size_t i, k;
	int rc = 0;

	for (i = 0; i < m->nexclude; i++)
		for (k = 0; k < m->exclude[i].word.n && !rc; k++)
			rc = exclude_check_word(s, &m->exclude[i].at, m->exclude[i].word.word[k],
						err);
	return rc;
}

static bool setting_changes_var(const struct matrix_setting *s, const char *var)
{
	size_t i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->value[i].nvar; k++)
			if (!strcmp(s->value[i].var[k].name, var))
				return true;
	return false;
}

static int value_check_vars(const struct matrix *m, size_t setting, const struct matrix_value *v,
			    struct error *err)
{
	size_t i, k;

	for (k = 0; k < v->nvar; k++)
		for (i = 0; i < setting; i++)
			if (setting_changes_var(&m->setting[i], v->var[k].name))
				return ini_error(&v->var[k].at, err,
						 "variable '%s' is changed by setting '%s' too: "
						 "only one setting may change it",
						 v->var[k].name, m->setting[i].name);
	return 0;
}

static int matrix_check_vars(const struct matrix *m, struct error *err)
{
	size_t i, v;
	int rc = 0;

	for (i = 0; i < m->n; i++)
		for (v = 0; v < m->setting[i].n && !rc; v++)
			rc = value_check_vars(m, i, &m->setting[i].value[v], err);
	return rc;
}

static int matrix_check(struct matrix_scan *s, const char *path, struct error *err)
{
	const struct matrix *m = s->m;
	size_t i, all = 1;
	int rc = 0;

	for (i = 0; i < m->n; i++)
		if (!m->setting[i].n)
			return error_set(err, EINVAL,
					 "%s: setting '%s' has no values: add 'values = ...'", path,
					 m->setting[i].name);
	rc = cross_choose(s, err);
	if (!rc)
		rc = excludes_check(s, err);
	if (!rc)
		rc = matrix_check_vars(m, err);
	for (i = 0; i < m->ncross && !rc; i++) {
		all *= m->setting[m->cross[i]].n;
		if (all > MAX_COMBINATIONS)
			return error_set(err, EINVAL,
					 "%s: more than %d combinations of settings: cross fewer",
					 path, MAX_COMBINATIONS);
	}
	return rc;
}

static bool key_is_hook(const char *key)
{
	return !strcmp(key, "save") || !strcmp(key, "before") || !strcmp(key, "after");
}

static void text_replace(char **to, const char *value)
{
	free(*to);
	*to = xstrdup(value);
}

static bool words_have(const struct words *w, const char *name)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (!strcmp(w->word[i], name))
			return true;
	return false;
}

static struct matrix_value *setting_find_value(const struct matrix_setting *s, const char *value)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->value[i].value, value))
			return &s->value[i];
	return NULL;
}

/* --- sections --- */

static int scan_enter_setting(struct matrix_scan *s, const struct ini_at *at, const char *name,
			      struct error *err)
{
	const char *p;

	for (p = name; isalnum((unsigned char)*p) || *p == '_'; p++)
		;
	if (*p || !isalpha((unsigned char)*name) || !strcmp(name, "variant"))
		return ini_error(
			at, err,
			"'%s' is no name for a setting: letters, digits and _, a letter first, and not 'variant'",
			name);
	if (matrix_setting_named(s->m, name, strlen(name)))
		return ini_error(at, err, "setting '%s' appears twice", name);
	array_grow(s->m->setting, s->m->n, s->m->cap);
	s->setting = &s->m->setting[s->m->n++];
	*s->setting = (struct matrix_setting){.name = xstrdup(name), .what = xstrdup("")};
	s->in = IN_SETTING;
	return 0;
}

static int scan_enter_value(struct matrix_scan *s, const struct ini_at *at, const char *name,
			    struct error *err)
{
	size_t len = strcspn(name, "=");
	char *values;

	s->setting = matrix_setting_named(s->m, name, len);
	if (!s->setting || !name[len])
		return ini_error(
			at, err,
			"[value %s]: it is written [value SETTING=VALUE], and [setting SETTING] stands above",
			name);
	s->value = setting_find_value(s->setting, name + len + 1);
	if (!s->value) {
		values = matrix_list_values(s->setting);
		ini_error(at, err, "[value %s]: setting '%s' has no such value; it has:%s", name,
			  s->setting->name, *values ? values : " none");
		free(values);
		return -EINVAL;
	}
	if (s->value->seen)
		return ini_error(at, err, "[value %s] appears twice", name);
	s->value->seen = true;
	s->in = IN_VALUE;
	return 0;
}

static int matrix_on_section(void *ctx, const struct ini_at *at, const char *kind, const char *name,
			     struct error *err)
{
	struct matrix_scan *s = ctx;

	s->in = IN_OTHER;
	if (!strcmp(kind, "setting"))
		return scan_enter_setting(s, at, name, err);
	if (!strcmp(kind, "value"))
		return scan_enter_value(s, at, name, err);
	if (!strcmp(kind, "variant"))
		words_add(&s->variants, name);
	if (!*name && !strcmp(kind, "vars"))
		s->in = IN_VARS;
	if (!*name && !strcmp(kind, "matrix"))
		s->in = IN_MATRIX;
	return 0;
}

/* --- keys --- */

static char *value_default_label(const char *setting, const char *value)
{
	char *label =
		xasprintf("%s%s%s", setting, isdigit((unsigned char)*value) ? "" : "-", value);
	char *p;

	for (p = label; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_-.", *p))
			*p = '-';
	return label;
}

static int setting_add_value(struct matrix_setting *s, const struct ini_at *at, const char *value,
			     struct error *err)
{
	struct matrix_value *v;

	if (setting_find_value(s, value))
		return ini_error(at, err, "values: '%s' appears twice", value);
	array_grow(s->value, s->n, s->cap);
	v = &s->value[s->n++];
	*v = (struct matrix_value){.value = xstrdup(value),
				   .label = value_default_label(s->name, value),
				   .what = xasprintf("%s %s", s->name, value)};
	return 0;
}

static int scan_setting_key(struct matrix_scan *s, const struct ini_at *at, const char *key,
			    const char *raw, struct error *err)
{
	struct words w = {0};
	struct error e = {0};
	size_t i;
	int rc;

	if (key_is_hook(key))
		return 0;
	if (!strcmp(key, "what")) {
		text_replace(&s->setting->what, raw);
		return 0;
	}
	if (strcmp(key, "values"))
		return ini_error(
			at, err,
			"unknown key '%s' in [setting]; %sthere are: values what save before after",
			key, did_you_mean("values what save before after", key));
	if (s->setting->n)
		return ini_error(at, err, "'values' appears twice");
	rc = words_split(&w, raw, &e) ? ini_error(at, err, "values: %s", e.text) : 0;
	for (i = 0; i < w.n && !rc; i++)
		rc = setting_add_value(s->setting, at, w.word[i], err);
	if (!rc && !w.n)
		rc = ini_error(at, err, "values: the list is empty");
	words_free(&w);
	return rc;
}

static int value_set_label(struct matrix_value *v, const struct ini_at *at, const char *label,
			   struct error *err)
{
	const char *p;

	for (p = label; isalnum((unsigned char)*p) || (*p && strchr("_-.", *p)); p++)
		;
	if (*p || !*label)
		return ini_error(
			at, err,
			"label: '%s' becomes a part of variants' names: letters, digits, _ - . only",
			label);
	text_replace(&v->label, label);
	return 0;
}

static int scan_add_var(struct matrix_scan *s, const struct ini_at *at, const char *name,
			const char *raw, struct error *err)
{
	struct matrix_value *v = s->value;
	struct str known = {0};
	size_t i;

	if (words_have(&s->vars, name)) {
		array_grow(v->var, v->nvar, v->var_cap);
		v->var[v->nvar++] =
			(struct matrix_var){.name = xstrdup(name), .raw = xstrdup(raw), .at = *at};
		return 0;
	}
	for (i = 0; i < s->vars.n; i++)
		str_printf(&known, " %s", s->vars.word[i]);
	ini_error(
		at, err,
		"unknown key '%s' in [value]; %sthere are: what label save before after, and the variables of the [vars] above:%s",
		name, did_you_mean(known.buf, name), known.buf ? known.buf : " none");
	str_free(&known);
	return -EINVAL;
}

static int scan_value_key(struct matrix_scan *s, const struct ini_at *at, const char *key,
			  const char *raw, struct error *err)
{
	if (key_is_hook(key))
		return 0;
	if (!strcmp(key, "label"))
		return value_set_label(s->value, at, raw, err);
	if (strcmp(key, "what"))
		return scan_add_var(s, at, key, raw, err);
	text_replace(&s->value->what, raw);
	return 0;
}

static int scan_add_exclude(struct matrix_scan *s, const struct ini_at *at, const char *raw,
			    struct error *err)
{
	struct matrix *m = s->m;
	char *copy = xstrdup(raw), *rest = copy, *line;
	struct matrix_exclude *x;
	struct error e = {0};
	int rc = 0;

	while (!rc && (line = str_token(&rest, '\n'))) {
		array_grow(m->exclude, m->nexclude, m->exclude_cap);
		x = &m->exclude[m->nexclude++];
		*x = (struct matrix_exclude){.at = *at};
		rc = words_split(&x->word, line, &e) ? ini_error(at, err, "exclude: %s", e.text)
						     : 0;
		if (!rc && !x->word.n)
			m->nexclude--;
	}
	free(copy);
	return rc;
}

static int scan_matrix_key(struct matrix_scan *s, const struct ini_at *at, const char *key,
			   const char *raw, struct error *err)
{
	if (!strcmp(key, "exclude"))
		return scan_add_exclude(s, at, raw, err);
	if (strcmp(key, "cross"))
		return ini_error(at, err,
				 "unknown key '%s' in [matrix]; %sthere are: cross exclude", key,
				 did_you_mean("cross exclude", key));
	if (s->cross)
		return ini_error(at, err, "'cross' appears twice");
	s->cross = xstrdup(raw);
	s->cross_at = *at;
	return 0;
}

static int matrix_on_key(void *ctx, const struct ini_at *at, const char *key, const char *raw,
			 struct error *err)
{
	struct matrix_scan *s = ctx;

	switch (s->in) {
	case IN_VARS:
		words_add(&s->vars, key);
		return 0;
	case IN_SETTING:
		return scan_setting_key(s, at, key, raw, err);
	case IN_VALUE:
		return scan_value_key(s, at, key, raw, err);
	case IN_MATRIX:
		return scan_matrix_key(s, at, key, raw, err);
	case IN_OTHER:
		break;
	}
	return 0;
}

static const struct ini_handler handler = {.section = matrix_on_section, .key = matrix_on_key};

int matrix_read(struct matrix *m, const char *path, const char *text, struct error *err)
{
	struct matrix_scan s = {.m = m};
	char *copy = xstrdup(text);
	int rc;

	*m = (struct matrix){0};
	rc = ini_parse(path, copy, &handler, &s, err);
	if (!rc)
		rc = matrix_check(&s, path, err);
	words_free(&s.vars);
	words_free(&s.variants);
	free(s.cross);
	free(copy);
	return rc;
}
