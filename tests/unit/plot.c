// SPDX-License-Identifier: GPL-2.0-only
/* Charts from tables written here by hand: what is drawn, what is said, and what is not. */
#include "analyze/commands/options.h"
#include "analyze/costs/costs.h"
#include "analyze/evidence/limits.h"
#include "analyze/evidence/zerocopy.h"
#include "analyze/scope/results.h"
#include "analyze/scope/runs.h"
#include "lib/command.h"
#include "lib/str.h"
#include "plot/chart.h"
#include "plot/label.h"
#include "plot/palette.h"
#include "tests/unit/unit.h"

struct sheet {
	const char *name, *text;
};

/* The structs behind the rows of tables, which the sheets fill by the names of columns. */
#define ROWS(table, row)                 \
	{                                \
		table, #row, sizeof(row) \
	}
static const struct row_type {
	const char *table, *name;
	size_t size;
} measured[] =
	{
		ROWS("components", struct cost_row),   ROWS("cpu", struct cpu_row),
		ROWS("functions", struct cost_row),    ROWS("idle", struct idle_row),
		ROWS("roi", struct figure_row),	       ROWS("runs", struct runs_row),
		ROWS("scores", struct scores_row),     ROWS("sizes", struct sizes_row),
		ROWS("summary", struct figure_row),    ROWS("sweep", struct sweep_row),
		ROWS("syscalls", struct syscalls_row), ROWS("timeline", struct timeline_row),
		ROWS("zerocopy", struct zerocopy_row),
},
  compared[] = {
	  ROWS("components", struct costs_row),
	  ROWS("metrics", struct metrics_row),
	  ROWS("waterfall", struct costs_row),
};

/* In a sheet, the columns of an interval follow that of their value. */
static enum interval_part part_named(const char *column)
{
	return str_ends(column, "_lo")	 ? PART_LOW
	       : str_ends(column, "_hi") ? PART_HIGH
	       : str_ends(column, "_ci") ? PART_HALF
					 : PART_VALUE;
}

static void set_member(char *row, const struct column *c, enum interval_part part, const char *s)
{
	double x = *s ? strtod(s, NULL) : NAN;
	void *at = row + c->at;
	struct estimate *e = at;
	struct half_estimate *half = at;

	if (c->member == MEMBER_TEXT)
		*(const char **)at = *s ? s : NULL;
	else if (c->member == MEMBER_INT)
		*(int64_t *)at = *s ? (int64_t)x : 0;
	else if (c->member == MEMBER_REAL)
		*(double *)at = x;
	else if (c->member == MEMBER_ESTIMATE)
		*(part == PART_LOW ? &e->lo : part == PART_HIGH ? &e->hi : &e->value) = x;
	else if (c->member == MEMBER_HALF)
		*(part == PART_HALF ? &half->half : &half->value) = x;
}

/* Returns the column with that name or with a part of that name, or NULL. */
static const struct column *column_named(const struct table *t, const char *name)
{
	enum interval_part part = part_named(name);

	for (int i = 0; i < t->ncolumns; i++) {
		freed(str_free) struct str of_part = {0};

		column_part_name(&of_part, &t->columns[i], part ? part : PART_LOW);
		if (!strcmp(part ? of_part.buf : t->columns[i].name, name))
			return &t->columns[i];
	}
	return NULL;
}

/* Adds a row with the members of a line. All others are missing. `every`: the table must have a
 * column of each title. */
static void fill_row(struct table *t, const struct row_type *type, char *const *titles, char *line,
		     bool every)
{
	void *row = arena_alloc(&t->arena, type->size);
	size_t runs = 0;

	for (int i = 0; i < t->ncolumns; i++)
		for (enum interval_part p = PART_VALUE; p <= PART_HALF; p++)
			set_member(row, &t->columns[i], p, "");
	for (; *titles && line; titles++) {
		const struct column *c = column_named(t, *titles);
		const char *cell = str_token(&line, '\t');

		if (c)
			set_member(row, c, part_named(*titles), cell);
		else if (every)
			fail_msg("table %s has no column %s", t->name, *titles);
		if (!strcmp(*titles, "runs"))
			runs = strtoul(cell, NULL, 10);
	}
	for (int i = 0; i < t->ncolumns; i++)
		if (t->columns[i].member == MEMBER_ESTIMATE)
			((struct estimate *)(void *)((char *)row + t->columns[i].at))->n = runs;
	table_add_struct(t, type->name, type->size, row);
}

static struct arena sheets; /* texts stay alive as long as their tables */

static void fill(struct table *t, const char *name, const char *text, bool of_compare)
{
	static const struct column block[] = {BLOCK_COLUMNS(struct cost_row)};
	char *rest = arena_strdup(&sheets, text), *line = str_token(&rest, '\n'), *titles[32];
	const struct compare_table *c = of_compare ? compare_table_find(name) : NULL;
	const struct measure *m = of_compare ? NULL : measure_find(name);
	const struct row_type *type = of_compare ? compared : measured;
	struct column *columns = arena_alloc(&sheets, 40 * sizeof(*columns));
	int n = m ? m->ncolumns : c->ncolumns, before = m && m->flags & MEASURE_COSTS ? 2 : 0;

	memcpy(columns, block, sizeof(block));
	memcpy(columns + before, m ? m->columns : c->columns, (size_t)n * sizeof(*columns));
	table_init(t, name, columns, n + before);
	for (n = 0; line; n++)
		titles[n] = str_token(&line, '\t');
	titles[n] = NULL;
	while (strcmp(type->table, name))
		type++;
	while (rest && *rest)
		fill_row(t, type, titles, str_token(&rest, '\n'), !of_compare);
}

static void (*sheet_notes)(struct notes *notes); /* fills the notes of each table but zerocopy */

static int from_sheet(const struct chart_source *source, const char *sheet, const char *table,
		      bool of_compare, struct table *t, struct error *err)
{
	const struct sheet *s = source->from;

	while (s->name && strcmp(s->name, sheet))
		s++;
	if (!s->name) {
		table_init(t, table, NULL, 0);
		return error_set(err, ENODATA, "no table %s", sheet);
	}
	fill(t, table, s->text, of_compare);
	if (sheet_notes && strcmp(table, "zerocopy"))
		sheet_notes(&t->notes);
	t->lossy = notes_have(&t->notes, SEVERITY_LOSSY);
	return 0;
}

static int from_sheets(const struct chart_source *source, const char *name, const struct query *q,
		       struct table *t, struct error *err)
{
	(void)q;
	return from_sheet(source, name, name, false, t, err);
}

/* The verdicts of compare on the new end: a sheet with the variant's name. */
static int verdicts_from_sheets(const struct chart_source *source, const char *table,
				const char *const ends[2], const struct query *q, struct table *t,
				struct outcome *out, struct error *err)
{
	(void)q, (void)out;
	return from_sheet(source, ends[1], table, true, t, err);
}

static int limits_from_sheets(const struct chart_source *source, const struct query *q,
			      struct limits *l, struct error *err)
{
	const struct sheet *s = source->from;
	char *rest, *line;

	(void)q, (void)err;
	while (strcmp(s->name, "limits"))
		s++;
	rest = arena_strdup(&sheets, s->text);
	assert_string_equal(str_token(&rest, '\n'), "variant\tlimit\tside");
	while (*rest) {
		struct limit_row row = {0};
		const char *name;

		line = str_token(&rest, '\n');
		row.variant = str_token(&line, '\t');
		name = str_token(&line, '\t');
		row.side = str_token(&line, '\t');
		while (strcmp(limit_kinds[row.kind].name, name))
			row.kind++;
		array_add(l->row, l->n, l->cap, row);
	}
	return 0;
}

