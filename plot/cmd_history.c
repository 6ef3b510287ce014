// SPDX-License-Identifier: GPL-2.0-only
/* zcost history: figures over many captures, their changes, and a page of their trends. */
#include "analyze/commands/options.h"
#include "lib/command.h"
#include "lib/output.h"
#include "plot/html_page.h"

struct history_arguments {
	struct options o; /* first: options.c fills it */
	const char *path, *html, *charts;
	char **words, **labels; /* the words behind the action */
	int nwords, words_cap, nlabels, labels_cap;
	bool each;
	double false_alarms;
	const struct feature *action;
	struct output output;
};

static const char *const add_options[SOURCES] = {"label"};
static const char *const show_options[SOURCES] = {"variant side false-alarms each html charts"};

enum { ADD, SHOW, ACTIONS };
static const struct feature actions[ACTIONS + 1] = {
	{"add", "put the figures of analyzed captures into the history", add_options, NULL},
	{"show", "print the levels of each series, and the changes between them", show_options,
	 NULL},
	{0},
};

static struct feature history_feature(size_t i)
{
	return actions[i];
}

static option_parser history_option_label, history_option_alarms;
static error_t history_parse(int key, char *arg, struct argp_state *state);

#define AT(member) offsetof(struct history_arguments, member)

// clang-format off
static const struct option_row own[] = {
	OPTION("history", "FILE", GROUP_NONE, "the history (default: history.db)", option_text,
	       .at = AT(path), .key = 'H'),
	OPTION("label", "NAME=VALUE", GROUP_NONE,
	       "a label of the captures; commit=VALUE is their commit; may be repeated",
	       history_option_label),
	OPTION("false-alarms", "N", GROUP_NONE,
	       "the most false alarms in a series and a year of daily captures (default 0.05)",
	       history_option_alarms),
	OPTION("each", NULL, GROUP_ROWS, "print a row for each capture, not for each level",
	       option_flag, .at = AT(each)),
	OPTION("html", "FILE", GROUP_OUTPUT, "instead of a table: write a page with charts and table",
	       option_text, .at = AT(html)),
	OPTION("charts", "DIR", GROUP_OUTPUT, "instead of a table: draw a chart of each figure",
	       option_text, .at = AT(charts)),
	{0},
};
// clang-format on

static const struct argp_child children[] = {{&output_argp, 0, NULL, GROUP_OUTPUT}, {0}};

static const struct command command = {
	.argp = {.parser = history_parse,
		 .args_doc = "add CAPTURE...\nshow [FIGURE]",
		 .doc = "Follows figures over many captures, and finds their changes.\vFIGURE is a figure of compare, as ns_per_kib, or a pattern; default: the figures with a verdict in compare. A capture that the history has is replaced. A capture with another plan, class of host or settings is refused, because its figures do not compare. Exit status: 0 done, 1 failed or a capture was refused, 2 usage error.",
		 .children = children},
	.heading = "What to do:",
	.sources = {"captures"},
	.feature = history_feature,
	.own = own,
};

static void history_option_label(const struct option_given *g)
{
	struct history_arguments *a = g->to;

	if (!strchr(g->arg, '=') || *g->arg == '=')
		argp_error(g->state, "--label '%s': give NAME=VALUE", g->arg);
	array_add(a->labels, a->nlabels, a->labels_cap, g->arg);
}

static void history_option_alarms(const struct option_given *g)
{
	double *alarms = &((struct history_arguments *)g->to)->false_alarms;

	*alarms = arg_above_0(g->state, "--false-alarms", g->arg);
	if (*alarms < HISTORY_ALARMS_LEAST)
		argp_error(g->state,
			   "--false-alarms '%s': no test is sure enough; give at least %g", g->arg,
			   HISTORY_ALARMS_LEAST);
}

static error_t history_parse(int key, char *arg, struct argp_state *state)
{
	struct history_arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->output;
		return 0;
	case ARGP_KEY_ARG:
		if (a->action)
			array_add(a->words, a->nwords, a->words_cap, arg);
		for (size_t i = 0; !a->action && i < ACTIONS; i++)
			if (!strcmp(arg, actions[i].name))
				a->action = &actions[i];
		if (!a->action)
			options_refuse_name(state, &command, "action", arg);
		return 0;
	case ARGP_KEY_END:
		if (!a->action)
			argp_error(state, "say what to do: add or show");
		if (a->action == &actions[ADD] && !a->nwords)
			argp_error(state, "which captures? give their folders");
		if (a->action == &actions[SHOW] && a->nwords > 1)
			argp_error(state,
				   "show takes one FIGURE; a pattern is several: '*_per_kib'");
		if ((a->html || a->charts) && (a->each || a->output.path || a->output.width_given ||
					       a->output.format != FORMAT_TEXT))
			argp_error(
				state,
				"--html and --charts name the files and their format: leave out --each, -o, --format and --width");
		options_check(state, &a->o, a->action, 1, SOURCE_CAPTURE);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A capture that is refused does not keep the others out. */
static int history_run_add(const struct history_arguments *a)
{
	int refused = 0;

	for (int i = 0; i < a->nwords; i++) {
		struct error err = {0};
		struct store *h = NULL;
		int rc = history_open(&h, a->path, true, &err);

		rc = rc ?: history_add(h, a->words[i], a->labels, a->nlabels, &err);
		rc = rc ?: store_commit(h, &err);
		if (store_close(h, rc, &err)) {
			message_printf("zcost: ", "%s: not added: %s", a->words[i], err.text);
			refused++;
		}
	}
	print_note("%s: %d of %d captures added", a->path, a->nwords - refused, a->nwords);
	return refused ? EXIT_FAILED : EXIT_OK;
}

static int history_run_show(const struct history_arguments *a, struct error *err)
{
	const struct history_choice choice = {a->o.q.variant, a->o.q.side,
					      a->nwords ? a->words[0] : NULL};
	freed(trends_free) struct trends all = {0};
	freed(table_free) struct table t = {0};
	struct store *h;
	int rc = history_open(&h, a->path, false, err);

	if (rc)
		return rc;
	rc = trends_read(&all, h, &choice, a->false_alarms, err);
	if (!rc && (a->html || a->charts)) {
		rc = trends_draw(&all, a->charts, a->html, err);
	} else if (!rc) {
		trends_add_rows(&all, a->each, &t);
		rc = output_table(&a->output, &t, err);
	}
	return store_close(h, rc, err);
}

int cmd_history(int argc, char **argv)
{
	struct history_arguments a = {.path = "history.db", .false_alarms = 0.05};
	struct error err = {0};
	int code;

	options_parse(&a.o, &command, argc, argv);
	code = a.action == &actions[ADD] ? history_run_add(&a) : history_run_show(&a, &err);
	if (err.code) {
		error_print(&err);
		code = (int)error_exit(&err);
	}
	options_free(&a.o);
	free(a.words);
	free(a.labels);
	return code;
}
