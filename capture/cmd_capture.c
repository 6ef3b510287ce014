// SPDX-License-Identifier: GPL-2.0-only
/* The command zcost capture. */
#include "capture/capture.h"
#include "capture/plan_read.h"
#include "capture/undo.h"
#include "collect/options.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/spawn.h"

#include <errno.h>
#include <libgen.h>
#include <unistd.h>

int cmd_capture(int argc, char **argv);

/* The options that the code asks for by name. The others set a key of the plan. */
enum { OUTPUT, DRY_RUN, UNDO, VERBOSE, AGAINST, SET, USER, PLAN_OPTIONS, VARIANT = 12, ROWS = 21 };

/*
 * THE TABLE of options. A row with `key` sets this key of [plan], or of the one side that --variant
 * has. Such a side has the options of group 2.
 */
static const struct option_row {
	const char *name, *arg, *help;
	int letter, group; /* letter 0: it has none */
	const char *key;
} rows[ROWS] = {
	[OUTPUT] = {"output", "CAPTURE", "folder of the capture; an interrupted capture continues",
		    'o', 1, NULL},
	[DRY_RUN] =
		{"dry-run", NULL,
		 "print the runs in order and how long they take; with -o, only those that are left",
		 0, 1, NULL},
	[UNDO] = {"undo", NULL,
		  "make no run; undo what a killed capture set up, and end its processes", 0, 1,
		  NULL},
	[VERBOSE] = {"verbose", NULL, "print each run, and why something is not measured", 'v', 1,
		     NULL},
	[AGAINST] =
		{"against", "CAPTURE",
		 "also measure the variants of this earlier capture, as old-NAME; their runs take turns with those of the plan",
		 0, 1, NULL},
	[SET] = {"set", "NAME=VALUE",
		 "the value of a variable of the plan's [vars]; several --set are possible", 0, 1,
		 NULL},
	[USER] =
		{"user", "NAME",
		 "run the commands of all sides as this user, without the rights of root; hooks, prefixes and collectors stay root",
		 0, 1, NULL},
	[PLAN_OPTIONS] =
		{"pass", "measure|profile|syscalls[,...]",
		 "measure, profile, syscalls, trace (default: the plan's, or all but trace)", 0, 1,
		 "passes"},
	{"repeat", "N",
	 "runs per variant in the measure pass, and in the profile pass unless the plan has profile_repeats (default 6)",
	 0, 1, "repeats"},
	{"warmup", "S", "seconds before the window", 0, 1, "warmup"},
	{"duration", "S",
	 "seconds of the window; with --variant 0, the default: until the command ends", 0, 1,
	 "duration"},
	{"grace", "S", "seconds for the command to end by itself after the window (10)", 0, 1,
	 "grace"},
	[VARIANT] = {"variant", "NAME", "without a plan: measure COMMAND under this name", 0, 2,
		     NULL},
	{"cpus", "SET", "its CPUs, such as 0-3,8 (default: all)", 0, 2, "cpus"},
	{"units", "ADAPTER", "what finds the work done, as in zcost collect", 0, 2, "units"},
	{"collect", "COLLECTOR[,...]", "collectors of the measure pass", 0, 2, "collect"},
	{"call-graph", "fp|dwarf|dwarf,SIZE|lbr",
	 "call chains of the profile pass, as in zcost collect", 0, 2, "call_graph"},
	{"freq", "HZ", "samples per second and CPU of the profile pass, as in zcost collect", 0, 2,
	 "freq"},
	{"power-csv", "FILE", "log of an external power meter", 0, 2, "power_csv"},
	{"events", "LIST", "events that 'counters' counts, as in zcost collect", 0, 2, "events"},
	{"power-command", "[KIND=]CMD", "command that prints watts, as in zcost collect", 0, 2,
	 "power_command"},
};

/* The same for argp, which capture_set_options() fills. The last one stays empty. */
static struct argp_option options[ROWS + 1];

enum { KEY = 256 };

