// SPDX-License-Identifier: GPL-2.0-only
/* zcost export FORMAT [CAPTURE]: what other tools read. */
#include "analyze/cmd.h"
#include "analyze/export/export.h"
#include "analyze/measures/manner.h"
#include "analyze/open.h"
#include "analyze/query_options.h"
#include "lib/alloc.h"
#include "lib/args.h"
#include "lib/str.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* THE TABLE of formats. */
static const struct export_format formats[] = {
	{"folded", "call chains, a line each: comm;root;...;leaf weight (flame graphs)",
	 export_folded},
	{"csv", "the store: a file for each table in the folder of -o, or one with --table",
	 export_csv},
	{"sql", "the store, as SQL that sqlite3 makes it anew from", export_sql},
};

struct arguments {
	struct query_options from;
	struct query q;
	struct export x;
	const char *format, *capture;
};

enum { KEY_WEIGHT = 0x100, KEY_TABLE };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "write there (csv: a folder) instead of standard output", 9},
	{"table", KEY_TABLE, "NAME", 0, "of csv: this table or view alone (docs/store.md)", 9},
	{"weight", KEY_WEIGHT, "WHAT", 0,
	 "period (default: what the samples stand for, nanoseconds of cpu-clock, cycles ...; this "
	 "is "
	 "what reports show) or samples (their number)",
	 9},
	{0},
};

static const struct export_format *find_format(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static void set_weight(struct argp_state *state, struct arguments *a, const char *arg)
{
	if (strcmp(arg, "period") && strcmp(arg, "samples"))
		argp_error(state, "--weight '%s' is neither period nor samples", arg);
	a->x.count_samples = !strcmp(arg, "samples");
}

static void set_argument(struct argp_state *state, struct arguments *a, char *arg)
{
	if (!a->format)
		a->format = arg;
	else if (!a->capture)
		a->capture = arg;
	else
		argp_error(state, "one format of one capture at a time");
}

static void check(struct argp_state *state, const struct arguments *a)
{
	struct str names = {0}, why = {0};
	size_t i;

	for (i = 0; i < array_size(formats); i++)
		str_printf(&names, "%s%s", i ? " " : "", formats[i].name);
	if (!a->format)
		argp_error(state, "which format? there is: %s", names.buf);
	else if (!find_format(a->format))
		argp_error(state, "no format '%s'; there is: %s", a->format, names.buf);
	str_free(&names);
	if (!a->capture == !a->from.perf)
		argp_error(state, "of what? give either a capture or a file with --perf");
	if (options_refused(&a->from.given, &export_option_uses, a->format,
			    a->capture ? OF_CAPTURE : OF_PERF, &why))
		argp_error(state, "%s", why.buf);
	str_free(&why);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	options_note(&a->from.given, options, key);
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->from;
		return 0;
	case 'o':
		a->x.path = arg;
		return 0;
	case KEY_TABLE:
		a->x.table = arg;
		return 0;
	case KEY_WEIGHT:
		set_weight(state, a, arg);
		return 0;
	case ARGP_KEY_ARG:
		set_argument(state, a, arg);
		return 0;
	case ARGP_KEY_END:
		check(state, a);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *help_formats(int key, const char *text, void *input)
{
	struct str s = {0};
	size_t i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	str_puts(&s, "Formats:\n");
	for (i = 0; i < array_size(formats); i++)
		args_help_line(&s, 14, formats[i].name, formats[i].what);
	str_puts(&s, "\nOf several variants and sides, each line begins with VARIANT/SIDE. "
		     "Exit status 4: written, but the data is lossy.");
	return str_take(&s);
}

static const struct argp_child children[] = {{&query_argp, 0, NULL, 1}, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FORMAT [CAPTURE]",
	.doc = "Writes an analyzed capture, or a bare perf.data, in a format of other tools.\v ",
	.children = children,
	.help_filter = help_formats,
};

FILE *export_open(struct export *x, struct error *err)
{
	sink_open(&x->out, x->path, err);
	return x->out.f;
}

static int export_run(struct arguments *a, struct error *err)
{
	const struct open_options how = {.slice = a->from.slice, .jobs = (int)a->from.jobs};
	struct export *x = &a->x;
	size_t i;
	int rc;

	x->q = &a->q;
	rc = a->from.perf ? query_read_perf(&a->from, err)
			  : capture_open(&x->store, a->capture, &how, err);
	if (!rc)
		rc = find_format(a->format)->write(x, err);
	if (!rc && x->store)
		manner_say(x->store, true, &x->notes);
	for (i = 0; i < x->notes.nnotes; i++)
		note("%s", x->notes.notes[i]);
	return sink_close(&x->out, store_close(x->store, rc, err), err);
}

int cmd_export(int argc, char **argv)
{
	struct arguments a = {0};
	struct error err = {0};
	int code;

	query_options_init(&a.from, &a.q);
	table_init(&a.x.notes, "export", NULL, 0);
	args_parse(&argp, argc, argv, 0, &a);
	code = export_run(&a, &err) ? (int)error_exit(&err)
	       : a.x.notes.lossy    ? EXIT_LOSSY
				    : EXIT_OK;
	if (err.code)
		error_print(&err);
	table_free(&a.x.notes);
	query_options_free(&a.from);
	return code;
}
