// SPDX-License-Identifier: GPL-2.0-only
/*
 * The conditions of a comparison in a few lines for a commit message: kernel, CPUs of the workload,
 * network card, zero copy, number of runs, and the settings that
 * differ. A text that all sides share stands once.
 */
#include "analyze/compare/compare.h"

#include "analyze/evidence/limits.h"
#include "analyze/scope/runs.h"
#include "analyze/evidence/zerocopy.h"
#include "lib/program.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS_SHOWN = 2 };

/* One side of one end, with its runs that give the figures. */
struct condition_side {
	struct store *s;
	struct query q;
	struct run *runs;
	int n;
	struct arena *arena; /* it owns the texts */
	struct error *err;
};

/* Returns the text of a condition, or NULL if the capture does not know it. */
typedef const char *condition_fn(const struct condition_side *side);

static const char *condition_host(const struct condition_side *side)
{
	struct run_facts f = run_facts_of(side->s, side->q.variant, side->q.side);
	struct str s = {0};
	const char *text;

	run_facts_host(&s, &f);
	text = arena_strdup(side->arena, str_trim(s.buf));
	str_free(&s);
	run_facts_free(&f);
	return text;
}

/* Returns the program of the plan's command, else that of the run's command. */
static const char *condition_program(const struct condition_side *side)
{
	char *key = arena_printf(side->arena, "%s.command", side->q.side), *name;
	const char *command = side->runs[0].command;
	struct fact_row *facts;
	int n = store_facts(side->s, NULL, side->q.variant, &facts, side->err), i;
	const char *program;

	for (i = 0; i < n; i++)
		if (!strcmp(facts[i].name, key))
			command = facts[i].value;
	name = command ? program_name(command) : NULL;
	program = name ? arena_strdup(side->arena, name) : NULL;
	free(name);
	free(facts);
	return program;
}

static const char *condition_cpus(const struct condition_side *side)
{
	return side->runs[0].cpus ? side->runs[0].cpus : "not pinned";
}

/* --- the network card: the interface that moved the most bytes --- */

static double card_metric(const struct condition_side *side, const char *metric, const char *card,
			  const char *key)
{
	char *object = arena_printf(side->arena, "%s/%s", card, key);

	return run_metric(side->s, &side->runs[0], metric, object, NO_CPU);
}

/* Returns "host/eth0" for the counter "host/eth0/link/rx_bytes". */
static const char *card_find(const struct condition_side *side)
{
	static const char end[] = "/link/rx_bytes";
	struct metric_row *m;
	int n = store_metrics(side->s, side->runs[0].id, "nic", OF_SIDE, &m, side->err), i;
	const char *best = NULL;
	double most = 0, bytes;

	for (i = 0; i < n; i++) {
		const char *name = m[i].key.object ?: "", *card;

		if (!str_ends(name, end))
			continue;
		card = arena_printf(side->arena, "%.*s", (int)(strlen(name) - strlen(end)), name);
		bytes = m[i].value + card_metric(side, "nic", card, "link/tx_bytes");
		if (bytes > most) {
			most = bytes;
			best = card;
		}
	}
	free(m);
	return best;
}

/* Returns "eth0 (mlx5_core), 200 Gbit/s, MTU 1500". The speed of a veth is no speed. */
static const char *condition_card(const struct condition_side *side)
{
	const char *card = card_find(side), *driver, *text;
	struct str s = {0};
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
	text = arena_strdup(side->arena, s.buf);
	str_free(&s);
	return text;
}

/* --- zero copy --- */

static const char *condition_zero_copy(const struct condition_side *side)
{
	struct evidence e[MAX_EVIDENCE];
	int n = zero_copy_evidence(side->s, &side->q, side->q.variant, e, side->err);
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

static bool condition_texts_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* The texts of one condition: of each side, at both ends. */
struct condition_texts {
	const char *side, *text[ENDS];
};

static bool condition_is_shared(const struct condition_texts *t, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!condition_texts_equal(t[i].text[BASE], t[0].text[BASE]) ||
		    !condition_texts_equal(t[i].text[NEW], t[0].text[NEW]))
			return false;
	return true;
}

static void condition_print_ends(struct str *s, const struct condition_texts *t, const char *absent)
{
	if (condition_texts_equal(t->text[BASE], t->text[NEW]))
		str_puts(s, t->text[BASE] ?: absent ?: "unknown");
	else
		str_printf(s, "%s -> %s", t->text[BASE] ?: "unknown", t->text[NEW] ?: "unknown");
}

