// SPDX-License-Identifier: GPL-2.0-only
/* zcost report TABLE [CAPTURE...]: prints one table of captures or of a bare perf file. */
#include "analyze/commands/commands.h"
#include "analyze/model/notes.h"
#include "analyze/compare/compare.h"
#include "analyze/scope/runs.h"
#include "analyze/commands/options.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/output.h"
#include "lib/words.h"

#include <errno.h>

struct report_arguments {
	struct options o; /* first: what options.c fills */
	struct output out;
	const struct measure *table;
	const char **captures;
	size_t ncaptures, cap;
	const char *html; /* the file of the page, which has all tables; NULL: one table */
};

static struct feature report_feature_of(const struct measure *m)
{
	return (struct feature){m->name, m->what, m->options, m->whole};
}

/* Returns the i-th table; the tables that --by selects follow the others. */
static struct feature report_feature(size_t i)
{
	const struct measure *m;

	for (size_t k = 0; (m = measure_at(k)); k++)
		if (!i--)
			return report_feature_of(m);
	for (size_t k = 0; (m = measure_at(k)); k++)
		if (m->by && !i--)
			return report_feature_of(m->by);
	return (struct feature){0};
}

static const struct feature page_feature = {
	.name = "--html",
	.options = (const char *const[SOURCES]){[SOURCE_CAPTURE] = OPT_PAGE OPT_SLICE "variant"}};

static const struct option_row own[] = {
	OPTION("html", "FILE", GROUP_OUTPUT,
	       "instead of a table: write one page of HTML with verdicts, charts and all tables",
	       option_text, .at = offsetof(struct report_arguments, html)),
	{0},
};

static error_t report_parse(int key, char *arg, struct argp_state *state);

static const struct argp_child children[] = {{&output_argp, 0, NULL, GROUP_OUTPUT}, {0}};

static const struct command command = {
	.argp = {.parser = report_parse,
		 .args_doc =
			 "TABLE [CAPTURE...|PERF.DATA]\ncallers|callees|hotspots FUNCTION [CAPTURE...|PERF.DATA]\n--html FILE CAPTURE",
		 .doc = "Prints one table of an analyzed capture, or of a bare perf file. The table of several captures begins with a column of their names.\vExit status 4: the table is complete, but its data is lossy.",
		 .children = children},
	.heading = "Tables:",
	.sources = {"a capture", "a perf.data (--perf)", "a text", "given numbers"},
	.feature = report_feature,
	.offers = "perf perf-report perf-trace perf-stat ethtool",
	.own = own,
};

static void report_set_table(struct argp_state *state, struct report_arguments *a, const char *name)
{
	autofree char *tables = options_feature_names(&command);

	a->table = name ? measure_find(name) : NULL;
	if (!name)
		arg_error(state, "which table? the tables are: %s", tables);
	else if (!a->table)
		options_refuse_name(state, &command, "table", name);
}

static void report_add_capture(struct argp_state *state, struct report_arguments *a, char *arg)
{
	if (!a->ncaptures && !a->html && bare_is(arg) && !bare_is_text(arg)) {
		options_set_perf(&a->o, arg);
		return;
	}
	if (str_index(a->captures, a->ncaptures, arg) >= 0)
		argp_error(state, "capture '%s' stands twice on the command line", arg);
	for (size_t i = strlen(arg); i > 1 && arg[i - 1] == '/';)
		arg[--i] = '\0';
	array_add(a->captures, a->ncaptures, a->cap, arg);
}

static void report_set_argument(struct argp_state *state, struct report_arguments *a, char *arg)
{
	if (!a->table && !a->html)
		report_set_table(state, a, arg);
	else if (!a->html && !a->o.q.symbol && a->table->flags & MEASURE_FUNCTION)
		a->o.q.symbol = arg;
	else
		report_add_capture(state, a, arg);
}

void page_check(const struct argp_state *state, const struct options *o, const struct output *out,
		const char *side, const struct feature *page)
{
	if (out->path || out->width_given || out->format != FORMAT_TEXT)
		argp_error(
			state,
			"--html names the file and its format: leave out -o, --format and --width");
	options_check(state, o, page, 1, SOURCE_CAPTURE);
	if (side && !strcmp(side, SIDE_TOTAL))
		argp_error(
			state,
			"--side total: the page has the total beside the sides; leave out --side");
}

