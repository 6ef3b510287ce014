// SPDX-License-Identifier: GPL-2.0-only
/* zcost analyze CAPTURE: makes or renews CAPTURE/zcost.db. */
#include "analyze/analysis/analysis.h"
#include "analyze/commands/commands.h"
#include "analyze/store/store.h"
#include "lib/command.h"
#include "lib/words.h"
#include "workload/workload.h"

#include <errno.h>
#include <unistd.h>

enum { MAX_METERS = 8 };
enum { KEY_CSV = 0x100, KEY_KIND, KEY_OFFSET, KEY_INLINE, KEY_UNITS };

static const struct argp_option options[] = {
	{"jobs", 'j', "N", 0, "number of threads that read runs (default: one per CPU)", 0},
	{"inline", KEY_INLINE, NULL, 0,
	 "show inlined functions as separate frames, from debug information in the capture", 0},
	{"units", KEY_UNITS, "[SIDE=]ADAPTER", 0,
	 "what finds the work done, instead of the units in the plan: nic:eth0 for the packets of an interface; repeat the option for another side",
	 0},
	{"power-csv", KEY_CSV, "[SIDE=]FILE", 0,
	 "readings of an external power meter: a heading, then a time and watts on each line; repeat the option for more meters",
	 1},
	{"offset", KEY_OFFSET, "SECONDS", 0, "seconds to add to the meter's times", 1},
	{"power-kind", KEY_KIND, "wall|platform|package|other", 0,
	 "kind of power that the meter measures: wall (default), platform, package, other", 1},
	{0},
};

struct analyze_arguments {
	struct analysis a;
	struct meter meters[MAX_METERS + 1];
};

/* Adds a meter: "log.csv" or "receiver=log.csv". A file with the whole name takes precedence. */
static void meter_add(struct argp_state *state, struct analyze_arguments *args, char *arg)
{
	char *equals = strchr(arg, '=');
	struct meter *m = &args->meters[args->a.nmeters];

	if (args->a.nmeters == MAX_METERS)
		argp_error(state, "more than %d power meters", MAX_METERS);
	args->a.nmeters++;
	m->path = arg;
	if (!equals || !access(arg, F_OK))
		return;
	*equals = '\0';
	m->side = arg;
	m->path = equals + 1;
}

/* Returns the meter of the last --power-csv, or without one, that of the logs in the capture. */
static struct meter *meter_last(struct analyze_arguments *args)
{
	if (!args->a.nmeters)
		args->a.nmeters++;
	return &args->meters[args->a.nmeters - 1];
}

/* Appends an option of a meter as the user typed it. */
static void meter_remember(struct analysis *a, const char *option, const char *arg)
{
	autofree char *before = a->meter_options;
	autofree char *word = shell_word(arg);

	a->meter_options =
		xasprintf("%s%s%s %s", before ? before : "", before ? " " : "", option, word);
}

/* Adds "SIDE=ADAPTER" or "ADAPTER", which may hold a "=" behind its colon. */
static void units_add(struct argp_state *state, struct analysis *a, const char *arg)
{
	size_t len = strcspn(arg, "=:");
	const char *adapter = arg[len] == '=' ? arg + len + 1 : arg;
	struct error err = {0};
	autofree char *before = a->units;

	if (units_check(adapter, &err))
		argp_error(state, "--units: %s", err.text);
	a->units = xasprintf("%s%.*s=%s\n", before ? before : "", (int)(adapter > arg ? len : 0),
			     arg, adapter);
}

static error_t analyze_parse(int key, char *arg, struct argp_state *state)
{
	struct analyze_arguments *args = state->input;
	char *end;

	switch (key) {
	case 'j':
		args->a.jobs = (int)arg_whole(state, "-j", arg, 1, 1024);
		return 0;
	case KEY_INLINE:
		args->a.inlines = true;
		return 0;
	case KEY_UNITS:
		units_add(state, &args->a, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (args->a.capture)
			argp_error(state, "one capture at a time");
		args->a.capture = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which capture? give its folder");
		return 0;
	case KEY_CSV:
		meter_remember(&args->a, "--power-csv", arg);
		meter_add(state, args, arg);
		return 0;
	case KEY_OFFSET:
		meter_remember(&args->a, "--offset", arg);
		meter_last(args)->offset_s = strtod(arg, &end);
		if (end == arg || *end)
			argp_error(state, "--offset '%s' is not a number of seconds", arg);
		return 0;
	case KEY_KIND:
		meter_remember(&args->a, "--power-kind", arg);
		if (!str_matches_any("wall platform package other", arg))
			argp_error(state,
				   "--power-kind '%s' is none of: wall platform package other",
				   arg);
		meter_last(args)->kind = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = analyze_parse,
	.args_doc = "CAPTURE",
	.doc = "Makes or renews CAPTURE/zcost.db from the raw files of the capture.\vIf a file is missing or damaged, zcost analyzes the other files, says what is lost, and exits with status 4. It also exits with status 4 if a file differs from its checksum in manifest.json.",
};

static int analyze_check_meters(const struct analyze_arguments *args)
{
	for (size_t i = 0; i < args->a.nmeters; i++) {
		if (!args->meters[i].path || !access(args->meters[i].path, R_OK))
			continue;
		fprintf(stderr, "zcost: %s: %s\n", args->meters[i].path, strerror(errno));
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

static int analyze_report(struct analysis *a)
{
	autofree char *word = shell_word(a->capture);

	print_note("%s/zcost.db: %zu run%s%s", a->capture, a->runs, a->runs == 1 ? "" : "s",
		   a->lossy ? "" : ", nothing lost");
	if (a->forgotten)
		warn("the store no longer has the power that was imported before; to import it again, add: %s",
		     a->forgotten);
	for (int kind = 0; kind < DAMAGE_KINDS; kind++) {
		autofree char *text = damage_text(&a->damage, (enum damage_kind)kind, 0);

		if (text)
			warn("%s: %s; put the original back and analyze again", a->capture, text);
	}
	if (a->failed)
		warn("%zu of the runs failed and %s left out", a->failed,
		     a->failed == 1 ? "is" : "are");
	if (a->lossy)
		warn("data is missing or lossy in %zu place%s; 'zcost report notes %s' lists them",
		     a->lossy, a->lossy == 1 ? "" : "s", word);
	return a->lossy ? EXIT_LOSSY : EXIT_OK;
}

/* An anonymous capture is its store. Options would need the raw files, so they fail later. */
static bool analyze_is_done(const struct analyze_arguments *args)
{
	bool plain = !args->a.units && !args->a.inlines && !args->a.nmeters, done = false;
	struct store *store = NULL;

	if (plain && !store_open(&store, args->a.capture, NULL))
		done = store_capture_value(store, "anonymous") != NULL;
	done = !store_close(store, 0, NULL) && done;
	if (done)
		print_note("%s: anonymous: its store is complete, and there is nothing to analyze",
			   args->a.capture);
	return done;
}

int cmd_analyze(int argc, char **argv)
{
	struct analyze_arguments args = {0};
	struct error err = {0};
	int code;

	args.a.meters = args.meters;
	args_parse(&argp, argc, argv, 0, &args);
	if (analyze_check_meters(&args))
		return EXIT_FAILED;
	if (analyze_is_done(&args))
		return EXIT_OK;
	if (analyze(&args.a, &err)) {
		error_print(&err);
		code = (int)error_exit(&err);
	} else {
		code = analyze_report(&args.a);
	}
	analysis_free(&args.a);
	return code;
}
