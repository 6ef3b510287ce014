// SPDX-License-Identifier: GPL-2.0-only
#include "capture/matrix.h"

#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

size_t matrix_count(const struct matrix *m)
{
	size_t i, n = 1;

	for (i = 0; i < m->ncross; i++)
		n *= m->setting[m->cross[i]].n;
	return n;
}

void matrix_pick(const struct matrix *m, size_t n, size_t *pick)
{
	size_t i = m->ncross;

	while (i--) {
		size_t values = m->setting[m->cross[i]].n;

		pick[i] = n % values;
		n /= values;
	}
}

const struct matrix_value *matrix_value(const struct matrix *m, const size_t *pick, size_t i)
{
	return &m->setting[m->cross[i]].value[pick[i]];
}

int matrix_find(const struct matrix *m, const char *setting)
{
	size_t i;

	for (i = 0; i < m->ncross; i++)
		if (!strcmp(m->setting[m->cross[i]].name, setting))
			return (int)i;
	return -1;
}

/* Says whether "S=V" is true of a combination. A setting that is not crossed has no value. */
static bool exclude_word_holds(const struct matrix *m, const size_t *pick, const char *variant,
			       const char *word)
{
	const char *eq = strchr(word, '=');
	size_t i, len = (size_t)(eq - word);

	if (len == strlen("variant") && str_starts(word, "variant"))
		return str_matches(eq + 1, variant);
	for (i = 0; i < m->ncross; i++) {
		const char *name = m->setting[m->cross[i]].name;

		if (strlen(name) == len && !memcmp(name, word, len))
			return str_matches(eq + 1, matrix_value(m, pick, i)->value);
	}
	return false;
}

bool matrix_excludes(const struct matrix *m, const size_t *pick, const char *variant)
{
	size_t i, k;

	for (i = 0; i < m->nexclude; i++) {
		const struct words *w = &m->exclude[i].word;

		for (k = 0; k < w->n && exclude_word_holds(m, pick, variant, w->word[k]); k++)
			;
		if (k == w->n)
			return true;
	}
	return false;
}

const struct matrix_var *matrix_var(const struct matrix *m, const size_t *pick, const char *name)
{
	size_t i, k;

	for (i = 0; i < m->ncross; i++) {
		const struct matrix_value *v = matrix_value(m, pick, i);

		for (k = 0; k < v->nvar; k++)
			if (!strcmp(v->var[k].name, name))
				return &v->var[k];
	}
	return NULL;
}

static void value_free(struct matrix_value *v)
{
	size_t i;

	for (i = 0; i < v->nvar; i++) {
		free(v->var[i].name);
		free(v->var[i].raw);
	}
	free(v->var);
	free(v->value);
	free(v->label);
	free(v->what);
}

void matrix_free(struct matrix *m)
{
	size_t i, k;

	for (i = 0; i < m->n; i++) {
		for (k = 0; k < m->setting[i].n; k++)
			value_free(&m->setting[i].value[k]);
		free(m->setting[i].value);
		free(m->setting[i].name);
		free(m->setting[i].what);
	}
	for (i = 0; i < m->nexclude; i++)
		words_free(&m->exclude[i].word);
	free(m->setting);
	free(m->exclude);
	free(m->cross);
	*m = (struct matrix){0};
}
