// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/options.h"

#include "analyze/query_values.h"
#include "analyze/rates.h"
#include "lib/alloc.h"
#include "lib/args.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_TABLE = 0x100,
	KEY_BY,
	KEY_SIDE,
	KEY_CPU,
	KEY_COMM,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_FAIL_ON,
	KEY_SELF_TEST,
	KEY_VARIANT,
	KEY_LIMIT,
	KEY_ALL,
	KEY_THRESHOLD,
	KEY_ESTIMATOR,
	KEY_UNIT,
	KEY_BASIS,
	KEY_ROI_N,
	KEY_ROI_M,
	KEY_MODEL,
	KEY_POWER_KIND,
	KEY_RATE,
	KEY_UNITS,
	KEY_SECONDS,
	KEY_BUSY,
	KEY_GROUP,
	KEY_FROM,
	KEY_TO,
};

static const struct argp_option options[] = {
	{"capture", 'C', "CAPTURE", 0, "BASE and NEW are variants of this capture", 0},
	{"table", KEY_TABLE, "TABLE", 0, "what to compare, see below; default: metrics", 0},
	{"by", KEY_BY, "TABLE", 0,
	 "waterfall: steps are components (default), functions, contexts, modules or syscalls", 0},
	{"side", KEY_SIDE, "SIDE[,NEW'S]", 0,
	 "receiver or sender (lists of costs: the receiver unless told; metrics: all); two where "
	 "BASE and NEW name them differently: receiver,local",
	 0},
	{"cpu", KEY_CPU, "SET", 0, "lists of costs: only samples of these CPUs", 0},
	{"comm", KEY_COMM, "NAME", 0, "only of this command; names are globs", 0},
	{"dso", KEY_DSO, "NAME", 0, "only functions of this module or library", 0},
	{"symbol", KEY_SYMBOL, "NAME", 0, "only this function", 0},
	{"group", KEY_GROUP, "NAME=F,F...", 0,
	 "functions that are to be one (--table groups); again for another group", 0},
	{"from", KEY_FROM, "TIME", 0,
	 "only from then on: of captures, seconds after the beginning of each run's window, read "
	 "from their raw files; of a perf.data, its own time, or +S after its first sample",
	 0},
	{"to", KEY_TO, "TIME", 0, "only before then", 0},
	{"limit", KEY_LIMIT, "N", 0,
	 "rows of a list of costs; the rest is added up in one (functions: 30)", 0},
	{"all", KEY_ALL, NULL, 0, "every row", 0},
	{"fail-on", KEY_FAIL_ON, "worse", 0,
	 "exit 3 when a row is worse, 4 when the runs are too few to tell; of the metrics, "
	 "throughput (or the rate of packets or messages), ns_per_kib (or _packet, _message), "
	 "roi_c and roi_p count",
	 0},
	{"self-test", KEY_SELF_TEST, "CAPTURE", 0,
	 "instead of BASE and NEW: how often would runs of one variant seem to differ?", 0},
	{"variant", KEY_VARIANT, "V", 0, "self-test: only this one", 0},
	{"threshold", KEY_THRESHOLD, "PERCENT", 0, "a smaller change is none (2)", 1},
	{"estimator", KEY_ESTIMATOR, "NAME", 0,
	 "of the metrics over the runs: median, middle (drops the first and the last run) or mean; "
	 "default: the capture's",
	 1},
	{"unit", KEY_UNIT, "UNIT", 0, "of work: packet, KiB (default), message or syscall", 1},
	{"basis", KEY_BASIS, "BASIS", 0, "wall or busy (default where CPU time was measured)", 1},
	{"roi-n", KEY_ROI_N, "N", 0, "exponent of the throughput in the scores (2)", 1},
	{"roi-m", KEY_ROI_M, "M", 0, "exponent of the power in roi_p (1)", 1},
	{"power-model", KEY_MODEL, "idle=W,per_cpu=W", 0,
	 "modelled power where none was measured; labelled, and no gate", 1},
	{"power-kind", KEY_POWER_KIND, "KIND", 0,
	 "wall, platform or package power (default: the first of these that both have)", 1},
	{NULL, 0, NULL, 0, "Of files, for BASE and NEW (one number: for both):", 2},
	{"rate", KEY_RATE, "B[,N]", 0,
	 "units of work per second, the CPUs fully used: 8165032, 8.1M, 100Gbit/1536", 2},
	{"units", KEY_UNITS, "B[,N]", 0, "so many units of work ...", 2},
	{"seconds", KEY_SECONDS, "B[,N]", 0, "... in so many seconds", 2},
	{"busy-ns", KEY_BUSY, "B[,N]", 0, "... that took so much CPU time", 2},
	{0},
};

