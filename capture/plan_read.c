// SPDX-License-Identifier: GPL-2.0-only
/* The plan file: which sections and keys there are, and what may stand in each. */
#include "capture/plan_read.h"

#include "capture/ini.h"
#include "capture/remote.h"
#include "capture/vars.h"
#include "capture/words.h"
#include "collect/call_graph.h"
#include "collect/events.h"
#include "collect/power_command.h"
#include "collect/units.h"
#include "lib/alloc.h"
#include "lib/cpuset.h"
#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <libgen.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A setter checks the expanded value and stores it at `to`. */
typedef int (*setter)(void *to, const char *value, struct error *err);

static int set_text(void *to, const char *value, struct error *err)
{
	char **text = to;

	(void)err;
	free(*text);
	*text = xstrdup(value);
	return 0;
}

static int set_words(void *to, const char *value, struct error *err)
{
	struct words w = {0};
	int rc = words_split(&w, value, err);

	words_free(&w);
	return rc ? rc : set_text(to, value, err);
}

static int set_command(void *to, const char *value, struct error *err)
{
	if (!*value)
		return error_set(err, EINVAL, "no command given");
	return set_words(to, value, err);
}

static int set_cpus(void *to, const char *value, struct error *err)
{
	struct cpuset set;
	int rc = cpuset_parse(&set, value, err);

	return rc ? rc : set_text(to, value, err);
}

static int set_count(void *to, const char *value, struct error *err)
{
	return plan_parse_count(value, to, err);
}

static int set_seconds(void *to, const char *value, struct error *err)
{
	return plan_parse_seconds(value, to, err);
}

static int set_passes(void *to, const char *value, struct error *err)
{
	return plan_parse_passes(value, to, err);
}

static int set_units(void *to, const char *value, struct error *err)
{
	int rc = *value ? units_check(value, err) : 0;

	return rc ? rc : set_text(to, value, err);
}

static int set_call_graph(void *to, const char *value, struct error *err)
{
	int rc = *value ? call_graph_check(value, err) : 0;

	return rc ? rc : set_text(to, value, err);
}

/* Of system calls; as zcost collect has it. */
static int set_one_in(void *to, const char *value, struct error *err)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*value && (!isdigit((unsigned char)*value) || *end || !n || n > 1000000))
		return error_set(err, EINVAL, "'%s' is not a number from 1 to 1000000", value);
	return set_text(to, value, err);
}

static int set_host(void *to, const char *value, struct error *err)
{
	int rc = *value ? remote_check(value, err) : 0;

	return rc ? rc : set_text(to, value, err);
}

static int set_events(void *to, const char *value, struct error *err)
{
	int rc = *value ? event_list_check(value, err) : 0;

	return rc ? rc : set_text(to, value, err);
}

static int set_power_command(void *to, const char *value, struct error *err)
{
	const char *kind, *command;
	int rc = *value ? power_command_split(value, &kind, &command, err) : 0;

	return rc ? rc : set_text(to, value, err);
}

static int set_estimator(void *to, const char *value, struct error *err)
{
	if (strcmp(value, "median") && strcmp(value, "middle") && strcmp(value, "mean"))
		return error_set(err, EINVAL,
				 "unknown estimator '%s'; there are median, middle, mean", value);
	return set_text(to, value, err);
}

static int set_order(void *to, const char *value, struct error *err)
{
	enum plan_order *order = to;

	if (strcmp(value, "interleaved") && strcmp(value, "blocks"))
		return error_set(err, EINVAL, "unknown order '%s'; there are interleaved, blocks",
				 value);
	*order = *value == 'b' ? ORDER_BLOCKS : ORDER_INTERLEAVED;
	return 0;
}

struct key {
	const char *name;
	setter set;
	size_t offset;
};

static const struct key plan_keys[] = {
	{"name", set_text, offsetof(struct plan, name)},
	{"passes", set_passes, offsetof(struct plan, passes)},
	{"repeats", set_count, offsetof(struct plan, repeats[PASS_MEASURE])},
	{"profile_repeats", set_count, offsetof(struct plan, repeats[PASS_PROFILE])},
	{"syscalls_repeats", set_count, offsetof(struct plan, repeats[PASS_SYSCALLS])},
	{"warmup", set_seconds, offsetof(struct plan, warmup_s)},
	{"duration", set_seconds, offsetof(struct plan, duration_s)},
	{"estimator", set_estimator, offsetof(struct plan, estimator)},
	{"order", set_order, offsetof(struct plan, order)},
	{"before", set_text, offsetof(struct plan, before)},
	{"after", set_text, offsetof(struct plan, after)},
	{"grace", set_seconds, offsetof(struct plan, grace_s)},
	{"start_timeout", set_seconds, offsetof(struct plan, start_timeout_s)},
	{"stop_timeout", set_seconds, offsetof(struct plan, stop_timeout_s)},
	{"hook_timeout", set_seconds, offsetof(struct plan, hook_timeout_s)},
	{"ssh", set_command, offsetof(struct plan, ssh)},
	{NULL, NULL, 0},
};

