// SPDX-License-Identifier: GPL-2.0-only
#include "capture/matrix_scan.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COMBINATIONS = 1000 };

struct matrix_setting *matrix_setting_named(const struct matrix *m, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (strlen(m->setting[i].name) == len && !memcmp(m->setting[i].name, name, len))
			return &m->setting[i];
	return NULL;
}

char *matrix_list_values(const struct matrix_setting *s)
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
		return ini_error(at, err, "cross: '%s' is there twice", name);
	m->cross[m->ncross++] = (size_t)(s - m->setting);
	return 0;
}

static int cross_choose(struct scan *s, struct error *err)
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

/* A slip in a name would leave nothing out, unseen. */
static int exclude_check_word(const struct scan *s, const struct ini_at *at, const char *word,
		      struct error *err)
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
			"exclude: '%s' is not in 'cross': no combination has a value of it, "
			"and this line leaves none out",
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

static int excludes_check(const struct scan *s, struct error *err)
{
	const struct matrix *m = s->m;
	size_t i, k;
	int rc = 0;

	for (i = 0; i < m->nexclude; i++)
		for (k = 0; k < m->exclude[i].word.n && !rc; k++)
			rc = exclude_check_word(s, &m->exclude[i].at, m->exclude[i].word.word[k], err);
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
						 "which one would hold?",
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

int matrix_check(struct scan *s, const char *path, struct error *err)
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
