// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/query_options.h"

#include "analyze/open.h"
#include "analyze/perfdata/perfdata.h"
#include "analyze/query_values.h"
#include "lib/alloc.h"
#include "lib/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_VARIANT = 0x200,
	KEY_SIDE,
	KEY_RUN,
	KEY_CPU,
	KEY_COMM,
	KEY_EVENT,
	KEY_PERF,
	KEY_KALLSYMS,
	KEY_SYMFS,
	KEY_BUILDID_DIR,
	KEY_VMLINUX,
	KEY_INLINE,
	KEY_FROM,
	KEY_TO,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Which runs:", 1},
	{"variant", KEY_VARIANT, "V", 0,
	 "only these variants: a name, or a glob over names: 'mmap+*'", 1},
	{"side", KEY_SIDE, "S", 0, "receiver or sender", 1},
	{"run", KEY_RUN, "R", 0, "a repeat's number, or VARIANT/PASS-NN", 1},
	{NULL, 0, NULL, 0, "Which samples:", 2},
	{"cpu", KEY_CPU, "SET", 0, "only these CPUs", 2},
	{"comm", KEY_COMM, "NAME", 0, "only this command; names are globs", 2},
	{"event", KEY_EVENT, "NAME", 0, "of a profile with several events", 2},
	{"from", KEY_FROM, "TIME", 0,
	 "only from then on. A capture: seconds after the beginning of each run's window, read "
	 "from "
	 "its raw files. --perf: seconds as perf script has them, or +S after the first sample",
	 2},
	{"to", KEY_TO, "TIME", 0, "only before then", 2},
	{NULL, 0, NULL, 0, "A bare perf.data instead of a capture:", 3},
	{"perf", KEY_PERF, "FILE", 0, "the file; '-': standard input", 3},
	{"kallsyms", KEY_KALLSYMS, "FILE", 0, "the measured kernel's symbols", 3},
	{"vmlinux", KEY_VMLINUX, "FILE", 0, "its kernel as an ELF file", 3},
	{"inline", KEY_INLINE, NULL, 0,
	 "inlined functions as frames of their own, from debug information", 3},
	{"symfs", KEY_SYMFS, "DIR", 0, "the measured host's files", 3},
	{"buildid-dir", KEY_BUILDID_DIR, "DIR", 0, "files by build-id, as perf keeps in ~/.debug",
	 3},
	{"jobs", 'j', "N", 0,
	 "threads that read it (default: as many as the CPUs and the file are worth)", 3},
	{0},
};

/* "3", "mmap/profile-02" */
static void set_run(struct argp_state *state, struct query_options *o, const char *arg)
{
	char *slash, *dash, *end;
	long n;

	n = strtol(arg, &end, 10);
	if (!*end && n > 0) {
		o->q->repeat = (int)n;
		return;
	}
	free(o->run);
	o->run = xstrdup(arg);
	slash = strrchr(o->run, '/');
	dash = slash ? strrchr(slash, '-') : NULL;
	n = dash ? strtol(dash + 1, &end, 10) : 0;
	if (!dash || *end || n <= 0)
		argp_error(state, "--run '%s' is neither a number nor VARIANT/PASS-NN", arg);
	*slash = *dash = '\0';
	o->q->variant = o->run;
	o->q->pass = slash + 1;
	o->q->repeat = (int)n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct query_options *o = state->input;
	const struct {
		int key;
		const char **to;
	} texts[] = {
		{KEY_SIDE, &o->q->side},
		{KEY_COMM, &o->q->comm},
		{KEY_EVENT, &o->q->event},
		{KEY_PERF, &o->perf},
		{KEY_KALLSYMS, &o->kallsyms},
		{KEY_SYMFS, &o->symfs},
		{KEY_BUILDID_DIR, &o->buildid_dir},
		{KEY_VMLINUX, &o->vmlinux},
	};
	size_t i;

	options_note(&o->given, options, key);
	if (key == KEY_INLINE) {
		o->inlines = true;
		return 0;
	}
	if (key == KEY_VARIANT) {
		query_set_variant(state, o->q, arg);
		return 0;
	}
	if (key == KEY_RUN) {
		set_run(state, o, arg);
		return 0;
	}
	if (key == KEY_CPU) {
		query_set_cpus(state, o->q, &o->cpus, arg);
		return 0;
	}
	if (key == 'j') {
		o->jobs = (unsigned int)arg_whole(state, "-j", arg, 1, 1024);
		return 0;
	}
	if (key == KEY_FROM || key == KEY_TO) {
		query_set_time(state, key == KEY_FROM ? &o->slice.from : &o->slice.to,
			       key == KEY_FROM ? "--from" : "--to", arg);
		return 0;
	}
	if (key == ARGP_KEY_END && !o->perf && o->inlines)
		argp_error(state, "--inline goes with --perf; of a capture, 'zcost analyze "
				  "--inline CAPTURE' keeps inlined functions");
	for (i = 0; i < array_size(texts); i++) {
		if (texts[i].key == key) {
			*texts[i].to = arg;
			return 0;
		}
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp query_argp = {.options = options, .parser = parse};

void query_options_init(struct query_options *o, struct query *q)
{
	*o = (struct query_options){.q = q};
	profile_init(&o->profile);
}

void query_options_free(struct query_options *o)
{
	profile_free(&o->profile);
	free(o->run);
}

int query_open_capture(const struct query_options *o, const char *capture, struct store **store,
		       struct error *err)
{
	const struct open_options how = {
		.slice = o->slice, .variant = o->q->variant, .jobs = (int)o->jobs};

	return capture_open(store, capture, &how, err);
}

int query_read_perf(struct query_options *o, struct error *err)
{
	struct perfdata_options how = {.slice = o->slice,
				       .spots = o->spots,
				       .kallsyms = o->kallsyms,
				       .vmlinux = o->vmlinux,
				       .inlines = o->inlines,
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
	size_t i;

	for (i = 0; i < array_size(named); i++)
		if (named[i].path && access(named[i].path, R_OK))
			return error_sys(err, errno, "%s %s", named[i].option, named[i].path);
	o->q->profile = &o->profile;
	return perfdata_read(&o->profile, o->perf, &how, err);
}