static void capture_set_options(void)
{
	for (int i = 0; i < ROWS; i++)
		options[i] = (struct argp_option){.name = rows[i].name,
						  .key = rows[i].letter ? rows[i].letter : KEY + i,
						  .arg = rows[i].arg,
						  .doc = rows[i].help,
						  .group = rows[i].group};
}

static const char doc[] =
	"Measure the variants of a plan, or one command, into a capture folder."
	"\vzcost collect runs each side of each run. Started again, a capture makes the runs that are left and tries failed runs once more. If ZCOST_COLLECT names a program, zcost runs `PROGRAM collect ...` instead of itself (for tests).\n\n"
	"A plan is an ini file. docs/reference/plan.md lists all its keys (plan.ini), and samples/*.ini are examples. --dry-run checks a plan and runs nothing.\n\n"
	"Exit status: 0 all runs are there, 1 no run succeeded or a signal came, 2 wrong usage or a wrong plan, 4 some runs failed or lost data.";

struct capture_args {
	const char *given[ROWS]; /* the argument of each option, "" without one; NULL: not given */
	struct words set;
	bool after_dashes;
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
	if (!a->given[OUTPUT] && !a->given[DRY_RUN])
		argp_error(state, "the folder of the capture is missing; give -o CAPTURE");
	if (a->given[UNDO] &&
	    (a->nrest || a->set.n || a->given[AGAINST] || a->given[VARIANT] || a->given[DRY_RUN]))
		argp_error(state, "--undo takes -o CAPTURE and nothing else");
	if (a->given[UNDO])
		return;
	if (a->given[VARIANT] && !a->nrest)
		argp_error(state, "--variant %s: give the COMMAND after --", a->given[VARIANT]);
	if (a->given[VARIANT] && args_are_plan(a))
		argp_error(state,
			   "%s is a plan, which has its variants in it: leave out --variant %s; "
			   "a command of your own comes after --: --variant %s -- COMMAND",
			   a->rest[0], a->given[VARIANT], a->given[VARIANT]);
	if (!a->given[VARIANT] && a->after_dashes)
		argp_error(state, "a COMMAND needs a name for it: --variant NAME -- %s ...",
			   a->rest[0]);
	if (!a->given[VARIANT] && a->nrest != 1)
		argp_error(state,
			   a->nrest ? "there can be only one PLAN; a COMMAND needs --variant NAME"
				    : "give a PLAN, or --variant NAME -- COMMAND");
	if (a->given[VARIANT] && a->set.n)
		argp_error(state, "--set %s changes a variable of a plan; --variant has no plan",
			   a->set.word[0]);
	for (size_t i = PLAN_OPTIONS; i < ROWS && !a->given[VARIANT]; i++)
		if (a->given[i] && rows[i].group == 2)
			argp_error(
				state,
				"--%s and the like belong to --variant; a plan has them in its [side] sections",
				rows[i].name);
}

static error_t args_parse_option(int key, char *arg, struct argp_state *state)
{
	struct capture_args *a = state->input;

	for (int i = 0; i < ROWS; i++) {
		if (options[i].key != key)
			continue;
		a->given[i] = arg ? arg : "";
		if (i == SET)
			words_add(&a->set, arg);
		return 0;
	}
	if (key == ARGP_KEY_END)
		args_check(state, a);
	if (key == ARGP_KEY_ARGS) {
		a->rest = state->argv + state->next;
		a->nrest = state->argc - state->next;
		a->after_dashes = a->nrest && state->next == state->quoted;
	}
	return key == ARGP_KEY_END || key == ARGP_KEY_ARGS ? 0 : ARGP_ERR_UNKNOWN;
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

	if (a->given[USER])
		plan_set_user(p, a->given[USER]);
	for (int i = PLAN_OPTIONS; i < ROWS; i++) {
		enum plan_section section = rows[i].group == 2 ? SECTION_SIDE : SECTION_PLAN;
		void *base = section == SECTION_SIDE ? (void *)p->sides : p;

		if (a->given[i] && rows[i].key &&
		    plan_key_set(plan_key_find(section, rows[i].key), base, a->given[i], &why))
			return error_set(err, EINVAL, "--%s: %s", rows[i].name, why.text);
	}
	if (!a->given[VARIANT] && p->duration_s <= 0)
		return error_set(err, EINVAL, "--duration must be more than 0 for a plan");
	return 0;
}