static void set_table(struct argp_state *state, struct compare_options *args, const char *arg)
{
	const struct compare_table *table;
	struct str names = {0};
	size_t i;

	args->table = compare_table_find(arg);
	for (i = 0; (table = compare_table_at(i)); i++)
		str_printf(&names, "%s%s", i ? ", " : "", table->name);
	if (!args->table)
		argp_error(state, "no table '%s'; there are %s", arg, names.buf);
	str_free(&names);
}

/* "receiver", "receiver,local" */
static void set_sides(struct argp_state *state, struct compare_options *args, char *arg)
{
	char *rest = arg;

	args->c.side[BASE] = str_token(&rest, ',');
	args->c.side[NEW] = rest ? rest : args->c.side[BASE];
	if (!*args->c.side[BASE] || !*args->c.side[NEW] || (rest && strchr(rest, ',')))
		argp_error(state, "--side: give one side for both, or two: BASE'S,NEW'S");
}

static void set_estimator(struct argp_state *state, struct compare_options *args, const char *arg)
{
	if (!estimator_parse(arg, &args->c.estimator))
		argp_error(state, "no estimator '%s'; there are median, middle and mean", arg);
	args->c.query.estimator = arg;
}

static error_t add_ref(struct argp_state *state, struct compare_options *args, const char *arg)
{
	if (args->refs == ENDS)
		argp_error(state, "two at a time: BASE and NEW");
	args->ref[args->refs++] = arg;
	return 0;
}

/* As with report: 8.1M, 100Gbit/1536. */
static void set_rate(struct argp_state *state, struct compare_options *args, const char *arg)
{
	double x[RATES_MAX];
	struct error err = {0};
	int n = rates_parse(arg, x, &err), e;

	if (n < 0)
		argp_error(state, "--rate: %s", err.text);
	if (n > ENDS)
		argp_error(state, "--rate '%s': one rate for both, or two: BASE,NEW", arg);
	for (e = 0; e < ENDS; e++)
		args->c.work[e].rate = x[e < n ? e : 0];
}

/* "8165032" or "8165032,9012345", into the member at `offset` of both ends' work. */
static void set_work(struct argp_state *state, struct compare_options *args, const char *arg,
		     size_t offset)
{
	double x[ENDS];
	int end = 0, n = sscanf(arg, "%lf%n,%lf%n", &x[BASE], &end, &x[NEW], &end), e;

	if (n == 1)
		x[NEW] = x[BASE];
	if (n < 1 || arg[end] || !(x[BASE] > 0) || !(x[NEW] > 0))
		argp_error(state, "'%s' is neither a number above 0 nor two with a comma", arg);
	for (e = 0; e < ENDS; e++)
		memcpy((char *)&args->c.work[e] + offset, &x[e], sizeof(x[e]));
}

static bool parse_work(int key, char *arg, struct argp_state *state)
{
	static const struct {
		int key;
		size_t offset;
	} members[] = {
		{KEY_UNITS, offsetof(struct work, units)},
		{KEY_SECONDS, offsetof(struct work, seconds)},
		{KEY_BUSY, offsetof(struct work, busy_ns)},
	};
	size_t i;

	if (key == KEY_RATE)
		set_rate(state, state->input, arg);
	for (i = 0; i < array_size(members); i++)
		if (members[i].key == key)
			set_work(state, state->input, arg, members[i].offset);
	return key >= KEY_RATE && key <= KEY_BUSY;
}

