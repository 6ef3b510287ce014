// SPDX-License-Identifier: GPL-2.0-only
/* zcost export FORMAT [CAPTURE]: writes a capture in a format of other tools. */
#include "analyze/commands/commands.h"
#include "analyze/export/export.h"
#include "analyze/measures/scope.h"
#include "analyze/commands/options.h"

#include <stdlib.h>
#include <string.h>

/* The list of formats, in the order of --help. */
#define FORMATS(row) row(folded) row(pprof) row(speedscope) row(csv) row(sql)

#define DECLARATION(name) extern const struct format format_##name;
#define ADDRESS(name)	  &format_##name,

FORMATS(DECLARATION)
static const struct format *const formats[] = {FORMATS(ADDRESS)};

struct export_arguments {
	struct options o; /* first: options.c fills it */
	struct export x;
	const struct format *format;
	const char *capture;
};

static struct feature export_feature(size_t i)
{
	return i < array_size(formats)
		       ? (struct feature){formats[i]->name, formats[i]->what, formats[i]->options}
		       : (struct feature){0};
}

static void export_option_weight(const struct argp_state *state, const struct option_row *o,
				 void *to, char *arg)
{
	(void)o;
	if (strcmp(arg, "period") && strcmp(arg, "samples"))
		argp_error(state, "--weight '%s' is neither period nor samples", arg);
	((struct export_arguments *)to)->x.count_samples = !strcmp(arg, "samples");
}

// clang-format off
static const struct option_row own[] = {
	OPTION("output", "FILE", GROUP_OUTPUT,
	       "output file (csv: a folder) instead of standard output", option_text,
	       .at = offsetof(struct export_arguments, x.path), .key = 'o'),
	OPTION("table", "NAME", GROUP_OUTPUT, "csv: write only this table or view (docs/reference/store.md)",
	       option_text, .at = offsetof(struct export_arguments, x.table)),
	OPTION("weight", "WHAT", GROUP_OUTPUT,
	       "weight of a stack: period (default: nanoseconds of cpu-clock, cycles ..., as in reports) or samples (their number)",
	       export_option_weight),
	{0},
};
// clang-format on

static error_t export_parse(int key, char *arg, struct argp_state *state);

static const struct command command = {
	.argp = {.parser = export_parse,
		 .args_doc = "FORMAT [CAPTURE]",
		 .doc = "Writes an analyzed capture, or a bare perf.data, in a format of other tools.\vExit status 4: the export is complete, but its data is lossy."},
	.heading = "Formats:",
	.sources = {"a capture", "a perf.data (--perf)", "", ""},
	.feature = export_feature,
	.offers = "perf",
	.own = own,
};

static void export_set_format(struct argp_state *state, struct export_arguments *a,
			      const char *name)
{
	char *names = options_feature_names(&command);
	size_t i;

	for (i = 0; name && i < array_size(formats); i++)
		if (!strcmp(formats[i]->name, name))
			a->format = formats[i];
	if (!name)
		argp_error(state, "which format? the formats are: %s", names);
	else if (!a->format)
		argp_error(state, "no format '%s'; the formats are: %s", name, names);
	free(names);
}

static void export_set_argument(struct argp_state *state, struct export_arguments *a, char *arg)
{
	if (!a->format)
		export_set_format(state, a, arg);
	else if (!a->capture)
		a->capture = arg;
	else
		argp_error(state, "one format of one capture at a time");
}

static void export_check(struct argp_state *state, struct export_arguments *a)
{
	enum data_source source = options_source(&a->o, a->capture);
	struct feature f;

	if (!a->format)
		export_set_format(state, a, NULL);
	if (a->o.inputs + !!a->capture != 1)
		argp_error(state, "of what? give either a capture or a file with --perf");
	f = (struct feature){a->format->name, a->format->what, a->format->options};
	options_check_source(state, &a->o, "format", &f, source);
	options_check(state, &a->o, &f, 1, source);
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

FILE *export_open(struct export *x, struct error *err)
{
	sink_open(&x->out, x->path, err);
	return x->out.f;
}

static int export_run(struct export_arguments *a, struct error *err)
{
	struct export *x = &a->x;
	char **texts;
	size_t i;
	int rc;

	x->q = &a->o.q;
	rc = a->o.input ? options_read_input(&a->o, err)
			: options_open_capture(&a->o, a->capture, NULL, &x->store, err);
	if (!rc)
		rc = a->format->write(x, err);
	if (!rc && x->store)
		scope_add_slice_notes(x->store, true, &x->notes);
	texts = table_note_texts(&x->notes);
	for (i = 0; texts[i]; i++)
		print_note("%s", texts[i]);
	table_note_texts_free(texts);
	return sink_close(&x->out, store_close(x->store, rc, err), err);
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
	table_free(&a.x.notes);
	options_free(&a.o);
	return code;
}