static void report_check_page(struct argp_state *state, struct report_arguments *a)
{
	struct error err = {0};

	if (a->ncaptures != 1 || a->o.inputs)
		argp_error(state, "--html writes the page of one capture: --html FILE CAPTURE");
	page_check(state, &a->o, &a->out, a->o.q.side, &page_feature);
	if (slice_check(&a->o.slice, &err))
		argp_error(state, "%s", err.text);
}

static void report_check(struct argp_state *state, struct report_arguments *a)
{
	const char *capture = a->ncaptures ? a->captures[0] : NULL;
	autofree char *word = shell_word(a->o.q.symbol ?: "");
	enum data_source source = options_source(&a->o, capture);
	struct error err = {0};
	struct feature f;

	if (!a->table)
		report_set_table(state, a, NULL);
	if (!capture && !a->o.inputs && a->table->flags & MEASURE_FUNCTION && a->o.q.symbol &&
	    options_is_capture(a->o.q.symbol))
		argp_error(
			state,
			"%s needs a FUNCTION before the capture: zcost report %s _copy_to_iter %s",
			a->table->name, a->table->name, word);
	if (a->o.inputs + (capture != NULL) > 1)
		argp_error(state, "report reads one source: either a capture or a file");
	f = report_feature_of(a->table);
	options_check_source(state, &a->o, "table", &f, source);
	f = report_feature_of(measure_by(a->table, &a->o.q));
	options_check(state, &a->o, &f, 1, source);
	if (capture && slice_check(&a->o.slice, &err))
		argp_error(state, "%s", err.text);
	if (a->o.q.load_measured && !capture)
		argp_error(state,
			   "--system-load measured needs a capture; for a file, give a percentage");
	if (a->o.q.nrates > 1 && !(a->table->flags & MEASURE_RATES))
		argp_error(state, "--rate: table '%s' takes one rate", a->table->name);
}