static const struct key side_keys[] = {
	{"cpus", set_cpus, offsetof(struct side_plan, cpus)},
	{"prefix", set_words, offsetof(struct side_plan, prefix)},
	{"collect", set_text, offsetof(struct side_plan, collect)},
	{"units", set_units, offsetof(struct side_plan, units)},
	{"call_graph", set_call_graph, offsetof(struct side_plan, call_graph)},
	{"power_csv", set_text, offsetof(struct side_plan, power_csv)},
	{"time_one_in", set_one_in, offsetof(struct side_plan, time_one_in)},
	{"host", set_host, offsetof(struct side_plan, host)},
	{"zcost", set_words, offsetof(struct side_plan, zcost)},
	{"events", set_events, offsetof(struct side_plan, events)},
	{"power_command", set_power_command, offsetof(struct side_plan, power_command)},
	{NULL, NULL, 0},
};

static const struct key variant_keys[] = {
	{"what", set_text, offsetof(struct variant, what)},
	{"receiver", set_command, offsetof(struct variant, command[SIDE_RECEIVER])},
	{"sender", set_command, offsetof(struct variant, command[SIDE_SENDER])},
	{NULL, NULL, 0},
};

/* Of [setting] and [value]; what else stands there matrix_read has taken. */
static const struct key hook_keys[] = {
	{"save", set_text, offsetof(struct hooks, save)},
	{"before", set_text, offsetof(struct hooks, before)},
	{"after", set_text, offsetof(struct hooks, after)},
	{NULL, NULL, 0},
};

struct reader {
	struct plan *plan;
	const struct combination *with;
	const struct matrix *matrix;
	const size_t *pick;
	struct vars vars;
	struct vars of_sides; /* the same, with what stands for ${bindir} of a side's host */
	bool pass;	      /* over this section */
	const char *section;  /* as shown in messages */
	const struct key *keys;
	void *base;	    /* what the keys' offsets count from */
	unsigned int given; /* bits: keys of this section seen so far */
	unsigned int seen;  /* bits: [plan] and the sides */
};

enum { SEEN_PLAN = 1 << SIDE_COUNT };

static int enter(struct reader *r, const char *section, const struct key *keys, void *base)
{
	r->section = section;
	r->keys = keys;
	r->base = base;
	r->given = 0;
	r->pass = false;
	return 0;
}

/* Another combination's, or matrix_read's. */
static int pass_over(struct reader *r)
{
	r->pass = true;
	return 0;
}

static int once(struct reader *r, unsigned int bit, const struct ini_at *at, const char *what,
		struct error *err)
{
	if (r->seen & bit)
		return ini_error(at, err, "%s is there twice", what);
	r->seen |= bit;
	return 0;
}

static int enter_side(struct reader *r, const struct ini_at *at, const char *name,
		      struct error *err)
{
	int i;

	for (i = 0; i < SIDE_LOCAL; i++)
		if (!strcmp(name, side_names[i]))
			break;
	if (i == SIDE_LOCAL)
		return ini_error(at, err, "unknown side '%s'; there are receiver and sender", name);
	if (once(r, 1u << i, at, side_names[i], err))
		return -EINVAL;
	r->plan->sides[i].used = true;
	return enter(r, "[side]", side_keys, &r->plan->sides[i]);
}

static int enter_variant(struct reader *r, const struct ini_at *at, const char *name,
			 struct error *err)
{
	struct plan *p = r->plan;
	struct error e = {0};
	struct variant *v;
	size_t i;

	if (plan_check_name(name, &e))
		return ini_error(at, err, "%s", e.text);
	for (i = 0; i < p->nvariants; i++)
		if (!strcmp(name, p->variants[i].name))
			return ini_error(at, err, "variant '%s' is there twice", name);
	array_grow(p->variants, p->nvariants, p->variants_cap);
	v = &p->variants[p->nvariants++];
	*v = (struct variant){.name = xstrdup(name), .what = xstrdup(""), .base = xstrdup(name)};
	for (i = 0; i < SIDE_COUNT; i++)
		v->command[i] = xstrdup("");
	return enter(r, "[variant]", variant_keys, v);
}

