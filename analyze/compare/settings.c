// SPDX-License-Identifier: GPL-2.0-only
/*
 * The settings in which BASE and NEW differ. The facts of hosts and variants are those of the store
 * (table fact); network cards and the net.* sysctls of the workload's namespace are read after each
 * run, so a value that differs between the runs of an end is "1|0". A kind of settings that one end
 * lacks altogether was not collected there. It is left out.
 */
#include "analyze/compare/compare.h"

#include "analyze/scope/scope.h"
#include "lib/file.h"
#include "lib/sha256.h"

#include <errno.h>

/* In the order of the table. */
enum {
	KIND_VAR,
	KIND_PLAN,
	KIND_HOST,
	KIND_CARD,
	KIND_SYSCTL,
	KIND_CONFIG,
	KIND_ZCOST,
	KIND_TOOL,
	KIND_OBJECT,
	KINDS
};

static const struct column columns[] = {
	{"side", .type = V_STR, .what = "the sides that differ; empty: all sides"},
	{"name", .type = V_STR},
	{"base", .type = V_STR, .what = "empty: the end does not have the setting"},
	{"new", .type = V_STR},
};

struct setting {
	int kind;	  /* the order of the table */
	const char *side; /* names with commas between them; "": all sides */
	int nsides;
	const char *name, *base, *new; /* a value is NULL where its end lacks the setting */
};

struct settings {
	struct setting *list;
	size_t n, cap;
	int nsides;
	struct arena arena;
};

/* One setting of one side at one end. */
struct end_setting {
	const char *name, *value;
	int kind;
};

struct end_settings {
	struct end_setting *list;
	size_t n, cap;
	bool has[KINDS];
};

static int end_setting_order(const void *a, const void *b)
{
	const struct end_setting *x = a, *y = b;

	return x->kind != y->kind ? x->kind - y->kind : strcmp(x->name, y->name);
}

static void end_settings_add(struct end_settings *e, int kind, const char *name, const char *value)
{
	array_add(e->list, e->n, e->cap, (struct end_setting){name, value ? value : "", kind});
	e->has[kind] = true;
}

/* Returns the key behind "SIDE." where the name is a key of this side, or NULL. */
static const char *plan_key_of(const char *name, const char *side)
{
	size_t len = strlen(side);

	return str_starts(name, side) && name[len] == '.' ? name + len + 1 : NULL;
}

/*
 * Adds a key of the plan: "receiver.cpus" is the key "cpus" of the receiver, and of no other side.
 * The value of a setting, "setting.mtu", is left out: end_settings_read_sets() adds it as
 * "set:mtu".
 */
static void end_settings_add_plan(struct end_settings *e, const struct fact_row *f,
				  const char *side, const char *const *sides, int nsides)
{
	const char *key = plan_key_of(f->name, side);

	if (str_starts(f->name, "setting."))
		return;
	if (key) {
		end_settings_add(e, KIND_PLAN, key, f->value);
		return;
	}
	for (int i = 0; i < nsides; i++)
		if (plan_key_of(f->name, sides[i]))
			return;
	end_settings_add(e, str_starts(f->name, "var:") ? KIND_VAR : KIND_PLAN, f->name, f->value);
}

/* Returns whether each of the runs has a value that differs from the host's. The store has one
 * pointer for equal names. */
static bool end_settings_override(const struct end_settings *e, const struct fact_row *f, int runs)
{
	for (size_t i = 0; i < e->n && runs > 0; i++)
		runs -= e->list[i].kind == KIND_SYSCTL && e->list[i].name == f->name;
	return runs <= 0;
}

/* The runs' own sysctls are in the list already. */
static int end_settings_read_facts(struct end_settings *e, struct store *s, const struct run *r,
				   int runs, const char *side, struct error *err)
{
	autofree const char **sides = NULL;
	autofree struct fact_row *facts = NULL;
	int n = store_facts(s, r->host, r->variant, &facts, err);
	int nsides = n < 0 ? n : store_sides(s, &sides, err);

	for (int i = 0; i < n && nsides >= 0; i++)
		if (facts[i].host && str_starts(facts[i].name, "sysctl:") &&
		    end_settings_override(e, &facts[i], runs))
			continue;
		else if (facts[i].host)
			end_settings_add(e,
					 str_starts(facts[i].name, "sysctl:")	? KIND_SYSCTL
					 : str_starts(facts[i].name, "CONFIG_") ? KIND_CONFIG
										: KIND_HOST,
					 strcmp(facts[i].name, "release") ? facts[i].name
									  : "kernel",
					 facts[i].value);
		else
			end_settings_add_plan(e, &facts[i], side, sides, nsides);
	return nsides < 0 ? nsides : 0;
}

