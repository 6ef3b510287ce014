// SPDX-License-Identifier: GPL-2.0-only
/* zcost collect: options and exit codes of one run on this host. run_execute does the rest. */
#include "collect/agent.h"
#include "collect/options.h"
#include "collect/collect.h"
#include "collect/events/events.h"
#include "collect/host.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "workload/workload.h"

#include <ctype.h>
#include <errno.h>
#include <unistd.h>

int cmd_collect(int argc, char **argv);

/* How the argument of an option becomes a member of struct args. */
enum option_kind { TEXT, NAME, UNITS, CALL_GRAPH, SECONDS, COUNT, FLAG, COMMAND, LIST, PIDS };

struct args {
	struct run run;
	const char *collect, *cpus, *agent, *mark;
	bool verbose;
};

#define AT(member) offsetof(struct args, member)

enum { HIDDEN = 1 };

/* THE TABLE of options. A row without a name is the heading of the group of options behind it. */
static const struct option_row {
	char letter; /* 0 if it has none; HIDDEN: --help leaves it out */
	const char *name, *arg, *help;
	enum option_kind kind;
	size_t offset;
} rows[] = {
	{'o', "output", "RUN", "folder for the run's files (required); created if missing", TEXT,
	 AT(run.dir)},
	{0, "collect", "COLLECTOR[,...]", "collectors, or 'all'; default: what the pass needs",
	 TEXT, AT(collect)},
	{0, "cpus", "SET", "CPUs to measure, as 0-3,8; default: all online", TEXT, AT(cpus)},
	{0, "warmup", "S", "seconds from the command's start to the window (0)", SECONDS,
	 AT(run.warmup_s)},
	{0, "duration", "S", "length of the window; default: until COMMAND ends", SECONDS,
	 AT(run.duration_s)},
	{0, "grace", "S", "time COMMAND has to end after the window (10)", SECONDS,
	 AT(run.grace_s)},
	{0, "freq", "HZ",
	 "profile: samples per second and CPU (1999); without a PMU twice as many, in parts of the window",
	 COUNT, AT(run.freq)},
	{0, "call-graph", "fp|dwarf|dwarf,SIZE|lbr",
	 "profile: how perf finds callers: fp, dwarf, dwarf,SIZE or lbr (fp)", CALL_GRAPH,
	 AT(run.call_graph)},
	{0, "syscalls-method", "bpf|tracepoint", "bpf or tracepoint; default: the first that works",
	 TEXT, AT(run.syscalls_method)},
	{0, "time-one-in", "N",
	 "syscalls: count every call, but time only one in N (1: all); saves CPU time at millions of calls a second; bpf only",
	 COUNT, AT(run.time_one_in)},
	{0, "events", "LIST",
	 "events for the collector 'counters', in perf's syntax: {cycles,instructions},r01c2,pmu/terms/,a:tracepoint",
	 TEXT, AT(run.events)},
	{0, "power-csv", "FILE", "log of an external meter, to copy into RUN", TEXT,
	 AT(run.power_csv)},
	{0, "power-command", "[KIND=]CMD",
	 "program that prints watts, one reading a line; a program that ends after one reading is started again each second; KIND: wall (the default), platform, package, other",
	 COMMAND, AT(run.power_command)},
	{0, "user", "NAME",
	 "run COMMAND as this user, without the rights of root; zcost and its collectors stay root",
	 TEXT, AT(run.user)},
	{0, "units", "ADAPTER",
	 "how to read the work done: the name of a program whose output zcost knows, such as iperf3 (an unknown name lists all), none (the default), or regex:RE; the (group) of RE is a rate per second of messages; regex:bytes=RE, for example, names another unit",
	 UNITS, AT(run.units)},
	{0, "processes", "NAMES",
	 "names of more processes that belong to the workload, with globs: 'nginx java*'", TEXT,
	 AT(run.named)},
	{0, "pid", "PID[,PID...]",
	 "measure processes that already run, and their children, instead of COMMAND; zcost does not end them",
	 PIDS, 0},
	{'v', "verbose", NULL, "print why something is not measured", FLAG, AT(verbose)},
	{0, "list", NULL, "list the collectors and exit", LIST, 0},
	{0, NULL, NULL, "Naming, for captures:", TEXT, 0},
	{0, "variant", "NAME", "(run)", NAME, AT(run.variant)},
	{0, "pass", "measure|profile|syscalls|trace|all",
	 "measure, profile, syscalls, trace, or all but trace (all)", NAME, AT(run.pass)},
	{0, "repeat", "N", "(1)", COUNT, AT(run.repeat)},
	{0, "side", "NAME", "(local)", NAME, AT(run.side)},
	{0, "host-dir", "DIR", "hosts/<host> of the capture; default: inside RUN", TEXT,
	 AT(run.host_dir)},
	{0, "sync", NULL, "print 'ready', and open the window when 'go' arrives on stdin", FLAG,
	 AT(run.sync)},
	{HIDDEN, "prefix", "N", "with --user, the first N words stay root's", COUNT,
	 AT(run.prefix)},
	{HIDDEN, "without", "COLLECTOR[,...]", "collectors that another side runs", TEXT,
	 AT(run.without)},
	{HIDDEN, "frame-cpus", "SET", "CPUs that the frame measures, those of all sides here", TEXT,
	 AT(run.frame_cpus)},
	{HIDDEN, "agent", "KEY", "serve a capture on another host", NAME, AT(agent)},
	{HIDDEN, "mark", "DIR", "take the mark of an agent's folder", TEXT, AT(mark)},
};

