// SPDX-License-Identifier: GPL-2.0-only
/* zcost collect: options and exit codes of one run on this host. run_execute does the rest. */
#include "collect/agent.h"
#include "collect/options.h"
#include "collect/collect.h"
#include "collect/events/events.h"
#include "collect/host.h"
#include "collect/run/run.h"
#include "collect/run/user.h"
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/complete.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/str.h"
#include "workload/workload.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cmd_collect(int argc, char **argv);

enum key {
	KEY_WARMUP = 1000,
	KEY_DURATION,
	KEY_GRACE,
	KEY_COLLECT,
	KEY_CPUS,
	KEY_VARIANT,
	KEY_PASS,
	KEY_REPEAT,
	KEY_SIDE,
	KEY_HOST_DIR,
	KEY_UNITS,
	KEY_PROCESSES,
	KEY_POWER_CSV,
	KEY_POWER_COMMAND,
	KEY_EVENTS,
	KEY_SYNC,
	KEY_AGENT,
	KEY_MARK,
	KEY_FREQ,
	KEY_CALL_GRAPH,
	KEY_METHOD,
	KEY_TIME_ONE_IN,
	KEY_LIST,
	KEY_USER,
	KEY_PREFIX,
};

static const struct argp_option options[] = {
	{"output", 'o', "RUN", 0, "folder for the run's files (required); created if missing", 0},
	{"collect", KEY_COLLECT, "COLLECTOR[,...]", 0,
	 "collectors, or 'all'; default: what the pass needs", 0},
	{"cpus", KEY_CPUS, "SET", 0, "CPUs to measure, as 0-3,8; default: all online", 0},
	{"warmup", KEY_WARMUP, "S", 0, "seconds from the command's start to the window (0)", 0},
	{"duration", KEY_DURATION, "S", 0, "length of the window; default: until COMMAND ends", 0},
	{"grace", KEY_GRACE, "S", 0, "time COMMAND has to end after the window (10)", 0},
	{"freq", KEY_FREQ, "HZ", 0, "profile: samples per second and CPU (4999)", 0},
	{"call-graph", KEY_CALL_GRAPH, "fp|dwarf|dwarf,SIZE|lbr", 0,
	 "profile: how perf finds callers: fp, dwarf, dwarf,SIZE or lbr (fp)", 0},
	{"syscalls-method", KEY_METHOD, "bpf|tracepoint", 0,
	 "bpf or tracepoint; default: the first that works", 0},
	{"time-one-in", KEY_TIME_ONE_IN, "N", 0,
	 "syscalls: count every call, but time only one in N (1: all); saves CPU time at millions of calls a second; bpf only",
	 0},
	{"events", KEY_EVENTS, "LIST", 0,
	 "events for the collector 'counters', in perf's syntax: {cycles,instructions},r01c2,pmu/terms/,a:tracepoint",
	 0},
	{"power-csv", KEY_POWER_CSV, "FILE", 0,
	 "log of an external meter, to copy into RUN; may be repeated", 0},
	{"power-command", KEY_POWER_COMMAND, "[KIND=]CMD", 0,
	 "program that prints watts, one reading a line; a program that ends after one reading is started again each second; KIND: wall (the default), platform, package, other; may be repeated, one of each kind",
	 0},
	{"user", KEY_USER, "NAME", 0,
	 "run COMMAND as this user, without the rights of root; zcost and its collectors stay root",
	 0},
	{"units", KEY_UNITS, "ADAPTER", 0,
	 "how to read the work done: the name of a program whose output zcost knows, such as iperf3 (an unknown name lists all), none (the default), or regex:RE; the (group) of RE is a rate per second of messages; regex:bytes=RE and regex:packets=RE name another unit",
	 0},
	{"processes", KEY_PROCESSES, "NAMES", 0,
	 "names of more processes that belong to the workload, with globs: 'nginx java*'", 0},
	{"verbose", 'v', NULL, 0, "print why something is not measured", 0},
	{"list", KEY_LIST, NULL, 0, "list the collectors and exit", 0},
	{0, 0, 0, 0, "Naming, for captures:", 1},
	{"variant", KEY_VARIANT, "NAME", 0, "(run)", 1},
	{"pass", KEY_PASS, "measure|profile|syscalls|all", 0,
	 "measure, profile, syscalls or all (all)", 1},
	{"repeat", KEY_REPEAT, "N", 0, "(1)", 1},
	{"side", KEY_SIDE, "NAME", 0, "(local)", 1},
	{"host-dir", KEY_HOST_DIR, "DIR", 0, "hosts/<host> of the capture; default: inside RUN", 1},
	{"sync", KEY_SYNC, NULL, 0, "print 'ready', and open the window when 'go' arrives on stdin",
	 1},
	{"prefix", KEY_PREFIX, "N", OPTION_HIDDEN, "with --user, the first N words stay root's", 1},
	{"agent", KEY_AGENT, "KEY", OPTION_HIDDEN, "serve a capture on another host", 1},
	{"mark", KEY_MARK, "DIR", OPTION_HIDDEN, "take the mark of an agent's folder", 1},
	{0},
};

