// SPDX-License-Identifier: GPL-2.0-only
/* The command zcost capture. */
#include "capture/capture.h"
#include "capture/plan_read.h"
#include "capture/undo.h"
#include "lib/words.h"
#include "collect/options.h"
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int cmd_capture(int argc, char **argv);

enum {
	KEY_DRY = 256,
	KEY_UNDO,
	KEY_AGAINST,
	KEY_VARIANT,
	KEY_SET,
	KEY_USER,
	/* These set a key of the plan: see plan_options. */
	KEY_PASS,
	KEY_REPEAT,
	KEY_WARMUP,
	KEY_DURATION,
	KEY_GRACE,
	KEY_CPUS,
	KEY_UNITS,
	KEY_COLLECT,
	KEY_CALL_GRAPH,
	KEY_POWER_CSV,
	KEY_POWER_COMMAND,
	KEY_EVENTS,
	KEY_END,
};

/* Options that set a key of [plan], or of the one side that --variant has. */
static const struct {
	const char *name, *key;
	enum plan_section section;
} plan_options[KEY_END - KEY_PASS] = {
	{"pass", "passes", SECTION_PLAN},
	{"repeat", "repeats", SECTION_PLAN},
	{"warmup", "warmup", SECTION_PLAN},
	{"duration", "duration", SECTION_PLAN},
	{"grace", "grace", SECTION_PLAN},
	{"cpus", "cpus", SECTION_SIDE},
	{"units", "units", SECTION_SIDE},
	{"collect", "collect", SECTION_SIDE},
	{"call-graph", "call_graph", SECTION_SIDE},
	{"power-csv", "power_csv", SECTION_SIDE},
	{"power-command", "power_command", SECTION_SIDE},
	{"events", "events", SECTION_SIDE},
};

static const struct argp_option options[] = {
	{"output", 'o', "CAPTURE", 0, "folder of the capture; an interrupted capture continues", 1},
	{"dry-run", KEY_DRY, NULL, 0,
	 "print the runs in order and how long they take; with -o, only those that are left", 1},
	{"undo", KEY_UNDO, NULL, 0,
	 "make no run; undo what a killed capture set up, and end its processes", 1},
	{"verbose", 'v', NULL, 0, "print each run, and why something is not measured", 1},
	{"against", KEY_AGAINST, "CAPTURE", 0,
	 "also measure the variants of this earlier capture, as old-NAME; their runs take turns with those of the plan",
	 1},
	{"set", KEY_SET, "NAME=VALUE", 0,
	 "the value of a variable of the plan's [vars]; several --set are possible", 1},
	{"user", KEY_USER, "NAME", 0,
	 "run the commands of all sides as this user, without the rights of root; hooks, prefixes and collectors stay root",
	 1},
	{"pass", KEY_PASS, "measure|profile|syscalls[,...]", 0,
	 "measure, profile, syscalls (default: the plan's, or all)", 1},
	{"repeat", KEY_REPEAT, "N", 0,
	 "runs per variant in the measure pass, and in the profile pass unless the plan has profile_repeats (default 6)",
	 1},
	{"warmup", KEY_WARMUP, "S", 0, "seconds before the window", 1},
	{"duration", KEY_DURATION, "S", 0,
	 "seconds of the window; with --variant 0, the default: until the command ends", 1},
	{"grace", KEY_GRACE, "S", 0,
	 "seconds for the command to end by itself after the window (10)", 1},
	{"variant", KEY_VARIANT, "NAME", 0, "without a plan: measure COMMAND under this name", 2},
	{"cpus", KEY_CPUS, "SET", 0, "its CPUs, such as 0-3,8 (default: all)", 2},
	{"units", KEY_UNITS, "ADAPTER", 0, "what finds the work done, as in zcost collect", 2},
	{"collect", KEY_COLLECT, "COLLECTOR[,...]", 0, "collectors of the measure pass", 2},
	{"call-graph", KEY_CALL_GRAPH, "fp|dwarf|dwarf,SIZE|lbr", 0,
	 "call chains of the profile pass, as in zcost collect", 2},
	{"power-csv", KEY_POWER_CSV, "FILE", 0, "log of an external power meter", 2},
	{"events", KEY_EVENTS, "LIST", 0, "events that 'counters' counts, as in zcost collect", 2},
	{"power-command", KEY_POWER_COMMAND, "[KIND=]CMD", 0,
	 "command that prints watts, as in zcost collect", 2},
	{0},
};