/* Adds the facts of a run that begin with the prefix: "tool:perf", "sysctl:...", "nic:...". */
static int end_settings_read_run(struct end_settings *e, int kind, const char *prefix,
				 struct store *s, int64_t run, struct error *err)
{
	autofree struct fact_row *f = NULL;
	int n = store_run_facts(s, run, &f, err);

	for (int i = 0; i < n; i++)
		if (str_starts(f[i].name, prefix))
			end_settings_add(e, kind, f[i].name, f[i].value);
	return n < 0 ? n : 0;
}

/* Adds the versions of tools, of runs of any pass. */
static int end_settings_read_tools(struct end_settings *e, struct store *s, const struct query *q,
				   struct error *err)
{
	const struct run_filter filter = {.variant = q->variant, .side = q->side};
	autofree struct run *runs = NULL;
	int n = store_runs(s, &filter, &runs, err), ret = n < 0 ? n : 0;

	for (int r = 0; r < n && !ret; r++)
		ret = end_settings_read_run(e, KIND_TOOL, "tool:", s, runs[r].id, err);
	return ret;
}

/* Adds "build-id:tcpzc" of the programs and libraries that the workload executed. */
static int end_settings_read_objects(struct end_settings *e, struct arena *a, struct store *s,
				     const struct query *q, struct error *err)
{
	autofree struct object_row *rows = NULL;
	int n = store_objects(s, q->variant, q->side, &rows, err);

	for (int i = 0; i < n; i++)
		end_settings_add(e, KIND_OBJECT,
				 arena_printf(a, "build-id:%s", path_base_name(rows[i].path)),
				 rows[i].build_id);
	return n < 0 ? n : 0;
}

/* Adds "set:mtu" for each setting of the plan that the variant was made with. */
static int end_settings_read_sets(struct end_settings *e, struct arena *a, struct store *s,
				  const char *variant, struct error *err)
{
	const char **names, *value;
	int n = store_names(s, NAMES_SETTING, &names, err);

	for (int i = 0; i < n; i++) {
		value = store_setting(s, variant, names[i]);
		if (value)
			end_settings_add(e, KIND_PLAN, arena_printf(a, "set:%s", names[i]), value);
	}
	free(names);
	return n < 0 ? n : 0;
}

/* Adds "nic:host/eth0/driver" and "nic:host/eth0/mtu". */
static int end_settings_read_cards(struct end_settings *e, struct arena *a, struct store *s,
				   const struct run *r, struct error *err)
{
	autofree struct metric_row *m = NULL;
	int n = end_settings_read_run(e, KIND_CARD, "nic:", s, r->id, err);

	if (n < 0)
		return n;
	n = store_metrics(s, r->id, "nic_state", OF_SIDE, &m, err);
	for (int k = 0; k < n; k++)
		end_settings_add(e, KIND_CARD, arena_printf(a, "nic:%s", m[k].key.object ?: ""),
				 arena_printf(a, "%.15g", m[k].value));
	return n < 0 ? n : 0;
}

/* Joins different values of one name: "1|0". */
static void end_settings_join(struct end_settings *e, struct arena *a)
{
	size_t n = 0;

	array_sort(e->list, e->n, end_setting_order);
	for (size_t i = 0; i < e->n; i++) {
		struct end_setting *last = n ? &e->list[n - 1] : NULL;

		if (!last || end_setting_order(last, &e->list[i]))
			e->list[n++] = e->list[i];
		else
			last->value = arena_add_word(a, last->value, "|", e->list[i].value);
	}
	e->n = n;
}

/* Reads the settings of a side: of its host and its variant once, of its cards in each run. */
static int end_settings_read(struct end_settings *e, struct settings *all,
			     const struct comparison *c, enum end end, const char *side,
			     struct error *err)
{
	struct store *s = c->end[end].store;
	const struct query q = compare_query(c, end, side);
	const struct block b = {q.variant, q.side};
	const char *version = store_capture_value(s, "zcost_version");
	autofree struct run *runs = NULL;
	int n = scope_runs(s, &q, &b, FOR_FIGURES, &runs, err), ret = n < 0 ? n : 0;

