// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/scope/runs.h"

#include <errno.h>
#include <math.h>

/* Returns "iperf3 -c x" for "/usr/bin/iperf3 -c x". */
static char *run_short_command(const char *command)
{
	const char *p = command + strcspn(command, " ");

	while (p > command && p[-1] != '/')
		p--;
	return xstrdup(p);
}

struct run_facts run_facts_of(struct store *s, const char *variant, const char *side)
{
	struct run_filter filter = {.variant = variant, .side = side};
	struct run_facts f = {0};
	autofree struct host_row *hosts = NULL;
	autofree struct run *runs = NULL;
	int n = store_runs(s, &filter, &runs, NULL), nhosts;

	if (n > 0) {
		f.host = runs[0].host;
		f.command = runs[0].command ? run_short_command(runs[0].command) : NULL;
		if (f.command)
			str_replace(f.command, '\n', ' ');
	}
	nhosts = n > 0 ? store_hosts(s, &hosts, NULL) : 0;
	for (int i = 0; i < nhosts; i++)
		if (f.host && hosts[i].name && !strcmp(hosts[i].name, f.host))
			f.kernel = hosts[i].release;
	return f;
}

void run_facts_free(struct run_facts *f)
{
	free(f->command);
	*f = (struct run_facts){0};
}

void run_facts_host(struct str *s, const struct run_facts *f)
{
	autofree char *line = xasprintf("Linux %s on host %s", f->kernel ? f->kernel : "(unknown)",
					f->host ? f->host : "(unknown)");

	str_replace(line, '\n', ' ');
	str_printf(s, "%s\n", line);
}

/* Prints the host of each side, and a shared host only once. */
static void run_facts_put_hosts(struct str *s, struct store *store, const struct block *blocks,
				int n)
{
	freed(str_free) struct str line = {0};

	for (int i = 0; i < n; i++) {
		freed(run_facts_free) struct run_facts f =
			run_facts_of(store, blocks[i].variant, blocks[i].side);

		str_reset(&line);
		run_facts_host(&line, &f);
		if (!s->len || !strstr(s->buf, line.buf))
			str_puts(s, line.buf);
	}
}

const char *run_interface(struct store *s, const struct run *r, struct arena *a, struct error *err)
{
	static const char end[] = "/link/rx_bytes";
	autofree struct metric_row *m = NULL;
	int n = store_metrics(s, r->id, "nic", OF_SIDE, &m, err);
	const char *best = NULL;
	double most = 0, bytes;

	for (int i = 0; i < n; i++) {
		const char *name = m[i].key.object ?: "", *card;

		if (!str_ends(name, end))
			continue;
		card = arena_printf(a, "%.*s", (int)(strlen(name) - strlen(end)), name);
		bytes = m[i].value +
			run_metric(s, r, "nic", arena_printf(a, "%s/link/tx_bytes", card), NO_CPU);
		if (bytes > most) {
			most = bytes;
			best = card;
		}
	}
	return best;
}

void run_facts_title(struct store *store, const struct query *q, struct table *t)
{
	autofree struct block *blocks = NULL;
	freed(str_free) struct str s = {0};
	int n = scope_blocks(store, q, &blocks, NULL);

	run_facts_put_hosts(&s, store, blocks, n);
	for (int i = 0; i < n && (q->side || n == 1); i++) {
		freed(run_facts_free) struct run_facts f =
			run_facts_of(store, blocks[i].variant, blocks[i].side);

		if (f.command)
			str_printf(&s, "%s: %s\n", blocks[i].variant, f.command);
	}
	if (s.len)
		table_title_lines(t, str_trim(s.buf));
}

/* --- clocks of two hosts --- */

/* Returns false if the run was on the steering host or has no clock data. */
static bool clocks_read(struct store *s, const struct run *r, struct clock_facts *c)
{
	c->known = r->start_ns && store_metric(s, r->id, "clock_offset", &c->offset) &&
		   store_metric(s, r->id, "clock_error", &c->error);
	return c->known;
}