static const char doc[] =
	"Measure the variants of a plan, or one command, into a capture folder."
	"\vzcost collect runs each side of each run. Started again, a capture makes the runs that are left and tries failed runs once more. If ZCOST_COLLECT names a program, zcost runs `PROGRAM collect ...` instead of itself (for tests).\n\n"
	"A plan is an ini file. docs/reference/plan.md lists all its keys (plan.ini), and samples/*.ini are examples. --dry-run checks a plan and runs nothing.\n\n"
	"Exit status: 0 all runs are there, 1 no run succeeded or a signal came, 2 wrong usage or a wrong plan, 4 some runs failed or lost data.";

struct capture_args {
	const char *output, *against, *variant, *user;
	const char *plan[KEY_END - KEY_PASS]; /* arguments of plan_options */
	struct words set;
	bool dry, undo, verbose, after_dashes;
	char **rest;
	int nrest;
};

/* Says whether COMMAND is a plan. argp moves words from before "--" behind it. */
static bool args_are_plan(const struct capture_args *a)
{
	const char *name = a->nrest ? a->rest[0] : "";
	struct stat st;

	return !stat(name, &st) && S_ISREG(st.st_mode) &&
	       (str_ends(name, ".ini") || (!a->after_dashes && access(name, X_OK)));
}

static void args_check(struct argp_state *state, const struct capture_args *a)
{
	size_t i;

	if (!a->output && !a->dry)
		argp_error(state, "the folder of the capture is missing; give -o CAPTURE");
	if (a->undo && (a->nrest || a->set.n || a->against || a->variant || a->dry))
		argp_error(state, "--undo takes -o CAPTURE and nothing else");
	if (a->undo)
		return;
	if (a->variant && !a->nrest)
		argp_error(state, "--variant %s: give the COMMAND after --", a->variant);
	if (a->variant && args_are_plan(a))
		argp_error(state,
			   "%s is a plan, which has its variants in it: leave out --variant %s; "
			   "a command of your own comes after --: --variant %s -- COMMAND",
			   a->rest[0], a->variant, a->variant);
	if (!a->variant && a->after_dashes)
		argp_error(state, "a COMMAND needs a name for it: --variant NAME -- %s ...",
			   a->rest[0]);
	if (!a->variant && a->nrest != 1)
		argp_error(state,
			   a->nrest ? "there can be only one PLAN; a COMMAND needs --variant NAME"
				    : "give a PLAN, or --variant NAME -- COMMAND");
	if (a->variant && a->set.n)
		argp_error(state, "--set %s changes a variable of a plan; --variant has no plan",
			   a->set.word[0]);
	for (i = 0; i < array_size(plan_options) && !a->variant; i++)
		if (a->plan[i] && plan_options[i].section == SECTION_SIDE)
			argp_error(
				state,
				"--%s and the like belong to --variant; a plan has them in its [side] sections",
				plan_options[i].name);
}