struct args {
	struct run run;
	const char *collect, *cpus, *agent, *mark;
	bool verbose;
};

/* Refuses names that cannot be folders of a capture. */
static void collect_check_name(struct argp_state *state, const char *option, const char *arg)
{
	const char *p = arg;

	while (isalnum((unsigned char)*p) || strchr("._-+", *p) ? *p : 0)
		p++;
	if (!*arg || *arg == '.' || *p)
		argp_error(state, "%s '%s' is not a plain name of letters, digits, . _ - +", option,
			   arg);
}

static void collect_add_power_csv(struct argp_state *state, struct run *r, const char *arg)
{
	if (r->npower_csv == RUN_POWER_CSV)
		argp_error(state, "--power-csv: at most %d files", RUN_POWER_CSV);
	r->power_csv = xrealloc(r->power_csv, (r->npower_csv + 1) * sizeof(*r->power_csv));
	r->power_csv[r->npower_csv++] = arg;
}

static void collect_list_collectors(void)
{
	size_t i;

	for (i = 0; collectors[i]; i++)
		printf("%-10s %s\n", collectors[i]->name, collectors[i]->what);
	exit(fflush(stdout) ? EXIT_FAILED : EXIT_OK);
}

static void collect_add_power_command(struct argp_state *state, struct run *r, const char *arg)
{
	struct error err = {0};

	if (power_command_add(r->power_command, &r->npower_command, arg, &err))
		argp_error(state, "--power-command: %s", err.text);
}

/* How the argument of an option becomes a member of struct args. */
enum option_kind { TEXT, NAME, UNITS, CALL_GRAPH, SECONDS, COUNT, FLAG };

#define AT(member) offsetof(struct args, member)
static const struct option_place {
	int key;
	enum option_kind kind;
	size_t offset;
} places[] = {
	{'o', TEXT, AT(run.dir)},
	{KEY_COLLECT, TEXT, AT(collect)},
	{KEY_CPUS, TEXT, AT(cpus)},
	{KEY_HOST_DIR, TEXT, AT(run.host_dir)},
	{KEY_MARK, TEXT, AT(mark)},
	{KEY_METHOD, TEXT, AT(run.syscalls_method)},
	{KEY_EVENTS, TEXT, AT(run.events)},
	{KEY_PROCESSES, TEXT, AT(run.named)},
	{KEY_USER, TEXT, AT(run.user)},
	{KEY_VARIANT, NAME, AT(run.variant)},
	{KEY_PASS, NAME, AT(run.pass)},
	{KEY_SIDE, NAME, AT(run.side)},
	{KEY_AGENT, NAME, AT(agent)},
	{KEY_UNITS, UNITS, AT(run.units)},
	{KEY_CALL_GRAPH, CALL_GRAPH, AT(run.call_graph)},
	{KEY_WARMUP, SECONDS, AT(run.warmup_s)},
	{KEY_DURATION, SECONDS, AT(run.duration_s)},
	{KEY_GRACE, SECONDS, AT(run.grace_s)},
	{KEY_REPEAT, COUNT, AT(run.repeat)},
	{KEY_PREFIX, COUNT, AT(run.prefix)},
	{KEY_FREQ, COUNT, AT(run.freq)},
	{KEY_TIME_ONE_IN, COUNT, AT(run.time_one_in)},
	{KEY_SYNC, FLAG, AT(run.sync)},
	{'v', FLAG, AT(verbose)},
};

static void collect_store(struct argp_state *state, const struct option_place *p,
			  const char *option, const char *arg)
{
	void *to = (char *)state->input + p->offset;
	struct error err = {0};

	switch (p->kind) {
	case SECONDS:
		*(double *)to = arg_from_0(state, option, arg);
		if (*(double *)to > 1e8)
			argp_error(state, "%s '%s' is more than 100000000 seconds", option, arg);
		return;
	case COUNT:
		*(unsigned int *)to = (unsigned int)arg_whole(state, option, arg, 1, 1000000);
		return;
	case FLAG:
		*(bool *)to = true;
		return;
	case NAME:
		collect_check_name(state, option, arg);
		break;
	case UNITS:
		units_check(arg, &err);
		break;
	case CALL_GRAPH:
		call_graph_check(arg, &err);
		break;
	case TEXT:
		break;
	}
	if (err.code)
		argp_error(state, "%s: %s", option, err.text);
	*(const char **)to = arg;
}

