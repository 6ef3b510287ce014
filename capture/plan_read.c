// SPDX-License-Identifier: GPL-2.0-only
/* Reads the text of a plan once: its sections, their keys, and the variables in the values. */
#include "capture/plan_read.h"

#include "lib/alloc.h"
#include "lib/json.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

/* --- ini text --- */

int ini_error(const struct ini_at *at, struct error *err, const char *fmt, ...)
{
	char text[768];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error_set(err, EINVAL, "%s:%d: %s", at->path, at->line, text);
}

int ini_unknown_key(const struct ini_entry *e, const char *known, struct error *err)
{
	return ini_error(&e->at, err, "unknown key '%s' in [%s]; %sthere are: %s", e->key, e->kind,
			 did_you_mean(known, e->key), known);
}

bool ini_begins(const struct ini_entry *e, const char *kind)
{
	return !e->key && !strcmp(e->kind, kind);
}

const struct ini_entry *ini_get(const struct ini_entry *section, const char *key)
{
	while (section && (++section)->key)
		if (!strcmp(section->key, key))
			return section;
	return NULL;
}

const struct ini_entry *ini_find_var(const struct ini *ini, const char *name, size_t len)
{
	for (const struct ini_entry *e = ini->entry; e < ini->entry + ini->n; e++)
		if (e->key && !strcmp(e->kind, "vars") && !strncmp(e->key, name, len) &&
		    !e->key[len])
			return e;
	return NULL;
}

/* Adds an entry, unless the same section or key came before. */
static int ini_add(struct ini *ini, struct ini_entry e, struct error *err)
{
	for (size_t i = 0; i < ini->n; i++) {
		const struct ini_entry *was = &ini->entry[i];

		if (strcmp(was->kind, e.kind) != 0 || strcmp(was->name, e.name) != 0)
			continue;
		if (e.key && was->key && !strcmp(was->key, e.key))
			return ini_error(&e.at, err, "'%s' appears twice", e.key);
		if (!e.key && !was->key && !str_matches_any("vars matrix", e.kind))
			return ini_error(&e.at, err, "[%s%s%s] appears twice", e.kind,
					 *e.name ? " " : "", e.name);
	}
	array_add(ini->entry, ini->n, ini->cap, e);
	return 0;
}

static int ini_parse_section(struct ini *ini, struct ini_at at, char *line, struct error *err)
{
	char *end = strchr(line, ']'), *kind, *name;

	if (!end || end[1])
		return ini_error(&at, err, "a section is written [name]: '%s'", line);
	*end = '\0';
	kind = str_trim(line + 1);
	name = kind + strcspn(kind, " \t");
	if (*name)
		*name++ = '\0';
	return ini_add(ini, (struct ini_entry){.kind = kind, .name = str_trim(name), .at = at},
		       err);
}

static int ini_parse_key(struct ini *ini, struct ini_at at, char *line, struct error *err)
{
	const struct ini_entry *last = ini->n ? &ini->entry[ini->n - 1] : NULL;
	char *eq = strchr(line, '=');

	if (!eq || eq == line)
		return ini_error(&at, err, "neither '[section]' nor 'key = value': '%s'", line);
	if (!last)
		return ini_error(&at, err, "'%s' stands before the first [section]", line);
	*eq = '\0';
	return ini_add(ini,
		       (struct ini_entry){last->kind, last->name, str_trim(line), str_trim(eq + 1),
					  at, at.line},
		       err);
}

static int ini_parse_line(struct ini *ini, struct ini_at at, char *raw, struct error *err)
{
	struct ini_entry *last = ini->n ? &ini->entry[ini->n - 1] : NULL;
	bool indented = isspace((unsigned char)*raw);
	char *line = str_trim(raw), *end;

	if (!*line || *line == '#' || *line == ';')
		return 0;
	if (indented && last && last->key) {
		/* The value ends before the line in the same text. */
		end = (char *)last->value + strlen(last->value);
		*end = '\n';
		memmove(end + 1, line, strlen(line) + 1);
		last->last_line = at.line;
		return 0;
	}
	if (indented && *line != '[')
		return ini_error(&at, err, "a key begins at the start of its line: '%s'", line);
	return *line == '[' ? ini_parse_section(ini, at, line, err)
			    : ini_parse_key(ini, at, line, err);
}