static const char *const three[] = {"baseline", "mmap", "uring"};

static const char limits[] = "variant\tlimit\tside\n"
			     "baseline\tcpu\tsender\n"
			     "mmap\tsoftirq\treceiver\n"
			     "mmap\tcpu\tsender\n"
			     "uring\tnone\t\n";
static const char summary[] = "variant\tside\truns\tthroughput_gbps\tthroughput_lo\tthroughput_hi\n"
			      "baseline\treceiver\t6\t10\t9.5\t10.5\n"
			      "baseline\tsender\t6\t11\t10.5\t11.5\n"
			      "mmap\treceiver\t6\t16\t15\t17\n"
			      "uring\treceiver\t6\t20\t19\t21\n";

static const char zerocopy[] = "variant\tside\tevidence\ttotal\tzero_copy\tcopied\tshare\n"
			       "baseline\treceiver\tbytes\t1000\t0\t1000\t0\n"
			       "mmap\treceiver\tbytes\t1000\t998\t2\t99.8\n"
			       "mmap\tsender\tsends\t50\t0\t50\t0\n"
			       "uring\treceiver\tbytes\t1000\t0\t1000\t0\n";

static const char roi[] =
	"variant\tside\truns\tthroughput_gbps\tcpu_pct\tpower_w\troi_c\troi_c_lo\troi_c_hi\t"
	"roi_p\troi_p_lo\troi_p_hi\tpower_source\n"
	"baseline\treceiver\t6\t10\t200\t100\t0.5\t0.4\t0.6\t1\t0.9\t1.1\tmodelled\n"
	"baseline\ttotal\t6\t10\t400\t200\t0.25\t0.2\t0.3\t0.5\t0.4\t0.6\tmodelled\n"
	"mmap\treceiver\t6\t10\t100\t90\t1\t0.9\t1.1\t1.1\t1\t1.2\tmodelled\n"
	"mmap\ttotal\t6\t10\t200\t180\t0.5\t0.45\t0.55\t0.6\t0.5\t0.7\tmodelled\n";

static const char better[] = "side\tmetric\tcomponent\tverdict\n"
			     "receiver\tthroughput\t\tbetter\n"
			     "receiver\tns_per_kib\tdata copy\tbetter\n"
			     "total\troi_c\t\tbetter\n"
			     "total\troi_p\t\tbetter\n";
static const char worse[] = "side\tmetric\tverdict\n"
			    "receiver\tthroughput\tworse\n"
			    "receiver\tns_per_kib\tworse\n";

struct fixture {
	struct sheet sheets[8];
	struct chart_source source;
	struct drawing d;
	struct figure f;
	struct error err;
};

static void fixture_free(struct fixture *x)
{
	figure_free(&x->f);
	drawing_free(&x->d);
	free(x);
}

/* Returns a fixture that lives until the next one. */
static struct fixture *fixture_new(const char *name, const char *text)
{
	static struct fixture *last;
	struct fixture *x = xcalloc(1, sizeof(*x));

	sheet_notes = NULL;
	if (last)
		fixture_free(last);
	last = x;
	memcpy(x->sheets,
	       (struct sheet[]){{name, text},
				{"zerocopy", zerocopy},
				{"limits", limits},
				{"none", ""},
				{"mmap", better},
				{"uring", better}},
	       6 * sizeof(*x->sheets));
	x->source = (struct chart_source){from_sheets, x->sheets, verdicts_from_sheets,
					  limits_from_sheets};
	x->d.source = &x->source;
	x->d.facts = (struct chart_facts){.capture = "zc-4k",
					  .host = "box",
					  .kernel = "6.18.0",
					  .date = "2026-01-31",
					  .estimator = "median",
					  .variants = (const char **)three,
					  .nvariants = 3,
					  .measured = {6, 6},
					  .profiled = {1, 1}};
	return x;
}

static int fixture_draw(struct fixture *x, const char *chart)
{
	int rc = drawing_prepare(&x->d, &x->err);

	return rc ? rc : chart_draw(chart_find(chart), &x->d, &x->f, &x->err);
}

static struct fixture *fixture_drawn(const char *chart, const char *sheet, const char *text)
{
	struct fixture *x = fixture_new(sheet, text);

	assert_int_equal(fixture_draw(x, chart), 0);
	return x;
}

/* Draws another chart of the same tables. */
static void fixture_redraw(struct fixture *x, const char *chart)
{
	figure_free(&x->f);
	assert_int_equal(chart_draw(chart_find(chart), &x->d, &x->f, &x->err), 0);
}

static void assert_has(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("no '%s' in '%s'", part, text ? text : "(null)");
}

static void assert_lacks(const char *text, const char *part)
{
	if (text && strstr(text, part))
		fail_msg("'%s' in '%s'", part, text);
}

/* Returns the text of a file, which is kept for the next seven. */
static char *slurp(const char *dir, const char *name)
{
	static char *kept[8];
	static size_t n;
	char *path = xasprintf("%s/%s", dir, name), **data = &kept[n++ % 8];
	struct error err = {0};
	size_t len;

	free(*data);
	if (file_read(path, data, &len, &err))
		fail_msg("%s", err.text);
	free(path);
	return *data;
}

/* Writes the files of a chart, and returns the text of one. */
static char *fixture_file(struct fixture *x, const char *name)
{
	assert_int_equal(figure_write(&x->f, dir, FIGURE_SVG, &x->err), 0);
	if (figure_render(&x->f, dir, FIGURE_SVG, &x->err))
		fail_msg("%s", x->err.text);
	return slurp(dir, name);
}

TEST(rows)
{
	struct estimate e = estimate_half((struct half_estimate){10, 3});
	struct table t;

	fill(&t, "roi",
	     "variant\tside\truns\tcpu_pct\tcpu_pct_lo\tcpu_pct_hi\n"
	     "a\treceiver\t6\t10\t7\t13\n"
	     "a\tsender\t6\t\t\t\n"
	     "b\treceiver\t1\t2\t1\t3\n",
	     false);
	assert_true(e.value == 10 && e.lo == 7 && e.hi == 13);
	e = estimate_half((struct half_estimate){2, 5});
	assert_true(e.lo == 0 && e.hi == 7);
	assert_int_equal(row_find(&t, 0, "b", NULL), 2);
	assert_int_equal(row_find(&t, 0, "c", NULL), -1);
	e = row_figure(&t, "a", NULL, FIGURE_CPU);
	assert_true(e.value == 10 && e.lo == 7 && e.hi == 13 && e.n == 6);
	e = row_figure(&t, "a", "sender", FIGURE_CPU);
	assert_true(isnan(e.value) && isnan(e.lo) && isnan(e.hi));
	e = row_figure(&t, "b", "receiver", FIGURE_CPU);
	assert_true(e.value == 2 && isnan(e.lo)); /* a single run has no interval */
	assert_true(isnan(row_figure(&t, "c", NULL, FIGURE_CPU).value));
	assert_string_equal(table_structs(&t, struct figure_row)->power_kind, "");
	table_free(&t);
}

TEST(copied)
{
	struct table t;

	fill(&t, "zerocopy", zerocopy, false);
	assert_int_equal(copied_state(&t, "mmap", NULL), COPIED_NONE);
	assert_int_equal(copied_state(&t, "mmap", "receiver"), COPIED_NONE);
	assert_int_equal(copied_state(&t, "mmap", "sender"), COPIED_ALL);
	assert_int_equal(copied_state(&t, "mmap", "proxy"), COPIED_NONE);
	assert_int_equal(copied_state(&t, "uring", NULL), COPIED_ALL);
	assert_int_equal(copied_state(&t, "new", NULL), COPIED_UNKNOWN);
	table_free(&t);
}