static int enter_setting(struct reader *r, const char *name)
{
	int i = matrix_find(r->matrix, name);

	return i < 0 ? pass_over(r) : enter(r, "[setting]", hook_keys, &r->with->set[i].hooks);
}

/* "mtu=9000": a value's hooks take the place of its setting's. */
static int enter_value(struct reader *r, const char *name)
{
	size_t len = strcspn(name, "="), i;

	for (i = 0; i < r->with->n; i++) {
		struct set_value *s = &r->with->set[i];

		if (strlen(s->name) == len && !memcmp(s->name, name, len) &&
		    !strcmp(s->value, name + len + 1))
			return enter(r, "[value]", hook_keys, &s->hooks);
	}
	return pass_over(r);
}

static int on_section(void *ctx, const struct ini_at *at, const char *kind, const char *name,
		      struct error *err)
{
	struct reader *r = ctx;

	if (!strcmp(kind, "plan") && !*name)
		return once(r, SEEN_PLAN, at, "[plan]", err)
			       ? -EINVAL
			       : enter(r, "[plan]", plan_keys, r->plan);
	if (!strcmp(kind, "vars") && !*name)
		return enter(r, "[vars]", NULL, NULL);
	if (!strcmp(kind, "side"))
		return enter_side(r, at, name, err);
	if (!strcmp(kind, "variant"))
		return enter_variant(r, at, name, err);
	if (!strcmp(kind, "setting"))
		return enter_setting(r, name);
	if (!strcmp(kind, "value"))
		return enter_value(r, name);
	if (!strcmp(kind, "matrix") && !*name)
		return pass_over(r);
	return ini_error(at, err,
			 "unknown section [%s%s%s]; there are [plan], [vars], [side NAME], "
			 "[variant NAME], [setting NAME], [value SETTING=VALUE], [matrix]",
			 kind, *name ? " " : "", name);
}

static int unknown_key(const struct reader *r, const struct ini_at *at, const char *key,
		       struct error *err)
{
	struct str known = {0};
	const struct key *k;

	for (k = r->keys; k->name; k++)
		str_printf(&known, " %s", k->name);
	ini_error(at, err, "unknown key '%s' in %s; there are:%s", key, r->section, known.buf);
	str_free(&known);
	return -EINVAL;
}

static int set_var(struct reader *r, const struct ini_at *at, const char *name, const char *value,
		   struct error *err)
{
	if (vars_get(&r->vars, name, strlen(name)))
		return ini_error(at, err, "variable '%s' is there already", name);
	vars_set(&r->vars, name, value);
	return 0;
}

/* A variable may hold ${bindir} too, which is one thing here and another on a side's host. */
static void set_var_of_sides(struct reader *r, const char *name, const char *raw)
{
	char *value;

	if (vars_expand(&r->of_sides, raw, &value, NULL))
		return;
	vars_set(&r->of_sides, name, value);
	free(value);
}

/* Is it for the side's host to make something of the value? */
static bool of_side(const struct reader *r, const char *key)
{
	if (r->keys == side_keys)
		return strcmp(key, "host") && strcmp(key, "zcost");
	return r->keys == variant_keys && strcmp(key, "what") != 0;
}

static int set_key(struct reader *r, const struct ini_at *at, const char *key, const char *value,
		   struct error *err)
{
	struct error e = {0};
	const struct key *k;

	for (k = r->keys; k->name; k++)
		if (!strcmp(k->name, key))
			break;
	if (!k->name)
		return unknown_key(r, at, key, err);
	if (r->given & 1u << (k - r->keys))
		return ini_error(at, err, "'%s' is there twice", key);
	r->given |= 1u << (k - r->keys);
	if (k->set((char *)r->base + k->offset, value, &e))
		return ini_error(at, err, "%s: %s", key, e.text);
	return 0;
}

static bool is_key(const struct key *keys, const char *name)
{
	while (keys->name && strcmp(keys->name, name))
		keys++;
	return keys->name;
}

/* What a value of a setting has a variable be instead; then it stands elsewhere, too. */
static void instead(const struct reader *r, const char *key, const char **raw,
		    const struct ini_at **at)
{
	const struct matrix_var *var = r->keys ? NULL : matrix_var(r->matrix, r->pick, key);

	if (!var)
		return;
	*raw = var->raw;
	*at = &var->at;
}

static int on_key(void *ctx, const struct ini_at *at, const char *key, const char *raw,
		  struct error *err)
{
	struct reader *r = ctx;
	struct error e = {0};
	char *value;
	int rc;