int clocks_of_host(struct store *s, const char *host, struct clock_facts *f, struct error *err)
{
	struct run_filter all = {0};
	autofree struct run *runs = NULL;
	int n = store_runs(s, &all, &runs, err);

	*f = (struct clock_facts){0};
	for (int i = 0; i < n && !f->known; i++)
		if (runs[i].host && !strcmp(runs[i].host, host))
			clocks_read(s, &runs[i], f);
	return n < 0 ? n : 0;
}

char *clocks_text(double seconds)
{
	double x = fabs(seconds);

	if (x >= 1)
		return xasprintf("%.9g s", seconds);
	if (x >= 1e-3)
		return xasprintf("%.3g ms", seconds * 1e3);
	return xasprintf("%.3g us", seconds * 1e6);
}

int clocks_note(struct store *s, struct table *t, struct error *err)
{
	struct run_filter all = {0};
	double most = -1, error = 0, skew;
	struct clock_facts c;
	autofree struct run *runs = NULL;
	int n = store_runs(s, &all, &runs, err);
	autofree char *apart = NULL, *known = NULL;

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		if (!clocks_read(s, &runs[i], &c) ||
		    !store_metric(s, runs[i].id, "window_skew_us", &skew))
			continue;
		most = fmax(most, skew / 1e6);
		error = fmax(error, c.error);
	}
	if (most < 0)
		return 0;
	apart = clocks_text(most);
	known = clocks_text(error);
	note_add(&t->notes, two_hosts, apart, known);
	return 0;
}

/* --- the table --- */

/* runs: every run with its state, window and placement, and all notes. */

static const struct column runs_columns[] = {
	{MEMBER(struct runs_row, position), .type = V_INT, .what = "order of execution, from 0"},
	{MEMBER_NAMED("variant", struct runs_row, block.variant), .type = V_STR},
	{MEMBER(struct runs_row, pass), .type = V_STR, .what = "measure, profile, syscalls or all"},
	{MEMBER(struct runs_row, repeat), .type = V_INT},
	{MEMBER_NAMED("side", struct runs_row, block.side), .type = V_STR},
	{MEMBER(struct runs_row, status), .type = V_STR, .what = "ok or failed"},
	{MEMBER(struct runs_row, host), .type = V_STR},
	{MEMBER(struct runs_row, cpus), .type = V_STR, .shape = STAYS_WHOLE,
	 .what = "the side's CPUs"},
	{"start_ns", .unit = "ns", .type = V_INT, .what = "start of the window, CLOCK_MONOTONIC"},
	{"end_ns", .unit = "ns", .type = V_INT},
	{MEMBER(struct runs_row, seconds), "s", V_REAL, .digits = 3,
	 .what = "length of the window"},
	{MEMBER(struct runs_row, throughput_gbps), "Gbit/s", V_REAL, .digits = 3},
	{MEMBER(struct runs_row, cpu_pct), "%", V_REAL, .digits = 1, .what = "100 = one CPU"},
	{MEMBER(struct runs_row, coverage_pct), "%", V_REAL, .digits = 1,
	 .what = "time that the samples account for, over the busy time"},
	{MEMBER(struct runs_row, window_error_us), "us", V_REAL,
	 .what = "how far the readings of totals (counters, system calls) lie from the window's ends"},
	{MEMBER(struct runs_row, readings_us), "us", V_REAL,
	 .what = "largest distance from an interpolated reading to a window edge"},
	{MEMBER(struct runs_row, skew_us), "us", V_REAL,
	 .what = "distance between the two sides' windows"},
	{MEMBER(struct runs_row, stalled_s), "s", V_REAL, .digits = 2,
	 .what = "time in which the workload stood still"},
	{MEMBER(struct runs_row, steal_pct), "%", V_REAL, .digits = 1,
	 .what = "share of the side's CPU time that the hypervisor stole"},
	{MEMBER(struct runs_row, throttled), .type = V_REAL,
	 .what = "times that heat or a CPU quota throttled the run"},
	{MEMBER(struct runs_row, why), .type = V_STR, .what = "why the run failed"},
};

