// SPDX-License-Identifier: GPL-2.0-only
/* The table of options, with their parsers and the readers of files. */
#include "analyze/commands/options.h"

#include "analyze/costs/basis.h"
#include "analyze/analysis/analysis.h"
#include "analyze/perfdata/perfdata.h"
#include "analyze/perfdata/tracepoints.h"
#include "lib/command.h"
#include "workload/workload.h"

#include <errno.h>
#include <unistd.h>

/* --- parsers --- */

static double rate_parse_multiple(char **p)
{
	static const char names[] = "kMG";
	const char *at = **p ? strchr(names, **p) : NULL;

	if (!at)
		return 1;
	++*p;
	return pow(1000, (double)(at - names + 1));
}

static bool rate_parse(const char *text, double *rate)
{
	double bytes;
	char *end;

	*rate = strtod(text, &end);
	if (end == text)
		return false;
	*rate *= rate_parse_multiple(&end);
	if (str_starts(end, "bit/")) {
		text = end + 4;
		bytes = strtod(text, &end);
		if (end == text || !(bytes > 0))
			return false;
		*rate /= 8 * bytes;
	}
	return !*end && isfinite(*rate) && *rate > 0;
}

struct option_title {
	char text[40];
};

static struct option_title option_title(const struct option_given *g)
{
	struct option_title title;

	snprintf(title.text, sizeof(title.text), "--%s", g->row->name);
	return title;
}

static void *option_storage(const struct option_given *g)
{
	return (char *)g->to + g->row->at;
}

void option_text(const struct option_given *g)
{
	const char **p = option_storage(g);

	*p = g->arg;
}

void option_flag(const struct option_given *g)
{
	bool *p = option_storage(g);

	*p = true;
}

static void option_wall(const struct option_given *g)
{
	const char **p = option_storage(g);

	*p = WALL_EVENT;
}

static void option_time(const struct option_given *g)
{
	if (time_point_parse(option_storage(g), g->arg))
		argp_error(g->state, "--%s '%s' is neither a time in seconds nor +SECONDS",
			   g->row->name, g->arg);
}

static void option_number(const struct option_given *g)
{
	double *p = option_storage(g);

	*p = arg_above_0(g->state, option_title(g).text, g->arg);
}

/* "--units nic:eth0" is an option of analyze, which counts the work of a capture. */
static void option_units(const struct option_given *g)
{
	if (adapter_find(g->arg))
		argp_error(
			g->state,
			"--units '%s' says how work is counted: zcost analyze CAPTURE --units %s; here --units is the number of units done",
			g->arg, g->arg);
	option_number(g);
}

static void option_rows(const struct option_given *g)
{
	long *p = option_storage(g);

	*p = arg_whole(g->state, option_title(g).text, g->arg, 1, LIMIT_MOST);
}

static void option_jobs(const struct option_given *g)
{
	unsigned int *p = option_storage(g);

	*p = (unsigned int)arg_whole(g->state, option_title(g).text, g->arg, 1, 1024);
}

static void option_variant(const struct option_given *g)
{
	const char **p = option_storage(g);

	if (*p)
		argp_error(
			g->state,
			"--variant '%s': --variant '%s' comes before; one glob selects several variants: 'mmap*', '[bm]*'",
			g->arg, *p);
	*p = g->arg;
}

/* "3", "mmap/profile-02" */
static void option_run(const struct option_given *g)
{
	struct options *all = g->to;
	char *slash, *dash, *end;
	long n;

	n = strtol(g->arg, &end, 10);
	if (!*end && n > 0) {
		all->q.repeat = (int)n;
		return;
	}
	free(all->run);
	all->run = xstrdup(g->arg);
	slash = strrchr(all->run, '/');
	dash = slash ? strrchr(slash, '-') : NULL;
	n = dash ? strtol(dash + 1, &end, 10) : 0;
	if (!dash || *end || n <= 0)
		argp_error(g->state, "--run '%s' is neither a number nor VARIANT/PASS-NN", g->arg);
	*slash = *dash = '\0';
	all->q.variant = all->run;
	all->q.pass = slash + 1;
	all->q.repeat = (int)n;
}

