// SPDX-License-Identifier: GPL-2.0-only
#include "capture/plan_read.h"

#include "lib/alloc.h"
#include "lib/hash.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

const char *const pass_names[PASS_COUNT] = {"measure", "profile", "syscalls", "trace"};

static const char *const role_names[ROLE_NONE] = {"receiver", "proxy", "sender"};

enum { WAITS_S = 5, MARGIN_S = 2 };

void plan_init(struct plan *p)
{
	*p = (struct plan){
		.name = xstrdup("capture"),
		.estimator = xstrdup("median"),
		.order = xstrdup("interleaved"),
		.seed = xstrdup("1"),
		.before = xstrdup(""),
		.after = xstrdup(""),
		.ssh = xstrdup("ssh"),
		.sets = xstrdup(""),
		.passes = 1u << PASS_MEASURE | 1u << PASS_PROFILE | 1u << PASS_SYSCALLS,
		.repeats = {[PASS_MEASURE] = 6, [PASS_SYSCALLS] = 1, [PASS_TRACE] = 1},
		.warmup_s = 1,
		.duration_s = 5,
		.grace_s = 10,
		.start_timeout_s = 20,
		.stop_timeout_s = 30,
		.hook_timeout_s = 300,
	};
}

struct side_plan *plan_add_side(struct plan *p, const char *name)
{
	struct side_plan *s = array_new(p->sides, p->nsides, p->sides_cap);

	*s = (struct side_plan){.name = xstrdup(name)};
	plan_keys_init(SECTION_SIDE, s);
	return s;
}

int plan_find_side(const struct plan *p, const char *name)
{
	for (int i = 0; i < p->nsides; i++)
		if (!strcmp(p->sides[i].name, name))
			return i;
	return -1;
}

struct variant *plan_find_variant(const struct plan *p, const char *name)
{
	return array_find(v, p->variants, p->nvariants, !strcmp(v->name, name));
}

enum role plan_parse_role(const char *name)
{
	int role = str_index(role_names, ROLE_NONE, name);

	return role < 0 ? ROLE_NONE : (enum role)role;
}

enum role plan_role(const struct side_plan *s)
{
	return plan_parse_role(*s->role ? s->role : s->name);
}

static bool plan_has_role(const struct plan *p, enum role role)
{
	return array_find(s, p->sides, p->nsides, plan_role(s) == role);
}

bool plan_has_remotes(const struct plan *p)
{
	return array_find(s, p->sides, p->nsides, *s->host);
}

void plan_free_variant(struct variant *v)
{
	free(v->name);
	free(v->what);
	free(v->base);
	for (int i = 0; v->command[i]; i++)
		free(v->command[i]);
	free(v->command);
}

void plan_free_combination(struct combination *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct set_value *s = &c->set[i];

		free(s->name);
		free(s->value);
		free(s->label);
		free(s->what);
		plan_keys_free(SECTION_HOOKS, &s->hooks);
	}
	free(c->set);
	if (c->plan)
		plan_free(c->plan);
	free(c->plan);
}

void plan_free(struct plan *p)
{
	while (p->nsides) {
		plan_keys_free(SECTION_SIDE, &p->sides[--p->nsides]);
		free(p->sides[p->nsides].name);
	}
	free(p->sides);
	for (size_t i = 0; i < p->nvariants; i++)
		plan_free_variant(&p->variants[i]);
	array_free(e, p->combinations, p->ncombinations, plan_free_combination(e));
	free(p->variants);
	json_decref(p->vars);
	free(p->sets);
	plan_keys_free(SECTION_PLAN, p);
	free(p->text);
	*p = (struct plan){0};
}

/* Variants become folders, and words of the command line such as CAPTURE:VARIANT. */
int plan_check_name(const char *name, struct error *err)
{
	if (!str_is_name(name, "_-.+") || !isalnum((unsigned char)*name) || strlen(name) > 64)
		return error_set(
			err, EINVAL,
			"'%s' is no name for a variant: letters, digits, _ - . + only, a letter or digit first, at most 64",
			name);
	return 0;
}

int plan_wrap(struct plan *p, const char *variant, char *const argv[], struct error *err)
{
	struct variant *v;
	int rc = plan_check_name(variant, err);

	if (rc)
		return rc;
	if (!p->nsides)
		plan_add_side(p, "local");
	v = array_new(p->variants, p->nvariants, p->variants_cap);
	*v = (struct variant){.name = xstrdup(variant), .base = xstrdup(variant)};
	v->command = xcalloc(2, sizeof(*v->command));
	v->command[0] = words_join(argv);
	v->what = xstrdup(v->command[0]);
	return 0;
}

unsigned int plan_repeats(const struct plan *p, enum pass pass)
{
	return p->repeats[pass] ? p->repeats[pass] : p->repeats[PASS_MEASURE];
}