static bool runs_wanted(const struct query *q, const struct run *r)
{
	return str_matches(q->variant, r->variant) && (!q->side || !strcmp(q->side, r->side)) &&
	       (!q->pass || !strcmp(q->pass, r->pass)) && (!q->repeat || q->repeat == r->repeat);
}

/* Returns the larger of two metrics and ignores an absent metric. */
static double runs_worse(struct store *s, const struct run *r, const char *a, const char *b)
{
	return fmax(figure_metric(s, r, a), figure_metric(s, r, b));
}

static struct runs_row runs_row_of(const struct run *r)
{
	return (struct runs_row){.block = {r->variant, r->side},
				 .position = r->position,
				 .repeat = r->repeat,
				 .pass = r->pass,
				 .status = r->status,
				 .host = r->host,
				 .cpus = r->cpus,
				 .seconds = NAN,
				 .throughput_gbps = NAN,
				 .cpu_pct = NAN,
				 .coverage_pct = NAN,
				 .window_error_us = NAN,
				 .readings_us = NAN,
				 .skew_us = NAN,
				 .stalled_s = NAN,
				 .steal_pct = NAN,
				 .throttled = NAN};
}

/* Fills the figures of a run. The last ones give reason to doubt the others. */
static void runs_fill_figures(struct store *s, const struct run *r, struct runs_row *row)
{
	row->why = r->why;
	row->seconds = figure_metric(s, r, "seconds");
	row->throughput_gbps = figure_metric(s, r, "throughput");
	row->cpu_pct = figure_metric(s, r, "cpu_pct");
	row->coverage_pct = figure_metric(s, r, "coverage_pct");
	row->window_error_us = runs_worse(s, r, "window_start_error_us", "window_end_error_us");
	row->readings_us = runs_worse(s, r, "window_first_reading_us", "window_last_reading_us");
	row->skew_us = figure_metric(s, r, "window_skew_us");
	row->stalled_s = figure_metric(s, r, "stalled_s");
	if (r->ncpus > 0)
		row->steal_pct = figure_metric(s, r, "cpu_steal_pct") / r->ncpus;
	row->throttled = runs_worse(s, r, "throttled_heat", "throttled_quota");
}

static void runs_put_run(struct store *s, const struct query *q, const struct run *r,
			 struct table *t)
{
	struct runs_row row = runs_row_of(r);
	struct value *cells;

	if (!q->figures_only)
		runs_fill_figures(s, r, &row);
	cells = table_add(t, struct runs_row, &row);
	if (r->end_ns && !q->figures_only) {
		table_set(t, cells, "start_ns", value_int((int64_t)r->start_ns));
		table_set(t, cells, "end_ns", value_int((int64_t)r->end_ns));
	}
}

/* Adds all notes of the capture and the runs, including severity info. */
static int runs_add_notes(struct store *s, const struct run *runs, int n, struct table *t,
			  struct error *err)
{
	int rc = store_notes(s, 0, &t->notes, err);

	for (int i = 0; i < n && !rc; i++)
		rc = store_notes(s, runs[i].id, &t->notes, err);
	t->lossy |= notes_have(&t->notes, SEVERITY_LOSSY);
	return rc;
}

static int runs_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct run_filter all = {.failed = true};
	autofree struct run *runs = NULL;
	int n = store_runs(s, &all, &runs, err), kept = 0, rc;

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		if (runs_wanted(q, &runs[i]))
			runs[kept++] = runs[i];
	for (int i = 0; i < kept; i++)
		runs_put_run(s, q, &runs[i], t);
	rc = runs_add_notes(s, runs, kept, t, err);
	return rc ? rc
	       : n && !kept
		       ? error_set(
				 err, ENOENT,
				 "no such run; 'zcost report runs' without --variant, --side and --run lists them")
		       : 0;
}

