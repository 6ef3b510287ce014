// SPDX-License-Identifier: GPL-2.0-only
/* zcost report TABLE [CAPTURE]: one table of a capture, or of a bare perf file. */
#include "analyze/cmd.h"
#include "analyze/measures/amount.h"
#include "analyze/measures/measure.h"
#include "analyze/measures/notes.h"
#include "analyze/measures/run_facts.h"
#include "analyze/open.h"
#include "analyze/perfdata/tracepoints.h"
#include "analyze/narrow.h"
#include "analyze/query_options.h"
#include "analyze/query_values.h"
#include "analyze/rates.h"
#include "analyze/text_options.h"
#include "lib/alloc.h"
#include "lib/args.h"
#include "lib/output.h"
#include "lib/str.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	struct output out; /* first: the child parser's input */
	const char *table, *capture;
	struct query q;
	struct query_options from;
	struct text_options text;
	double rates[RATES_MAX];
};

enum {
	KEY_BY = 0x100,
	KEY_LIMIT,
	KEY_ALL,
	KEY_CHILDREN,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_COMPONENTS,
	KEY_SET,
	KEY_GROUP,
	KEY_UNIT,
	KEY_IN,
	KEY_CYCLES,
	KEY_INSTRUCTIONS,
	KEY_BASIS,
	KEY_RATE,
	KEY_UNITS,
	KEY_SECONDS,
	KEY_BUSY,
	KEY_LOAD,
	KEY_ESTIMATOR,
	KEY_N,
	KEY_M,
	KEY_MODEL,
	KEY_POWER_KIND,
	KEY_THROUGHPUT,
	KEY_CPU_PCT,
	KEY_POWER,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Which rows, and how samples are added up to them:", 2},
	{"by", KEY_BY, "KEYS", 0,
	 "rows by these first: comm pid tid thread cpu context component module dso symbol variant "
	 "side",
	 2},
	{"children", KEY_CHILDREN, NULL, 0,
	 "components, contexts, modules: also with all that they call, as functions have it", 2},
	{"dso", KEY_DSO, "NAME", 0, "only functions of this module or library", 2},
	{"symbol", KEY_SYMBOL, "NAME", 0, "only this function", 2},
	{"components", KEY_COMPONENTS, "FILE", 0, "own rules for components", 2},
	{"component-set", KEY_SET, "SET", 0, "fine (default) or basic", 2},
	{"group", KEY_GROUP, "NAME=F,F...", 0,
	 "functions that are to be one (table groups); again for another group", 2},
	{"limit", KEY_LIMIT, "N", 0, "at most so many rows of each variant and side", 2},
	{"all", KEY_ALL, NULL, 0, "every row, unresolved addresses one by one", 2},
	{NULL, 0, NULL, 0, "What a unit of work costs:", 3},
	{"unit", KEY_UNIT, "UNIT", 0, "packet, KiB, message or syscall", 3},
	{"in", KEY_IN, "AMOUNT", 0, "costs in ns, cycles or instructions", 3},
	{"basis", KEY_BASIS, "BASIS", 0, "wall: all the CPUs' time; busy: the time not idle", 3},
	{"rate", KEY_RATE, "R", 0,
	 "units of work per second: 8165032, 8.1M, or what a link carries of frames: 100Gbit/1536",
	 3},
	{"units", KEY_UNITS, "N", 0, "so many units of work ...", 3},
	{"seconds", KEY_SECONDS, "S", 0, "... in so many seconds", 3},
	{"busy-ns", KEY_BUSY, "NS", 0, "busy CPU time, of a bare file", 3},
	{"cycles", KEY_CYCLES, "N", 0, "cycles in all, of a bare file (--in cycles)", 3},
	{"instructions", KEY_INSTRUCTIONS, "N", 0, "instructions in all, of a bare file", 3},
	{"system-load", KEY_LOAD, "PCT", 0,
	 "of all CPUs' time in use meanwhile: what of it each module, component or group takes; "
	 "'measured': of a capture, that of the side's CPUs",
	 3},
	{NULL, 0, NULL, 0, "Scores (table roi):", 5},
	{"estimator", KEY_ESTIMATOR, "E", 0, "of repeats: median, middle or mean", 5},
	{"roi-n", KEY_N, "N", 0, "exponent of throughput (2)", 5},
	{"roi-m", KEY_M, "M", 0, "exponent of power (1)", 5},
	{"power-model", KEY_MODEL, "idle=W,per_cpu=W", 0,
	 "where no power was measured: idle + per_cpu x CPUs used", 5},
	{"power-kind", KEY_POWER_KIND, "KIND", 0,
	 "which power scores are made of: wall, platform or package (default: the first of these "
	 "that was measured)",
	 5},
	{"throughput", KEY_THROUGHPUT, "GBPS", 0, "without a capture: Gbit/s ...", 5},
	{"cpu-pct", KEY_CPU_PCT, "PCT", 0, "... at so many percent of a CPU ...", 5},
	{"power", KEY_POWER, "W", 0, "... and so many watts", 5},
	{0},
};