/* The same for argp, which collect_set_options() fills. The last one stays empty. */
static struct argp_option options[array_size(rows) + 1];

static void collect_set_options(void)
{
	enum { KEY = 1000 };
	int group = 0;

	for (int i = 0; i < (int)array_size(rows); i++) {
		const struct option_row *r = &rows[i];

		group += !r->name;
		options[i] = (struct argp_option){.name = r->name,
						  .arg = r->arg,
						  .flags = r->letter == HIDDEN ? OPTION_HIDDEN : 0,
						  .doc = r->help,
						  .group = group};
		if (r->name)
			options[i].key = isalpha(r->letter) ? r->letter : KEY + i;
	}
}

/* Refuses names that cannot be folders of a capture. */
static void collect_check_name(struct argp_state *state, const char *option, const char *arg)
{
	if (!str_is_name(arg, "._-+") || *arg == '.')
		argp_error(state, "%s '%s' is not a plain name of letters, digits, . _ - +", option,
			   arg);
}

static void collect_store_pids(struct argp_state *state, struct run *r, const char *arg)
{
	autofree char *words = xstrdup(arg);
	char *rest = words;

	do {
		if (r->npids == array_size(r->pids))
			argp_error(state, "--pid takes at most %zu processes", r->npids);
		r->pids[r->npids++] =
			(pid_t)arg_whole(state, "--pid", str_token(&rest, ','), 1, INT_MAX);
	} while (rest);
}

/* Refuses what belongs to a COMMAND. */
static void collect_check_pids(struct argp_state *state, const struct run *r)
{
	const struct adapter *is = adapter_find(r->units);

	if (r->argv)
		argp_error(state, "either --pid or COMMAND");
	if (r->user)
		argp_error(state, "--user belongs to COMMAND, not to --pid");
	if (r->duration_s <= 0 && !r->sync)
		argp_error(state, "--pid: how long? --duration S");
	if (is && is->read && !is->collector)
		argp_error(state,
			   "--units %s reads the output of COMMAND; with --pid, take tcp or nic:IF",
			   r->units);
}