TEST(throughput)
{
	struct fixture *x = fixture_drawn("throughput", "summary", summary);
	struct estimate e;

	/* uring is faster still, but it copied */
	assert_string_equal(x->f.title, "mmap: 1.60× the throughput of baseline");
	/* no variant says what it asked for: no warning, and the same words for base and others */
	assert_string_equal(x->f.remarks,
			    "baseline, uring: every byte was copied · "
			    "mmap: 99.80 % zero copy on the receiver, not on the sender · "
			    "different limits: zcost report limits");
	assert_string_equal(
		x->f.doubt,
		"Different limits: baseline and uring do not have the same bottleneck, so "
		"throughput does not compare the two methods");
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e));
	assert_true(e.value == 10 && e.lo == 9.5 && e.hi == 10.5 && e.n == 6);
	assert_has(x->f.foot, "n = 6 measured runs per variant");
	assert_has(x->f.foot, "95 % interval");
	assert_has(x->f.foot, "box · Linux 6.18.0 · zc-4k · 2026-01-31");
}

/* n is that of the bars, and the words are the estimator's. */
TEST(runs_in_foot)
{
	static const char text[] = "variant\tside\truns\tthroughput_gbps\tthroughput_lo\t"
				   "throughput_hi\n"
				   "baseline\treceiver\t7\t10\t9\t11\n"
				   "mmap\treceiver\t%d\t10\t9\t11\n";
	static const struct {
		int runs;
		const char *estimator, *says;
	} cases[] = {
		{7, "median", "n = 7 measured runs per variant, median, whiskers: 95 % interval ·"},
		{2, "median",
		 "n = 2 to 7 measured runs per variant, median, whiskers: 95 % "
		 "interval, lowest to highest of fewer than 6 runs ·"},
		{2, "mean",
		 "n = 2 to 7 measured runs per variant, mean, whiskers: 95 % interval ·"},
	};

	each (c, cases) {
		char all[256];
		struct fixture *x;

		snprintf(all, sizeof(all), text, c->runs);
		x = fixture_new("summary", all);
		x->d.facts.estimator = c->estimator;
		assert_int_equal(fixture_draw(x, "throughput"), 0);
		assert_has(x->f.foot, c->says);
	}
}

/* A share is never rounded to all or nothing. */
TEST(almost_all)
{
	struct fixture *x = fixture_new("summary", summary);

	x->sheets[1].text = "variant\tside\tevidence\ttotal\tzero_copy\n"
			    "mmap\treceiver\tbytes\t100000\t99999\n"
			    "uring\treceiver\tbytes\t100000\t10\n";
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_has(x->f.remarks,
		   "mmap: over 99.99 % zero copy on the receiver · uring: under 1 % zero "
		   "copy on the receiver, the rest was copied");
}

/* A chart of one side has that side's share, a chart of all sides has each side's. */
TEST(share_of_side)
{
	static const struct {
		const char *chart, *side, *says;
	} cases[] = {
		{"throughput", NULL,
		 "mmap: 98 % zero copy on the receiver, over 99.99 % on the sender"},
		{"throughput", "sender",
		 "mmap: 98 % zero copy on the receiver, over 99.99 % on the sender"},
		{"waterfall", NULL, "mmap: 98 % zero copy on the receiver"},
		{"waterfall", "sender", "mmap: over 99.99 % zero copy on the sender"},
		{"waterfall_sender", NULL, "mmap: over 99.99 % zero copy on the sender"},
		{"functions", "total",
		 "mmap: 98 % zero copy on the receiver, over 99.99 % on the sender"},
	};
	const char *mmap[] = {"mmap"};
	struct fixture *x;

	each (c, cases) {
		x = fixture_new("none", "");
		x->sheets[1].text = "variant\tside\tevidence\ttotal\tzero_copy\n"
				    "mmap\treceiver\tbytes\t1000\t980\n"
				    "mmap\tsender\tsends\t100000\t99999\n";
		x->d.news = mmap;
		x->d.nnews = 1;
		x->d.side = c->side;
		(void)fixture_draw(x, c->chart);
		assert_has(x->f.remarks, c->says);
	}
}

/* "a+s0+x", "b+s0+x", "a+s1+x" ...: two workloads under many settings, one of them in common. */
enum { MANY = CHART_ROWS + 6 };

static struct fixture *fixture_many(const char **names)
{
	struct str s = {0}, r = {0}, z = {0};
	struct fixture *x;

	str_puts(&s, "variant\tside\truns\tthroughput_gbps\n");
	str_puts(&r, "variant\tside\truns\troi_c\n");
	str_puts(&z, "variant\tside\tevidence\ttotal\tzero_copy\n");
	for (int i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%c+s%d+x", 'a' + i % 2, i / 2);
		names[i] = arena_strdup(&sheets, name);
		str_printf(&s, "%s\treceiver\t1\t%d\n", name, i + 1);
		str_printf(&r, "%s\treceiver\t1\t%d\n", name, i + 1);
		str_printf(&z, "%s\treceiver\tbytes\t1000\t%d\n", name, i % 2 ? 960 + i % 20 : 0);
	}
	x = fixture_new("summary", arena_strdup(&sheets, s.buf));
	x->sheets[1].text = arena_strdup(&sheets, z.buf);
	x->sheets[3] = (struct sheet){"roi", arena_strdup(&sheets, r.buf)};
	x->d.facts.variants = names;
	x->d.facts.nvariants = MANY;
	str_free(&s);
	str_free(&r);
	str_free(&z);
	return x;
}

/* No more than can be read; what is left out is said, and what is said of many is said once. */
TEST(many)
{
	const char *names[MANY];
	struct fixture *x = fixture_many(names);

	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_int_equal(x->f.bars.n, CHART_ROWS);
	assert_true(x->f.rows);
	assert_string_equal(x->f.bars.mark[3].name, "b+s1+x");
	assert_string_equal(x->f.bars.mark[3].label, "b+s1");
	assert_has(x->f.remarks, "a+s0 and 24 more: every byte was copied · "
				 "b+s0 and 24 more: 96 to 98 % zero copy on the receiver");
	assert_has(x->f.remarks, "Not in this chart: 6 more variants (--new or --variant chooses)");
	assert_null(x->f.doubt);
	fixture_redraw(x, "roi_c");
	assert_int_equal(x->f.bars.n, CHART_ROWS);
}

/* Limits that have no room are those of a table. */
TEST(many_limits)
{
	const char *names[MANY];
	struct fixture *x = fixture_many(names);
	freed(str_free) struct str limits = {0};

	str_puts(&limits, "variant\tlimit\tside\n");
	for (int i = 0; i < MANY; i++)
		str_printf(&limits, "%s\tcpu\tside_%d\n", names[i], i < 5 ? 0 : i);
	x->sheets[2].text = limits.buf;
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_has(x->f.remarks, "different limits: zcost report limits");
}

/* A title claims what compare says, whatever the intervals look like, and nothing else. */
TEST(no_claim)
{
	static const char *const verdicts_of_mmap[] = {"~", "too few runs", "drift?", "copied", ""};
	struct fixture *x;

	each (c, verdicts_of_mmap) {
		char *text = xasprintf("side\tmetric\tverdict\nreceiver\tthroughput\t%s\n"
				       "receiver\tns_per_kib\tbetter\n",
				       *c);

		x = fixture_new("summary", summary);
		x->sheets[4].text = text;
		assert_int_equal(fixture_draw(x, "throughput"), 0);
		assert_string_equal(x->f.title, "Throughput by variant");
		free(text);
	}
	x = fixture_new("summary", summary);
	x->source.compare = NULL;
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_string_equal(x->f.title, "Throughput by variant");
	x = fixture_new("summary", summary);
	x->sheets[1].name = "nothing";
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_string_equal(x->f.title, "Throughput by variant");
	assert_has(x->f.remarks, "mmap, uring: copied bytes not counted");
}