static void option_cpus(const struct option_given *g)
{
	struct options *all = g->to;
	struct error err = {0};

	if (cpuset_parse(&all->cpus, g->arg, &err))
		argp_error(g->state, "--cpu: %s", err.text);
	all->q.cpus = &all->cpus;
}

static void option_group(const struct option_given *g)
{
	struct query *q = &((struct options *)g->to)->q;

	q->groups = xrealloc(q->groups, (q->ngroups + 1) * sizeof(*q->groups));
	q->groups[q->ngroups++] = g->arg;
}

static void option_amount(const struct option_given *g)
{
	struct error err = {0};

	if (amount_parse(g->arg, option_storage(g), &err))
		argp_error(g->state, "--in: %s", err.text);
}

static void option_basis(const struct option_given *g)
{
	enum basis *p = option_storage(g);

	if (strcmp(g->arg, "wall") && strcmp(g->arg, "busy"))
		argp_error(g->state, "--basis '%s' is neither wall nor busy", g->arg);
	*p = !strcmp(g->arg, "wall") ? BASIS_WALL : BASIS_BUSY;
}

/*
 * Parses "R[,R...]", units of work per second: a number, which k, M or G may follow, or what a link
 * carries of frames of one size: "100Gbit/1536" is 100e9 / (1536 x 8) = 8138020.8 packets per
 * second. The frame's bytes are those on the wire: preamble, gap and checksum count only if the
 * user adds them.
 */
static void option_rates(const struct option_given *g)
{
	struct options *all = g->to;
	char *word;
	int n = 0;

	each_part (word, g->arg, ',') {
		if (n == RATES_MAX)
			argp_error(g->state, "--rate: at most %d rates", RATES_MAX);
		else if (!rate_parse(word, &all->rates[n]))
			argp_error(
				g->state,
				"--rate: '%s' is not a rate above 0, such as 8165032, 8.1M or 100Gbit/1536",
				word);
		else
			n++;
	}
	all->q.nrates = n;
	all->q.rates = all->rates;
	all->q.work.rate = all->rates[0];
}

static void option_load(const struct option_given *g)
{
	struct query *q = &((struct options *)g->to)->q;

	q->load_measured = !strcmp(g->arg, "measured");
	if (!q->load_measured)
		q->system_load = arg_above_0(g->state, option_title(g).text, g->arg);
}

static void option_estimator(const struct option_given *g)
{
	enum estimator e;

	if (!estimator_parse(g->arg, &e))
		argp_error(g->state,
			   "no estimator '%s'; the estimators are median, middle and mean", g->arg);
	option_text(g);
}

static bool option_is_watts(double x)
{
	return isfinite(x) && x >= 0;
}

/* "idle=230,per_cpu=3.5" */
static void option_model(const struct option_given *g)
{
	struct query *q = &((struct options *)g->to)->q;
	int end = 0;

	if (sscanf(g->arg, "idle=%lf,per_cpu=%lf%n", &q->model_idle, &q->model_per_cpu, &end) !=
		    2 ||
	    g->arg[end] || !option_is_watts(q->model_idle) || !option_is_watts(q->model_per_cpu))
		argp_error(g->state, "--power-model '%s' is not idle=WATTS,per_cpu=WATTS", g->arg);
}

static void option_input(const struct option_given *g)
{
	struct options *all = g->to;

	all->input = g->row;
	all->path = g->arg;
	all->inputs++;
}

/* --- readers of files instead of a capture --- */

