// SPDX-License-Identifier: GPL-2.0-only
/* zcost compare BASE NEW: prints what changed and whether the change is real. */
#include "analyze/commands/commands.h"
#include "analyze/commands/options.h"
#include "analyze/compare/gate.h"
#include "lib/command.h"
#include "lib/output.h"
#include "lib/words.h"

struct compare_arguments {
	struct options o; /* first: options.c fills it */
	struct comparison c;
	struct output output;
	const struct compare_table *table; /* without a table, the first of the source */
	enum data_source source;
	const char *capture, *ref[ENDS], *self_test;
	const char *html; /* the file of the page, which has all tables; NULL: one table */
	int refs;
	struct gate gate;
};

static struct feature compare_feature(size_t i)
{
	const struct compare_table *table = compare_table_at(i);

	return table ? (struct feature){table->name, table->what, table->options, table->whole}
		     : (struct feature){0};
}

/* --- options of compare, or with one value for BASE and one for NEW --- */

static option_parser compare_option_table, compare_option_sides, compare_option_gate,
	compare_option_threshold, compare_option_work;

#define AT(member) offsetof(struct compare_arguments, member)

// clang-format off
static const struct option_row own[] = {
	OPTION("capture", "CAPTURE", GROUP_NONE, "BASE and NEW are variants of this capture",
	       option_text, .at = AT(capture), .key = 'C'),
	OPTION("table", "TABLE", GROUP_NONE, "what to compare, see below; default: metrics",
	       compare_option_table),
	OPTION("fail-on", "worse|ROW>N%", GROUP_NONE,
	       "exit with status 3 if a row is worse, 4 if the runs are too few for a verdict; of the metrics, only rows with a verdict count. ROW>N%: if this row, or \"SIDE ROW\", a glob too, is worse by N % or more; ROW may be a function. Repeat the option for more rows",
	       compare_option_gate),
	OPTION("threshold", "PERCENT", GROUP_NONE, "a smaller change does not count (default 2)",
	       compare_option_threshold),
	OPTION("html", "FILE", GROUP_OUTPUT,
	       "instead of a table: write one page of HTML with verdicts, charts and all tables",
	       option_text, .at = AT(html)),
	OPTION("self-test", "CAPTURE", GROUP_NONE,
	       "instead of BASE and NEW: measure how often runs of one variant seem to differ",
	       option_text, .at = AT(self_test)),
	{.name = "variant", .help = "with --self-test: only this variant"},
	{.name = "side",
	 .arg = "SIDE[,NEW'S]",
	 .help = "receiver or sender (default: receiver for lists of costs, all sides for metrics); two names if BASE and NEW name the side differently: receiver,local",
	 .parse = compare_option_sides},
	{.name = "by",
	 .arg = "components|functions|contexts|modules|syscalls",
	 .help = "waterfall: steps are components (default), functions, contexts, modules or syscalls"},
	{.name = "rate", .arg = "B[,N]"},
	{.name = "units", .arg = "B[,N]", .parse = compare_option_work, .at = AT(c.work[BASE].units)},
	{.name = "seconds", .arg = "B[,N]", .parse = compare_option_work, .at = AT(c.work[BASE].seconds)},
	{.name = "busy-ns", .arg = "B[,N]", .parse = compare_option_work, .at = AT(c.work[BASE].busy_ns)},
	{0},
};
// clang-format on

static error_t compare_parse(int key, char *arg, struct argp_state *state);

static const struct argp_child children[] = {{&output_argp, 0, NULL, GROUP_OUTPUT}, {0}};