static int plan_make(struct plan *p, const struct capture_args *a, const char *bindir,
		     struct error *err)
{
	int rc;

	if (!a->given[VARIANT]) {
		rc = plan_read(p, a->rest[0], &a->set, bindir, err);
	} else {
		p->warmup_s = p->duration_s = 0;
		rc = plan_wrap(p, a->given[VARIANT], a->rest, err);
	}
	return rc ? rc : plan_apply_options(p, a, err);
}

/*
 * Prints the way out where something is still to be undone: it would stop every later capture into
 * the folder. Prints nothing while another capture runs there, because that one will undo it.
 */
static void note_undo_due(const char *dir)
{
	autoclose int lock = recover_lock(dir, NULL);
	autofree char *state = lock < 0 ? NULL : state_folder(dir, false, NULL);
	autofree char *word = shell_word(dir);

	if (lock < 0)
		return;
	fd_close(&lock);
	if (undo_due(dir))
		print_note(
			"not undone yet: the next capture into %s tries again, and so does 'zcost capture --undo -o %s'. If you have undone it by hand, remove %s",
			dir, word, state ? state : "its state");
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
	autofree char *word = shell_word(c->dir);

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
			   c->ok == 1 ? " was" : "s were", c->dir, word);
	return c->failed || c->lossy ? EXIT_LOSSY : EXIT_OK;
}

static int capture_run_dry(struct plan *p, const struct capture_args *a)
{
	struct error err = {0};
	int rc = capture_dry_run(p, a->given[OUTPUT], !a->given[VARIANT], &err);

	if (rc)
		error_print(&err);
	return !rc ? EXIT_OK : rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

static int capture_run_plan(struct plan *p, const struct capture_args *a, const char *self)
{
	const char *fake = getenv("ZCOST_COLLECT");
	struct capture c = {
		.plan = p,
		.dir = a->given[OUTPUT],
		.collect = fake && *fake ? fake : self,
		.whole = !a->given[VARIANT],
		.verbose = a->given[VERBOSE],
	};
	struct error err = {0};
	int rc = capture_all(&c, &err);

	if (!rc || rc == -EINTR || c.ok || c.failed)
		caller_give_tree(a->given[OUTPUT]);
	return rc ? capture_conclude_early(&c, rc, &err) : capture_conclude(&c);
}

int cmd_capture(int argc, char **argv)
{
	struct capture_args a = {0};
	struct error err = {0};
	struct plan plan;
	autofree char *self = NULL, *dir = NULL;
	int code;

	capture_set_options();
	complete_run(&argp, argc, argv, collect_complete, NULL);
	args_parse(&argp, argc, argv, 0, &a);
	spawn_private();
	if (a.given[UNDO]) {
		if (!capture_undo(a.given[OUTPUT], &err))
			return EXIT_OK;
		error_print(&err);
		note_undo_due(a.given[OUTPUT]);
		return EXIT_FAILED;
	}
	/* Its folder is ${bindir} in plans. A program that was replaced has no path. */
	self = realpath("/proc/self/exe", NULL) ?: xstrdup("/proc/self/exe");
	dir = xstrdup(self);
	plan_init(&plan);
	if (plan_make(&plan, &a, dirname(dir), &err) ||
	    (a.given[AGAINST] && plan_add_capture(&plan, a.given[AGAINST], &err))) {
		error_print(&err);
		code = error_of_machine(err.code) ? EXIT_FAILED : EXIT_USAGE;
	} else {
		code = a.given[DRY_RUN] ? capture_run_dry(&plan, &a)
					: capture_run_plan(&plan, &a, self);
	}
	plan_free(&plan);
	words_free(&a.set);
	return code;
}