/* A loss may be claimed of any variant. */
TEST(slower_claim)
{
	struct fixture *x = fixture_new(
		"summary", "variant\tside\truns\tthroughput_gbps\tthroughput_lo\tthroughput_hi\n"
			   "baseline\treceiver\t6\t10\t9.9\t10.1\n"
			   "uring\treceiver\t6\t5\t4.9\t5.1\n");

	x->sheets[2].text = "variant\tlimit\tside\nbaseline\tcpu\tsender\nuring\tcpu\tsender\n";
	x->sheets[5].text = worse;
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_string_equal(x->f.title, "uring: 0.50× the throughput of baseline");
}

/* A variant with other limits than its base: the title claims nothing. */
TEST(limits_claim)
{
	struct fixture *x = fixture_new("summary", summary);

	x->sheets[2].text = "variant\tlimit\tside\nbaseline\tcpu\tsender\n"
			    "mmap\tcpu\treceiver\nuring\tcpu\treceiver\n";
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_string_equal(x->f.title, "Throughput by variant");
	assert_has(x->f.doubt, "Different limits: baseline and mmap do ");
}

TEST(cpu)
{
	struct fixture *x = fixture_drawn(
		"cpu", "cpu",
		"variant\tside\truns\tapp_pct\tsys_pct\tsoft_pct\tbusy_pct\tbusy_lo\tbusy_hi\n"
		"baseline\tsender\t6\t1\t30\t\t31\t30\t32\n"
		"baseline\treceiver\t6\t5\t60\t20\t85\t80\t90\n"
		"mmap\treceiver\t6\t\t\t\t\t\t\n");
	struct estimate e;

	assert_int_equal(x->f.groups.n, 2);
	assert_string_equal(x->f.groups.mark[0].label, "receiver");
	assert_true(figure_get(&x->f, 0, 0, 1, &e) && e.value == 60);
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e) && e.lo == 80 && e.hi == 90);
	assert_false(figure_get(&x->f, 1, 0, 2, &e)); /* missing is not 0 */
	assert_false(figure_get(&x->f, 0, 1, FIGURE_WHOLE, &e));
}

TEST(equal_runs_have_no_whisker)
{
	struct fixture *x =
		fixture_drawn("cpu", "cpu",
			      "variant\tside\truns\tapp_pct\tsys_pct\tbusy_pct\tbusy_lo\tbusy_hi\n"
			      "baseline\treceiver\t6\t40\t60\t100\t99.99999999999999\t100\n");

	assert_lacks(x->f.foot, "whiskers");
}

/* Medians of parts need not add up to that of the whole. Each is as high as its number says. */
TEST(parts_have_their_own_height)
{
	char *tsv;
	struct fixture *x =
		fixture_drawn("cpu", "cpu",
			      "variant\tside\truns\tapp_pct\tsys_pct\tbusy_pct\tbusy_lo\tbusy_hi\n"
			      "baseline\treceiver\t6\t20\t60\t100\t90\t110\n");

	assert_has(x->f.foot, "Each part is a median, so the parts do not add up to the whole");
	tsv = fixture_file(x, "cpu.tsv");
	assert_has(tsv, "\t0\t20\t20\t\t\treceiver\tbaseline\tuser\n");
	assert_has(tsv, "\t20\t80\t60\t\t\treceiver\tbaseline\tsystem\n");
	assert_has(tsv, "\t0\t100\t100\t90\t110\treceiver\tbaseline\tall\n");
}

TEST(roi)
{
	struct fixture *x = fixture_drawn("roi_c", "roi", roi);
	struct estimate e;

	assert_string_equal(x->f.title, "mmap: 2.0× the T²/C of baseline, both sides "
					"(throughput² per CPU use)");
	assert_string_equal(x->f.axis, "(Gbit/s)²/%");
	assert_has(x->f.subtitle, "total: over both sides' CPU use");
	assert_int_equal(x->f.groups.n, 2);
	assert_string_equal(x->f.groups.mark[1].label, "total");
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e) && e.value == 0.5);
}

TEST(roi_exponents)
{
	struct fixture *x = fixture_new("roi", roi);

	x->d.query.roi_n = 1.5;
	x->d.query.roi_m = 2;
	assert_int_equal(fixture_draw(x, "roi_p"), 0);
	assert_has(x->f.title, "T^1.5/P²");
}

TEST(roi_p_modelled)
{
	struct fixture *x = fixture_drawn("roi_p", "roi", roi);

	assert_string_equal(x->f.title,
			    "T²/P: throughput² per watt (power modelled, not measured)");
	assert_string_equal(x->f.axis, "(Gbit/s)²/W, P modelled");
	assert_has(x->f.subtitle, "P: modelled power, W");
	assert_has(x->f.foot, "* Power is modelled from CPU use, not measured");
}

/* Where some runs have a meter and others a model, each bar tells which. */
TEST(roi_p_partly_modelled)
{
	char *tsv, *svg;
	struct fixture *x = fixture_drawn("roi_p", "roi",
					  "variant\tside\truns\troi_p\troi_p_lo\troi_p_hi\t"
					  "power_source\tpower_kind\n"
					  "baseline\treceiver\t6\t1\t0.9\t1.1\tmeasured\twall\n"
					  "mmap\treceiver\t6\t2.125\t2\t2.25\tmodelled\t\n"
					  "uring\treceiver\t6\t\t\t\t\t\n");

	assert_has(x->f.title, "(power in part modelled, not measured)");
	assert_has(x->f.subtitle, "P: wall power, W; higher"); /* there is no total */
	assert_has(x->f.axis, "* P modelled");
	tsv = fixture_file(x, "roi_p.tsv");
	svg = slurp(dir, "roi_p.svg");
	assert_has(tsv, "\tvariant\tpower_source\n");
	assert_has(tsv, "\tbaseline\tmeasured\n");
	assert_has(tsv, "\tmmap\tmodelled\n");
	assert_lacks(tsv, "uring");
	assert_has(svg, "2.12*"); /* 2.125, half to even */
	assert_has(svg, "1.00<");
}

TEST(roi_p_absent)
{
	struct fixture *x = fixture_new("roi", "variant\tside\truns\troi_c\troi_p\tpower_source\n"
					       "baseline\treceiver\t6\t0.5\t\t\n");

	assert_int_equal(fixture_draw(x, "roi_p"), -ENODATA);
	assert_has(x->err.text, "no run has a power source");
	assert_has(x->err.text, "--power-csv");
}

static const char components[] =
	"variant\tside\tcomponent\tsamples\tself_share\tself_ns\tself_ns_ci\n"
	"baseline\treceiver\tother\t1\t1\t5\t1\n"
	"baseline\treceiver\tdata copy\t1\t1\t60\t4\n"
	"mmap\treceiver\tdata copy\t1\t1\t3\t1\n"
	"mmap\treceiver\tnovelty\t1\t1\t30\t1\n"
	"uring\treceiver\tdata copy\t1\t1\t2\t1\n";

static const char in_all[] = "variant\tside\truns\tns_per_kib\tns_per_kib_lo\tns_per_kib_hi\n"
			     "baseline\treceiver\t6\t65\t64\t66\n"
			     "mmap\treceiver\t6\t33\t32\t34\n";