static const struct command command = {
	.argp = {.parser = compare_parse,
		 .args_doc = "BASE NEW\n--html FILE BASE NEW\n--self-test CAPTURE",
		 .doc = "Compares two variants of the capture that -C names. Two patterns, as 'send+*' 'splice+*', compare variants with the same settings, one row for each pair. Without -C, BASE and NEW are each CAPTURE:VARIANT, or CAPTURE if it has one variant. Also compares two files: each a perf.data or the text of perf report --stdio (default table: functions). "
			"Differences are absolute, in ns per unit of work, and add up to the difference of the totals. For files, B[,N] is a number for BASE and one for NEW; a single number applies to both.\vA verdict is better, worse, ~ (no change that is both significant and above the threshold), too few runs, copied (better, but NEW asked for zero copy and copied), drift? (the runs did not take turns, and a drift can explain the change), or others? (a cost of whole CPUs, and other programs took more than 20 % of a side's busy time). The test is the exact Mann-Whitney test over the runs of both ends, p < 0.05, with Holm's correction in a list of costs. A verdict on the metrics takes five runs at each end, a list of costs more, and a note says how many. Of the metrics, throughput, the cost of each side and of the total, and the total's score have a verdict, with Holm's correction over them. The interval beside a verdict belongs to the same test: it excludes 0 only if p < 0.05. In a list of costs it belongs to p before the correction, so it can exclude 0 although p after the correction is 0.05 or more; a verdict needs both. Exit status: 0 done, 1 failed, 2 usage error, 3 a row is worse (--fail-on worse), 4 done, but data were lost or the gate has too few runs for a verdict.",
		 .children = children},
	.heading = "Tables:",
	.sources = {"two variants", "two files", "", "one variant"},
	.feature = compare_feature,
	.own = own,
};

static void compare_option_table(const struct option_given *g)
{
	struct compare_arguments *a = g->to;

	a->table = compare_table_find(g->arg);
	if (!a->table)
		options_refuse_name(g->state, &command, "table", g->arg);
}

/* "receiver", "receiver,local" */
static void compare_option_sides(const struct option_given *g)
{
	if (!compare_set_sides(&((struct compare_arguments *)g->to)->c, g->arg))
		argp_error(g->state, "--side: give one side for both, or two: BASE'S,NEW'S");
}

static void compare_option_gate(const struct option_given *g)
{
	if (!gate_add_rule(&((struct compare_arguments *)g->to)->gate, g->arg))
		argp_error(g->state, "--fail-on '%s' is neither worse nor ROW>PERCENT%%", g->arg);
}

static void compare_option_threshold(const struct option_given *g)
{
	((struct compare_arguments *)g->to)->c.rule.threshold =
		arg_from_0(g->state, "--threshold", g->arg) / 100;
}

/* "8165032" or "8165032,9012345", into the same member of both ends' work. */
static void compare_option_work(const struct option_given *g)
{
	char *base = (char *)g->to + g->row->at, *new = base + sizeof(struct work_done);
	double x[ENDS];
	int end = 0, n = sscanf(g->arg, "%lf%n,%lf%n", &x[BASE], &end, &x[NEW], &end);

	if (n == 1)
		x[NEW] = x[BASE];
	if (n < 1 || g->arg[end] || !(x[BASE] > 0) || !(x[NEW] > 0))
		argp_error(g->state, "--%s '%s' is neither a number above 0 nor two with a comma",
			   g->row->name, g->arg);
	memcpy(base, &x[BASE], sizeof(x[BASE]));
	memcpy(new, &x[NEW], sizeof(x[NEW]));
}

/* --- do the arguments go together? --- */

/* Refuses the same runs at both ends: they do not differ, and a verdict would mean nothing. */
static void compare_check_ends(struct argp_state *state, const struct compare_arguments *a)
{
	const char *base = a->ref[BASE];

	if (a->self_test && a->refs)
		argp_error(state, "--self-test takes one CAPTURE instead of BASE and NEW");
	if (a->self_test && a->table && !a->table->of_figures && !diff_spec_find(a->table->name))
		argp_error(
			state,
			"--self-test cannot split table %s; it splits metrics, functions, components, contexts, modules and syscalls",
			a->table->name);
	if (a->self_test && a->c.side[BASE] && !strcmp(a->c.side[BASE], SIDE_TOTAL))
		argp_error(state, "--side total: a self-test has no total of the sides");
	if (a->self_test && a->c.side[BASE] != a->c.side[NEW])
		argp_error(state, "--self-test reads one capture: give one side with --side");
	if (a->self_test)
		return;
	if (a->refs != ENDS)
		argp_error(state, "compare needs two ends: give BASE and NEW");
	if (strcmp(base, a->ref[NEW]) || (!a->capture && bare_is(base)))
		return;
	argp_error(
		state,
		"%s against itself: a run does not differ from itself; --self-test CAPTURE measures how often the runs of a variant seem to differ",
		base);
}