static error_t args_parse_option(int key, char *arg, struct argp_state *state)
{
	struct capture_args *a = state->input;

	if (key >= KEY_PASS && key < KEY_END) {
		a->plan[key - KEY_PASS] = arg;
		return 0;
	}
	switch (key) {
	case 'o':
		a->output = arg;
		return 0;
	case KEY_AGAINST:
		a->against = arg;
		return 0;
	case KEY_VARIANT:
		a->variant = arg;
		return 0;
	case KEY_USER:
		a->user = arg;
		return 0;
	case KEY_DRY:
		a->dry = true;
		return 0;
	case KEY_UNDO:
		a->undo = true;
		return 0;
	case KEY_SET:
		words_add(&a->set, arg);
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	case ARGP_KEY_ARGS:
		a->rest = state->argv + state->next;
		a->nrest = state->argc - state->next;
		a->after_dashes = a->nrest && state->next == state->quoted;
		return 0;
	case ARGP_KEY_END:
		args_check(state, a);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = args_parse_option,
	.args_doc =
		"PLAN -o CAPTURE [--against CAPTURE]\n-o CAPTURE --variant NAME -- COMMAND...\n--undo -o CAPTURE",
	.doc = doc,
};

static int plan_apply_options(struct plan *p, const struct capture_args *a, struct error *err)
{
	struct error why = {0};
	size_t i;

	if (a->user)
		plan_set_user(p, a->user);
	for (i = 0; i < array_size(plan_options); i++) {
		enum plan_section section = plan_options[i].section;
		const struct plan_key *k = plan_key_find(section, plan_options[i].key);
		void *base = section == SECTION_SIDE ? (void *)p->sides : p;

		if (a->plan[i] && plan_key_set(k, base, a->plan[i], &why))
			return error_set(err, EINVAL, "--%s: %s", plan_options[i].name, why.text);
	}
	if (!a->variant && p->duration_s <= 0)
		return error_set(err, EINVAL, "--duration must be more than 0 for a plan");
	return 0;
}

static int plan_make(struct plan *p, const struct capture_args *a, const char *bindir,
		     struct error *err)
{
	int rc;

	if (!a->variant) {
		rc = plan_read(p, a->rest[0], &a->set, bindir, err);
	} else {
		p->warmup_s = p->duration_s = 0;
		rc = plan_wrap(p, a->variant, a->rest, err);
	}
	return rc ? rc : plan_apply_options(p, a, err);
}

/*
 * Prints the way out where something is still to be undone: it would stop every later capture into
 * the folder. Prints nothing while another capture runs there, because that one will undo it.
 */
static void note_undo_due(const char *dir)
{
	int lock = recover_lock(dir, NULL);
	autofree char *state = lock < 0 ? NULL : state_folder(dir, false, NULL);

	if (lock < 0)
		return;
	close(lock);
	if (undo_due(dir))
		print_note(
			"not undone yet: the next capture into %s tries again, and so does 'zcost capture --undo -o %s'. If you have undone it by hand, remove %s",
			dir, dir, state ? state : "its state");
}

/* Prints what ended a capture early, and the runs that it made. */
static int capture_conclude_early(const struct capture *c, int rc, const struct error *err)
{
	const char *how = rc == -EINTR ? "interrupted: " : "";

	if (rc != -EINTR)
		error_print(err);
	note_undo_due(c->dir);
	if (c->ok || *how)
		print_note("%s%zu run%s added to %s; run the same command again to go on", how,
			   c->ok, c->ok == 1 ? " was" : "s were", c->dir);
	return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

static int capture_conclude(const struct capture *c)
{
	if (c->failed && !c->ok)
		warn("no run of %zu succeeded%s; remove the cause, then run the same command again",
		     c->failed,
		     c->failed < c->progress.total ? ", so the others were not tried" : "");
	else if (c->failed)
		warn("%zu of %zu runs failed; the others are safe in %s; run the same command again to try those once more",
		     c->failed, c->failed + c->ok, c->dir);
	if (c->lossy)
		warn("%zu %s incomplete: see the remarks above, or each run.json", c->lossy,
		     c->lossy == 1 ? "run is" : "runs are");
	if (c->failed && !c->ok)
		return EXIT_FAILED;
	if (c->ok)
		print_note("%zu run%s added to %s; next: zcost analyze %s", c->ok,
			   c->ok == 1 ? " was" : "s were", c->dir, c->dir);
	return c->failed || c->lossy ? EXIT_LOSSY : EXIT_OK;
}

static int capture_run_dry(struct plan *p, const struct capture_args *a)
{
	struct error err = {0};
	int rc = capture_dry_run(p, a->output, !a->variant, &err);

	if (rc)
		error_print(&err);
	return !rc ? EXIT_OK : rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

static int capture_run_plan(struct plan *p, const struct capture_args *a, const char *self)
{
	const char *fake = getenv("ZCOST_COLLECT");
	struct capture c = {
		.plan = p,
		.dir = a->output,
		.collect = fake && *fake ? fake : self,
		.whole = !a->variant,
		.verbose = a->verbose,
	};
	struct error err = {0};
	int rc = capture_all(&c, &err);

	if (!rc || rc == -EINTR)
		caller_give_tree(a->output);
	return rc ? capture_conclude_early(&c, rc, &err) : capture_conclude(&c);
}

int cmd_capture(int argc, char **argv)
{
	struct capture_args a = {0};
	struct error err = {0};
	struct plan plan;
	autofree char *self = NULL, *dir = NULL;
	int code;

	complete_run(&argp, argc, argv, collect_complete, NULL);
	args_parse(&argp, argc, argv, 0, &a);
	spawn_private();
	if (a.undo) {
		if (!capture_undo(a.output, &err))
			return EXIT_OK;
		error_print(&err);
		note_undo_due(a.output);
		return EXIT_FAILED;
	}
	/* Its folder is ${bindir} in plans. A program that was replaced has no path. */
	self = realpath("/proc/self/exe", NULL) ?: xstrdup("/proc/self/exe");
	dir = xstrdup(self);
	plan_init(&plan);
	if (plan_make(&plan, &a, dirname(dir), &err) ||
	    (a.against && plan_add_capture(&plan, a.against, &err))) {
		error_print(&err);
		code = error_of_machine(err.code) ? EXIT_FAILED : EXIT_USAGE;
	} else {
		code = a.dry ? capture_run_dry(&plan, &a) : capture_run_plan(&plan, &a, self);
	}
	plan_free(&plan);
	words_free(&a.set);
	return code;
}