TEST(components)
{
	struct fixture *x = fixture_new("components", components);
	struct estimate e;

	x->sheets[3] = (struct sheet){"summary", in_all};
	assert_int_equal(fixture_draw(x, "components"), 0);
	/* uring copies less still by this table, but its every byte was copied */
	assert_string_equal(x->f.title,
			    "mmap, receiver: data copy 60.0 → 3.00 ns per KiB, in all 65.0 → 33.0");
	assert_int_equal(x->f.parts.n, 3);
	assert_string_equal(x->f.parts.mark[0].label, "data copy");
	assert_string_equal(x->f.parts.mark[1].label, "novelty");
	assert_string_equal(x->f.parts.mark[2].label, "other");
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e) && e.value == 65);
	assert_true(e.lo == 64 && e.hi == 66);
	assert_true(figure_get(&x->f, 0, 2, FIGURE_WHOLE, &e) && isnan(e.hi));
	assert_has(x->f.foot, "n = 1 profiled run per variant, no interval from one run · "
			      "whiskers of the sums: n = 6 measured runs, median, 95 % interval");
	assert_false(figure_get(&x->f, 0, 0, 1, &e));
	/* what it costs in all has a verdict of its own */
	x = fixture_new("components", components);
	x->sheets[3] = (struct sheet){"summary", in_all};
	x->sheets[4].text = "side\tmetric\tcomponent\tverdict\n"
			    "receiver\tns_per_kib\t\t~\nreceiver\t\tdata copy\tbetter\n";
	assert_int_equal(fixture_draw(x, "components"), 0);
	assert_string_equal(x->f.title, "mmap, receiver: data copy 60.0 → 3.00 ns per KiB");
}

static const char copies_of_both_sides[] =
	"variant\tside\tcomponent\tsamples\tself_share\tself_ns\tself_ns_ci\n"
	"baseline\treceiver\tdata copy\t1\t1\t60\t4\n"
	"baseline\tsender\tdata copy\t1\t1\t60\t4\n"
	"mmap\treceiver\tdata copy\t1\t1\t30\t1\n"
	"mmap\tsender\tdata copy\t1\t1\t20\t1\n";

/* The data copy of a side that copied may shrink as well, but the title is about the other side. */
TEST(components_claim_no_side_that_copied)
{
	struct fixture *x = fixture_drawn("components", "components", copies_of_both_sides);

	assert_string_equal(x->f.title, "mmap, receiver: data copy 60.0 → 30.0 ns per KiB");
	x = fixture_new("components", copies_of_both_sides);
	x->sheets[1].text = "variant\tside\tevidence\ttotal\tzero_copy\tcopied\tshare\n"
			    "mmap\treceiver\tbytes\t1000\t0\t1000\t0\n"
			    "mmap\tsender\tsends\t50\t50\t0\t100\n";
	assert_int_equal(fixture_draw(x, "components"), 0);
	assert_string_equal(x->f.title, "mmap, sender: data copy 60.0 → 20.0 ns per KiB");
}

static bool page_has(const struct page *page, const char *text)
{
	for (int i = 0; i < page->ntexts; i++)
		if (!strcmp(page->texts[i].text, text))
			return true;
	return false;
}

/* The number of the sum stands close above its bar, and its whisker beside the bar. The intervals
 * of the parts are in the .tsv alone. */
TEST(number_and_whisker_of_a_stack)
{
	static const char parts[] = "variant\tside\tcomponent\tself_ns\tself_ns_ci\n"
				    "baseline\treceiver\tdata copy\t29.5\t15\n"
				    "baseline\treceiver\tzero copy\t0.01\t\n"
				    "baseline\treceiver\tTCP/IP\t15\t15\n"
				    "baseline\treceiver\tmemory\t0.5\t8\n"
				    "baseline\treceiver\tuser\t10\t15\n"
				    "baseline\treceiver\tlibraries\t10\t15\n";
	char *gp;
	struct fixture *x = fixture_new("components", parts);
	struct page page;

	x->d.facts.profiled = (struct run_counts){6, 6};
	x->sheets[3] = (struct sheet){"summary", in_all};
	assert_int_equal(fixture_draw(x, "components"), 0);
	assert_has(x->f.foot, "n = 6 profiled runs per variant, intervals of parts in the .tsv · "
			      "whiskers of the sums: n = 6 measured runs, median, 95 % interval ·");
	gp = fixture_file(x, "components.gp");
	assert_has(
		gp,
		"$1 == 0 && valid(7) && valid(8) && $8-$7 > seen && !beyond(0) && low(0) < far(0) ? $3 + 0.06");
	assert_has(gp,
		   "($1 == 0 ? ($2+$3)/2 : NaN):(shown(top($5)) + lift):(number($6).suffix(11))");
	page_make(&page, &x->f);
	assert_true(label_width("2857", page.value_size, false) / 2 <
		    (BAR_HALF / 100.0 + 0.06) *
			    page_slot_px(&page, &x->f)); /* clear of the whisker */
	assert_true(page_has(&page, "data copy"));
	assert_false(page_has(&page, "zero copy")); /* too thin to see */
	page_free(&page);
}

static int reads_of_components;

static int counted_sheets(const struct chart_source *source, const char *name,
			  const struct query *q, struct table *t, struct error *err)
{
	reads_of_components += !strcmp(name, "components");
	return from_sheets(source, name, q, t, err);
}

TEST(read_once)
{
	struct fixture *x = fixture_new("components", components);

	x->source.table = counted_sheets;
	assert_int_equal(fixture_draw(x, "components"), 0);
	fixture_redraw(x, "components");
	assert_int_equal(x->f.parts.n, 3);
	assert_int_equal(reads_of_components, 1);
}

/* Settings are not what a variant saves: it is held against the base under the same ones. */
TEST(settings)
{
	static const char *const names[] = {"baseline+mtu4k", "mmap+mtu4k", "baseline+mtu60k",
					    "mmap+mtu60k"};
	static const char costs[] = "variant\tside\tcomponent\tself_ns\tself_ns_ci\n"
				    "baseline+mtu4k\treceiver\tdata copy\t185\t1\n"
				    "baseline+mtu60k\treceiver\tdata copy\t90\t1\n"
				    "mmap+mtu4k\treceiver\tdata copy\t30\t1\n"
				    "mmap+mtu60k\treceiver\tdata copy\t8\t1\n";
	static const char evidence[] = "variant\tside\ttotal\tzero_copy\tcopied\n"
				       "baseline+mtu4k\treceiver\t1000\t0\t1000\n"
				       "baseline+mtu60k\treceiver\t1000\t0\t1000\n"
				       "mmap+mtu4k\treceiver\t1000\t1000\t0\n"
				       "mmap+mtu60k\treceiver\t1000\t1000\t0\n";
	static const char rates[] = "variant\tside\truns\tthroughput_gbps\tthroughput_lo\t"
				    "throughput_hi\n"
				    "baseline+mtu4k\treceiver\t6\t10\t9.9\t10.1\n"
				    "baseline+mtu60k\treceiver\t6\t20\t19.9\t20.1\n"
				    "mmap+mtu4k\treceiver\t6\t15\t14.9\t15.1\n"
				    "mmap+mtu60k\treceiver\t6\t22\t21.9\t22.1\n";
	struct fixture *x = fixture_new("components", costs);

	x->sheets[1].text = evidence;
	x->sheets[3] = (struct sheet){"summary", rates};
	x->sheets[4].name = names[1];
	x->sheets[5].name = names[3];
	x->d.facts.variants = (const char **)names;
	x->d.facts.nvariants = 4;
	assert_int_equal(fixture_draw(x, "components"), 0);
	assert_string_equal(x->f.title, "mmap+mtu60k against baseline+mtu60k, receiver: data copy "
					"90.0 → 8.00 ns per KiB");
	assert_has(x->f.remarks, "baseline+mtu4k, baseline+mtu60k: every byte was copied");
	fixture_redraw(x, "throughput");
	assert_string_equal(x->f.title, "mmap+mtu4k: 1.50× the throughput of baseline+mtu4k");
	/* its own base is not drawn: the one that is, by name */
	x->d.news = (const char **)&names[3];
	x->d.nnews = 1;
	fixture_redraw(x, "throughput");
	assert_string_equal(x->f.title, "mmap+mtu60k: 2.2× the throughput of baseline+mtu4k");
}

