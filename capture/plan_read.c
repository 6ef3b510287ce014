// SPDX-License-Identifier: GPL-2.0-only
/* Reads the text of a plan once: its sections, their keys, and the variables in the values. */
#include "capture/plan_read.h"

#include "capture/ini.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- ${name} in values --- */

struct vars {
	struct var {
		char *name, *value;
	} * var;
	size_t n, cap;
	const char *text; /* of the plan */
};

static const char *vars_get(const struct vars *v, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (strlen(v->var[i].name) == len && !memcmp(v->var[i].name, name, len))
			return v->var[i].value;
	return NULL;
}

static void vars_set(struct vars *v, const char *name, const char *value)
{
	array_grow(v->var, v->n, v->cap);
	v->var[v->n++] = (struct var){.name = xstrdup(name), .value = xstrdup(value)};
}

/* Returns the line of [vars] that defines the variable, or 0. */
static int vars_find_line(const char *text, const char *name, size_t len)
{
	bool in_vars = false;
	int line = 1;

	for (; text && *text; line++) {
		if (*text == '[')
			in_vars = str_starts(text, "[vars]");
		else if (in_vars && !strncmp(text, name, len) &&
			 text[len + strspn(text + len, " \t")] == '=')
			return line;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return 0;
}

static int vars_unknown(const struct vars *v, const char *name, size_t len, struct error *err)
{
	struct str known = {0};
	int line = vars_find_line(v->text, name, len);
	size_t i;

	if (line)
		return error_set(err, EINVAL, "${%.*s} is defined at line %d; move it above",
				 (int)len, name, line);
	for (i = 0; i < v->n; i++)
		str_printf(&known, " ${%s}", v->var[i].name);
	error_set(err, EINVAL, "unknown variable ${%.*s}; known here:%s; [vars] adds more",
		  (int)len, name, known.buf ? known.buf : " none");
	str_free(&known);
	return -EINVAL;
}

/* Adds the value of the variable that `p`, a "${", begins. Returns the text after its "}", or NULL.
 */
static const char *vars_expand_one(const struct vars *v, const char *p, struct str *out,
				   struct error *err)
{
	const char *name = p + 2, *end = strchr(name, '}'), *value;

	if (!end) {
		error_set(err, EINVAL, "${ without }: '%s'", p);
		return NULL;
	}
	value = vars_get(v, name, (size_t)(end - name));
	if (!value && str_starts(p, PLAN_SECONDS) &&
	    !vars_find_line(v->text, name, (size_t)(end - name)))
		value = PLAN_SECONDS;
	if (!value) {
		vars_unknown(v, name, (size_t)(end - name), err);
		return NULL;
	}
	str_puts(out, value);
	return end + 1;
}

/* Copies the text with every ${name} replaced and every $${ turned into ${. */
static int vars_expand(const struct vars *v, const char *text, char **out, struct error *err)
{
	struct str s = {0};
	const char *p = text;

	while (p && *p) {
		if (str_starts(p, "$" PLAN_SECONDS)) {
			error_set(
				err, EINVAL,
				"$" PLAN_SECONDS
				": commands have the value of zcost's ${seconds} there; rename the shell's variable");
			p = NULL;
		} else if (str_starts(p, "$${")) {
			str_puts(&s, "${");
			p += 3;
		} else if (str_starts(p, "${")) {
			p = vars_expand_one(v, p, &s, err);
		} else {
			str_putc(&s, *p++);
		}
	}
	if (!p) {
		str_free(&s);
		return -EINVAL;
	}
	*out = str_take(&s);
	return 0;
}

static void vars_free(struct vars *v)
{
	size_t i;

	for (i = 0; i < v->n; i++) {
		free(v->var[i].name);
		free(v->var[i].value);
	}
	free(v->var);
	*v = (struct vars){0};
}

/* --- sections --- */

struct plan_reader {
	struct plan *plan;
	const struct combination *with;
	const struct matrix *matrix;
	const size_t *pick;
	struct vars vars;
	struct vars side_vars; /* the same, but ${bindir} is the folder on a side's host */
	enum plan_section section;
	void *base;	   /* what the keys' offsets count from */
	uint64_t keys_set; /* bits: rows of plan_keys set in this section */
	bool has_plan;	   /* [plan] was there */
};

static int reader_enter(struct plan_reader *r, enum plan_section section, void *base)
{
	r->section = section;
	r->base = base;
	r->keys_set = 0;
	return 0;
}

static int reader_enter_plan(struct plan_reader *r, const struct ini_at *at, struct error *err)
{
	if (r->has_plan)
		return ini_error(at, err, "[plan] appears twice");
	r->has_plan = true;
	return reader_enter(r, SECTION_PLAN, r->plan);
}

/* sides_read found the side. */
static int reader_enter_side(struct plan_reader *r, const char *name)
{
	return reader_enter(r, SECTION_SIDE, &r->plan->sides[plan_find_side(r->plan, name)]);
}

static int reader_enter_variant(struct plan_reader *r, const struct ini_at *at, const char *name,
				struct error *err)
{
	struct plan *p = r->plan;
	struct error e = {0};
	struct variant *v;
	size_t i, n = (size_t)p->nsides;

	if (plan_check_name(name, &e))
		return ini_error(at, err, "%s", e.text);
	for (i = 0; i < p->nvariants; i++)
		if (!strcmp(name, p->variants[i].name))
			return ini_error(at, err, "variant '%s' appears twice", name);
	array_grow(p->variants, p->nvariants, p->variants_cap);
	v = &p->variants[p->nvariants++];
	*v = (struct variant){.name = xstrdup(name), .what = xstrdup(""), .base = xstrdup(name)};
	v->command = xcalloc(n + 1, sizeof(*v->command));
	for (i = 0; i < n; i++)
		v->command[i] = xstrdup("");
	return reader_enter(r, SECTION_VARIANT, v);
}

static int reader_enter_setting(struct plan_reader *r, const char *name)
{
	int i = matrix_find(r->matrix, name);

	if (i < 0)
		return reader_enter(r, SECTION_SKIPPED, NULL);
	return reader_enter(r, SECTION_HOOKS, &r->with->set[i].hooks);
}

/* `name` is "mtu=9000". The hooks of a value replace those of its setting. */
static int reader_enter_value(struct plan_reader *r, const char *name)
{
	size_t len = strcspn(name, "="), i;

	for (i = 0; i < r->with->n; i++) {
		struct set_value *s = &r->with->set[i];

		if (strlen(s->name) == len && !memcmp(s->name, name, len) &&
		    !strcmp(s->value, name + len + 1))
			return reader_enter(r, SECTION_HOOKS, &s->hooks);
	}
	return reader_enter(r, SECTION_SKIPPED, NULL);
}

static int reader_on_section(void *ctx, const struct ini_at *at, const char *kind, const char *name,
			     struct error *err)
{
	struct plan_reader *r = ctx;

	if (!strcmp(kind, "plan") && !*name)
		return reader_enter_plan(r, at, err);
	if (!strcmp(kind, "vars") && !*name)
		return reader_enter(r, SECTION_VARS, NULL);
	if (!strcmp(kind, "side"))
		return reader_enter_side(r, name);
	if (!strcmp(kind, "variant"))
		return reader_enter_variant(r, at, name, err);
	if (!strcmp(kind, "setting"))
		return reader_enter_setting(r, name);
	if (!strcmp(kind, "value"))
		return reader_enter_value(r, name);
	if (!strcmp(kind, "matrix") && !*name)
		return reader_enter(r, SECTION_SKIPPED, NULL);
	return ini_error(
		at, err,
		"unknown section [%s%s%s]; %sthere are [plan], [vars], [side NAME], [variant NAME], [setting NAME], [value SETTING=VALUE], [matrix]",
		kind, *name ? " " : "", name,
		did_you_mean("plan vars side variant setting value matrix", kind));
}

/* --- keys --- */

static int reader_unknown_key(const struct plan_reader *r, const struct ini_at *at, const char *key,
			      struct error *err)
{
	static const char *const sections[] = {"[plan]", "[side]", "[variant]"};
	struct str known = {0};
	const struct plan_key *k;
	int i;

	for (k = plan_keys; k->name; k++)
		if (k->section == r->section)
			str_printf(&known, " %s", k->name);
	for (i = 0; i < r->plan->nsides && r->section == SECTION_VARIANT; i++)
		str_printf(&known, " %s", r->plan->sides[i].name);
	ini_error(at, err, "unknown key '%s' in %s%s; %sthere are:%s", key, sections[r->section],
		  r->section == SECTION_VARIANT ? ", and no [side] of the plan" : "",
		  did_you_mean(known.buf, key), known.buf);
	str_free(&known);
	return -EINVAL;
}

/* Adds a variable to both sets, because its value may have ${bindir}. */
static int reader_read_var(struct plan_reader *r, const struct ini_at *at, const char *name,
			   const char *raw, struct error *err)
{
	const struct matrix_var *instead = matrix_var(r->matrix, r->pick, name);
	char *here = NULL, *there = NULL;
	struct error e = {0};
	int rc = 0;

	if (instead) {
		raw = instead->raw;
		at = &instead->at;
	}
	if (vars_expand(&r->vars, raw, &here, &e) || vars_expand(&r->side_vars, raw, &there, &e))
		rc = ini_error(at, err, "%s: %s", name, e.text);
	else if (vars_get(&r->vars, name, strlen(name)))
		rc = ini_error(at, err, "variable '%s' is already defined", name);
	if (!rc) {
		vars_set(&r->vars, name, here);
		vars_set(&r->side_vars, name, there);
		array_add(r->plan->vars, r->plan->nvars, r->plan->vars_cap,
			  (struct plan_var){xstrdup(name), xstrdup(raw)});
	}
	free(there);
	free(here);
	return rc;
}

static int reader_read_key(struct plan_reader *r, const struct plan_key *k, const struct ini_at *at,
			   const char *raw, struct error *err)
{
	const struct vars *vars = k->flags & KEY_OF_SIDE ? &r->side_vars : &r->vars;
	uint64_t bit = (uint64_t)1 << (k - plan_keys);
	struct error e = {0};
	char *value;
	int rc;

	if (vars_expand(vars, raw, &value, &e))
		return ini_error(at, err, "%s: %s", k->name, e.text);
	if (strstr(value, PLAN_SECONDS))
		rc = ini_error(
			at, err,
			"%s: " PLAN_SECONDS
			" has a value in the commands of [variant] only; [vars] may define another 'seconds'",
			k->name);
	else if (r->keys_set & bit)
		rc = ini_error(at, err, "'%s' appears twice", k->name);
	else if (plan_key_set(k, r->base, value, &e))
		rc = ini_error(at, err, "%s: %s", k->name, e.text);
	else
		rc = 0;
	r->keys_set |= bit;
	free(value);
	return rc;
}

/* Reads the command of a side of the variant. */
static int reader_read_command(struct plan_reader *r, int side, const struct ini_at *at,
			       const char *raw, struct error *err)
{
	char **command = &((struct variant *)r->base)->command[side];
	const char *name = r->plan->sides[side].name;
	struct error e = {0};
	char *value;
	int rc = 0;

	if (vars_expand(&r->side_vars, raw, &value, &e))
		return ini_error(at, err, "%s: %s", name, e.text);
	if (**command)
		rc = ini_error(at, err, "'%s' appears twice", name);
	else if (plan_key_set(&plan_command_key, command, value, &e))
		rc = ini_error(at, err, "%s: %s", name, e.text);
	free(value);
	return rc;
}

/* matrix_read.c reads the other keys of [setting] and [value]. */
static int reader_on_key(void *ctx, const struct ini_at *at, const char *key, const char *raw,
			 struct error *err)
{
	struct plan_reader *r = ctx;
	const struct plan_key *k = plan_key_find(r->section, key);

	int side = r->section == SECTION_VARIANT ? plan_find_side(r->plan, key) : -1;

	if (k)
		return reader_read_key(r, k, at, raw, err);
	if (side >= 0)
		return reader_read_command(r, side, at, raw, err);
	if (r->section == SECTION_VARS)
		return reader_read_var(r, at, key, raw, err);
	if (r->section == SECTION_HOOKS || r->section == SECTION_SKIPPED)
		return 0;
	return reader_unknown_key(r, at, key, err);
}

/* --- the sides, which [variant] may name before their sections --- */

struct side_reader {
	struct plan *plan;
	struct side_plan *side; /* NULL: in another section */
};

/* Sides become folders and keys of a plan. A table has a row "total". */
static int side_check_name(const struct plan *p, const struct ini_at *at, const char *name,
			   struct error *err)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	bool reserved = !strcmp(name, "total") || !strcmp(name, "setting") ||
			plan_key_find(SECTION_VARIANT, name);

	if (!isalnum((unsigned char)*name) || name[strspn(name, letters)] || strlen(name) > 32 ||
	    reserved)
		return ini_error(
			at, err,
			"'%s' is no name for a side: letters, digits, - _ only, a letter or digit first, at most 32; what, total and setting are taken",
			name);
	if (plan_find_side(p, name) >= 0)
		return ini_error(at, err, "%s appears twice", name);
	return 0;
}