static void compare_check_page(struct argp_state *state, const struct compare_arguments *a)
{
	static const char *const options[SOURCES] = {[SOURCE_CAPTURE] =
							     OPT_PAGE "fail-on threshold"};
	const struct feature page = {.name = "--html", .options = options};

	if (a->source != SOURCE_CAPTURE || a->table)
		argp_error(state,
			   "--html writes the page of two variants of captures, with all tables");
	page_check(state, &a->o, &a->output, a->c.side[BASE], &page);
}

/* Checks the options against the table, and those of a waterfall also against its steps' table. */
static void compare_check_options(struct argp_state *state, struct compare_arguments *a)
{
	const struct compare_table *steps = a->o.q.by ? compare_table_find(a->o.q.by) : NULL;
	struct feature f = {a->table->name, a->table->what, a->table->options, a->table->whole};

	options_check(state, &a->o, &f, 1, a->source);
	if (!a->o.q.by)
		return;
	if (!diff_spec_find(a->o.q.by))
		argp_error(
			state,
			"--by '%s': the steps are components, functions, contexts, modules or syscalls",
			a->o.q.by);
	options_ignore(&a->o, "by");
	f = (struct feature){steps->name, steps->what, steps->options, steps->whole};
	options_check(state, &a->o, &f, 1, a->source);
}

enum { COMMIT_ROWS = 6 }; /* the rows of a list of costs */

/* Sets the query of both ends; each table adds variant and side, and applies the limit. */
static void compare_set_query(struct compare_arguments *a)
{
	struct comparison *c = &a->c;

	for (int e = 0; e < ENDS; e++)
		c->work[e].rate = a->o.q.nrates > e ? a->o.rates[e] : a->o.q.work.rate;
	c->query = a->o.q;
	c->slice = a->o.slice;
	c->by = a->o.q.by;
	c->limit = query_limit(&a->o.q, a->output.format == FORMAT_COMMIT ? COMMIT_ROWS : 0);
	c->query.by = c->query.variant = NULL;
	c->query.limit = 0;
	c->query.all = false;
}

/* Refuses rules that ask for less than a verdict does, and tests of what has no verdicts. */
static void compare_check_gate(struct argp_state *state, const struct compare_arguments *a)
{
	double least = 100 * a->c.rule.threshold;
	const struct gate_rule *rule = gate_rule_below(&a->gate, least);

	if (rule)
		argp_error(
			state,
			"--fail-on '%s>%g%%': a change of up to %g %% has no verdict; add --threshold %g",
			rule->name, rule->percent, least, rule->percent);
	if (a->output.format >= FORMAT_KTAP &&
	    (a->html || a->self_test || a->table->of_facts || a->source != SOURCE_CAPTURE))
		argp_error(state, "--format ktap and junit print verdicts on variants of captures");
}

/* Patterns of variants are compared pair by pair. */
static void compare_check_patterns(struct argp_state *state, struct compare_arguments *a)
{
	if (a->self_test || !a->capture ||
	    !(compare_is_pattern(a->ref[BASE]) || compare_is_pattern(a->ref[NEW])))
		return;
	if (a->html)
		argp_error(
			state,
			"--html compares two variants, not patterns; report --html has all variants");
	if (!a->table->pairs)
		argp_error(state,
			   "--table %s compares two variants, and '%s' is a pattern of several",
			   a->table->name, a->ref[compare_is_pattern(a->ref[BASE]) ? BASE : NEW]);
	if (a->output.format == FORMAT_COMMIT)
		argp_error(state, "--format commit compares two variants, not patterns");
	a->table = a->table->pairs;
}

