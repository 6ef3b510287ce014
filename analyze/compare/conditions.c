// SPDX-License-Identifier: GPL-2.0-only
/*
 * The conditions of a comparison in a few lines for a commit message: kernel, CPUs of the workload,
 * network card, zero copy, number of runs, and the settings that differ. A text that all sides
 * share stands once.
 */
#include "analyze/compare/compare.h"

#include "analyze/evidence/limits.h"
#include "analyze/scope/runs.h"
#include "analyze/evidence/zerocopy.h"
#include "lib/words.h"

#include <math.h>

enum { SETTINGS_SHOWN = 2 };

/* One side of one end, with its runs that give the figures. */
struct condition_side {
	const char *name; /* BASE's */
	struct store *s;
	struct query q;
	struct run *runs;
	int n;
	struct arena *arena; /* it owns the texts */
	struct error *err;
	const char *text; /* the printed condition at this end; or NULL if unknown */
};

/* Returns the text of a condition, or NULL if the capture does not know it. */
typedef const char *condition_fn(const struct condition_side *side);

static const char *condition_host(const struct condition_side *side)
{
	freed(run_facts_free) struct run_facts f =
		run_facts_of(side->s, side->q.variant, side->q.side);
	freed(str_free) struct str s = {0};

	run_facts_host(&s, &f);
	return arena_strdup(side->arena, str_trim(s.buf));
}

/* Returns the program of the plan's command, else that of the run's command. */
static const char *condition_program(const struct condition_side *side)
{
	const char *key = arena_printf(side->arena, "%s.command", side->q.side);
	const char *command = side->runs[0].command;
	autofree char *name = NULL;
	autofree struct fact_row *facts = NULL;
	int n = store_facts(side->s, NULL, side->q.variant, &facts, side->err);

	for (int i = 0; i < n; i++)
		if (!strcmp(facts[i].name, key))
			command = facts[i].value;
	name = command ? program_name(command) : NULL;
	return arena_strdup(side->arena, name);
}

static const char *condition_cpus(const struct condition_side *side)
{
	return side->runs[0].cpus ? side->runs[0].cpus : "not pinned";
}

/* --- the network card --- */

static double card_metric(const struct condition_side *side, const char *metric, const char *card,
			  const char *key)
{
	char *object = arena_printf(side->arena, "%s/%s", card, key);

	return run_metric(side->s, &side->runs[0], metric, object, NO_CPU);
}

/* Returns "eth0 (mlx5_core), 200 Gbit/s, MTU 1500". The speed of a veth is no speed. */
static const char *condition_card(const struct condition_side *side)
{
	const char *card = run_interface(side->s, &side->runs[0], side->arena, side->err);
	const char *driver;
	freed(str_free) struct str s = {0};
	double speed, mtu;

	if (!card)
		return NULL;
	driver = store_run_fact(side->s, side->runs[0].id,
				arena_printf(side->arena, "nic:%s/driver", card));
	speed = card_metric(side, "nic_state", card, "speed_mbps");
	mtu = card_metric(side, "nic_state", card, "mtu");
	str_puts(&s, strchr(card, '/') + 1);
	if (driver)
		str_printf(&s, " (%s)", driver);
	if (speed > 0 && !(driver && limits_driver_is_virtual(driver)))
		str_printf(&s, ", %g Gbit/s", speed / 1e3);
	if (mtu > 0)
		str_printf(&s, ", MTU %.0f", mtu);
	return arena_strdup(side->arena, s.buf);
}

/* --- zero copy --- */

static const char *condition_zero_copy(const struct condition_side *side)
{
	struct evidence e[MAX_EVIDENCE];
	int n = zero_copy_evidence(side->s, &side->q, side->q.variant, true, e, side->err);
	double share = zero_copy_share(e, n < 0 ? 0 : n, side->q.side);

	return isnan(share) ? NULL : arena_printf(side->arena, "%.0f %%", 100 * share);
}

/* --- printing --- */

static const struct condition {
	const char *label;
	condition_fn *read;
	const char *absent; /* the text where no end knows it; NULL: none */
	bool own_line;
} conditions[] = {
	{"zero copy", condition_zero_copy, "no evidence", true},
	{NULL, condition_host, NULL, false},
	{"workload", condition_program, NULL, false},
	{"CPUs", condition_cpus, NULL, false},
	{"NIC", condition_card, "not known", false},
};

static bool condition_is_equal(const struct condition_side *a, const struct condition_side *b)
{
	return a->text && b->text ? !strcmp(a->text, b->text) : a->text == b->text;
}

/* Prints "CPUs: receiver 1, sender 0", or "NIC: eth0" where all sides are equal. */
static void condition_print(struct str *s, const struct condition *c,
			    struct condition_side (*of)[ENDS], int n)
{
	const char *none = c->absent ?: "unknown";
	bool shared = true;

