// SPDX-License-Identifier: GPL-2.0-only
/* Options of `compare` that go together, and those that do not. */
#include "analyze/compare/options.h"

#include "analyze/compare/bare.h"
#include "analyze/compare/diff.h"
#include "analyze/compare/texts.h"
#include "analyze/open.h"

#include <string.h>

/* A waterfall is made of what its steps are made of. */
static bool of_samples(const struct compare_options *args)
{
	const char *by = args->c.by ? args->c.by : args->table->name;

	return compare_table_find(by)->filters == BY_SAMPLE;
}

static void check_filters(struct argp_state *state, const struct compare_options *args)
{
	const struct query *q = &args->c.query;

	if (q->comm && args->table->filters == NO_FILTERS)
		argp_error(state,
			   "--comm goes with lists of costs (--table functions); '%s' is of whole "
			   "sides",
			   args->table->name);
	if ((q->cpus || q->dso || q->symbol) && !of_samples(args))
		argp_error(state,
			   "--cpu, --dso and --symbol choose samples, which '%s' is not made of; "
			   "--table functions is",
			   args->table->name);
}

static void check_groups(struct argp_state *state, const struct compare_options *args)
{
	bool groups = !strcmp(args->table->name, "groups");

	if (groups && !args->c.query.ngroups)
		argp_error(state, "which groups? give --group NAME=FUNCTION,FUNCTION,... once or "
				  "more; names may be globs");
	if (!groups && args->c.query.ngroups)
		argp_error(state, "--group goes with --table groups");
}

static void check_slice(struct argp_state *state, const struct compare_options *args)
{
	struct error err = {0};

	if (!slice_given(&args->c.slice))
		return;
	if (args->self_test)
		argp_error(state, "--self-test is of whole windows: no --from and --to");
	if (args->texts)
		argp_error(state, "texts have no times that --from and --to could cut");
	if (args->c.slice.from.relative == args->c.slice.to.relative &&
	    slice_check(&args->c.slice, &err))
		argp_error(state, "%s", err.text);
}

/* The same runs at both ends have no difference, and a verdict on it would mean nothing. */
static void check_ends(struct argp_state *state, const struct compare_options *args)
{
	const char *base = args->ref[BASE];

	if (args->self_test || strcmp(base, args->ref[NEW]) || (!args->capture && bare_is(base)))
		return;
	if (args->capture)
		argp_error(state,
			   "%s against itself: of the same runs nothing differs; --self-test %s "
			   "--variant %s says how often its runs would seem to",
			   base, args->capture, base);
	argp_error(state,
		   "%s against itself: of the same runs nothing differs; --self-test CAPTURE says "
		   "how often a variant's runs would seem to",
		   base);
}

/* Of files there are no metrics. */
static const struct compare_table *default_table(const struct compare_options *args)
{
	bool files = !args->self_test && !args->capture && bare_is(args->ref[BASE]) &&
		     bare_is(args->ref[NEW]);

	return compare_table_find(files ? "functions" : "metrics");
}

static void check_uses(struct argp_state *state, const struct compare_options *args)
{
	bool files = !args->self_test && !args->capture && bare_is(args->ref[BASE]);
	enum option_source source = args->texts	      ? OF_TEXT
				    : args->self_test ? OF_NUMBERS
				    : files	      ? OF_PERF
						      : OF_CAPTURE;
	const char *table = args->texts	      ? "two texts"
			    : args->self_test ? "self-test"
					      : args->table->name;
	struct str why = {0};

	if (options_refused(&args->given, &compare_option_uses, table, source, &why))
		argp_error(state, "%s", why.buf);
	str_free(&why);
}

void compare_options_check(struct argp_state *state, struct compare_options *args)
{
	if (args->self_test && args->refs)
		argp_error(state, "--self-test takes its one CAPTURE, and no BASE and NEW");
	if (args->self_test && args->c.side[BASE] != args->c.side[NEW])
		argp_error(state, "--self-test is of one capture: give one --side");
	if (args->variant && !args->self_test)
		argp_error(state, "--variant goes with --self-test; name BASE and NEW");
	if (!args->self_test && args->refs != ENDS)
		argp_error(state, "what against what? give BASE and NEW");
	check_ends(state, args);
	if (!args->table && !args->self_test && !args->capture && bare_is_text(args->ref[BASE]) &&
	    bare_is_text(args->ref[NEW]))
		args->texts = compare_texts_table(args->ref[BASE], args->ref[NEW]);
	if (args->texts && args->fail_on_worse)
		argp_error(state, "two texts have no verdicts to fail on");
	if (!args->table)
		args->table = default_table(args);
	if (args->c.by && !diff_spec_find(args->c.by))
		argp_error(state,
			   "--by '%s': there are components, functions, contexts, modules and "
			   "syscalls",
			   args->c.by);
	if (args->c.by && strcmp(args->table->name, "waterfall"))
		argp_error(state, "--by goes with --table waterfall");
	check_filters(state, args);
	check_groups(state, args);
	check_slice(state, args);
	check_uses(state, args);
}