const struct combination *plan_combination(const struct plan *p, size_t combination)
{
	static const struct combination plain;

	return combination < p->ncombinations ? &p->combinations[combination] : &plain;
}

double plan_grace(const struct plan *p, int side)
{
	enum role role = plan_role(&p->sides[side]);
	double s = p->grace_s;

	for (enum role after = role + 1; after < ROLE_NONE; after++)
		s += plan_has_role(p, after) ? WAITS_S : 0;
	return s;
}

bool variant_has_seconds(const struct plan *p, const struct variant *v)
{
	for (int i = 0; i < p->nsides && p->text;
	     i++) /* behind `--` it is a variable of the shell */
		if (strstr(v->command[i], PLAN_SECONDS))
			return true;
	return false;
}

/* Returns the text with each `what` replaced. The caller frees. */
static char *text_put(const char *text, const char *what, const char *with)
{
	struct str s = {0};
	const char *at;

	for (; (at = strstr(text, what)); text = at + strlen(what)) {
		str_add(&s, text, (size_t)(at - text));
		str_puts(&s, with);
	}
	str_puts(&s, text);
	return str_take(&s);
}

char *plan_command(const struct plan *p, const struct variant *v, int side, double start_s)
{
	char seconds[32];

	if (!p->text)
		return xstrdup(v->command[side]);
	snprintf(seconds, sizeof(seconds), "%.0f",
		 ceil(p->warmup_s + p->duration_s + MARGIN_S + start_s));
	return text_put(v->command[side], PLAN_SECONDS, seconds);
}

void plan_put_bindir(char **text, const char *bindir)
{
	autofree char *was = *text;

	*text = text_put(was, PLAN_BINDIR, bindir);
}

void plan_set_bindir(struct plan *p, int side, const char *bindir)
{
	for (const struct plan_key *k = plan_keys; k->name; k++)
		if (k->flags & KEY_OF_SIDE)
			plan_put_bindir((char **)((char *)&p->sides[side] + k->offset), bindir);
	for (size_t i = 0; i < p->ncombinations; i++)
		plan_set_bindir(p->combinations[i].plan, side, bindir);
	for (size_t i = 0; i < p->nvariants; i++)
		plan_put_bindir(&p->variants[i].command[side], bindir);
}

const struct side_plan *plan_sides(const struct plan *p, const struct variant *v)
{
	const struct combination *c = plan_combination(p, v->combination);

	return c->plan ? c->plan->sides : p->sides;
}

/* --- the order of the runs --- */

/* Returns a random number that the seed, the pair of rounds, the level and the word determine. */
static uint64_t order_rank(const struct plan *p, const struct run_id *id, size_t level,
			   const char *word)
{
	uint64_t h = hash_bytes(p->seed, strlen(p->seed), (id->repeat + 1) / 2);

	return hash_bytes(word, strlen(word), hash_mix(h + level));
}

/* Compares two runs by their first setting that differs, or by their variants and passes. */
static int order_compare(const void *a, const void *b, void *plan)
{
	const struct plan *p = plan;
	const struct run_id *x = a, *y = b;
	const struct variant *v = &p->variants[x->variant], *w = &p->variants[y->variant];
	const struct combination *c = plan_combination(p, v->combination),
				 *d = plan_combination(p, w->combination);
	size_t at = 0;
	uint64_t r, s;

	if (!strcmp(p->order, "blocks") && v->combination != w->combination)
		return ascending(v->combination, w->combination);
	if (x->repeat != y->repeat)
		return ascending(x->repeat, y->repeat);
	while (at < c->n && !strcmp(c->set[at].value, d->set[at].value))
		at++;
	r = order_rank(p, x, at < c->n ? at : at + x->pass, at < c->n ? c->set[at].value : v->base);
	s = order_rank(p, y, at < c->n ? at : at + y->pass, at < c->n ? d->set[at].value : w->base);
	return (x->repeat % 2 ? 1 : -1) * ascending(r, s);
}

void order_make(struct order *o, const struct plan *p)
{
	size_t rounds = 0;

	for (enum pass pass = 0; pass < PASS_COUNT; pass++)
		rounds += plan_repeats(p, pass);
	*o = (struct order){.run = xcalloc(rounds * p->nvariants + 1, sizeof(*o->run))};
	for (enum pass pass = 0; pass < PASS_COUNT; pass++)
		for (unsigned int repeat = 1;
		     p->passes & 1u << pass && repeat <= plan_repeats(p, pass); repeat++)
			for (size_t i = 0; i < p->nvariants; i++)
				o->run[o->n++] = (struct run_id){i, pass, repeat};
	qsort_r(o->run, o->n, sizeof(*o->run), order_compare, (void *)p);
}

void order_free(struct order *o)
{
	free(o->run);
	*o = (struct order){0};
}

char *run_name(const struct plan *p, const struct run_id *id)
{
	return xasprintf("%s/%s-%02u", p->variants[id->variant].name, pass_names[id->pass],
			 id->repeat);
}