static int perf_read_profile(struct options *o, struct error *err)
{
	const struct perfdata_options how = {.slice = o->slice,
					     .spots = o->read_flags & MEASURE_FUNCTION,
					     .kallsyms = o->kallsyms,
					     .vmlinux = o->vmlinux,
					     .inlines = o->inlines,
					     .addresses = o->addresses,
					     .symfs = o->symfs,
					     .buildid_dir = o->buildid_dir,
					     .threads = o->jobs,
					     .use_this_host = !o->symfs};
	const struct {
		const char *option, *path;
	} named[] = {{"--kallsyms", o->kallsyms},
		     {"--vmlinux", o->vmlinux},
		     {"--symfs", o->symfs},
		     {"--buildid-dir", o->buildid_dir}};

	for (size_t i = 0; i < array_size(named); i++)
		if (named[i].path && access(named[i].path, R_OK))
			return error_sys(err, errno, "%s %s", named[i].option, named[i].path);
	o->q.bare.profile = &o->profile;
	return perfdata_read(&o->profile, o->path, &how, err);
}

static int perf_read(struct options *o, struct error *err)
{
	return o->read_flags & MEASURE_TRACEPOINTS
		       ? tracepoints_open(&o->q.bare.tracepoints, o->path, &o->slice, err)
		       : perf_read_profile(o, err);
}

static int report_read(struct options *o, struct error *err)
{
	o->q.bare.flat = &o->flat;
	return perf_report_parse(o->path, NULL, 0, o->q.event, &o->flat, err);
}

static int trace_read(struct options *o, struct error *err)
{
	o->q.bare.trace = &o->trace;
	return perf_trace_parse(o->path, NULL, 0, &o->trace, err);
}

static int stat_read(struct options *o, struct error *err)
{
	o->q.bare.stat = &o->stat;
	return perf_stat_parse(o->path, NULL, 0, &o->stat, err);
}

static int ethtool_read(struct options *o, struct error *err)
{
	o->q.bare.ethtool = &o->ethtool;
	return ethtool_text_parse(o->path, NULL, 0, &o->ethtool, err);
}

/* --- the table --- */

#define AT(member) offsetof(struct options, member)