	if (r->pass || (r->keys == hook_keys && !is_key(hook_keys, key)))
		return 0;
	instead(r, key, &raw, &at);
	if (vars_expand(of_side(r, key) ? &r->of_sides : &r->vars, raw, &value, &e))
		return ini_error(at, err, "%s: %s", key, e.text);
	if (r->keys)
		rc = set_key(r, at, key, value, err);
	else
		rc = set_var(r, at, key, value, err);
	if (!rc && !r->keys)
		set_var_of_sides(r, key, raw);
	free(value);
	return rc;
}

static int check_variant(const struct plan *p, const char *path, const struct variant *v,
			 struct error *err)
{
	int i;

	for (i = 0; i < SIDE_COUNT; i++) {
		if (p->sides[i].used && !*v->command[i])
			return error_set(err, EINVAL,
					 "%s: variant '%s' has no command for the side %s: add "
					 "'%s = COMMAND'",
					 path, v->name, side_names[i], side_names[i]);
		if (!p->sides[i].used && *v->command[i])
			return error_set(err, EINVAL,
					 "%s: variant '%s' has a command for the side %s: add a "
					 "section [side %s]",
					 path, v->name, side_names[i], side_names[i]);
	}
	return 0;
}

static int check_whole(const struct plan *p, const char *path, struct error *err)
{
	size_t i;
	int rc = 0;

	if (!p->nvariants)
		return error_set(err, EINVAL,
				 "%s: no [variant NAME] in it: a plan needs at least one", path);
	if (!p->sides[SIDE_RECEIVER].used && !p->sides[SIDE_SENDER].used)
		return error_set(err, EINVAL,
				 "%s: no [side receiver] or [side sender] in it: a plan needs at "
				 "least one",
				 path);
	if (p->duration_s <= 0)
		return error_set(err, EINVAL, "%s: duration must be more than 0", path);
	for (i = 0; i < p->nvariants && !rc; i++)
		rc = check_variant(p, path, &p->variants[i], err);
	return rc;
}

static const struct ini_handler handler = {.section = on_section, .key = on_key};

static void set_vars(struct reader *r, const char *path, const char *bindir)
{
	char *dir = realpath(path, NULL);
	size_t i;

	if (!dir) /* not a file, as in tests */
		dir = xstrdup(path);
	vars_set(&r->vars, "bindir", bindir);
	vars_set(&r->vars, "plandir", dirname(dir));
	vars_set(&r->of_sides, "bindir", PLAN_BINDIR);
	vars_set(&r->of_sides, "plandir", vars_get(&r->vars, "plandir", strlen("plandir")));
	for (i = 0; i < r->with->n; i++) {
		vars_set(&r->vars, r->with->set[i].name, r->with->set[i].value);
		vars_set(&r->of_sides, r->with->set[i].name, r->with->set[i].value);
	}
	free(dir);
}

int plan_parse_with(struct plan *p, const char *path, const char *text, const char *bindir,
		    const struct matrix *m, const size_t *pick, const struct combination *with,
		    struct error *err)
{
	struct reader r = {.plan = p, .matrix = m, .pick = pick, .with = with};
	char *copy = xstrdup(text);
	int rc, i;

	set_vars(&r, path, bindir);
	rc = ini_parse(path, copy, &handler, &r, err);
	if (!rc)
		rc = check_whole(p, path, err);
	for (i = 0; i < SIDE_COUNT; i++)
		if (!*p->sides[i].host)
			plan_set_bindir(p, (enum side)i, bindir);
	vars_free(&r.vars);
	vars_free(&r.of_sides);
	free(copy);
	return rc;
}

const char *plan_differs(const struct plan *a, const struct plan *b)
{
	const struct key *k;

	for (k = plan_keys; k->name; k++) {
		const void *x = (const char *)a + k->offset, *y = (const char *)b + k->offset;
		bool same;

		if (k->set == set_count || k->set == set_passes || k->set == set_order)
			same = !memcmp(x, y, sizeof(int));
		else if (k->set == set_seconds)
			same = *(const double *)x == *(const double *)y;
		else
			same = !strcmp(*(char *const *)x, *(char *const *)y);
		if (!same)
			return k->name;
	}
	return NULL;
}

int plan_read(struct plan *p, const char *path, const char *bindir, struct error *err)
{
	char *text;
	size_t len;
	int rc = file_read_named(path, &text, &len, err);

	if (rc)
		return rc;
	if (strlen(text) != len)
		rc = error_set(err, EINVAL, "%s: not a plan: there are zero bytes in it", path);
	else
		rc = plan_parse(p, path, text, bindir, err);
	free(text);
	return rc;
}
