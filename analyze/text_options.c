// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/text_options.h"

#include "analyze/ingest/strace_c.h"
#include "lib/alloc.h"

static int read_report(struct text_options *o, struct error *err)
{
	o->q->flat = &o->flat;
	return perf_report_read(o->path, o->q->event, &o->flat, err);
}

static int read_trace(struct text_options *o, struct error *err)
{
	o->q->trace = &o->trace;
	return perf_trace_read(o->path, &o->trace, err);
}

static int read_strace(struct text_options *o, struct error *err)
{
	o->q->trace = &o->trace;
	return strace_c_read(o->path, &o->trace, err);
}

static int read_stat(struct text_options *o, struct error *err)
{
	o->q->stat = &o->stat;
	return perf_stat_read(o->path, &o->stat, err);
}

static int read_ethtool(struct text_options *o, struct error *err)
{
	o->q->ethtool = &o->ethtool;
	return ethtool_text_read(o->path, &o->ethtool, err);
}

enum { KEY_FIRST = 0x300 };

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Texts instead of a capture ('-': standard input):", 4},
	{"perf-report", KEY_FIRST, "FILE", 0, "of perf report --stdio or perf top", 4},
	{"perf-trace", KEY_FIRST + 1, "FILE", 0, "of perf trace -s", 4},
	{"strace-c", KEY_FIRST + 2, "FILE", 0, "of strace -c", 4},
	{"perf-stat", KEY_FIRST + 3, "FILE", 0, "of perf stat, -x and -j, too", 4},
	{"ethtool", KEY_FIRST + 4, "FILE", 0, "of ethtool -S, twice, or of ethtool_stats.pl", 4},
	{0},
};

/* THE TABLE of texts, in the order of the options. */
static const struct text_kind {
	int (*read)(struct text_options *, struct error *);
} kinds[] = {{read_report}, {read_trace}, {read_strace}, {read_stat}, {read_ethtool}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct text_options *o = state->input;

	if (key < KEY_FIRST || key >= KEY_FIRST + (int)array_size(kinds))
		return ARGP_ERR_UNKNOWN;
	o->kind = &kinds[key - KEY_FIRST];
	o->path = arg;
	o->given++;
	return 0;
}

const struct argp text_argp = {.options = options, .parser = parse};

int text_read(struct text_options *o, struct error *err)
{
	return o->kind->read(o, err);
}

void text_options_free(struct text_options *o)
{
	flat_free(&o->flat);
	trace_free(&o->trace);
	perf_stat_free(&o->stat);
	ethtool_text_free(&o->ethtool);
}
