// SPDX-License-Identifier: GPL-2.0-only
/* zcost export FORMAT [CAPTURE]: writes a capture in a format of other tools. */
#include "analyze/commands/commands.h"
#include "analyze/compare/compare.h"
#include "analyze/export/export.h"
#include "analyze/scope/scope.h"
#include "analyze/commands/options.h"
#include "lib/command.h"

#include <unistd.h>

/* The list of formats, in the order of --help. */
#define FORMATS(row)                                                                              \
	row(folded) row(folded_diff) row(perf_script) row(pprof) row(speedscope) row(openmetrics) \
		row(csv) row(sql) row(clickhouse)

#define DECLARATION(name) extern const struct format format_##name;
#define ADDRESS(name)	  &format_##name,

FORMATS(DECLARATION)
static const struct format *const formats[] = {FORMATS(ADDRESS)};

struct export_arguments {
	struct options o; /* first: options.c fills it */
	struct export x;
	struct comparison c; /* the ends of a format of two ends */
	const struct format *format;
	const char *capture; /* -C, or the first argument without -C */
	const char *ref[ENDS];
	int refs, captures; /* captures: the arguments of a format of many */
};

static struct feature export_feature(size_t i)
{
	return i < array_size(formats) ? (struct feature){formats[i]->name, formats[i]->what,
							  formats[i]->options, NULL}
				       : (struct feature){0};
}

/* For a format of two ends: "receiver", "receiver,local". */
static void export_option_side(const struct option_given *g)
{
	struct export_arguments *a = g->to;

	if (!compare_set_sides(&a->c, g->arg))
		argp_error(g->state,
			   "--side: give one side, or for BASE and NEW two: BASE'S,NEW'S");
	a->o.q.side = a->c.side[BASE];
}

static void export_option_weight(const struct option_given *g)
{
	if (strcmp(g->arg, "period") && strcmp(g->arg, "samples"))
		argp_error(g->state, "--weight '%s' is neither period nor samples", g->arg);
	((struct export_arguments *)g->to)->x.count_samples = !strcmp(g->arg, "samples");
}

// clang-format off
static const struct option_row own[] = {
	OPTION("output", "FILE", GROUP_OUTPUT,
	       "output file (csv, clickhouse: a folder) instead of standard output", option_text,
	       .at = offsetof(struct export_arguments, x.path), .key = 'o'),
	OPTION("capture", "CAPTURE", GROUP_NONE, "folded-diff: BASE and NEW are variants of this capture",
	       option_text, .at = offsetof(struct export_arguments, capture), .key = 'C'),
	{.name = "side", .arg = "SIDE[,NEW'S]", .parse = export_option_side,
	 .help = "receiver or sender; folded-diff: two names if BASE and NEW name the side differently"},
	OPTION("table", "NAME", GROUP_OUTPUT, "csv: write only this table or view (docs/reference/store.md)",
	       option_text, .at = offsetof(struct export_arguments, x.table)),
	OPTION("weight", "period|samples", GROUP_OUTPUT,
	       "weight of a stack: period (default: nanoseconds of cpu-clock, cycles ..., as in reports) or samples (their number)",
	       export_option_weight),
	{0},
};
// clang-format on

static error_t export_parse(int key, char *arg, struct argp_state *state);

static const struct command command = {
	.argp = {.parser = export_parse,
		 .args_doc = "FORMAT [CAPTURE]\nfolded-diff BASE NEW\nclickhouse CAPTURE...",
		 .doc = "Writes an analyzed capture, or a bare perf.data, in a format of other tools. BASE and NEW are as in 'zcost compare': variants of the capture of -C, or captures, or CAPTURE:VARIANT, or two perf.data.\vExit status 4: the export is complete, but its data is lossy."},
	.heading = "Formats:",
	.sources = {"a capture", "a perf.data (--perf)", "", ""},
	.feature = export_feature,
	.offers = "perf",
	.own = own,
};

static void export_set_format(struct argp_state *state, struct export_arguments *a,
			      const char *name)
{
	autofree char *names = options_feature_names(&command);

	for (size_t i = 0; name && i < array_size(formats); i++)
		if (!strcmp(formats[i]->name, name))
			a->format = formats[i];
	if (!name)
		arg_error(state, "which format? the formats are: %s", names);
	else if (!a->format)
		options_refuse_name(state, &command, "format", name);
}

static void export_add_capture(struct export_arguments *a, char *arg)
{
	a->x.captures = xrealloc(a->x.captures, (size_t)(a->captures + 2) * sizeof(arg));
	a->x.captures[a->captures++] = arg;
	a->x.captures[a->captures] = NULL;
	a->ref[0] = a->x.captures[0];
	a->refs = 1;
}