static void set_rates(struct argp_state *state, struct arguments *a, const char *arg)
{
	struct error err = {0};

	a->q.nrates = rates_parse(arg, a->rates, &err);
	if (a->q.nrates < 0)
		argp_error(state, "--rate: %s", err.text);
	a->q.rates = a->rates;
	a->q.rate = a->rates[0];
}

static void set_amount(struct argp_state *state, struct arguments *a, const char *arg)
{
	struct error err = {0};

	if (amount_parse(arg, &a->q.in, &err))
		argp_error(state, "--in: %s", err.text);
}

/* Options that are one member of the arguments. */
#define AT(member) offsetof(struct arguments, member)

static const struct {
	int key;
	size_t offset; /* of a const char * */
} texts[] = {
	{KEY_BY, AT(q.by)},
	{KEY_DSO, AT(q.dso)},
	{KEY_SYMBOL, AT(q.symbol)},
	{KEY_COMPONENTS, AT(q.components_file)},
	{KEY_SET, AT(q.components_set)},
	{KEY_UNIT, AT(q.unit)},
	{KEY_ESTIMATOR, AT(q.estimator)},
	{KEY_POWER_KIND, AT(q.power_kind)},
};

static const struct {
	int key;
	const char *name;
	size_t offset; /* of a double */
} numbers[] = {
	{KEY_UNITS, "--units", AT(q.units)},
	{KEY_SECONDS, "--seconds", AT(q.seconds)},
	{KEY_BUSY, "--busy-ns", AT(q.busy_ns)},
	{KEY_CYCLES, "--cycles", AT(q.cycles)},
	{KEY_INSTRUCTIONS, "--instructions", AT(q.instructions)},
	{KEY_N, "--roi-n", AT(q.roi_n)},
	{KEY_M, "--roi-m", AT(q.roi_m)},
	{KEY_THROUGHPUT, "--throughput", AT(q.throughput_gbps)},
	{KEY_CPU_PCT, "--cpu-pct", AT(q.cpu_pct)},
	{KEY_POWER, "--power", AT(q.power_w)},
};

static bool set_plain(struct argp_state *state, struct arguments *a, int key, const char *arg)
{
	double x;
	size_t i;

	for (i = 0; i < array_size(texts); i++) {
		if (texts[i].key != key)
			continue;
		memcpy((char *)a + texts[i].offset, &arg, sizeof(arg));
		return true;
	}
	for (i = 0; i < array_size(numbers); i++) {
		if (numbers[i].key != key)
			continue;
		x = arg_above_0(state, numbers[i].name, arg);
		memcpy((char *)a + numbers[i].offset, &x, sizeof(x));
		return true;
	}
	return false;
}

static void set_argument(struct argp_state *state, struct arguments *a, char *arg)
{
	if (!a->table)
		a->table = arg;
	else if (!a->q.symbol && measure_find(a->table) &&
		 measure_find(a->table)->needs == NEEDS_FUNCTION)
		a->q.symbol = arg;
	else if (!a->capture)
		a->capture = arg;
	else
		argp_error(state, "one table of one capture at a time");
}

static void list_tables(struct str *s)
{
	const struct measure *m;
	size_t i;

	for (i = 0; (m = measure_at(i)); i++)
		str_printf(s, "%s%s", i ? " " : "", m->name);
}