/* More parts than colours: the smallest become one, and the sum stays. */
TEST(rest)
{
	static const char *const names[] = {
		"data copy",  "TCP/IP", "netdevice", "skb",    "memory", "lock",   "entry",
		"scheduling", "user",	"libraries", "filter", "timer",	 "tracing"};
	freed(str_free) struct str s = {0};
	struct fixture *x;
	struct estimate e;

	str_puts(&s, "variant\tside\tcomponent\tself_ns\tself_ns_ci\n");
	for (size_t i = 0; i < array_size(names); i++)
		str_printf(&s, "baseline\treceiver\t%s\t%zu\t1\n", names[i], i + 1);
	x = fixture_drawn("components", "components", s.buf);
	assert_int_equal(x->f.parts.n, 11);
	assert_string_equal(x->f.parts.mark[0].name, "data copy"); /* 1, but what it is about */
	assert_string_equal(x->f.parts.mark[10].label, "the rest (3)");
	assert_true(figure_get(&x->f, 0, 0, 10, &e) && e.value == 2 + 3 + 4 && isnan(e.hi));
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e) && e.value == 91);
}

/* A stack of two parts, 60 and 20 high, whose sum has an interval up to `hi`. */
static struct fixture *stack_with(const char *hi)
{
	static char text[256];
	struct fixture *x =
		fixture_new("components", "variant\tside\tcomponent\tself_ns\tself_ns_ci\n"
					  "baseline\treceiver\tdata copy\t60\t4\n"
					  "baseline\treceiver\tTCP/IP\t20\t500\n");

	snprintf(text, sizeof(text),
		 "variant\tside\truns\tns_per_kib\tns_per_kib_lo\tns_per_kib_hi\n"
		 "baseline\treceiver\t6\t80\t79.9\t%s\n",
		 hi);
	x->sheets[3] = (struct sheet){"summary", text};
	assert_int_equal(fixture_draw(x, "components"), 0);
	return x;
}

/* The axis has room for the whisker of the sum, and none for intervals that are not drawn. */
TEST(whisker_on_stack)
{
	char *gp;
	struct fixture *x = stack_with("130");
	struct page page;
	bool cut;

	assert_true(page_reach(&x->f, &cut) == 130);
	assert_false(cut);
	page_make(&page, &x->f);
	assert_true(page.limit > 130 && page.tick > 0 && page.tick < 130);
	page_free(&page);
	gp = fixture_file(x, "components.gp");
	assert_lacks(gp, "Arrow:");
	assert_lacks(gp, "head filled");
}

/* The heads of a whisker shorter than 3 pixels would be a blot. */
TEST(short_whisker)
{
	char *gp;
	struct fixture *x = stack_with("80.1");

	gp = fixture_file(x, "components.gp");
	assert_lacks(gp, "with vectors");
}

/* One that would make the bars unreadable goes on beyond the chart, which says so. */
TEST(whisker_cut)
{
	char *gp;
	struct fixture *x = stack_with("900");
	bool cut;

	assert_true(page_reach(&x->f, &cut) == 200);
	assert_true(cut);
	gp = fixture_file(x, "components.gp");
	assert_has(gp, "Arrow: the interval goes on beyond the chart · n = 1 profiled");
	assert_has(gp, "head filled");
	assert_has(gp, "reach = 200\n");
}

/* The interval at 1 ends far above the chart, which ends at 27.5. */
TEST(band_ends_at_the_plot)
{
	static const char sweep[] =
		"setting\tvalue\tnumber\tvariant\tunder\tside\tmetric\testimate\testimate_lo\t"
		"estimate_hi\n"
		"size\tone\t1\tplain\t\treceiver\troi_c\t10\t0\t100\n"
		"size\tthree\t3\tplain\t\treceiver\troi_c\t10\t8\t20\n";
	char *gp;
	struct fixture *x = fixture_drawn("sweep", "sweep", sweep);

	gp = fixture_file(x, "sweep.gp");
	assert_has(gp, "least = 0; most = 27.5\n");
	assert_has(gp, "using 2:(clip($4)):(clip($5)) with filledcurves");
	assert_has(gp, "A band at the edge: the interval goes on beyond the chart");
}

TEST(functions)
{
	struct fixture *x = fixture_new(
		"functions", "variant\tside\tsymbol\tdso\tself_ns\tself_ns_ci\n"
			     "baseline\treceiver\tcopy\t[kernel.kallsyms]\t60\t4\n"
			     "baseline\treceiver\tmain\t/usr/bin/a\t2\t1\n"
			     "mmap\treceiver\tmain\t/usr/bin/b\t3\t1\n"
			     "mmap\treceiver\tmap\t[kernel.kallsyms]\t40\t4\n"
			     "mmap\treceiver\tcopy\t[kernel.kallsyms]\t0\t0\n"
			     "mmap\tsender\tsend\t[kernel.kallsyms]\t400\t4\n"
			     "baseline\treceiver\t[softirq NET_RX]\t[kernel.kallsyms]\t30\t4\n"
			     "baseline\treceiver\t[unresolved]\tlibc.so.6\t20\t4\n"
			     "mmap\treceiver\tunknown\t[kernel.kallsyms]\t\t\n");
	static const char *const only[] = {"mmap"};
	struct estimate e;

	x->d.news = (const char **)only;
	x->d.nnews = 1;
	assert_int_equal(fixture_draw(x, "functions"), 0);
	assert_has(x->f.title, "baseline against mmap");
	assert_int_equal(x->f.groups.n, 6);
	assert_string_equal(x->f.groups.mark[0].label, "copy");
	assert_string_equal(x->f.groups.mark[1].label, "map");
	assert_string_equal(x->f.groups.mark[2].label, "[softirq NET_RX]");
	assert_string_equal(x->f.groups.mark[3].label, "[unresolved] (libc.so.6)");
	assert_string_equal(x->f.groups.mark[4].label, "main (b)");
	assert_string_equal(x->f.groups.mark[5].label, "main (a)");
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e) && e.lo == 56 && e.hi == 64);
	/* vanished, or only its callees were hit: absent, not 0 */
	assert_false(figure_get(&x->f, 0, 1, FIGURE_WHOLE, &e));
}

/* A waterfall of 100 to 130 ns, with verdicts as given. */
static const char *verdicts[2];
static size_t base_runs = 6;

static int made_up(const struct chart_source *source, const char *table, const char *const ends[2],
		   const struct query *q, struct table *t, struct outcome *out, struct error *err)
{
	struct str s = {0};

	(void)source, (void)table, (void)ends, (void)q, (void)err;
	str_printf(&s,
		   "step\tdelta_ns\tdelta_ci\ttotal_ns\tverdict\n"
		   "base\t\t\t100\t\n"
		   "data copy\t-40\t%s\t60\t%s\n"
		   "user\t70\t\t130\t%s\n"
		   "new\t\t\t130\t\n",
		   *verdicts[0] ? "10" : "", verdicts[0], verdicts[1]);
	fill(t, "waterfall", s.buf, true);
	str_free(&s);
	*out = (struct outcome){
		.side = "receiver", .unit = "KiB", .runs = {base_runs, base_runs + 1}};
	return 0;
}

static struct fixture *waterfall(const char *copy, const char *user)
{
	struct fixture *x = fixture_new("components", "");