static error_t collect_parse_place(int key, const char *arg, struct argp_state *state)
{
	char option[32];
	size_t i, k;

	for (i = 0; i < array_size(places) && places[i].key != key; i++)
		;
	if (i == array_size(places))
		return ARGP_ERR_UNKNOWN;
	for (k = 0; options[k].key != key; k++)
		;
	snprintf(option, sizeof(option), "--%s", options[k].name);
	collect_store(state, &places[i], option, arg);
	return 0;
}

static error_t collect_parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case KEY_LIST:
		collect_list_collectors();
		return 0;
	case KEY_POWER_CSV:
		collect_add_power_csv(state, &a->run, arg);
		return 0;
	case KEY_POWER_COMMAND:
		collect_add_power_command(state, &a->run, arg);
		return 0;
	case ARGP_KEY_ARGS:
		a->run.argv = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		if (a->agent)
			return 0;
		if (!a->run.argv)
			argp_error(state, "there is no COMMAND");
		if (!a->run.dir || !*a->run.dir)
			argp_error(state, "there is no folder for the run; use -o RUN");
		return 0;
	default:
		return collect_parse_place(key, arg, state);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = collect_parse,
	.args_doc = "-- COMMAND...",
	.doc = "Runs COMMAND once on this host and measures it in a window of time.\vExit status: 0 done, 1 the command failed or the run was stopped, 2 wrong usage, 4 done, but a collector lost data, or one that --collect names cannot measure here. "
	       "run.json in RUN says which and why. ZCOST_SYSFS: another root than /sys for power, idle and topology (for tests).",
};

static const char *const methods[] = {"bpf", "tracepoint"};

static int collect_check_timed(const struct run *r, struct error *err)
{
	bool counted = false;
	size_t i;

	for (i = 0; i < r->ncollect; i++)
		counted |= !strcmp(r->collect[i].is->name, "syscalls");
	if (r->time_one_in <= 1)
		return 0;
	if (!counted)
		return error_set(err, EINVAL,
				 "--time-one-in: the collector syscalls is not among those chosen");
	if (r->syscalls_method && !strcmp(r->syscalls_method, "tracepoint"))
		return error_set(
			err, EINVAL,
			"--time-one-in: tracepoints time every call; bpf can leave some untimed");
	return 0;
}

/* Checks the list of events before anything starts, so that a typo costs no run. */
static int collect_check_events(const struct run *r, struct error *err)
{
	struct error why = {0};
	struct event_list list;
	size_t i;

	if (!r->events)
		return 0;
	for (i = 0; i < r->ncollect && strcmp(r->collect[i].is->name, "counters"); i++)
		;
	if (i == r->ncollect)
		return error_set(
			err, EINVAL,
			"--events belongs to the collector 'counters', which is not among those chosen");
	if (event_list_read(&list, r->events, &why))
		return error_set(err, why.code, "--events: %s", why.text);
	event_list_free(&list);
	return 0;
}

/*
 * Checks the options that argp cannot check. Returns 0, or -errno with a message for exit code 2.
 */
static int collect_check(struct args *a, struct error *err)
{
	struct run *r = &a->run;
	struct cpuset online;
	unsigned int cpu;
	size_t i;
	int rc = cpuset_online(&online, err);

	if (!rc && a->mark && !path_is_dir(a->mark))
		rc = error_set(err, EIO, "%s: the agent of this run has ended", a->mark);
	if (!rc && r->user)
		rc = user_check(r->user, err);
	if (rc)
		return rc;
	r->cpus = online;
	if (a->cpus && cpuset_parse(&r->cpus, a->cpus, err))
		return -err->code;
	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&r->cpus, cpu) && !cpuset_has(&online, cpu))
			return error_set(err, EINVAL, "--cpus: CPU %u is not online", cpu);
	for (i = 0; r->syscalls_method && strcmp(r->syscalls_method, methods[i]);)
		if (++i == array_size(methods))
			return error_set(err, EINVAL,
					 "--syscalls-method: '%s' is not bpf or tracepoint",
					 r->syscalls_method);
	rc = collect_choose(r, a->collect, &r->collect, &r->ncollect, err);
	if (!rc)
		rc = collect_check_timed(r, err);
	return rc ? rc : collect_check_events(r, err);
}

/* Prints in one line what is not measured on this host, unless the user asked for it by name. */
static void collect_print_unmeasured(const struct run *r)
{
	struct str names = {0};
	size_t i;

	for (i = 0; i < r->ncollect; i++) {
		const struct collect *c = &r->collect[i];

		if (c->state == COLLECT_UNSUPPORTED && !c->asked)
			str_printf(&names, "%s%s", names.len ? ", " : "", c->is->name);
	}
	if (names.len)
		print_note("not measured here: %s (why: --verbose, or %s/run.json)", names.buf,
			   r->dir);
	str_free(&names);
}