	if (n > 0 && version)
		end_settings_add(e, KIND_ZCOST, "zcost_version", version);
	if (n > 0)
		end_settings_add(e, KIND_HOST, "side_cpus", runs[0].cpus);
	for (int i = 0; i < n && !ret; i++)
		ret = end_settings_read_run(e, KIND_SYSCTL, "sysctl:", s, runs[i].id, err)
			      ?: end_settings_read_cards(e, &all->arena, s, &runs[i], err);
	if (n > 0 && !ret) /* the sysctls come first */
		ret = end_settings_read_facts(e, s, &runs[0], n, q.side, err)
			?: end_settings_read_tools(e, s, &q, err)
			?: end_settings_read_sets(e, &all->arena, s, q.variant, err)
			?: end_settings_read_objects(e, &all->arena, s, &q, err);
	end_settings_join(e, &all->arena);
	return ret;
}

/*
 * The names that may differ between captures of one history: what comes with the kernel, and what
 * is no setting. A driver of the kernel has the kernel's version.
 */
static const char passing[] =
	"kernel version hostname memory vulnerability:* nic:*/driver_version nic:*/firmware* "
	"sysctl:*_mem sysctl:*_count sysctl:kernel.perf_event_* sysctl:kernel.threads-max";

int compare_lasting_settings(const struct comparison *c, const char *side,
			     struct history_setting **list, struct arena *a, struct error *err)
{
	struct settings all = {.arena = *a};
	struct end_settings e = {0};
	int ret = end_settings_read(&e, &all, c, BASE, side, err), n = 0;
	struct sha256 plan;
	char hex[65];

	*a = all.arena;
	*list = xcalloc(e.n + 1, sizeof(**list));
	sha256_begin(&plan);
	for (const struct end_setting *s = e.list; s < e.list + e.n && !ret; s++) {
		if (s->kind == KIND_PLAN) {
			sha256_add(&plan, s->name, strlen(s->name) + 1);
			sha256_add(&plan, s->value, strlen(s->value) + 1);
		}
		if (s->kind >= KIND_PLAN && s->kind <= KIND_SYSCTL &&
		    !str_matches_any(passing, s->name))
			(*list)[n++] = (struct history_setting){s->name, s->value};
	}
	sha256_hex(&plan, hex);
	if (n)
		(*list)[n++] = (struct history_setting){"plan", arena_strdup(a, hex)};
	free(e.list);
	return ret ? ret : n;
}

/* Adds a difference, or the side to one that another side has already. */
static void settings_add(struct settings *s, const char *side, int kind, const char *name,
			 const char *base, const char *new)
{
	for (size_t i = 0; i < s->n; i++) {
		struct setting *have = &s->list[i];

		if (strcmp(have->name, name) || strcmp(have->base ?: "", base ?: "") ||
		    strcmp(have->new ?: "", new ?: ""))
			continue;
		have->side = ++have->nsides == s->nsides
				     ? ""
				     : arena_printf(&s->arena, "%s, %s", have->side, side);
		return;
	}
	array_add(s->list, s->n, s->cap, (struct setting){kind, side, 1, name, base, new});
}

static void settings_add_side(struct settings *s, const char *side, const struct end_settings *e)
{
	const struct end_settings *base = &e[BASE], *new = &e[NEW];
	size_t i = 0, k = 0;

	while (i < base->n || k < new->n) {
		int order = i == base->n  ? 1
			    : k == new->n ? -1
					  : end_setting_order(&base->list[i], &new->list[k]);
		const struct end_setting *b = order <= 0 ? &base->list[i] : NULL;
		const struct end_setting *n = order >= 0 ? &new->list[k] : NULL;
		const struct end_setting *any = b ? b : n;
		/* An object without samples may have run all the same. */
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a list has members. */
		bool known = (b && n) || any->kind != KIND_OBJECT;

		i += b != NULL;
		k += n != NULL;
		if (known && base->has[any->kind] && new->has[any->kind] &&
		    (!b || !n || strcmp(b->value, n->value) != 0))
			settings_add(s, side, any->kind, any->name, b ? b->value : NULL,
				     n ? n->value : NULL);
	}
}

