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

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	size_t i;
	int rc;

	str_puts(&name, v->base);
	str_puts(&what, v->what);
	for (i = 0; i < c->n; i++) {
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
	size_t i, left = 0;
	int rc = 0;

	for (i = 0; i < from->nvariants; i++) {
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
		array_grow(p->variants, p->nvariants, p->variants_cap);
		p->variants[p->nvariants++] = *v;
	}
	from->nvariants = left;
	return rc;
}

/* Refuses a `before` without `after`: its setting would stay while other values are measured. */
static int combination_check_hooks(const struct combination *c, const char *path, struct error *err)
{
	size_t i;

	for (i = 0; i < c->n; i++)
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
	struct combination *c;
	int rc;

	array_grow(p->combinations, p->ncombinations, p->combinations_cap);
	c = &p->combinations[p->ncombinations++];
	combination_fill(c, x->m, n);
	c->plan = xmalloc(sizeof(*c->plan));
	plan_init(c->plan);
	rc = plan_read_once(c->plan, x->source, c, err);
	if (!rc)
		rc = combination_check_hooks(c, x->source->path, err);
	return rc ? rc : combine_take_variants(x, c->plan, p->ncombinations - 1, err);
}

/* Reads [plan] and the sides with the first combination, and drops the variants. */
static int combine_read_first(struct combining *x, struct error *err)
{
	struct plan *p = x->plan;
	struct combination first;
	int rc;

	combination_fill(&first, x->m, 0);
	rc = plan_read_once(p, x->source, &first, err);
	while (p->nvariants)
		plan_free_variant(&p->variants[--p->nvariants]);
	plan_free_combination(&first);
	return rc;
}

static int combine_all(struct combining *x, struct error *err)
{
	size_t n = matrix_count(x->m), i;
	int rc = combine_read_first(x, err);

	for (i = 0; i < n && !rc; i++)
		rc = combine_add(x, i, err);
	if (!rc)
		rc = matrix_check_excludes(x->m, err);
	if (!rc && !x->plan->nvariants)
		rc = error_set(err, EINVAL, "%s: [matrix] exclude leaves no variant",
			       x->source->path);
	return rc;
}

int plan_parse(struct plan *p, const char *path, const char *text, const char *bindir,
	       struct error *err)
{
	static const struct combination plain;
	char *real = realpath(path, NULL) ?: xstrdup(path); /* tests have no file */
	struct ini ini;
	struct matrix m = {0};
	struct plan_source source = {path, &ini, dirname(real), bindir};
	struct combining x = {.plan = p, .m = &m, .source = &source};
	int rc = ini_read(&ini, path, text, err);

	p->text = xstrdup(text);
	if (!rc)
		rc = matrix_read(&m, &ini, err);
	if (!rc && m.ncross)
		rc = combine_all(&x, err);
	else if (!rc)
		rc = plan_read_once(p, &source, &plain, err);
	matrix_free(&m);
	ini_free(&ini);
	free(real);
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
	char *copy = xstrdup(text), *rest = copy, *line;
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
	free(copy);
	return str_take(&s);
}

static int set_unknown(const struct ini *ini, const char *path, const char *name, struct error *err)
{
	freed(str_free) struct str known = {0};
	size_t i;

	for (i = 0; i < ini->n; i++)
		if (ini->entry[i].key && !strcmp(ini->entry[i].kind, "vars"))
			str_printf(&known, " %s", ini->entry[i].key);
	error_set(err, EINVAL, "--set %s: %s has no such variable; [vars] has:%s", name, path,
		  known.buf ? known.buf : " none");
	return -EINVAL;
}

/* Replaces a variable's value in `text`, the content of the plan `path`. `set` is NAME=VALUE. */
static int plan_set_variable(struct plan *p, const char *path, char **text, const char *set,
			     struct error *err)
{
	size_t len = strcspn(set, "=");
	char *name, *with, *was = *text;
	const struct ini_entry *e;
	struct ini ini;
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
		free(with);
	}
	ini_free(&ini);
	free(name);
	return rc;
}

int plan_read(struct plan *p, const char *path, const struct words *sets, const char *bindir,
	      struct error *err)
{
	char *text;
	size_t len, i;
	int rc = file_read_named(path, &text, &len, err);

	if (rc)
		return rc;
	if (strlen(text) != len)
		rc = error_set(err, EINVAL, "%s: not a plan: there are zero bytes in it", path);
	for (i = 0; i < sets->n && !rc; i++)
		rc = plan_set_variable(p, path, &text, sets->word[i], err);
	if (!rc)
		rc = plan_parse(p, path, text, bindir, err);
	free(text);
	return rc;
}