int ini_read(struct ini *ini, const char *path, const char *text, struct error *err)
{
	char *rest, *line;
	struct ini_at at = {.path = path};
	int rc = 0;

	*ini = (struct ini){.text = xstrdup(text)};
	rest = ini->text;
	while (!rc && (line = str_token(&rest, '\n'))) {
		at.line++;
		rc = ini_parse_line(ini, at, line, err);
	}
	array_grow(ini->entry, ini->n, ini->cap);
	ini->entry[ini->n] = (struct ini_entry){.kind = "", .name = "", .at = at};
	return rc;
}

void ini_free(struct ini *ini)
{
	free(ini->text);
	free(ini->entry);
	*ini = (struct ini){0};
}

/* --- ${name} in values --- */

/* A variable. ${bindir} stays in its value, because the folder differs on a side's host. */
struct var {
	const char *name;
	char *value;
	bool varies; /* a setting changes the value */
};

struct vars {
	struct var *var;
	size_t n, cap;
	const struct ini *ini;
	bool varied; /* a value that varies was expanded */
};

static const struct var *vars_get(const struct vars *v, const char *name, size_t len)
{
	return array_find(var, v->var, v->n, !strncmp(var->name, name, len) && !var->name[len]);
}

static void vars_set(struct vars *v, const char *name, const char *value, bool varies)
{
	array_add(v->var, v->n, v->cap, (struct var){name, xstrdup(value), varies});
}

static int vars_unknown(const struct vars *v, const char *name, size_t len, struct error *err)
{
	const struct ini_entry *later = ini_find_var(v->ini, name, len);
	freed(str_free) struct str known = {0};

	if (later)
		return error_set(err, EINVAL, "${%.*s} is defined at line %d; move it above",
				 (int)len, name, later->at.line);
	for (size_t i = 0; i < v->n; i++)
		str_printf(&known, " ${%s}", v->var[i].name);
	return error_set(err, EINVAL, "unknown variable ${%.*s}; known here:%s; [vars] adds more",
			 (int)len, name, known.buf);
}

/* Adds the value of the variable that `p`, a "${", begins. Returns the text after its "}", or NULL.
 */
static const char *vars_expand_one(struct vars *v, const char *p, struct str *out,
				   struct error *err)
{
	const char *name = p + 2, *end = strchr(name, '}');
	size_t len = end ? (size_t)(end - name) : 0;
	const struct var *var;

	if (!end) {
		error_set(err, EINVAL, "${ without }: '%s'", p);
		return NULL;
	}
	var = vars_get(v, name, len);
	if (var) {
		v->varied |= var->varies;
		str_puts(out, var->value);
	} else if (str_starts(p, PLAN_SECONDS) && !ini_find_var(v->ini, name, len)) {
		str_puts(out, PLAN_SECONDS);
	} else {
		vars_unknown(v, name, len, err);
		return NULL;
	}
	return end + 1;
}