// clang-format off
const struct option_row option_table[] = {
	OPTION("variant", "VARIANT", GROUP_RUNS,
	       "only these variants: a name, or a glob over names: 'mmap+*'", option_variant,
	       .at = AT(q.variant)),
	OPTION("side", "SIDE", GROUP_RUNS, "a side of the plan: receiver, sender ...; total where the table has such rows", option_text, .at = AT(q.side)),
	OPTION("run", "R", GROUP_RUNS, "a repeat's number, or VARIANT/PASS-NN", option_run),
	OPTION("cpu", "SET", GROUP_SAMPLES, "only these CPUs", option_cpus),
	OPTION("comm", "NAME", GROUP_SAMPLES, "only this command; the name may be a glob", option_text,
	       .at = AT(q.comm)),
	OPTION(WORKLOAD_ONLY, NULL, GROUP_SAMPLES,
	       "only the workload's processes: their CPU time, and costs of code as parts of it",
	       option_flag, .at = AT(q.workload_only)),
	OPTION("event", "NAME", GROUP_SAMPLES, "the event to read if the profile has several", option_text,
	       .at = AT(q.event)),
	OPTION("wall", NULL, GROUP_SAMPLES,
	       "the wall time of the workload's threads, their waits included (as --event " WALL_EVENT
	       "; of a trace pass)",
	       option_wall, .at = AT(q.event)),
	OPTION("from", "TIME", GROUP_SAMPLES,
	       "start of the part to read. For a capture: seconds after the start of each run's window, read from its raw files. For a perf.data: seconds as perf script prints them, or +S after the first sample",
	       option_time, .at = AT(slice.from)),
	OPTION("to", "TIME", GROUP_SAMPLES, "end of the part to read", option_time, .at = AT(slice.to)),
	OPTION("perf", "FILE", GROUP_RECORDING, "the recording; '-' is standard input", option_input,
	       .read = perf_read),
	OPTION("kallsyms", "FILE", GROUP_RECORDING, "symbols of the measured kernel", option_text,
	       .at = AT(kallsyms)),
	OPTION("vmlinux", "FILE", GROUP_RECORDING, "the measured kernel as an ELF file", option_text,
	       .at = AT(vmlinux)),
	OPTION("inline", NULL, GROUP_RECORDING,
	       "show inlined functions as separate frames, from debug information (for a capture: zcost analyze --inline)",
	       option_flag, .at = AT(inlines), .of_capture = "zcost analyze --inline CAPTURE"),
	OPTION("addresses", NULL, GROUP_RECORDING,
	       "show user addresses that lie in no mapping one by one (default: one function, " UNMAPPED ")",
	       option_flag, .at = AT(addresses),
	       .of_capture = "zcost report functions --perf RUN/perf.data --addresses"),
	OPTION("symfs", "DIR", GROUP_RECORDING, "folder with the measured host's files", option_text,
	       .at = AT(symfs)),
	OPTION("buildid-dir", "DIR", GROUP_RECORDING,
	       "folder with files by build-id, such as perf's ~/.debug", option_text, .at = AT(buildid_dir)),
	OPTION("jobs", "N", GROUP_RECORDING,
	       "number of threads that read the file (default: by the number of CPUs and the size of the file)",
	       option_jobs, .at = AT(jobs), .key = 'j'),
	OPTION("perf-report", "FILE", GROUP_TEXTS, "output of perf report --stdio or perf top",
	       option_input, .read = report_read),
	OPTION("perf-trace", "FILE", GROUP_TEXTS, "output of perf trace -s", option_input,
	       .read = trace_read),
	OPTION("perf-stat", "FILE", GROUP_TEXTS, "output of perf stat, also with -x", option_input,
	       .read = stat_read),
	OPTION("ethtool", "FILE", GROUP_TEXTS, "two or more outputs of ethtool -S, or the output of ethtool_stats.pl",
	       option_input, .read = ethtool_read),
	OPTION("by", "KEY[,...]", GROUP_ROWS,
	       "split the rows by these keys: comm pid tid thread cpu context component module dso symbol variant side",
	       option_text, .at = AT(q.by)),
	OPTION("setting", "NAME", GROUP_ROWS, "sweep: only over this setting of the plan", option_text,
	       .at = AT(q.setting)),
	OPTION("children", NULL, GROUP_ROWS,
	       "components, modules: also show the cost with callees, as table functions does",
	       option_flag, .at = AT(q.children)),
	OPTION("dso", "NAME", GROUP_ROWS, "only functions of this module or library", option_text,
	       .at = AT(q.dso)),
	OPTION("symbol", "NAME", GROUP_ROWS, "only this function", option_text, .at = AT(q.symbol)),
	OPTION("name", "GLOB", GROUP_ROWS, "timeline: only the series that match, such as 'power_w:*'",
	       option_text, .at = AT(q.name)),
	OPTION("components", "FILE", GROUP_ROWS, "file with your own rules for components", option_text,
	       .at = AT(q.components_file)),
	OPTION("component-set", "fine|basic", GROUP_ROWS, "set of components: fine (default) or basic", option_text,
	       .at = AT(q.components_set)),
	OPTION("group", "NAME=F,F...", GROUP_ROWS,
	       "functions that count as one row of table groups; repeat the option for more groups",
	       option_group),
	OPTION("limit", "N", GROUP_ROWS,
	       "at most N rows for each variant and side, in a comparison, or in a chart of functions",
	       option_rows, .at = AT(q.limit)),
	OPTION("all", NULL, GROUP_ROWS, "show every row, and each unresolved address", option_flag,
	       .at = AT(q.all)),
	OPTION("unit", WORK_UNITS(WORK_UNIT_PIPE) "KiB|syscall", GROUP_WORK, "unit of work: " WORK_UNITS(WORK_UNIT_COMMA) "KiB (default of a capture that counts bytes) or syscall", option_text,
	       .at = AT(q.unit)),
	OPTION("in", "ns|cycles|instructions", GROUP_WORK, "unit of costs: ns (default), cycles or instructions", option_amount,
	       .at = AT(q.in)),
	OPTION("basis", "wall|busy", GROUP_WORK,
	       "wall: the time of all CPUs; busy: the time in which they were not idle (default if CPU time was measured)",
	       option_basis, .at = AT(q.basis)),
	OPTION("rate", "R", GROUP_WORK,
	       "units of work per second: 8165032, 8.1M, or frames on a link: 100Gbit/1536",
	       option_rates, .of_capture = "omit --rate, costs use the measured rate"),
	OPTION("units", "N", GROUP_WORK, "number of units of work done (with --seconds)", option_units,
	       .at = AT(q.work.units)),
	OPTION("seconds", "S", GROUP_WORK, "time in which --units were done", option_number,
	       .at = AT(q.work.seconds)),
	OPTION("busy-ns", "NS", GROUP_WORK, "busy CPU time of a file's recording", option_number,
	       .at = AT(q.work.busy_ns)),
	OPTION("cycles", "N", GROUP_WORK, "total cycles of a file's recording (--in cycles)",
	       option_number, .at = AT(q.work.cycles)),
	OPTION("instructions", "N", GROUP_WORK, "total instructions of a file's recording",
	       option_number, .at = AT(q.work.instructions)),
	OPTION("system-load", "PCT|measured", GROUP_WORK,
	       "percentage of all CPUs' time that was in use; adds the CPU use of each module, component or group. For a capture, 'measured' is the CPU use of the side",
	       option_load),
	OPTION("estimator", "median|middle|mean", GROUP_SCORES,
	       "how repeats become one figure: median, middle (mean without the first and the last run) or mean; default: the capture's",
	       option_estimator, .at = AT(q.estimator)),
	OPTION("roi-n", "N", GROUP_SCORES, "exponent of throughput (default 2)", option_number,
	       .at = AT(q.roi_n)),
	OPTION("roi-m", "M", GROUP_SCORES, "exponent of power (default 1)", option_number,
	       .at = AT(q.roi_m)),
	OPTION("power-model", "idle=W,per_cpu=W", GROUP_SCORES,
	       "power if none was measured: idle + per_cpu x CPUs used; tables label it as a model",
	       option_model),
	OPTION("power-kind", "wall|platform|package", GROUP_SCORES,
	       "kind of power in scores: wall, platform or package (default: the first kind in this order that a run measured)",
	       option_text, .at = AT(q.power_kind)),
	OPTION("throughput", "GBPS", GROUP_SCORES, "throughput in Gbit/s, for scores without a capture", option_number,
	       .at = AT(q.throughput_gbps)),
	OPTION("cpu-pct", "PCT", GROUP_SCORES, "CPU use, 100 = one CPU, for scores without a capture", option_number,
	       .at = AT(q.cpu_pct)),
	OPTION("power", "W", GROUP_SCORES, "power in watts, for scores without a capture", option_number,
	       .at = AT(q.power_w)),
	{0},
};
// clang-format on

void options_free(struct options *o)
{
	tracepoints_close(o->q.bare.tracepoints);
	profile_free(&o->profile);
	flat_free(&o->flat);
	trace_free(&o->trace);
	perf_stat_free(&o->stat);
	ethtool_text_free(&o->ethtool);
	free(o->q.groups);
	free(o->run);
}

int options_open_capture(const struct options *o, const char *capture, const char *variant,
			 struct store **store, struct error *err)
{
	const struct open_options how = {
		.slice = o->slice, .variant = variant, .jobs = (int)o->jobs};

	return capture_open(store, capture, &how, err);
}

void options_set_perf(struct options *o, const char *path)
{
	const struct option_row *row = option_table;

	while (strcmp(row->name, "perf"))
		row++;
	o->input = row;
	o->path = path;
	o->inputs++;
}

int options_read_input(struct options *o, struct error *err)
{
	return o->input->read(o, err);
}