static error_t report_parse(int key, char *arg, struct argp_state *state)
{
	struct report_arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->out;
		return 0;
	case ARGP_KEY_ARG:
		report_set_argument(state, a, arg);
		return 0;
	case ARGP_KEY_END:
		(a->html ? report_check_page : report_check)(state, a);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- running --- */

/* One table, and the store that its strings may be of. */
struct report_part {
	struct store *store; /* NULL where the table is made from a file or from numbers */
	struct table t;
};

/* Makes the table of one capture, or of the file where `capture` is NULL. */
static int report_make(struct report_arguments *a, const char *capture, struct report_part *p,
		       struct error *err)
{
	int rc = 0;

	a->o.read_flags = a->table->flags;
	if (a->o.input)
		rc = options_read_input(&a->o, err);
	else if (capture)
		rc = options_open_capture(&a->o, capture,
					  a->table->flags & MEASURE_BASE ? NULL : a->o.q.variant,
					  &p->store, err);
	rc = rc ?: measure_run(a->table->name, p->store, &a->o.q, &p->t, err);
	if (!rc && p->store && a->out.format == FORMAT_COMMIT)
		run_facts_title(p->store, &a->o.q, &p->t);
	return rc ? rc : store_failed(p->store, err);
}

/*
 * Names the captures by their folders: by the last part of the path, or where two captures have the
 * same one, by the whole paths.
 */
static const char **report_names(const struct report_arguments *a)
{
	const char **names = xcalloc(a->ncaptures + 1, sizeof(*names));
	bool same = false;

	for (size_t i = 0; i < a->ncaptures; i++) {
		names[i] = path_base_name(a->captures[i]);
		for (size_t k = 0; k < i; k++)
			same |= !strcmp(names[i], names[k]);
	}
	if (same)
		memcpy(names, a->captures, a->ncaptures * sizeof(*names));
	return names;
}

/* Makes one table of the captures' tables. A table of one capture stays as it is. */
static void report_merge(const struct report_arguments *a, struct report_part *parts,
			 struct table *t)
{
	autofree struct table *from = xcalloc(a->ncaptures, sizeof(*from));
	autofree const char **names = report_names(a);

	for (size_t i = 0; i < a->ncaptures; i++)
		from[i] = parts[i].t;
	table_merge(t, from, a->ncaptures, "capture", names);
}

/* Refuses an empty table with filters: a name that no row has is the user's mistake. */
static int report_check_filters(const struct report_arguments *a, const struct table *t,
				struct error *err)
{
	const struct query *q = &a->o.q;
	bool of_function = a->table->flags & MEASURE_FUNCTION;
	autofree char *cpus = q->cpus ? cpuset_format(q->cpus) : NULL;
	const struct {
		const char *option, *value;
	} filters[] = {{"comm", q->comm},
		       {"dso", q->dso},
		       {"symbol", of_function ? NULL : q->symbol},
		       {"name", q->name},
		       {"cpu", cpus}};
	freed(str_free) struct str s = {0};

	for (size_t i = 0; i < array_size(filters) && !t->rows; i++)
		if (filters[i].value)
			str_printf(&s, " --%s %s", filters[i].option, filters[i].value);
	for (size_t i = 0; i < q->ngroups && !t->rows; i++)
		str_printf(&s, " --group %s", q->groups[i]);
	if (s.len)
		error_set(err, ENOENT, "table '%s' has no row: nothing matches%s", a->table->name,
			  s.buf);
	return -err->code;
}

/*
 * Prints the notes of a table without rows: they may name the reason. Where the filters are the
 * reason, the error says so, and only losses are printed.
 */
static void report_print_notes(const struct table *t)
{
	freed(notes_free) struct notes losses = {0};
	freed(note_lines_free) struct note_lines lines;
	bool filtered = false;

	for (size_t i = 0; i < t->notes.n; i++) {
		filtered |= note_is(&t->notes.note[i], NOTE_no_sample_matches);
		if (t->notes.note[i].severity == SEVERITY_LOSSY)
			notes_copy(&losses, &t->notes.note[i]);
	}
	note_lines_make(&lines, filtered ? &losses : &t->notes);
	for (size_t i = 0; i < lines.n && !t->rows; i++) {
		autofree char *text = note_line_text(&lines.line[i]);

		print_note("%s", text);
	}
}

static int report(struct report_arguments *a, struct error *err)
{
	size_t n = a->ncaptures ? a->ncaptures : 1, i;
	autofree struct report_part *parts = xcalloc(n, sizeof(*parts));
	struct table merged = {0}, *t = n > 1 ? &merged : &parts[0].t;
	int rc = 0, code;

	for (i = 0; i < n && !rc; i++)
		rc = report_make(a, a->ncaptures ? a->captures[i] : NULL, &parts[i], err);
	if (!rc && n > 1)
		report_merge(a, parts, &merged);
	rc = rc ?: report_check_filters(a, t, err);
	t->notes_command = a->ncaptures ? "zcost report notes" : NULL;
	if (!rc)
		rc = output_table(&a->out, t, err);
	else
		report_print_notes(i ? &parts[i - 1].t : t);
	code = t->lossy ? EXIT_LOSSY : EXIT_OK;
	table_free(&merged);
	for (i = 0; i < n; i++) {
		table_free(&parts[i].t);
		rc = store_close(parts[i].store, rc, err);
	}
	return rc ? (int)error_exit(err) : code;
}

static int report_page(struct report_arguments *a, int argc, char **argv, struct error *err)
{
	struct page_request r = {.path = a->html,
				 .capture = a->captures[0],
				 .query = a->o.q,
				 .argc = argc,
				 .argv = argv};
	int rc = options_open_capture(&a->o, r.capture, NULL, &r.store, err);

	rc = rc ?: page_write(&r, err);
	rc = store_close(r.store, rc, err);
	return rc ? (int)error_exit(err) : r.lossy ? EXIT_LOSSY : EXIT_OK;
}

int cmd_report(int argc, char **argv)
{
	struct report_arguments a = {0};
	struct error err = {0};
	int code;

	options_parse(&a.o, &command, argc, argv);
	code = a.html ? report_page(&a, argc, argv, &err) : report(&a, &err);
	if (err.code)
		error_print(&err);
	options_free(&a.o);
	free(a.captures);
	return code;
}