	verdicts[0] = copy;
	verdicts[1] = user;
	x->source.compare = made_up;
	assert_int_equal(fixture_draw(x, "waterfall"), 0);
	return x;
}

TEST(waterfall)
{
	char *gp, *svg;
	struct fixture *x = waterfall("better", "~");

	assert_string_equal(x->f.title,
			    "From baseline to mmap: 100 → 130 ns per KiB on the receiver");
	assert_has(x->f.subtitle,
		   "what each component saves (−) or adds (+); pale: neither better nor");
	assert_lacks(x->f.remarks, "uring"); /* which is not in it */
	assert_has(x->f.remarks,
		   "One pair of 3 variants: baseline and mmap; --base and --new choose");
	assert_has(x->f.foot, "whiskers: 95 % interval");
	assert_int_equal(x->f.bars.mark[1].rgb, palette_part("data copy"));
	assert_int_equal(x->f.bars.mark[2].rgb, palette_pale(palette_part("user")));
	gp = fixture_file(x, "waterfall.gp");
	svg = slurp(dir, "waterfall.svg");
	assert_has(svg, "−40.0");
	assert_has(svg, "+70.0");
	assert_has(gp, "vectors nohead"); /* steps are joined */
	assert_has(gp, "vectors heads");  /* and have whiskers */
}

TEST(waterfall_words)
{
	struct fixture *x = waterfall("better", "worse");

	assert_lacks(x->f.subtitle, "pale");
	assert_has(waterfall("drift?", "others?")->f.foot, "exact Mann-Whitney");
	base_runs = 2;
	x = waterfall("too few runs", "");
	assert_string_equal(x->f.doubt,
			    "No step is distinguishable from chance: too few runs, n = 2 and 3");
	assert_has(x->f.foot, "too few for a test or an interval");
	assert_lacks(x->f.foot, "whiskers");
	base_runs = 3;
	x = waterfall("too few runs", "");
	assert_has(x->f.foot, "too few for a test, whiskers: 95 % interval");
	base_runs = 6;
}

/* A profile of two runs has an interval too wide to draw; a chart without intervals names none. */
TEST(foot_without_whiskers)
{
	static const char idle[] = "variant\tside\tcpu\tsource\tstate\ttime_pct\n"
				   "baseline\treceiver\tall\t/proc/stat\tidle\t50\n"
				   "baseline\treceiver\tall\t/proc/stat\tiowait\t0\n"
				   "baseline\treceiver\tall\tcpuidle\tC1\t40\n";
	static const char functions[] = "variant\tside\tsymbol\tdso\tself_ns\tself_ns_ci\n"
					"baseline\treceiver\tcopy\t[kernel.kallsyms]\t60\t\n"
					"mmap\treceiver\tcopy\t[kernel.kallsyms]\t50\t%s\n";
	struct fixture *x = fixture_drawn("idle", "idle", idle);
	char text[256];

	assert_has(x->f.foot, "n = 6 measured runs per variant, median · ");
	snprintf(text, sizeof(text), functions, "");
	x = fixture_new("functions", text);
	x->d.facts.profiled = (struct run_counts){2, 2};
	assert_int_equal(fixture_draw(x, "functions"), 0);
	assert_false(figure_has_whiskers(&x->f, false));
	assert_has(x->f.foot, "n = 2 profiled runs per variant, too few for an interval · ");
	snprintf(text, sizeof(text), functions, "4");
	x = fixture_new("functions", text);
	x->d.facts.profiled = (struct run_counts){2, 3};
	assert_int_equal(fixture_draw(x, "functions"), 0);
	assert_has(x->f.foot, "whiskers: 95 % interval, from 3 runs on · ");
}

/* A hundredth of a percent of a CPU would fill the chart with its noise. Busy time is a sum of
 * spans: equal runs differ by its rounding. */
TEST(idle_has_an_axis_of_a_whole_cpu)
{
	static const char idle[] =
		"variant\tside\tcpu\tsource\tstate\ttime_pct\ttime_lo\ttime_hi\n"
		"baseline\treceiver\tall\t/proc/stat\tbusy\t100\t99.99999999999999\t100\n"
		"baseline\treceiver\tall\t/proc/stat\tidle\t0\t0\t0\n"
		"baseline\treceiver\tall\t/proc/stat\tiowait\t0\t0\t0\n"
		"mmap\treceiver\tall\t/proc/stat\tbusy\t99.9\t98\t100\n"
		"mmap\treceiver\tall\t/proc/stat\tidle\t0.1\t0\t2\n"
		"mmap\treceiver\tall\t/proc/stat\tiowait\t0\t0\t0\n";
	struct fixture *x = fixture_drawn("idle", "idle", idle);
	struct estimate e;
	bool cut;

	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e));
	assert_true(e.value == 0 && e.lo == 0 && e.hi == 0);
	assert_true(figure_get(&x->f, 0, 1, FIGURE_WHOLE, &e) && e.hi > 10 * e.value);
	assert_true(page_reach(&x->f, &cut) == 100);
	assert_false(cut);
}

TEST(no_profile)
{
	struct fixture *x = fixture_new("functions", "variant\tside\tsymbol\tdso\tself_ns\n");

	assert_int_equal(fixture_draw(x, "functions"), -ENODATA);
	assert_has(x->err.text, "no profile of the receiver");
}

static void lossy_notes(struct notes *notes)
{
	note_add_of(notes, "mmap", "receiver", workload_corrupt);
	note_add(notes, cost_sum, "basis busy");
	note_add_of(notes, "mmap", "sender", rows_unreadable, "nic", (size_t)3, "nic.snap");
	note_add_of(notes, "mmap", "sender", workload_no_summary);
}

TEST(losses)
{
	struct fixture *x = fixture_new("summary", summary);

	sheet_notes = lossy_notes;
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_true(x->d.lossy);
	assert_has(x->f.doubt, "Different limits: ");
	assert_has(x->f.doubt, "two methods; 2 more: zcost report notes");
	x = fixture_new("components", components);
	sheet_notes = lossy_notes;
	x->sheets[3] = (struct sheet){"summary", summary};
	assert_int_equal(fixture_draw(x, "components"), 0);
	assert_string_equal(
		x->f.doubt,
		"mmap receiver: the received data differ from the sent data; 1 more: zcost report "
		"notes");
}

static void doubtful_notes(struct notes *notes)
{
	note_add_of(notes, "mmap", "receiver", cpu_others, 51.0);
	note_add_of(notes, "mmap", "receiver", workload_stalled, 0.1, 3.0, 0.1, 1.0);
	note_add_of(notes, "mmap", "receiver", perf_coverage, 40.0, 1.2, 3.0);
}

/* A chart has one line of doubt: the one that weighs most, and the number of the others. */
TEST(one_line_of_doubt)
{
	struct fixture *x = fixture_new("components", components);

	sheet_notes = doubtful_notes;
	x->sheets[3] = (struct sheet){"summary", summary};
	assert_int_equal(fixture_draw(x, "components"), 0);
	assert_string_equal(x->f.doubt,
			    "mmap receiver: the workload moved less than a tenth of its usual rate "
			    "for 0.10 s of the window's 3.00 s; 2 more: zcost report notes");
}