static int sides_on_section(void *ctx, const struct ini_at *at, const char *kind, const char *name,
			    struct error *err)
{
	struct side_reader *r = ctx;

	r->side = NULL;
	if (strcmp(kind, "side") != 0)
		return 0;
	if (side_check_name(r->plan, at, name, err))
		return -EINVAL;
	r->side = plan_add_side(r->plan, name);
	return 0;
}

static int sides_on_key(void *ctx, const struct ini_at *at, const char *key, const char *value,
			struct error *err)
{
	const struct plan_key *role = plan_key_find(SECTION_SIDE, "role");
	struct side_reader *r = ctx;
	struct error e = {0};

	if (!r->side || strcmp(key, role->name) != 0)
		return 0;
	return plan_key_set(role, r->side, value, &e) ? ini_error(at, err, "role: %s", e.text) : 0;
}

/* Moves each side to its place in the order of the roles. Sides of one role keep their order. */
static void sides_sort(struct plan *p)
{
	struct side_plan moved;
	int i, k;

	for (i = 1; i < p->nsides; i++) {
		moved = p->sides[i];
		for (k = i; k && plan_role(&p->sides[k - 1]) > plan_role(&moved); k--)
			p->sides[k] = p->sides[k - 1];
		p->sides[k] = moved;
	}
}