/* Prints what failed or was lost. Returns true when that means exit code 4. */
static bool collect_print_outcome(const struct run *r, bool verbose)
{
	bool lossy = false;
	size_t i;

	if (!verbose)
		collect_print_unmeasured(r);

	for (i = 0; i < r->ncollect; i++) {
		const struct collect *c = &r->collect[i];

		if (c->state == COLLECT_DEGRADED)
			warn("%s: %s", c->is->name, c->why);
		else if (c->state == COLLECT_UNSUPPORTED && (verbose || c->asked))
			print_note("%s: not measured: %s", c->is->name, c->why);
		lossy |= c->state == COLLECT_DEGRADED || c->lost > 0 ||
			 (c->asked && c->state == COLLECT_UNSUPPORTED);
	}
	return lossy;
}

/* Prints the window's real length when the command ended before --duration was over. */
static void collect_print_early_end(const struct run *r)
{
	uint64_t length = r->end_ns - r->start_ns;

	if (r->early_ns && !r->failed)
		print_note(
			"%s: the command ended after %.3g s of the window's %.3g s; let it run longer, or give a shorter --duration",
			r->dir, (double)length / 1e9, (double)(length + r->early_ns) / 1e9);
}

static int collect_execute(struct run *r, bool verbose)
{
	struct error err = {0};
	bool lossy;

	if (run_execute(r, &err)) {
		sync_print(r, "error %s", err.text);
		error_print(&err);
		return EXIT_FAILED;
	}
	lossy = collect_print_outcome(r, verbose);
	collect_print_early_end(r);
	if (!r->failed)
		return lossy ? EXIT_LOSSY : EXIT_OK;
	fprintf(stderr, "zcost: %s: run failed: %s\n", r->dir, r->why);
	return EXIT_FAILED;
}

/* Chooses the folder for host facts: --host-dir, or one inside the run. */
static char *collect_choose_hosts(const struct run *r)
{
	char name[256] = "host", *wanted, *hosts;

	gethostname(name, sizeof(name) - 1);
	wanted = r->host_dir ? xstrdup(r->host_dir) : xasprintf("%s/hosts/%s", r->dir, name);
	hosts = host_folder(wanted);
	free(wanted);
	return hosts;
}

/*
 * Takes the mark by which an agent finds the processes of its runs. /proc/PID/environ shows the
 * environment that exec set up, so that this process runs itself again.
 */
static int collect_take_mark(const char *folder, int argc, char **argv, struct error *err)
{
	char *mark = xasprintf("%s/", folder), **again;
	const char *now = getenv("ZCOST_RUN");

	if (now && !strcmp(now, mark)) {
		free(mark);
		return 0;
	}
	setenv("ZCOST_RUN", mark, 1);
	again = xcalloc((size_t)argc + 2, sizeof(*again));
	again[0] = (char *)"zcost";
	again[1] = (char *)"collect";
	memcpy(again + 2, argv + 1, (size_t)(argc - 1) * sizeof(*again));
	execv("/proc/self/exe", again);
	free(again);
	free(mark);
	return error_sys(err, errno, "/proc/self/exe: cannot run");
}

int cmd_collect(int argc, char **argv)
{
	struct args a = {.run = {.variant = "run",
				 .pass = "all",
				 .side = "local",
				 .units = "none",
				 .named = "",
				 .repeat = 1,
				 .grace_s = 10,
				 .freq = 4999,
				 .call_graph = "fp"}};
	struct error err = {0};
	int code;

	complete_run(&argp, argc, argv, collect_complete, NULL);
	args_parse(&argp, argc, argv, ARGP_IN_ORDER, &a);
	if (a.agent) {
		spawn_private();
		return agent_run(a.agent);
	}
	if ((a.mark && collect_take_mark(a.mark, argc, argv, &err)) || collect_check(&a, &err)) {
		sync_print(&a.run, "error %s", err.text);
		error_print(&err);
		collect_free(a.run.collect, a.run.ncollect);
		free(a.run.power_csv);
		return error_of_machine(err.code) ? EXIT_FAILED : EXIT_USAGE;
	}
	spawn_private();
	a.run.hosts = collect_choose_hosts(&a.run);
	code = collect_execute(&a.run, a.verbose);
	if (!a.run.sync)
		caller_give_tree(a.run.dir);
	collect_free(a.run.collect, a.run.ncollect);
	free(a.run.hosts);
	free(a.run.power_csv);
	return code;
}