/* On a linear axis, all costs beyond the smallest messages would lie on the ground. */
TEST(sweep_has_a_log_axis)
{
	static const char sweep[] =
		"setting\tvalue\tnumber\tvariant\tunder\tside\tmetric\testimate\n"
		"size\t1k\t1024\tplain\t\ttotal\tns_per_kib\t3000\n"
		"size\t4k\t4096\tplain\t\ttotal\tns_per_kib\t1200\n"
		"size\t6k\t6144\tplain\t\ttotal\tns_per_kib\t1000\n"
		"size\t8k\t8192\tplain\t\ttotal\tns_per_kib\t900\n"
		"size\t16k\t16384\tplain\t\ttotal\tns_per_kib\t700\n"
		"size\t1M\t1048576\tplain\t\ttotal\tns_per_kib\t500\n"
		"size\t1k\t1024\tplain\t\ttotal\tthroughput_gbps\t10\n"
		"size\t1M\t1048576\tplain\t\ttotal\tthroughput_gbps\t20\n";
	char *gp;
	struct fixture *x = fixture_drawn("sweep", "sweep", sweep);

	gp = fixture_file(x, "sweep.gp");
	assert_has(gp, "set logscale y");
	assert_lacks(strstr(gp, "set logscale y") + 1, "set logscale y"); /* throughput doubles */
	/* 6k has no room for its label, and the last value has one */
	assert_has(
		gp,
		"set xtics nomirror scale 0 (tick0 1024, tick1 4096, tick3 8192, tick4 16384, tick5 1048576)");
}

/* Costs hold the work of other programs on the side's CPUs; throughput does not. */
static void crowded_notes(struct notes *notes)
{
	note_add_of(notes, "mmap", "receiver", cpu_others, 21.0)->repeat = 1;
	note_add_of(notes, "mmap", "receiver", cpu_others, 51.0)->repeat = 2;
	note_add_of(notes, "mmap", "sender", cpu_others, 12.0)->repeat = 2;
	note_add_of(notes, "gone", "receiver", cpu_others, 99.0);
}

TEST(others)
{
	struct fixture *x = fixture_new("components", components);

	sheet_notes = crowded_notes;
	x->sheets[3] = (struct sheet){"summary", summary};
	assert_int_equal(fixture_draw(x, "components"), 0);
	assert_string_equal(
		x->f.doubt,
		"mmap receiver, mmap sender (2 runs, first run-01): other programs took "
		"12 to 51 % of the side's busy time, counting user mode alone");
	fixture_redraw(x, "throughput");
	assert_has(x->f.doubt, "Different limits: ");
}

/* Every chart of THE TABLE says why it cannot be drawn from no tables at all. */
TEST(nothing)
{
	const struct chart *c;

	for (size_t i = 0; (c = chart_at(i)); i++) {
		struct fixture *x;

		if (!c->draw)
			continue;
		x = fixture_new("nothing", "");
		x->source.compare = NULL;
		assert_int_equal(fixture_draw(x, c->name), -ENODATA);
		assert_true(x->err.text[0]);
	}
}

TEST(formats)
{
	unsigned int formats;

	assert_int_equal(figure_formats("svg,png,pdf", &formats), 0);
	assert_int_equal(formats, FIGURE_SVG | FIGURE_PNG | FIGURE_PDF);
	assert_int_equal(figure_formats("png", &formats), 0);
	assert_int_equal(formats, FIGURE_PNG);
	assert_int_equal(figure_formats("svg,gif", &formats), -EINVAL);
	assert_int_equal(figure_formats("", &formats), -EINVAL);
}

static bool list_has(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *at = words;

	while (at && (at = strstr(at, word)) &&
	       !((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' ')))
		at += len;
	return at;
}

static bool option_selects(const struct option_row *o)
{
	static const char also[] = "dso symbol name setting estimator";

	return o->group == GROUP_RUNS || o->group == GROUP_SAMPLES || list_has(also, o->name);
}

/* Selections of a chart's first table that the chart does not take, with the reason. */
static const struct {
	const char *charts, *options;
} not_of_chart[] = {
	/* What arrived is that of the transfer, whatever side counts it. */
	{"throughput", "side"},
	/* The table has single CPUs with --by cpu alone. */
	{"idle", "cpu"},
	/* The chart is of one side by its name. */
	{"functions_sender waterfall_sender", "side"},
	/* compare has the first event alone. */
	{"waterfall waterfall_sender", "event"},
	/* Frames are functions: one function has no graph. */
	{"flame flame-diff", "dso symbol"},
};

static bool chart_needs(const struct chart *c, const char *option)
{
	each (r, not_of_chart)
		if (list_has(r->charts, c->name) && list_has(r->options, option))
			return false;
	return true;
}

TEST(charts_take_the_selections_of_their_table)
{
	const struct chart *c;

	for (size_t i = 0; (c = chart_at(i)); i++)
		for (const struct option_row *o = option_table; o->name; o++) {
			const struct measure *m = measure_find(c->sources[0]);
			bool takes = list_has(c->options[SOURCE_CAPTURE], o->name);

			assert_non_null(m);
			if (!option_selects(o) || !list_has(m->options[SOURCE_CAPTURE], o->name))
				continue;
			if (takes == (chart_needs(c, o->name) &&
				      !(c->whole && !m->whole && !strcmp(o->name, WORKLOAD_ONLY))))
				continue;
			print_error("chart %s, table %s: --%s\n", c->name, m->name, o->name);
			fail();
		}
}

/* The page keeps the rows of its variants and side by these columns. Tables of costs and of threads
 * make them when they run, and those of hosts and of notes have no such rows. */
TEST(tables_name_the_variant_and_the_side_that_they_take)
{
	static const char *const keys[] = {"variant", "side"};
	const struct measure *m;
	struct table t;

	for (size_t i = 0; (m = measure_at(i)); i++)
		each (key, keys) {
			table_init(&t, m->name, m->columns, m->ncolumns);
			if (!(m->flags & MEASURE_COSTS) &&
			    !list_has("host notes sched topology", m->name) &&
			    list_has(m->options[SOURCE_CAPTURE], *key) &&
			    table_column(&t, *key) < 0)
				fail_msg("table %s has no column %s", m->name, *key);
		}
}

static bool any_table_takes(const char *option)
{
	const struct measure *m;

	for (size_t i = 0; (m = measure_at(i)); i++)
		if (list_has(m->options[SOURCE_CAPTURE], option) ||
		    (m->by && list_has(m->by->options[SOURCE_CAPTURE], option)))
			return true;
	return false;
}

static bool any_chart_takes(const char *option)
{
	for (size_t i = 0; chart_at(i); i++)
		if (list_has(chart_at(i)->options[SOURCE_CAPTURE], option))
			return true;
	return false;
}

TEST(some_chart_takes_each_selection_of_report)
{
	for (const struct option_row *o = option_table; o->name; o++)
		if (option_selects(o) && any_table_takes(o->name) && !any_chart_takes(o->name))
			fail_msg("no chart takes --%s", o->name);
}

/* A feature takes --workload-only, or it says why nothing in it is of the workload alone. */
static void feature_is_clear(const char *name, const char *options, const char *whole)
{
	if (options && list_has(options, WORKLOAD_ONLY) == (whole != NULL))
		fail_msg("%s: --workload-only %s", name, whole ? "and a reason" : "and no reason");
}

TEST(workload_alone_works_or_the_reason_is_said)
{
	const struct compare_table *t;
	const struct measure *m;
	const struct chart *c;

	for (size_t i = 0; (m = measure_at(i)); i++) {
		feature_is_clear(m->name, m->options[SOURCE_CAPTURE], m->whole);
		if (m->by)
			feature_is_clear(m->by->name, m->by->options[SOURCE_CAPTURE], m->by->whole);
	}
	for (size_t i = 0; (c = chart_at(i)); i++)
		feature_is_clear(c->name, c->options[SOURCE_CAPTURE], c->whole);
	for (size_t i = 0; (t = compare_table_at(i)); i++)
		feature_is_clear(t->name, t->options[SOURCE_CAPTURE], t->whole);
}

static void free_sheets(void)
{
	arena_free(&sheets);
}

AROUND_TESTS(NULL, free_sheets)