/* Returns the place of a setting: what the user chose stands above what the machine has. */
static int setting_rank(const struct setting *s)
{
	static const char *const first[] = {"command", "units", "duration"};
	int i = s->kind == KIND_PLAN ? str_index(first, array_size(first), s->name) : -1;

	return i < 0 ? s->kind : i - (int)array_size(first);
}

static int setting_order(const void *a, const void *b)
{
	const struct setting *x = a, *y = b;
	int order = setting_rank(x) - setting_rank(y) ?: strcmp(x->side, y->side);

	return order ?: strcmp(x->name, y->name);
}

static int settings_read(struct settings *s, const struct comparison *c, struct error *err)
{
	autofree const char **sides = NULL;
	int n = store_sides(c->end[BASE].store, &sides, err), ret = n < 0 ? n : 0;

	*s = (struct settings){.nsides = n};
	for (int i = 0; i < n && !ret; i++) {
		struct end_settings of[ENDS] = {0};
		bool wanted = !c->side[BASE] || !strcmp(c->side[BASE], sides[i]);

		for (int e = 0; e < ENDS && !ret && wanted; e++)
			ret = end_settings_read(&of[e], s, c, (enum end)e, sides[i], err);
		settings_add_side(s, sides[i], of);
		for (int e = 0; e < ENDS; e++)
			free(of[e].list);
	}
	array_sort(s->list, s->n, setting_order);
	return ret;
}

/* --- a few lines above the other tables --- */

/* Returns the bytes of the words that both texts begin with, except the last one: "--rx" names the
 * word behind it. */
static size_t words_in_common(const char *a, const char *b)
{
	size_t last = 0, words = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == ' ') {
			words = last;
			last = i + 1;
		}
	return words;
}

static void setting_print_value(struct str *s, const char *value, size_t from)
{
	enum { LONGEST = 60 };
	const char *text = value ? value + from : "(none)";

	str_printf(s, "%s%.*s%s", from ? "... " : "", LONGEST, *text ? text : "(empty)",
		   strlen(text) > LONGEST ? " ..." : "");
}

static void setting_print(struct str *s, const struct setting *d)
{
	size_t same = d->base && d->new ? words_in_common(d->base, d->new) : 0;
	freed(str_free) struct str line = {0};

	str_printf(&line, "setting: %s%s%s: ", d->side, *d->side ? " " : "", d->name);
	setting_print_value(&line, d->base, same);
	str_puts(&line, " -> ");
	setting_print_value(&line, d->new, same);
	str_replace(line.buf, '\n', ' ');
	str_printf(s, "%s\n", line.buf);
}

int compare_settings(const struct comparison *c, size_t most, struct str *lines, struct error *err)
{
	struct settings s;
	int ret;

	if (c->end[BASE].bare || c->end[NEW].bare)
		return 0;
	ret = settings_read(&s, c, err);
	for (size_t i = 0; i < s.n && i < most && !ret; i++)
		setting_print(lines, &s.list[i]);
	if (!ret && s.n > most)
		str_printf(lines, "%zu more in --table settings\n", s.n - most);
	free(s.list);
	arena_free(&s.arena);
	return ret;
}

/* --- the table --- */

static int compare_settings_table(const struct comparison *c, struct table *t, struct outcome *out,
				  struct error *err)
{
	struct settings s;
	struct value *row;
	int ret;

	(void)out;
	if (c->end[BASE].bare || c->end[NEW].bare)
		return error_set(err, EINVAL,
				 "files have no settings; --table settings takes captures");
	ret = settings_read(&s, c, err);
	table_title(t, "settings: %s against %s%s", c->end[NEW].label, c->end[BASE].label,
		    s.n ? "" : ": no setting differs that both captures have");
	for (size_t i = 0; i < s.n && !ret; i++) {
		row = table_row(t);
		table_set(t, row, "side", value_str(t, s.list[i].side));
		table_set(t, row, "name", value_str(t, s.list[i].name));
		table_set(t, row, "base", value_str(t, s.list[i].base));
		table_set(t, row, "new", value_str(t, s.list[i].new));
	}
	free(s.list);
	arena_free(&s.arena);
	return ret;
}

const struct compare_table comparison_settings = {
	COMPARE_NAMES("settings"),
	.of_facts = true,
	.what = "settings that differ: kernel, command line, sysctls, network cards, CPUs, plan",
	MEASURE_COLUMNS(columns),
	.options = {[SOURCE_CAPTURE] = "side "},
	.whole = WHOLE_FACTS,
	.run = compare_settings_table,
};
