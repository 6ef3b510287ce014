// SPDX-License-Identifier: GPL-2.0-only
/* Prints for --dry-run what a capture would do. Settings change in the order of stage.c. */
#include "capture/capture.h"
#include "capture/plan.h"
#include "capture/undo.h"

#include <math.h>
#include <stdio.h>

/* Prints a command. Its later lines are indented under its key. */
static void print_text(const char *text)
{
	for (; *text; text++) {
		putchar(*text);
		if (*text == '\n')
			fputs("        ", stdout);
	}
	putchar('\n');
}

static void print_side(const struct side_plan *s, char *command)
{
	printf("  %-8s ", s->name);
	if (*s->host)
		printf("%s ", s->host);
	if (*s->cpus)
		printf("[cpus %s] ", s->cpus);
	if (*s->user)
		printf("[user %s] ", s->user);
	if (*s->prefix)
		printf("%s ", s->prefix);
	print_text(command);
	free(command);
}

static void print_variants(const struct plan *p)
{
	for (size_t i = 0; i < p->nvariants; i++) {
		const struct variant *v = &p->variants[i];
		const struct side_plan *sides = plan_sides(p, v);

		printf("variant %s%s%s\n", v->name, *v->what ? ": " : "", v->what);
		for (int side = 0; side < p->nsides; side++)
			print_side(&sides[side], plan_command(p, v, side, 0));
	}
}

static void print_hook(const char *what, const struct set_value *s, const char *key,
		       const char *command)
{
	if (!*command)
		return;
	printf("    %s %s=%s: %s", what, s->name, s->value, key);
	print_text(command);
}

static void print_set(const struct set_value *s)
{
	print_hook("set", s, "saved = ", s->hooks.save);
	print_hook("set", s, "", s->hooks.before);
	if (!*s->hooks.before)
		printf("    set %s=%s\n", s->name, s->value);
}

/* Undoes the settings of a combination down to the first `keep`. */
static void print_undo(const struct combination *c, size_t keep)
{
	for (size_t i = c->n; i > keep; i--)
		print_hook("undo", &c->set[i - 1], "", c->set[i - 1].hooks.after);
}

/* Prints the runs and the changes of settings between them. Returns the number of changes. */
static size_t print_order(const struct plan *p, const struct order *o)
{
	size_t at = 0, changes = 0, keep;

	for (size_t i = 0; i < o->n; i++) {
		size_t to = p->variants[o->run[i].variant].combination;
		autofree char *name = run_name(p, &o->run[i]);

		keep = i ? stage_common(p, at, to) : 0;
		if (i)
			print_undo(plan_combination(p, at), keep);
		for (; (!i || to != at) && keep < plan_combination(p, to)->n; keep++)
			print_set(&plan_combination(p, to)->set[keep]);
		changes += i && to != at;
		at = to;
		printf("%3zu %s\n", i + 1, name);
	}
	if (o->n)
		print_undo(plan_combination(p, at), 0);
	return changes;
}

static void print_time(const struct plan *p, const struct order *o, size_t changes)
{
	struct progress progress;
	double s, wait_s = 0; /* the longest time that a side gets to end by itself, in all runs */

	for (int i = 0; i < p->nsides; i++)
		wait_s = fmax(wait_s, plan_grace(p, i) * (double)o->n);
	progress_init(&progress, p, false);
	s = progress_expect(&progress, o, 0);
	printf("%zu run%s", o->n, o->n == 1 ? "" : "s");
	if (p->duration_s > 0)
		printf(" of %g s warm-up and %g s window", p->warmup_s, p->duration_s);
	else
		printf(" of the time of the command itself");
	if (changes)
		printf(", %zu changes of settings", changes);
	printf(": about %s", progress_time(s));
	if (p->duration_s > 0 && wait_s > 0)
		printf("; up to %s if no workload ends by itself (grace)",
		       progress_time(s + wait_s));
	putchar('\n');
}

/*
 * The runs of two variants that can differ significantly: exact Mann-Whitney, p < 0.05. The
 * smallest p is 2 / choose(2n, n). Holm's correction multiplies it by the rows of a list: 5 runs
 * are enough for the primary figures, 6 for 23 rows (docs/method.md, Differences).
 */
static const struct {
	const char *key, *of;
	unsigned int runs;
} verdict_needs[PASS_SYSCALLS] = {
	[PASS_MEASURE] = {"repeats", "a verdict", 5},
	[PASS_PROFILE] = {"profile_repeats", "verdicts on lists of functions or components", 6},
};

/* Names the keys that leave the passes of comparisons too few runs for a verdict. */
static void note_few_runs(const struct plan *p)
{
	for (int i = 0; i < PASS_SYSCALLS && p->nvariants > 1; i++) {
		unsigned int n = plan_repeats(p, (enum pass)i);

		if (p->passes & 1u << i && n < verdict_needs[i].runs)
			print_note(
				"pass %s: %u run%s of each variant %s too few for %s of zcost compare: set %s in [plan] to %u or more",
				pass_names[i], n, n == 1 ? "" : "s", n == 1 ? "is" : "are",
				verdict_needs[i].of,
				verdict_needs[p->repeats[i] ? i : PASS_MEASURE].key,
				verdict_needs[i].runs);
	}
}

/* Warns that no side has units, so that no run has a throughput, or a cost per unit of work. */
static void warn_no_units(const struct plan *p)
{
	for (int i = 0; i < p->nsides; i++)
		if (*p->sides[i].units && strcmp(p->sides[i].units, "none") != 0)
			return;
	warn("no side has units: there will be no throughput and no cost per unit of work; set units in [side NAME], or --units with --variant");
}

static void print_all(const struct plan *p, const struct order *o)
{
	size_t changes;

	fputs(p->sets, stdout);
	print_variants(p);
	if (*p->before) {
		printf("before: ");
		print_text(p->before);
	}
	printf("order: %s, seed %s\n", p->order, p->seed);
	changes = print_order(p, o);
	if (*p->after) {
		printf("after: ");
		print_text(p->after);
	}
	print_time(p, o, changes);
}

int capture_dry_run(struct plan *p, const char *dir, bool whole, struct error *err)
{
	freed(manifest_close) struct manifest there = {0};
	freed(order_free) struct order all = {0}, left = {0};
	int rc = plan_check_cpus(p, err);

	rc = rc ?: plan_check_programs(p, err);
	rc = rc ?: manifest_open(&there, dir ? dir : "", err);
	if (!rc && !plan_has_remotes(p)) /* their ${bindir} is not known */
		rc = manifest_adopt(&there, p, whole, err);
	if (!rc) {
		order_make(&all, p);
		manifest_runs_left(&there, p, &all, &left);
		capture_note_existing(dir, all.n, left.n);
		if (left.n)
			plan_note_start(p);
		note_few_runs(p);
		warn_no_units(p);
		print_all(p, &left);
	}
	return rc;
}