static void compare_check(struct argp_state *state, struct compare_arguments *a)
{
	struct error err = {0};

	compare_check_ends(state, a);
	a->source = a->self_test			   ? SOURCE_NUMBERS
		    : a->capture || !bare_is(a->ref[BASE]) ? SOURCE_CAPTURE
							   : SOURCE_PERF;
	if (a->html)
		compare_check_page(state, a);
	a->c.table = a->table; /* the only one that a self-test tests */
	if (!a->table || a->self_test)
		a->table = compare_table_for(a->source);
	compare_check_patterns(state, a);
	compare_check_gate(state, a);
	compare_check_options(state, a);
	compare_set_query(a);
	if (a->c.slice.from.relative == a->c.slice.to.relative && slice_check(&a->c.slice, &err))
		argp_error(state, "%s", err.text);
	if (a->o.q.nrates > ENDS)
		argp_error(state, "--rate: one rate for both, or two: BASE,NEW");
}

static error_t compare_parse(int key, char *arg, struct argp_state *state)
{
	struct compare_arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->output;
		return 0;
	case ARGP_KEY_ARG:
		if (a->refs == ENDS && !a->capture && options_is_capture(arg)) {
			char *words[] = {
				"zcost", "compare", (char *)a->ref[BASE], (char *)a->ref[NEW], "-C",
				arg,	 NULL};
			autofree char *line = words_join(words);

			argp_error(state, "too many arguments; the capture goes with -C: %s", line);
		}
		if (a->refs == ENDS)
			argp_error(state, "too many arguments: compare takes BASE and NEW");
		a->ref[a->refs++] = arg;
		return 0;
	case ARGP_KEY_END:
		compare_check(state, a);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- running --- */

enum { SETTINGS_SHOWN = 3 };

/* Puts lines, each with a newline, before the title, or on stderr for formats without a title. */
static void compare_title_first(struct table *t, const struct output *o, struct str *lines)
{
	const char *title = t->title ? t->title : t->name;
	char *rest = lines->buf, *line;

	t->title = NULL;
	while ((line = str_token(&rest, '\n')) && *line) {
		if (o->format == FORMAT_TSV || o->format == FORMAT_CSV)
			warn("%s", line);
		table_title_lines(t, line);
	}
	table_title_lines(t, title);
}

static int compare_run_self_test(struct compare_arguments *args, bool *lossy, struct error *err)
{
	freed(table_free) struct table t = {0};
	int ret = compare_self_test(&args->c, args->self_test, args->o.q.variant, &t, err);

	ret = ret ?: output_table(&args->output, &t, err);
	*lossy = t.lossy;
	return ret;
}

/*
 * Adds the lines above a table, and what a verdict takes. The table of settings needs neither, and
 * a commit message has the settings below its table. Evidence of copying comes first.
 */
static int compare_read_first(struct compare_arguments *args, struct str *evidence,
			      struct str *first, struct error *err)
{
	enum table_format format = args->output.format;
	int ret;

	if (args->table->of_facts)
		return 0;
	compare_evidence(&args->c, evidence);
	if (args->table->of_pairs)
		return 0;
	ret = compare_drift(&args->c, first, err);
	if (ret || format == FORMAT_TSV || format == FORMAT_CSV || format == FORMAT_COMMIT)
		return ret;
	return compare_settings(&args->c, SETTINGS_SHOWN, first, err);
}

static int compare_pair(struct compare_arguments *args, struct error *err)
{
	return compare_pair_sides(&args->c, err) ?: compare_estimator(&args->c, err);
}

/* Adds the functions as rows of the gate if a rule names none of the metrics. */
static int compare_gate_functions(struct compare_arguments *args, struct outcome *of_metrics,
				  struct error *err)
{
	freed(table_free) struct table t = {0};
	struct outcome out = {.gate = &args->gate};
	struct comparison c = args->c;
	int rc;

	if (!args->table->of_figures || !gate_missing(&args->gate))
		return 0;
	args->gate.by_name = true;
	rc = compare_table_run(compare_table_find("functions"), &c, &t, &out, err);
	of_metrics->tests = out.tests > of_metrics->tests ? out.tests : of_metrics->tests;
	return rc;
}

/* Judges the rows. Refuses the name of a row that does not exist: a typing error is no pass. */
static int compare_judge(struct compare_arguments *args, struct error *err)
{
	const char *missing = gate_missing(&args->gate);

	if (missing)
		return error_set(
			err, ENOENT,
			"--fail-on: no row with a verdict has the name '%s'; --format ktap lists the rows",
			missing);
	gate_judge(&args->gate);
	return 0;
}

/* Writes the table, or the rows of the gate below its title. */
static int compare_write(struct compare_arguments *args, struct table *t, struct error *err)
{
	struct table *rows = &args->gate.rows;

	if (args->output.format < FORMAT_KTAP)
		return output_table(&args->output, t, err);
	table_title_lines(rows, t->title);
	rows->name = t->name;
	return output_table(&args->output, rows, err);
}

static int compare_run_ends(struct compare_arguments *args, struct outcome *out, bool *lossy,
			    struct error *err)
{
	freed(table_free) struct table t = {0};
	freed(str_free) struct str evidence = {0}, first = {0};
	freed(figures_free) struct figures figures = {0};
	bool commit = args->output.format == FORMAT_COMMIT && !args->table->of_facts;
	int ret = compare_open(&args->c, args->capture, args->ref[BASE], args->ref[NEW], err);

	if (ret)
		return ret;
	out->figures = commit && args->table->of_figures ? &figures : NULL;
	ret = compare_pair(args, err);
	ret = ret ?: compare_read_first(args, &evidence, &first, err);
	ret = ret ?: compare_table_run(args->table, &args->c, &t, out, err);
	if (!ret) {
		compare_note_sides(&args->c, &t);
		compare_note_reading(&args->c, &t);
		if (!args->table->of_pairs)
			ret = compare_limits(&args->c, &t, out, &first, err);
	}
	if (!ret)
		ret = compare_gate_functions(args, out, err) ?: compare_judge(args, err);
	if (!ret && commit)
		ret = compare_commit(&args->c, out, &evidence, &first, &t, err);
	if (!commit) {
		compare_title_first(&t, &args->output, &first);
		compare_title_first(&t, &args->output, &evidence);
	}
	ret = ret ?: compare_failed(&args->c, err);
	ret = ret ?: compare_write(args, &t, err);
	*lossy = t.lossy;
	out->figures = NULL;
	return compare_close(&args->c, ret, err);
}

static int compare_run_page(struct compare_arguments *args, int argc, char **argv,
			    struct outcome *out, bool *lossy, struct error *err)
{
	struct page_request r = {.path = args->html,
				 .capture = args->capture,
				 .query = args->c.query,
				 .compared = &args->c,
				 .argc = argc,
				 .argv = argv,
				 .outcome = *out};
	int ret = compare_open(&args->c, args->capture, args->ref[BASE], args->ref[NEW], err);

	if (ret)
		return ret;
	ret = compare_pair(args, err);
	ret = ret ?: page_write(&r, err);
	if (!ret)
		ret = compare_gate_functions(args, &r.outcome, err) ?: compare_judge(args, err);
	*out = r.outcome;
	*lossy = r.lossy;
	return compare_close(&args->c, ret, err);
}

int cmd_compare(int argc, char **argv)
{
	struct compare_arguments args = {0};
	struct error err = {0};
	struct outcome out = {.gate = &args.gate};
	bool lossy = false;
	int ret;

	args.output.has_gate = true;
	args.c.rule = (struct verdict_rule)VERDICT_RULE;
	options_parse(&args.o, &command, argc, argv);
	ret = args.html ? compare_run_page(&args, argc, argv, &out, &lossy, &err)
	      : args.source == SOURCE_NUMBERS ? compare_run_self_test(&args, &lossy, &err)
					      : compare_run_ends(&args, &out, &lossy, &err);
	options_free(&args.o);
	if (ret) {
		error_print(&err);
		ret = error_exit(&err);
	} else {
		ret = lossy ? EXIT_LOSSY : EXIT_OK;
		if (args.gate.n)
			ret = gate_print(&args.gate, verdict_runs_needed(&args.c.rule, out.tests),
					 ret);
	}
	gate_free(&args.gate);
	return ret;
}