static error_t parse_figures(int key, char *arg, struct argp_state *state)
{
	struct compare_options *args = state->input;

	switch (key) {
	case KEY_THRESHOLD:
		args->c.rule.threshold = arg_from_0(state, "--threshold", arg) / 100;
		return 0;
	case KEY_ESTIMATOR:
		set_estimator(state, args, arg);
		return 0;
	case KEY_UNIT:
		args->c.query.unit = arg;
		return 0;
	case KEY_BASIS:
		query_set_basis(state, &args->c.query, arg);
		return 0;
	case KEY_ROI_N:
		args->c.query.roi_n = arg_above_0(state, "--roi-n", arg);
		return 0;
	case KEY_ROI_M:
		args->c.query.roi_m = arg_above_0(state, "--roi-m", arg);
		return 0;
	case KEY_MODEL:
		query_set_model(state, &args->c.query, arg);
		return 0;
	case KEY_POWER_KIND:
		args->c.query.power_kind = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Which samples: false when it is another option. */
static bool parse_filter(int key, char *arg, struct argp_state *state)
{
	struct compare_options *args = state->input;
	struct query *q = &args->c.query;

	switch (key) {
	case KEY_CPU:
		query_set_cpus(state, q, &args->cpus, arg);
		return true;
	case KEY_COMM:
		q->comm = arg;
		return true;
	case KEY_DSO:
		q->dso = arg;
		return true;
	case KEY_SYMBOL:
		q->symbol = arg;
		return true;
	case KEY_GROUP:
		query_add_group(q, arg);
		return true;
	case KEY_FROM:
		query_set_time(state, &args->c.slice.from, "--from", arg);
		return true;
	case KEY_TO:
		query_set_time(state, &args->c.slice.to, "--to", arg);
		return true;
	default:
		return false;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct compare_options *args = state->input;

	options_note(&args->given, options, key);
	switch (key) {
	case 'C':
		args->capture = arg;
		return 0;
	case KEY_TABLE:
		set_table(state, args, arg);
		return 0;
	case KEY_BY:
		args->c.by = arg;
		return 0;
	case KEY_SIDE:
		set_sides(state, args, arg);
		return 0;
	case KEY_LIMIT:
		args->c.limit = arg_whole(state, "--limit", arg, 1, LIMIT_MOST);
		return 0;
	case KEY_ALL:
		args->c.all = true;
		return 0;
	case KEY_SELF_TEST:
		args->self_test = arg;
		return 0;
	case KEY_VARIANT:
		args->variant = arg;
		return 0;
	case KEY_FAIL_ON:
		if (strcmp(arg, "worse"))
			argp_error(state, "--fail-on '%s': there is only worse", arg);
		args->fail_on_worse = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->output;
		return 0;
	case ARGP_KEY_ARG:
		return add_ref(state, args, arg);
	case ARGP_KEY_END:
		compare_options_check(state, args);
		return 0;
	default:
		if (parse_filter(key, arg, state) || parse_work(key, arg, state))
			return 0;
		return parse_figures(key, arg, state);
	}
}

static char *help_tables(int key, const char *text, void *input)
{
	const struct compare_table *table;
	struct str s = {0};
	size_t i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	str_puts(&s, "Tables:\n");
	for (i = 0; (table = compare_table_at(i)); i++)
		str_printf(&s, "  %-11s %s\n", table->name, table->what);
	str_printf(&s, "\n%s", text);
	return str_take(&s);
}

static const struct argp_child children[] = {{&output_argp, 0, NULL, 0}, {0}};

const struct argp compare_argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "BASE NEW\n--self-test CAPTURE",
	.doc = "Compares two variants: of the capture that -C names, or each given as CAPTURE "
	       "(when "
	       "it has one variant) or CAPTURE:VARIANT. Also two files: a perf.data, or the text "
	       "of "
	       "perf report --stdio; then functions unless told; or of perf stat, perf trace -s or "
	       "strace -c. Differences are absolute, in ns per unit of work, and add up to the "
	       "total's.\v"
	       "A verdict is better, worse, ~ (no change that is both significant and above the "
	       "threshold) or too few runs: the exact Mann-Whitney test over the runs of both, "
	       "p < 0.05, corrected by Holm in a list of costs. Four runs a side are the fewest "
	       "that can give one; a list of costs takes more, and says how many. The interval "
	       "beside a verdict is of the same test: it holds no change unless p < 0.05. Exit: 0 "
	       "done, 1 failed, 2 usage, 3 a row is worse (--fail-on worse), 4 done, but data were "
	       "lost, or the gate has too few runs to tell.",
	.help_filter = help_tables,
};