static void export_set_argument(struct argp_state *state, struct export_arguments *a, char *arg)
{
	if (!a->format)
		export_set_format(state, a, arg);
	else if (!a->format->two_ends && !a->refs && bare_is(arg) && !bare_is_text(arg))
		options_set_perf(&a->o, arg);
	else if (a->format->many)
		export_add_capture(a, arg);
	else if (a->refs < (a->format->two_ends ? ENDS : 1))
		a->ref[a->refs++] = arg;
	else
		argp_error(
			state,
			a->format->two_ends
				? "too many arguments: give BASE and NEW, and the capture with -C"
				: "one format of one capture at a time");
}

/* Returns what BASE and NEW are. */
static enum data_source export_check_ends(struct argp_state *state, struct export_arguments *a)
{
	if (a->refs != ENDS)
		argp_error(state, "%s needs two ends: give BASE and NEW", a->format->name);
	if (!strcmp(a->ref[BASE], a->ref[NEW]))
		argp_error(state, "%s against itself has no difference", a->ref[BASE]);
	for (int e = 0; e < ENDS; e++)
		a->c.work[e].rate = a->o.q.nrates > e ? a->o.rates[e] : a->o.q.work.rate;
	return a->capture || !bare_is(a->ref[BASE]) ? SOURCE_CAPTURE : SOURCE_PERF;
}

static void export_check(struct argp_state *state, struct export_arguments *a)
{
	enum data_source source;
	struct feature f;

	if (!a->format)
		export_set_format(state, a, NULL);
	if (!a->format->two_ends && a->o.inputs + a->refs != 1)
		argp_error(state, "of what? give either a capture or a file with --perf");
	source = a->format->two_ends ? export_check_ends(state, a)
				     : options_source(&a->o, a->ref[0]);
	f = (struct feature){a->format->name, a->format->what, a->format->options, NULL};
	options_check_source(state, &a->o, "format", &f, source);
	options_check(state, &a->o, &f, 1, source);
	if (a->o.q.nrates > (a->format->two_ends ? ENDS : 1))
		argp_error(state, "--rate: too many rates");
	if (!a->format->two_ends && a->c.side[BASE] != a->c.side[NEW])
		argp_error(state, "--side: %s takes one side", a->format->name);
	if (a->format->binary && (!a->x.path || !strcmp(a->x.path, "-")) && isatty(STDOUT_FILENO))
		argp_error(state, "zcost does not write %s to a terminal; give -o FILE",
			   a->format->name);
}

static error_t export_parse(int key, char *arg, struct argp_state *state)
{
	struct export_arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		export_set_argument(state, a, arg);
		return 0;
	case ARGP_KEY_END:
		export_check(state, a);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int export_run_ends(struct export_arguments *a, struct error *err)
{
	struct comparison *c = &a->c;
	freed(str_free) struct str copied = {0};
	int rc;

	c->query = a->o.q;
	c->query.side = NULL;
	c->slice = a->o.slice;
	rc = compare_open(c, a->capture, a->ref[BASE], a->ref[NEW], err);
	if (rc)
		return rc;
	rc = compare_pair_sides(c, err) ?: compare_estimator(c, err);
	a->x.ends = c;
	rc = rc ?: a->format->write(&a->x, err);
	compare_evidence(c, &copied);
	if (copied.len)
		warn("%s", str_trim(copied.buf));
	compare_note_sides(c, &a->x.notes);
	compare_note_reading(c, &a->x.notes);
	return compare_close(c, rc, err);
}

static int export_run_one(struct export_arguments *a, struct error *err)
{
	struct export *x = &a->x;
	int rc = a->format->many ? 0
		 : a->o.input	 ? options_read_input(&a->o, err)
				 : options_open_capture(&a->o, a->ref[0], NULL, &x->store, err);

	rc = rc ?: a->format->write(x, err);
	if (!rc && x->store)
		scope_add_slice_notes(x->store, true, &x->notes);
	return store_close(x->store, rc, err);
}

static int export_run(struct export_arguments *a, struct error *err)
{
	freed(table_note_texts_free) char **texts = NULL;
	int rc;

	a->x.q = &a->o.q;
	rc = a->format->two_ends ? export_run_ends(a, err) : export_run_one(a, err);
	texts = table_note_texts(&a->x.notes);
	for (size_t i = 0; texts[i]; i++)
		print_note("%s", texts[i]);
	return sink_close(&a->x.out, rc, err);
}

int cmd_export(int argc, char **argv)
{
	struct export_arguments a = {0};
	struct error err = {0};
	int code;

	table_init(&a.x.notes, "export", NULL, 0);
	options_parse(&a.o, &command, argc, argv);
	code = export_run(&a, &err) ? (int)error_exit(&err)
	       : a.x.notes.lossy    ? EXIT_LOSSY
				    : EXIT_OK;
	if (err.code)
		error_print(&err);
	free(a.x.captures);
	table_free(&a.x.notes);
	options_free(&a.o);
	return code;
}