/* Copies the text with every ${name} replaced and every $${ turned into ${. */
static int vars_expand(struct vars *v, const char *text, char **out, struct error *err)
{
	struct str s = {0};
	const char *p = text;

	while (p && *p) {
		if (str_starts(p, "$" PLAN_SECONDS) || str_starts(p, "$" PLAN_BINDIR)) {
			error_set(
				err, EINVAL,
				"%.*s: commands have zcost's value there; rename the shell's variable",
				(int)strcspn(p, "}") + 1, p);
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
	array_free(e, v->var, v->n, free(e->value));
	*v = (struct vars){0};
}

/* --- sections --- */

struct plan_reader {
	struct plan *plan;
	const struct combination *with;
	const char *bindir;
	struct vars vars;
	enum plan_section section;
	void *base; /* what the keys' offsets count from */
};

static int reader_enter(struct plan_reader *r, enum plan_section section, void *base)
{
	r->section = section;
	r->base = base;
	return 0;
}

static int reader_enter_variant(struct plan_reader *r, const struct ini_entry *e, struct error *err)
{
	struct plan *p = r->plan;
	struct error why = {0};
	struct variant *v;
	size_t n = (size_t)p->nsides;

	if (plan_check_name(e->name, &why))
		return ini_error(&e->at, err, "%s", why.text);
	v = array_new(p->variants, p->nvariants, p->variants_cap);
	*v = (struct variant){
		.name = xstrdup(e->name), .what = xstrdup(""), .base = xstrdup(e->name)};
	v->command = xcalloc(n + 1, sizeof(*v->command));
	for (size_t i = 0; i < n; i++)
		v->command[i] = xstrdup("");
	return reader_enter(r, SECTION_VARIANT, v);
}

/* Enters [setting S] or [value S=V], if the combination has S, or S=V. The hooks of a value replace
 * those of its setting. */
static int reader_enter_hooks(struct plan_reader *r, const char *name)
{
	size_t len = strcspn(name, "=");
	struct set_value *s = combination_find(r->with, name, len);

	if (!s || (name[len] && strcmp(name + len + 1, s->value) != 0))
		return reader_enter(r, SECTION_SKIPPED, NULL);
	return reader_enter(r, SECTION_HOOKS, &s->hooks);
}

static int reader_enter_section(struct plan_reader *r, const struct ini_entry *e, struct error *err)
{
	if (!strcmp(e->kind, "plan") && !*e->name)
		return reader_enter(r, SECTION_PLAN, r->plan);
	if (!strcmp(e->kind, "vars") && !*e->name)
		return reader_enter(r, SECTION_VARS, NULL);
	if (!strcmp(e->kind, "side"))
		return reader_enter(r, SECTION_SIDE,
				    &r->plan->sides[plan_find_side(r->plan, e->name)]);
	if (!strcmp(e->kind, "variant"))
		return reader_enter_variant(r, e, err);
	if (!strcmp(e->kind, "setting") || !strcmp(e->kind, "value"))
		return reader_enter_hooks(r, e->name);
	if (!strcmp(e->kind, "matrix") && !*e->name)
		return reader_enter(r, SECTION_SKIPPED, NULL);
	return ini_error(
		&e->at, err,
		"unknown section [%s%s%s]; %sthere are [plan], [vars], [side NAME], [variant NAME], [setting NAME], [value SETTING=VALUE], [matrix]",
		e->kind, *e->name ? " " : "", e->name,
		did_you_mean("plan vars side variant setting value matrix", e->kind));
}

/* --- keys --- */

static int reader_unknown_key(const struct plan_reader *r, const struct ini_entry *e,
			      struct error *err)
{
	freed(str_free) struct str known = {0};

	for (const struct plan_key *k = plan_keys; k->name; k++)
		if (k->section == r->section)
			str_printf(&known, "%s%s", known.len ? " " : "", k->name);
	for (int i = 0; i < r->plan->nsides && r->section == SECTION_VARIANT; i++)
		str_printf(&known, " %s", r->plan->sides[i].name);
	return ini_unknown_key(e, known.buf, err);
}

static int reader_read_var(struct plan_reader *r, const struct ini_entry *e, struct error *err)
{
	const struct ini_entry *from = combination_var(r->with, e->key) ?: e;
	autofree char *value = NULL;
	struct error why = {0};
	int rc = 0;

	r->vars.varied = false;
	if (vars_expand(&r->vars, from->value, &value, &why))
		rc = ini_error(&from->at, err, "%s: %s", e->key, why.text);
	else if (vars_get(&r->vars, e->key, strlen(e->key)))
		rc = ini_error(&e->at, err, "variable '%s' is already defined", e->key);
	if (!rc) {
		vars_set(&r->vars, e->key, value, r->vars.varied || from != e);
		r->plan->vars = r->plan->vars ?: json_object();
		json_object_set_new(r->plan->vars, e->key, json_any_text(from->value));
	}
	return rc;
}

/* Reads a key whose offset counts from `base`. */
static int reader_read_key(struct plan_reader *r, const struct plan_key *k, void *base,
			   const struct ini_entry *e, struct error *err)
{
	autofree char *value = NULL;
	struct error why = {0};

	r->vars.varied = false;
	if (vars_expand(&r->vars, e->value, &value, &why))
		return ini_error(&e->at, err, "%s: %s", e->key, why.text);
	if (!(k->flags & KEY_OF_SIDE))
		plan_put_bindir(&value, r->bindir);
	if (k != &plan_command_key && strstr(value, PLAN_SECONDS))
		return ini_error(
			&e->at, err,
			"%s: " PLAN_SECONDS
			" has a value in the commands of [variant] only; [vars] may define another 'seconds'",
			e->key);
	if (r->vars.varied && (k->section == SECTION_PLAN || k->flags & KEY_OF_ALL_RUNS))
		return ini_error(
			&e->at, err,
			"%s: holds for all runs, but a setting changes it: use 'before' and 'after' of [setting]",
			e->key);
	if (plan_key_set(k, base, value, &why))
		return ini_error(&e->at, err, "%s: %s", e->key, why.text);
	return 0;
}

/* plan_combine.c reads the other keys of [setting] and [value]. */
static int reader_read_entry(struct plan_reader *r, const struct ini_entry *e, struct error *err)
{
	const struct plan_key *k;
	int side;

	if (!e->key)
		return reader_enter_section(r, e, err);
	k = plan_key_find(r->section, e->key);
	side = r->section == SECTION_VARIANT ? plan_find_side(r->plan, e->key) : -1;
	if (k)
		return reader_read_key(r, k, r->base, e, err);
	if (side >= 0)
		return reader_read_key(r, &plan_command_key,
				       &((struct variant *)r->base)->command[side], e, err);
	if (r->section == SECTION_VARS)
		return reader_read_var(r, e, err);
	if (r->section == SECTION_HOOKS || r->section == SECTION_SKIPPED)
		return 0;
	return reader_unknown_key(r, e, err);
}

/* --- the sides, which [variant] may name before their sections --- */

/* Sides become folders and keys of a plan. A table has a row "total". */
static int side_check_name(const struct ini_entry *e, struct error *err)
{
	const char *name = e->name;
	bool reserved = !strcmp(name, "total") || !strcmp(name, "setting") ||
			plan_key_find(SECTION_VARIANT, name);

	if (isalnum((unsigned char)*name) && str_is_name(name, "-_") && strlen(name) <= 32 &&
	    !reserved)
		return 0;
	return ini_error(
		&e->at, err,
		"'%s' is no name for a side: letters, digits, - _ only, a letter or digit first, at most 32; what, total and setting are taken",
		name);
}

/* Adds a side if it has this role. */
static int side_read(struct plan *p, const struct ini_entry *section, enum role role,
		     struct error *err)
{
	const struct plan_key *key = plan_key_find(SECTION_SIDE, "role");
	const struct ini_entry *given = ini_get(section, key->name);
	struct error why = {0};
	struct side_plan *s;

	if (plan_parse_role(given ? given->value : section->name) != role)
		return 0;
	if (side_check_name(section, err))
		return -EINVAL;
	s = plan_add_side(p, section->name);
	if (given && plan_key_set(key, s, given->value, &why))
		return ini_error(&given->at, err, "role: %s", why.text);
	if (role != ROLE_NONE)
		return 0;
	return ini_error(
		&section->at, err,
		"[side %s] has no role; %sadd 'role = receiver', 'role = sender' or 'role = proxy'",
		s->name, did_you_mean("receiver sender proxy", s->name));
}

/* Adds the sides in the order of their roles. Sides of one role keep their order. */
static int sides_read(struct plan *p, const struct ini *ini, struct error *err)
{
	int rc = 0;

	for (enum role role = ROLE_RECEIVER; role <= ROLE_NONE; role++)
		for (size_t i = 0; i < ini->n && !rc; i++)
			if (ini_begins(&ini->entry[i], "side"))
				rc = side_read(p, &ini->entry[i], role, err);
	return rc;
}

/* --- the whole --- */

static int plan_check_variant(const struct plan *p, const char *path, const struct variant *v,
			      struct error *err)
{
	for (int i = 0; i < p->nsides; i++)
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
	autofree char *copy = xstrdup(p->sides[side].work);
	char *save;
	int other;

	for (char *word = strtok_r(copy, " \t\n", &save); word;
	     word = strtok_r(NULL, " \t\n", &save)) {
		other = plan_find_side(p, word);
		if (other < 0 || other == side)
			return error_set(err, EINVAL,
					 "%s: [side %s] work = %s: the plan has no other side '%s'",
					 path, p->sides[side].name, p->sides[side].work, word);
	}
	return 0;
}

static int plan_check_whole(const struct plan *p, const char *path, struct error *err)
{
	int rc = 0;

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
	for (size_t i = 0; i < p->nvariants && !rc; i++)
		rc = plan_check_variant(p, path, &p->variants[i], err);
	for (int side = 0; side < p->nsides && !rc; side++)
		rc = plan_check_work(p, path, side, err);
	return rc;
}

int plan_read_once(struct plan *p, const struct plan_source *source, const struct combination *with,
		   struct error *err)
{
	struct plan_reader r = {
		.plan = p, .with = with, .bindir = source->bindir, .vars.ini = source->ini};
	int rc = sides_read(p, source->ini, err);

	vars_set(&r.vars, "bindir", PLAN_BINDIR, false);
	vars_set(&r.vars, "plandir", source->plandir, false);
	for (size_t i = 0; i < with->n; i++)
		vars_set(&r.vars, with->set[i].name, with->set[i].value, true);
	for (size_t i = 0; i < source->ini->n && !rc; i++)
		rc = reader_read_entry(&r, &source->ini->entry[i], err);
	rc = rc ?: plan_check_whole(p, source->path, err);
	for (int side = 0; side < p->nsides; side++)
		if (!*p->sides[side].host)
			plan_set_bindir(p, side, source->bindir);
	vars_free(&r.vars);
	return rc;
}