	for (int i = 0; i < n; i++)
		for (int e = 0; e < ENDS; e++) {
			of[i][e].text = of[i][e].n > 0 ? c->read(&of[i][e]) : NULL;
			shared &= condition_is_equal(&of[i][e], &of[0][e]);
		}
	if (shared && !of[0][BASE].text && !of[0][NEW].text && !c->absent)
		return;
	if (s->len && s->buf[s->len - 1] != '\n')
		str_puts(s, "; ");
	if (c->label)
		str_printf(s, "%s: ", c->label);
	for (int i = 0; i < (shared ? 1 : n); i++) {
		const struct condition_side *base = &of[i][BASE], *new = &of[i][NEW];

		str_puts(s, i ? ", " : "");
		if (!shared)
			str_printf(s, "%s ", base->name);
		if (condition_is_equal(base, new))
			str_puts(s, base->text ?: none);
		else
			str_printf(s, "%s -> %s", base->text ?: "unknown", new->text ?: "unknown");
	}
	if (c->own_line)
		str_putc(s, '\n');
}

/* Returns "runs of 1.5 s", or "runs" where the window is not known. The caller frees it. */
static char *condition_runs(const struct condition_side *side)
{
	double seconds =
		scope_estimate(side->s, side->runs, side->n, EST_MEDIAN, figure_metric, "seconds")
			.value;
	const char *runs = side->n == 1 ? "run" : "runs";

	return isnan(seconds) ? xstrdup(runs) : xasprintf("%s of %.3g s", runs, seconds);
}

/*
 * Prints "n: 6 and 6 runs of 1.5 s", or "n: 6 runs of 1.5 s and 5 runs of 1 s". The
 * throughput and the CPU use come from these runs.
 */
static void conditions_print_runs(struct str *s, const struct comparison *c,
				  const struct condition_side ends[ENDS])
{
	autofree char *base = condition_runs(&ends[BASE]), *new = condition_runs(&ends[NEW]);

	str_printf(s, "\nn: %d", ends[BASE].n);
	if (strcmp(base, new))
		str_printf(s, " %s", base);
	str_printf(s, " and %d %s%s", ends[NEW].n, new,
		   c->rule.apart ? ", not in turns" : ", in turns");
	if (c->table->of_figures)
		str_puts(s, "; p: exact Mann-Whitney, two-sided");
	if (c->query.workload_only)
		str_puts(s, "; CPU time: of the workload's processes alone");
}

static void condition_side_read(struct condition_side *at, const struct comparison *c, enum end e,
				const char *side, struct arena *a, struct error *err)
{
	struct block b;

	*at = (struct condition_side){.name = side,
				      .s = c->end[e].store,
				      .q = compare_query(c, e, side),
				      .arena = a,
				      .err = err};
	b = (struct block){at->q.variant, at->q.side};
	at->n = scope_runs(at->s, &at->q, &b, FOR_FIGURES, &at->runs, err);
}

const char *compare_card(const struct comparison *c, const char *side, struct arena *a,
			 struct error *err)
{
	struct condition_side at;
	const char *card;

	condition_side_read(&at, c, BASE, side, a, err);
	card = at.n > 0 ? condition_card(&at) : NULL;
	free(at.runs);
	return card;
}

int compare_conditions(const struct comparison *c, const char *side, struct str *lines,
		       struct error *err)
{
	struct comparison one = *c;
	autofree struct condition_side(*of)[ENDS] = NULL;
	const char *only = side && *side ? side : c->side[BASE];
	autofree const char **sides = NULL;
	freed(arena_free) struct arena arena = {0};
	int nsides, n = 0;

	if (c->end[BASE].bare || c->end[NEW].bare)
		return 0;
	nsides = store_sides(c->end[BASE].store, &sides, err);
	if (nsides < 0)
		return nsides;
	of = xcalloc((size_t)nsides + 1, sizeof(*of));
	for (int i = 0; i < nsides; i++) {
		if (only && strcmp(only, sides[i]))
			continue;
		for (int e = 0; e < ENDS; e++)
			condition_side_read(&of[n][e], c, (enum end)e, sides[i], &arena, err);
		n++;
	}
	for (size_t k = 0; n && k < array_size(conditions); k++)
		condition_print(lines, &conditions[k], of, n);
	if (n && of[0][BASE].n > 0 && of[0][NEW].n > 0)
		conditions_print_runs(lines, c, of[0]);
	if (n)
		str_putc(lines, '\n');
	for (int i = 0; i < n; i++)
		for (int e = 0; e < ENDS; e++)
			free(of[i][e].runs);
	if (side && *side && !c->side[BASE])
		one.side[BASE] = one.side[NEW] = side;
	return err->code ? -err->code : compare_settings(&one, SETTINGS_SHOWN, lines, err);
}