/* Prints "CPUs: receiver 1, sender 0", or "NIC: eth0" where all sides are equal. */
static void condition_print(struct str *s, const struct condition *of,
			    const struct condition_texts *t, int n)
{
	bool shared = condition_is_shared(t, n);
	int i;

	if (shared && !t[0].text[BASE] && !t[0].text[NEW] && !of->absent)
		return;
	if (s->len && s->buf[s->len - 1] != '\n')
		str_puts(s, "; ");
	if (of->label)
		str_printf(s, "%s: ", of->label);
	for (i = 0; i < (shared ? 1 : n); i++) {
		str_puts(s, i ? ", " : "");
		if (!shared)
			str_printf(s, "%s ", t[i].side);
		condition_print_ends(s, &t[i], of->absent);
	}
	if (of->own_line)
		str_putc(s, '\n');
}

/* Returns "runs of 1.5 s", or "runs" where the window is not known. The caller frees it. */
static char *condition_runs(const struct condition_side *side)
{
	double seconds = figure_metric(side->s, &side->runs[0], "seconds");
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
	char *base = condition_runs(&ends[BASE]), *new = condition_runs(&ends[NEW]);

	str_printf(s, "\nn: %d", ends[BASE].n);
	if (strcmp(base, new))
		str_printf(s, " %s", base);
	str_printf(s, " and %d %s%s", ends[NEW].n, new,
		   c->rule.apart ? ", not in turns" : ", in turns");
	if (c->table->of_figures)
		str_puts(s, "; p: exact Mann-Whitney, two-sided");
	if (c->query.workload_only)
		str_puts(s, "; CPU time: of the workload's processes alone");
	free(base);
	free(new);
}

static void condition_side_read(struct condition_side *at, const struct comparison *c, enum end e,
				const char *side, struct arena *a, struct error *err)
{
	struct block b;

	*at = (struct condition_side){
		.s = c->end[e].store, .q = compare_query(c, e, side), .arena = a, .err = err};
	b = (struct block){at->q.variant, at->q.side};
	at->n = scope_runs(at->s, &at->q, &b, FOR_FIGURES, &at->runs, err);
}

/* Prints the conditions of `n` sides. `of` has the ends of each side. */
static void conditions_print(struct str *s, const struct comparison *c, const char **sides,
			     const struct condition_side (*of)[ENDS], int n)
{
	struct condition_texts *texts = xcalloc((size_t)n, sizeof(*texts));
	size_t k;
	int i, e;

	for (k = 0; k < array_size(conditions); k++) {
		for (i = 0; i < n; i++) {
			texts[i].side = sides[i];
			for (e = 0; e < ENDS; e++)
				texts[i].text[e] =
					of[i][e].n > 0 ? conditions[k].read(&of[i][e]) : NULL;
		}
		condition_print(s, &conditions[k], texts, n);
	}
	if (of[0][BASE].n > 0 && of[0][NEW].n > 0)
		conditions_print_runs(s, c, of[0]);
	str_putc(s, '\n');
	free(texts);
}

/* Leaves out the sides that the comparison does not have. */
static int conditions_choose_sides(const struct comparison *c, const char *side, const char **sides,
				   int n)
{
	const char *only = side && *side ? side : c->side[BASE];
	int i, kept = 0;

	for (i = 0; i < n; i++)
		if (!only || !strcmp(only, sides[i]))
			sides[kept++] = sides[i];
	return kept;
}

int compare_conditions(const struct comparison *c, const char *side, struct str *lines,
		       struct error *err)
{
	struct comparison one = *c;
	struct condition_side(*of)[ENDS];
	struct arena arena = {0};
	const char **sides;
	int n, i, e;

	if (c->end[BASE].bare || c->end[NEW].bare)
		return 0;
	n = store_sides(c->end[BASE].store, &sides, err);
	if (n < 0)
		return n;
	n = conditions_choose_sides(c, side, sides, n);
	of = xcalloc((size_t)n + 1, sizeof(*of));
	for (i = 0; i < n; i++)
		for (e = 0; e < ENDS; e++)
			condition_side_read(&of[i][e], c, (enum end)e, sides[i], &arena, err);
	if (n)
		conditions_print(lines, c, sides, (const struct condition_side(*)[ENDS])of, n);
	for (i = 0; i < n; i++)
		for (e = 0; e < ENDS; e++)
			free(of[i][e].runs);
	free(of);
	free(sides);
	arena_free(&arena);
	if (side && *side && !c->side[BASE])
		one.side[BASE] = one.side[NEW] = side;
	return err->code ? -err->code : compare_settings(&one, SETTINGS_SHOWN, lines, err);
}