/* Adds the sides of the text in the order in which they start. */
static int sides_read(struct plan *p, const struct plan_source *source, struct error *err)
{
	static const struct ini_handler handler = {.section = sides_on_section,
						   .key = sides_on_key};
	struct side_reader r = {.plan = p};
	char *copy = xstrdup(source->text);
	int i, rc = ini_parse(source->path, copy, &handler, &r, err);

	for (i = 0; i < p->nsides && !rc; i++)
		if (plan_role(&p->sides[i]) == ROLE_NONE)
			rc = error_set(
				err, EINVAL,
				"%s: [side %s] has no role: add 'role = receiver', 'role = sender' or 'role = proxy'",
				source->path, p->sides[i].name);
	if (!rc)
		sides_sort(p);
	free(copy);
	return rc;
}

/* --- the whole --- */

static int plan_check_variant(const struct plan *p, const char *path, const struct variant *v,
			      struct error *err)
{
	int i;

	for (i = 0; i < p->nsides; i++)
		if (!*v->command[i])
			return error_set(
				err, EINVAL,
				"%s: variant '%s' has no command for the side %s: add '%s = COMMAND'",
				path, v->name, p->sides[i].name, p->sides[i].name);
	return 0;
}

/* Checks that `work` of a side names other sides of the plan. */
static int plan_check_work(const struct plan *p, const char *path, int side, struct error *err)
{
	char *copy = xstrdup(p->sides[side].work), *save, *word;
	int rc = 0, other;

	for (word = strtok_r(copy, " \t\n", &save); word && !rc;
	     word = strtok_r(NULL, " \t\n", &save)) {
		other = plan_find_side(p, word);
		if (other < 0 || other == side)
			rc = error_set(err, EINVAL,
				       "%s: [side %s] work = %s: the plan has no other side '%s'",
				       path, p->sides[side].name, p->sides[side].work, word);
	}
	free(copy);
	return rc;
}