static bool is_bare(const struct arguments *a)
{
	return a->from.perf || a->text.given || a->q.throughput_gbps > 0 ||
	       !strcmp(a->table, "rates");
}

static enum option_source source_of(const struct arguments *a)
{
	return a->capture      ? OF_CAPTURE
	       : a->from.perf  ? OF_PERF
	       : a->text.given ? OF_TEXT
			       : OF_NUMBERS;
}

/* A table that --by makes another one of reads other options. */
static const char *table_as_split(const struct arguments *a)
{
	if (a->q.by && !strcmp(a->table, "cpu"))
		return "cpu --by";
	if (a->q.by && !strcmp(a->table, "tcp") && !strcmp(a->q.by, "name"))
		return "tcp --by name";
	return a->table;
}

/* Children's options come before their parent's end is parsed, so that all are known here. */
static void check_uses(struct argp_state *state, const struct arguments *a)
{
	struct str why = {0};

	if (options_refused(&a->from.given, &report_option_uses, table_as_split(a), source_of(a),
			    &why))
		argp_error(state, "%s", why.buf);
	str_free(&why);
}

static void check(struct argp_state *state, struct arguments *a)
{
	struct error err = {0};
	struct str tables = {0};

	list_tables(&tables);
	if (!a->table)
		argp_error(state, "which table? there are: %s", tables.buf);
	if (!measure_find(a->table))
		argp_error(state, "no table '%s'; there are: %s", a->table, tables.buf);
	str_free(&tables);
	if (!!a->from.perf + a->text.given + !!a->capture > 1)
		argp_error(state, "either a capture or one bare file");
	if (!strcmp(a->table, "rates") && (a->capture || a->from.perf || a->text.given))
		argp_error(state, "table 'rates' is made of --rate alone: %s means nothing for it",
			   a->capture ? a->capture : "a file");
	if (measure_find(a->table)->needs == NEEDS_STORE && !a->capture)
		argp_error(state, "table '%s' is made from a capture", a->table);
	if (a->q.in != IN_NS && !measure_has_costs(measure_find(a->table)))
		argp_error(state, "--in is for tables of costs: functions, components, contexts, "
				  "modules, groups, hotspots");
	if (!a->capture && !a->from.perf && slice_given(&a->from.slice))
		argp_error(state, "--from and --to cut a capture or a perf.data (--perf)");
	if (a->capture && slice_check(&a->from.slice, &err))
		argp_error(state, "%s", err.text);
	if (a->q.children && !measure_has_costs(measure_find(a->table)))
		argp_error(state,
			   "--children is for tables of costs: components, contexts, modules");
	if (a->q.load_measured && !a->capture)
		argp_error(state,
			   "--system-load measured is of a capture; of a file, give percent");
	if (a->q.nrates > 1 && strcmp(a->table, "rates"))
		argp_error(state, "several rates are for the table rates");
	if (!a->capture && !is_bare(a) && (a->q.cpu_pct > 0 || a->q.power_w > 0))
		argp_error(state, "scores of given numbers need --throughput");
	if (!a->capture && !is_bare(a))
		argp_error(state, "of what? give a capture, or a file with --perf, --perf-report, "
				  "--perf-trace, --strace-c, --perf-stat or --ethtool");
	check_uses(state, a);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	options_note(&a->from.given, options, key);
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->from;
		state->child_inputs[1] = &a->text;
		state->child_inputs[2] = &a->out;
		return 0;
	case KEY_RATE:
		set_rates(state, a, arg);
		return 0;
	case KEY_BASIS:
		query_set_basis(state, &a->q, arg);
		return 0;
	case KEY_IN:
		set_amount(state, a, arg);
		return 0;
	case KEY_MODEL:
		query_set_model(state, &a->q, arg);
		return 0;
	case KEY_LOAD:
		a->q.load_measured = !strcmp(arg, "measured");
		if (!a->q.load_measured)
			a->q.system_load = arg_above_0(state, "--system-load", arg);
		return 0;
	case KEY_GROUP:
		query_add_group(&a->q, arg);
		return 0;
	case KEY_LIMIT:
		a->q.limit = arg_whole(state, "--limit", arg, 1, LIMIT_MOST);
		return 0;
	case KEY_ALL:
		a->q.all = true;
		return 0;
	case KEY_CHILDREN:
		a->q.children = true;
		return 0;
	case ARGP_KEY_ARG:
		set_argument(state, a, arg);
		return 0;
	case ARGP_KEY_END:
		check(state, a);
		return 0;
	default:
		return set_plain(state, a, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

static char *help_tables(int key, const char *text, void *input)
{
	const struct measure *m;
	struct str s = {0};
	size_t i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	str_puts(&s, "Tables:\n");
	for (i = 0; (m = measure_at(i)); i++)
		args_help_line(&s, 14, m->name, m->what);
	str_puts(&s, "\nExit status 4: the table is complete, but its data is lossy.");
	return str_take(&s);
}

static const struct argp_child children[] = {
	{&query_argp, 0, NULL, 1}, {&text_argp, 0, NULL, 4}, {&output_argp, 0, "Output:", 9}, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "TABLE [CAPTURE]",
	.doc = "Prints one table of an analyzed capture, or of a bare perf file.\v ",
	.children = children,
	.help_filter = help_tables,
};

/* --- running --- */

static int open_input(struct arguments *a, struct store **store, struct error *err)
{
	int rc = 0;

	if (a->from.perf && measure_reads_tracepoints(measure_find(a->table))) {
		rc = tracepoints_open(&a->q.tracepoints, a->from.perf, &a->from.slice, err);
	} else if (a->from.perf) {
		a->from.spots = measure_find(a->table)->needs == NEEDS_FUNCTION;
		rc = query_read_perf(&a->from, err);
	} else if (a->text.given) {
		rc = text_read(&a->text, err);
	} else if (a->capture) {
		rc = query_open_capture(&a->from, a->capture, store, err);
	}
	return rc;
}

/* A name that nothing has is a mistake of the user's, not an empty table. */
static int check_filters(const struct arguments *a, const struct table *t, struct error *err)
{
	const struct query *q = &a->q;
	bool of_function = measure_find(a->table)->needs == NEEDS_FUNCTION;
	char *cpus = q->cpus ? cpuset_format(q->cpus) : NULL;
	const struct {
		const char *option, *value;
	} filters[] = {{"comm", q->comm},
		       {"dso", q->dso},
		       {"symbol", of_function ? NULL : q->symbol},
		       {"cpu", cpus}};
	struct str s = {0};
	size_t i;

	for (i = 0; i < array_size(filters) && !t->rows; i++)
		if (filters[i].value)
			str_printf(&s, " --%s %s", filters[i].option, filters[i].value);
	if (s.len)
		error_set(err, ENOENT, "table '%s' has no row: nothing matches%s", a->table, s.buf);
	free(cpus);
	str_free(&s);
	return -err->code;
}

/* A table that failed for want of rows: what stands beside it may tell why. */
static void say_notes(const struct table *t)
{
	size_t i;

	for (i = 0; i < t->nnotes && !t->rows; i++)
		note("%s", t->notes[i]);
}

static int report(struct arguments *a, struct error *err)
{
	struct store *store = NULL;
	int rc = open_input(a, &store, err), code;
	struct table t = {0};

	if (!rc)
		rc = measure_run(a->table, store, &a->q, &t, err);
	if (!rc)
		rc = check_filters(a, &t, err);
	if (!rc && store && a->out.format == FORMAT_COMMIT)
		run_facts_title(store, &a->q, &t);
	notes_gather(&t);
	narrow_columns(&t);
	if (!rc)
		rc = store_failed(store, err);
	if (!rc)
		rc = output_table(&a->out, &t, err);
	else
		say_notes(&t);
	rc = store_close(store, rc, err);
	code = rc ? (int)error_exit(err) : t.lossy ? EXIT_LOSSY : EXIT_OK;
	table_free(&t);
	tracepoints_close(a->q.tracepoints);
	return code;
}

int cmd_report(int argc, char **argv)
{
	struct arguments a = {.text = {.q = &a.q}};
	struct error err = {0};
	int code;

	query_options_init(&a.from, &a.q);
	args_parse(&argp, argc, argv, 0, &a);
	code = report(&a, &err);
	if (err.code)
		error_print(&err);
	query_options_free(&a.from);
	text_options_free(&a.text);
	free(a.q.groups);
	return code;
}