static void collect_store(struct argp_state *state, const struct option_row *row, const char *arg)
{
	struct args *a = state->input;
	void *to = (char *)a + row->offset;
	const char *kind, *command;
	struct error err = {0};
	char option[32];

	snprintf(option, sizeof(option), "--%s", row->name);
	switch (row->kind) {
	case LIST:
		for (size_t i = 0; collectors[i]; i++)
			printf("%-10s %s\n", collectors[i]->name, collectors[i]->what);
		exit(fflush(stdout) ? EXIT_FAILED : EXIT_OK);
	case COMMAND:
		power_command_split(arg, &kind, &command, &err);
		break;
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
	case PIDS:
		collect_store_pids(state, &a->run, arg);
		return;
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

static error_t collect_parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	if (key == ARGP_KEY_ARGS)
		a->run.argv = state->argv + state->next;
	if (key == ARGP_KEY_END && !a->agent && !a->run.argv && !a->run.npids)
		argp_error(state, "there is no COMMAND");
	if (key == ARGP_KEY_END && a->run.npids)
		collect_check_pids(state, &a->run);
	if (key == ARGP_KEY_END && !a->agent && (!a->run.dir || !*a->run.dir))
		argp_error(state, "there is no folder for the run; use -o RUN");
	if (key == ARGP_KEY_ARGS || key == ARGP_KEY_END)
		return 0;
	for (size_t i = 0; i < array_size(rows); i++) {
		if (!rows[i].name || options[i].key != key)
			continue;
		collect_store(state, &rows[i], arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = collect_parse,
	.args_doc = "-- COMMAND...\n--pid PID[,PID...]",
	.doc = "Runs COMMAND once on this host and measures it in a window of time.\vExit status: 0 done, 1 the command failed or the run was stopped, 2 wrong usage, 4 done, but a collector lost data, one that --collect names cannot measure here, or a process of --pid ended early. "
	       "run.json in RUN says which and why. ZCOST_SYSFS: another root than /sys for power, idle and topology (for tests).",
};

/* Checks the options of single collectors before anything starts, so that a typo costs no run. */
static int collect_check_uses(const struct run *r, struct error *err)
{
	struct error why = {0};
	freed(event_list_free) struct event_list list = {0};

	if (r->time_one_in > 1 && !run_has_collector(r, "syscalls"))
		return error_set(err, EINVAL,
				 "--time-one-in: the collector syscalls is not among those chosen");
	if (r->time_one_in > 1 && r->syscalls_method && !strcmp(r->syscalls_method, "tracepoint"))
		return error_set(
			err, EINVAL,
			"--time-one-in: tracepoints time every call; bpf can leave some untimed");
	if (!r->events)
		return 0;
	if (!run_has_collector(r, "counters"))
		return error_set(
			err, EINVAL,
			"--events belongs to the collector 'counters', which is not among those chosen");
	if (event_list_read(&list, r->events, &why))
		return error_set(err, why.code, "--events: %s", why.text);
	return 0;
}

/*
 * Checks the options that argp cannot check. Returns 0, or -errno with a message for exit code 2.
 */
static int collect_check(struct args *a, struct error *err)
{
	struct run *r = &a->run;
	struct cpuset online;
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
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&r->cpus, cpu) && !cpuset_has(&online, cpu))
			return error_set(err, EINVAL, "--cpus: CPU %u is not online", cpu);
	if (r->syscalls_method && strcmp(r->syscalls_method, "bpf") != 0 &&
	    strcmp(r->syscalls_method, "tracepoint") != 0)
		return error_set(err, EINVAL, "--syscalls-method: '%s' is not bpf or tracepoint",
				 r->syscalls_method);
	rc = collect_choose(r, a->collect, &r->collect, &r->ncollect, err);
	return rc ? rc : collect_check_uses(r, err);
}

/*
 * Prints what failed, was lost or cannot be measured, which is one line of names unless the user
 * asked for it by name or for the reasons. Returns true when that means exit code 4.
 */
static bool collect_print_outcome(const struct run *r, bool verbose)
{
	freed(str_free) struct str names = {0};
	bool lossy = false;

	for (size_t i = 0; i < r->ncollect; i++)
		if (r->collect[i].state == COLLECT_UNSUPPORTED && !r->collect[i].asked)
			str_item(&names, !names.len, false, r->collect[i].is->name);
	if (names.len && !verbose)
		print_note("not measured here: %s (why: --verbose, or %s/run.json)", names.buf,
			   r->dir);
	for (size_t i = 0; i < r->ncollect; i++) {
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

static int collect_execute(struct run *r, bool verbose)
{
	struct error err = {0};
	uint64_t length;
	bool lossy;

	if (run_execute(r, &err)) {
		sync_print(r, "error %s", err.text);
		error_print(&err);
		return EXIT_FAILED;
	}
	lossy = collect_print_outcome(r, verbose);
	length = r->end_ns - r->start_ns;
	if (r->early_ns && !r->failed)
		print_note(
			"%s: %s ended after %.3g s of the window's %.3g s; let it run longer, or give a shorter --duration",
			r->dir, r->npids ? "a process of --pid" : "the command",
			(double)length / 1e9, (double)(length + r->early_ns) / 1e9);
	if (!r->failed)
		return lossy || (r->early_ns && r->npids) ? EXIT_LOSSY : EXIT_OK;
	fprintf(stderr, "zcost: %s: run failed: %s\n", r->dir, r->why);
	return EXIT_FAILED;
}

/*
 * Takes the mark by which an agent finds the processes of its runs. /proc/PID/environ shows the
 * environment that exec set up, so that this process runs itself again.
 */
static int collect_take_mark(const char *folder, int argc, char **argv, struct error *err)
{
	autofree char *mark = xasprintf("%s/", folder);
	autofree char **again = xcalloc((size_t)argc + 2, sizeof(*again));
	const char *now = getenv("ZCOST_RUN");

	if (now && !strcmp(now, mark))
		return 0;
	setenv("ZCOST_RUN", mark, 1);
	again[0] = (char *)"zcost";
	again[1] = (char *)"collect";
	memcpy(again + 2, argv + 1, (size_t)(argc - 1) * sizeof(*again));
	execv("/proc/self/exe", again);
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
				 .freq = 1999,
				 .call_graph = "fp"}};
	autofree char *hosts = NULL;
	char name[256] = "host";
	struct error err = {0};
	int code;

	collect_set_options();
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
		return error_of_machine(err.code) ? EXIT_FAILED : EXIT_USAGE;
	}
	spawn_private();
	spawn_raise_files();
	gethostname(name, sizeof(name) - 1);
	hosts = xasprintf("%s/hosts/%s", a.run.dir, name);
	a.run.hosts = host_folder(a.run.host_dir ? a.run.host_dir : hosts);
	code = collect_execute(&a.run, a.verbose);
	if (!a.run.sync && a.run.started_ns) /* a refused folder stays its owner's */
		caller_give_tree(a.run.dir);
	collect_free(a.run.collect, a.run.ncollect);
	free(a.run.hosts);
	return code;
}