static int plan_check_whole(const struct plan *p, const char *path, struct error *err)
{
	size_t i;
	int rc = 0, side;

	if (!p->nvariants)
		return error_set(err, EINVAL,
				 "%s: no [variant NAME] in it: a plan needs at least one", path);
	if (!p->nsides)
		return error_set(err, EINVAL,
				 "%s: no [side NAME] in it, such as [side receiver]: a plan needs "
				 "at least one",
				 path);
	if (p->duration_s <= 0)
		return error_set(err, EINVAL, "%s: duration must be more than 0", path);
	for (i = 0; i < p->nvariants && !rc; i++)
		rc = plan_check_variant(p, path, &p->variants[i], err);
	for (side = 0; side < p->nsides && !rc; side++)
		rc = plan_check_work(p, path, side, err);
	return rc;
}

static void reader_set_vars(struct plan_reader *r, const struct plan_source *source)
{
	struct vars *both[] = {&r->vars, &r->side_vars};
	const char *bindirs[] = {source->bindir, source->side_bindir};
	size_t i, k;

	for (i = 0; i < array_size(both); i++) {
		both[i]->text = source->text;
		vars_set(both[i], "bindir", bindirs[i]);
		vars_set(both[i], "plandir", source->plandir);
		for (k = 0; k < r->with->n; k++)
			vars_set(both[i], r->with->set[k].name, r->with->set[k].value);
	}
}

int plan_read_once(struct plan *p, const struct plan_source *source, const struct matrix *m,
		   const size_t *pick, const struct combination *with, struct error *err)
{
	static const struct ini_handler handler = {.section = reader_on_section,
						   .key = reader_on_key};
	struct plan_reader r = {.plan = p, .matrix = m, .pick = pick, .with = with};
	char *copy = xstrdup(source->text);
	int rc;

	reader_set_vars(&r, source);
	rc = sides_read(p, source, err);
	if (!rc)
		rc = ini_parse(source->path, copy, &handler, &r, err);
	if (!rc)
		rc = plan_check_whole(p, source->path, err);
	vars_free(&r.vars);
	vars_free(&r.side_vars);
	free(copy);
	return rc;
}