const struct measure measure_runs = {
	.name = "runs",
	.what = "every run with its state",
	MEASURE_COLUMNS(runs_columns),
	.options = {[SOURCE_CAPTURE] = "variant side run " OPT_SLICE},
	.whole = WHOLE_FACTS,
	.spare = "end_ns start_ns host position cpus",
	.flags = MEASURE_FACTS,
	.run = runs_run,
};

/* --- the table of variants: their settings, one column each, and their numbers of runs --- */

/* The columns of the settings go between the first column and the others. */
static const struct column variants_columns[] = {
	{"variant", .type = V_STR},
	{"runs", .type = V_INT, .what = "successful runs of all passes"},
	{"failed_runs", .type = V_INT},
	{"what", .type = V_STR, .what = "the plan's description"},
};

enum { OTHERS = 3 };

/* Adds the column "base" if settings made several variants from one variant of the plan. */
static void variants_make_columns(struct table *t, const char **settings, int n)
{
	struct column *list = arena_alloc(&t->arena, (size_t)(n + 2 + OTHERS) * sizeof(*list));
	int k = 0;

	list[k++] = variants_columns[0];
	if (n)
		list[k++] = (struct column){"base", .type = V_STR,
					    .what = "name of the variant in the plan"};
	for (int i = 0; i < n; i++)
		list[k++] = (struct column){arena_strdup(&t->arena, settings[i]), .type = V_STR,
					    .what = "value of the setting"};
	memcpy(list + k, variants_columns + 1, OTHERS * sizeof(*list));
	t->columns = list;
	t->ncolumns = k + OTHERS;
}

bool run_is_of(const struct run *a, const struct run *b)
{
	return a->repeat == b->repeat && !strcmp(a->variant, b->variant) &&
	       !strcmp(a->pass, b->pass);
}

void runs_count(const struct run *runs, int n, size_t *ok, size_t *failed)
{
	int k;

	*ok = *failed = 0;
	for (int i = 0; i < n; i = k) {
		bool good = true;

		for (k = i; k < n && run_is_of(&runs[k], &runs[i]); k++)
			good &= !strcmp(runs[k].status, "ok");
		*(good ? ok : failed) += 1;
	}
}

static int variants_put_variant(struct store *s, const char *variant, const char **settings, int n,
				struct table *t, struct error *err)
{
	const char *base = store_variant_base(s, variant);
	struct run_filter all = {.variant = variant, .failed = true};
	struct value *row = table_row(t);
	autofree struct run *runs = NULL;
	size_t ok, failed;
	int k = 0, nruns = store_runs(s, &all, &runs, err);

	runs_count(runs, nruns, &ok, &failed);

	row[k++] = value_str(t, variant);
	if (n)
		row[k++] = value_str(t, base ? base : variant);
	for (int i = 0; i < n; i++)
		row[k++] = value_str(t, store_setting(s, variant, settings[i]));
	row[k++] = value_int((int64_t)ok);
	row[k++] = value_int((int64_t)failed);
	row[k] = value_str(t, store_variant_what(s, variant));
	return nruns < 0 ? nruns : 0;
}

static int variants_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	autofree const char **variants = NULL, **settings = NULL;
	int nv = store_variants(s, &variants, err);
	int ns = nv < 0 ? nv : store_names(s, NAMES_SETTING, &settings, err);
	int rc = ns < 0 ? ns : 0;

	if (!rc)
		variants_make_columns(t, settings, ns);
	t->least = "what";
	for (int i = 0; i < nv && !rc; i++)
		if (str_matches(q->variant, variants[i]))
			rc = variants_put_variant(s, variants[i], settings, ns, t, err);
	if (!rc && !t->rows && nv)
		rc = error_set(err, ENOENT,
			       "no variant is '%s'; 'zcost report variants' lists them",
			       q->variant ? q->variant : "");
	return rc;
}

const struct measure measure_variants = {
	.name = "variants",
	.what = "settings of each variant",
	MEASURE_COLUMNS(variants_columns),
	.options = {[SOURCE_CAPTURE] = "variant"},
	.whole = WHOLE_FACTS,
	.flags = MEASURE_FACTS,
	.run = variants_run,
};
