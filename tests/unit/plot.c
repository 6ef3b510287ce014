// SPDX-License-Identifier: GPL-2.0-only
/* Charts from tables written here by hand: what is drawn, what is said, and what is not. */
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/str.h"
#include "plot/chart.h"
#include "plot/copied.h"
#include "plot/label.h"
#include "plot/palette.h"
#include "plot/rows.h"
#include "plot/svg.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

const char zcost_version[] = "test";

/* --- tables from text: "name" and lines of fields between tabs, "" is a missing value --- */

struct sheet {
	const char *name, *text;
};

static struct value field(struct table *t, const char *s)
{
	char *end;
	double x = strtod(s, &end);

	if (!*s)
		return value_none();
	return *end ? value_str(t, s) : value_real(x);
}

static struct arena sheets; /* columns stay alive as long as their tables */

static void fill(struct table *t, const char *name, const char *text)
{
	struct column *columns = arena_alloc(&sheets, 32 * sizeof(*columns));
	char *rest = arena_strdup(&sheets, text), *line = str_token(&rest, '\n');
	int n = 0, i;

	while (line)
		columns[n++] = (struct column){str_token(&line, '\t'), NULL, V_STR, 3, NULL};
	table_init(t, name, columns, n);
	while (rest && *rest) {
		struct value *row = table_row(t);

		line = str_token(&rest, '\n');
		for (i = 0; line && i < n; i++)
			row[i] = field(t, str_token(&line, '\t'));
	}
}

static int from_sheets(const struct chart_source *source, const char *name, const struct query *q,
		       struct table *t, struct error *err)
{
	const struct sheet *s = source->from;

	(void)q;
	for (; s->name; s++) {
		if (strcmp(s->name, name))
			continue;
		fill(t, name, s->text);
		return 0;
	}
	table_init(t, name, NULL, 0);
	return error_set(err, ENODATA, "no table %s", name);
}

/* --- drawing --- */

static const char *const three[] = {"baseline", "mmap", "uring"};

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

struct fixture {
	struct sheet sheets[4];
	struct chart_source source;
	struct drawing d;
	struct figure f;
	struct error err;
};

static struct fixture *fixture_new(const char *name, const char *text)
{
	struct fixture *x = xcalloc(1, sizeof(*x));

	x->sheets[0] = (struct sheet){name, text};
	x->sheets[1] = (struct sheet){"zerocopy", zerocopy};
	x->source = (struct chart_source){from_sheets, x->sheets, NULL};
	x->d.source = &x->source;
	x->d.facts = (struct chart_facts){.capture = "zc-4k",
					  .host = "box",
					  .kernel = "6.18.0",
					  .date = "2026-01-31",
					  .estimator = "median",
					  .variants = (const char **)three,
					  .nvariants = 3,
					  .measured = 6,
					  .profiled = 1};
	return x;
}

static int fixture_draw(struct fixture *x, const char *chart)
{
	int rc = drawing_prepare(&x->d, &x->err);

	return rc ? rc : chart_draw(chart_find(chart), &x->d, &x->f, &x->err);
}

static void fixture_free(struct fixture *x)
{
	figure_free(&x->f);
	drawing_free(&x->d);
	free(x);
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

static char *slurp(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name), *data = NULL;
	struct error err = {0};
	size_t len;

	if (file_read(path, &data, &len, &err))
		fail_msg("%s", err.text);
	free(path);
	return data;
}

/* --- text --- */

static void test_label_clean(void **state)
{
	struct arena a = {0};

	(void)state;
	assert_string_equal(label_clean(&a, "a\nb\x01\tc\x7f"), "a b  c ");
	assert_string_equal(label_clean(&a, "\xff\xc3(\xc0\x80\xed\xa0\x80"), "?"
									      "?(?"
									      "?"
									      "?"
									      "?"
									      "?");
	assert_string_equal(label_clean(&a, "T²/C → µs 漢"), "T²/C → µs 漢");
	assert_string_equal(label_clean(&a, "x\xe2\x80\xaey"), "x y"); /* turns the direction */
	assert_string_equal(label_clean(&a, "cut\xe2\x80"), "cut?"
							    "?");
	assert_string_equal(label_clean(&a, NULL), "");
	arena_free(&a);
}

static void test_label_quote(void **state)
{
	struct str s = {0};

	(void)state;
	label_quote(&s, "it's `id` \"$(id)\" \\n %s {a}_b^c");
	assert_string_equal(s.buf, "'it''s `id` \"$(id)\" \\n %s {a}_b^c'");
	str_reset(&s);
	label_quote_enhanced(&s, "{/=80 @x}_^&~\\'");
	assert_string_equal(s.buf, "'\\{/=80 \\@x\\}\\_\\^\\&\\~\\\\'''");
	str_reset(&s);
	label_xml(&s, "<a href=\"x\">&</a>");
	assert_string_equal(s.buf, "&lt;a href=\"x\"&gt;&amp;&lt;/a&gt;");
	str_free(&s);
}

static void test_label_fit(void **state)
{
	struct arena a = {0};
	const char *name = "mlx5e_skb_from_cqe_mpwrq_nonlinear";
	char *cut = label_fit(&a, name, 20, 200);

	(void)state;
	assert_true(label_width(cut, 20, false) <= 200);
	assert_has(cut, "…");
	assert_int_equal(strncmp(cut, name, 4), 0);
	assert_true(str_ends(cut, "near"));
	assert_string_equal(label_fit(&a, "short", 20, 200), "short");
	assert_true(label_width(label_fit(&a, "漢字漢字漢字漢字漢字", 20, 80), 20, false) <= 80);
	arena_free(&a);
}

static void test_label_wrap(void **state)
{
	struct label_shape shape = {20, 130, 2, false, LABEL_BREAKS_NAMES};
	struct arena a = {0};
	char *lines[2];

	(void)state;
	assert_true(label_wraps("msg-zerocopy", &shape));
	assert_int_equal(label_wrap(&a, "uring-send-zerocopy", &shape, lines), 2);
	assert_string_equal(lines[0], "uring-send-");
	assert_string_equal(lines[1], "zerocopy");
	assert_false(label_wraps("averyveryveryverylongword", &shape));
	assert_int_equal(label_wrap(&a, "averyveryveryverylongwordandthenmore", &shape, lines), 2);
	assert_true(label_width(lines[0], 20, false) <= 130);
	assert_true(label_width(lines[1], 20, false) <= 130);
	arena_free(&a);
}

static void test_palette(void **state)
{
	int i, k;

	(void)state;
	for (i = 0; i < 24; i++)
		for (k = 0; k < i; k++)
			assert_int_not_equal(palette_variant(i), palette_variant(k));
	assert_int_equal(palette_part("data copy"), palette_part("Data Copy"));
	assert_int_equal(palette_part("a new one"), palette_part("a new one"));
	assert_true(palette_order("data copy") < palette_order("TCP/IP"));
	assert_true(palette_order("a new one") < palette_order("other"));
	assert_true(palette_order("a new one") > palette_order("user"));
	assert_true(palette_dark(0x332288));
	assert_false(palette_dark(0xddcc77));
}

/* --- tables --- */

static void test_rows(void **state)
{
	struct table t;
	struct estimate e;

	(void)state;
	fill(&t, "t",
	     "variant\tside\tself_ns\tself_ns_ci\n"
	     "a\treceiver\t10\t3\n"
	     "a\tsender\t\t\n"
	     "b\treceiver\t2\t5\n");
	assert_int_equal(row_find(&t, 0, "b", NULL), 2);
	assert_int_equal(row_find(&t, 0, "c", NULL), -1);
	e = row_estimate_ci(&t, 0, "self_ns");
	assert_true(e.value == 10 && e.lo == 7 && e.hi == 13);
	e = row_estimate_ci(&t, 1, "self_ns");
	assert_true(isnan(e.value) && isnan(e.lo) && isnan(e.hi));
	e = row_estimate_ci(&t, 2, "self_ns");
	assert_true(e.lo == 0 && e.hi == 7);
	assert_true(isnan(row_real(&t, 0, "no such column")));
	assert_string_equal(row_text(&t, 0, "no such column"), "");
	table_free(&t);
}

static void test_copied(void **state)
{
	struct table t;
	const char *side;
	double percent;

	(void)state;
	fill(&t, "zerocopy", zerocopy);
	assert_int_equal(copied_state(&t, "mmap", &percent, &side), COPIED_NONE);
	assert_string_equal(side, "receiver");
	assert_true(fabs(percent - 99.8) < 1e-9);
	assert_int_equal(copied_state(&t, "uring", &percent, &side), COPIED_ALL);
	assert_int_equal(copied_state(&t, "new", &percent, &side), COPIED_UNKNOWN);
	table_free(&t);
}

/* --- charts --- */

static void test_throughput(void **state)
{
	struct fixture *x = fixture_new("summary", summary);
	struct estimate e;

	(void)state;
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	/* uring is faster still, but it copied */
	assert_string_equal(x->f.title, "mmap: 1.60× the throughput of baseline");
	assert_int_equal(x->f.ncaptions, 1);
	assert_string_equal(x->f.captions[0],
			    "uring: every byte was copied (not zero copy) · "
			    "mmap: 99.80 % zero copy on the receiver, not on the sender");
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e));
	assert_true(e.value == 10 && e.lo == 9.5 && e.hi == 10.5 && e.n == 6);
	assert_has(x->f.foot, "n = 6 measured runs per variant");
	assert_has(x->f.foot, "95 % interval");
	assert_has(x->f.foot, "box · Linux 6.18.0 · zc-4k · 2026-01-31");
	fixture_free(x);
}

/* No claim: intervals touch, too few runs to tell, no evidence of zero copy. */
static void test_no_claim(void **state)
{
	static const char *const tables[] = {
		"variant\tside\truns\tthroughput_gbps\tthroughput_lo\tthroughput_hi\n"
		"baseline\treceiver\t6\t10\t9\t15.5\n"
		"mmap\treceiver\t6\t16\t15\t17\n",
		"variant\tside\truns\tthroughput_gbps\tthroughput_lo\tthroughput_hi\n"
		"baseline\treceiver\t3\t10\t9\t11\n"
		"mmap\treceiver\t3\t16\t15\t17\n",
		"variant\tside\truns\tthroughput_gbps\tthroughput_lo\tthroughput_hi\n"
		"baseline\treceiver\t6\t10\t\t\n"
		"mmap\treceiver\t6\t16\t\t\n",
	};
	struct fixture *x;
	size_t i;

	(void)state;
	for (i = 0; i < array_size(tables); i++) {
		x = fixture_new("summary", tables[i]);
		assert_int_equal(fixture_draw(x, "throughput"), 0);
		assert_string_equal(x->f.title, "Throughput by variant");
		fixture_free(x);
	}
	x = fixture_new("summary", summary);
	x->sheets[1].name = "nothing";
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_string_equal(x->f.title, "Throughput by variant");
	assert_string_equal(x->f.captions[0], "mmap, uring: no evidence of zero copy");
	fixture_free(x);
}

/* A loss may be claimed of any variant. */
static void test_slower_claim(void **state)
{
	struct fixture *x = fixture_new(
		"summary", "variant\tside\truns\tthroughput_gbps\tthroughput_lo\tthroughput_hi\n"
			   "baseline\treceiver\t6\t10\t9.9\t10.1\n"
			   "uring\treceiver\t6\t5\t4.9\t5.1\n");

	(void)state;
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_string_equal(x->f.title, "uring: 0.50× the throughput of baseline");
	fixture_free(x);
}

static void test_cpu(void **state)
{
	struct fixture *x = fixture_new(
		"cpu",
		"variant\tside\truns\tapp_pct\tsys_pct\tsoft_pct\tbusy_pct\tbusy_lo\tbusy_hi\n"
		"baseline\tsender\t6\t1\t30\t\t31\t30\t32\n"
		"baseline\treceiver\t6\t5\t60\t20\t85\t80\t90\n"
		"mmap\treceiver\t6\t\t\t\t\t\t\n");
	struct estimate e;

	(void)state;
	assert_int_equal(fixture_draw(x, "cpu"), 0);
	assert_int_equal(x->f.groups.n, 2);
	assert_string_equal(x->f.groups.mark[0].label, "receiver");
	assert_true(figure_get(&x->f, 0, 0, 1, &e) && e.value == 60);
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e) && e.lo == 80 && e.hi == 90);
	assert_false(figure_get(&x->f, 1, 0, 2, &e)); /* missing is not 0 */
	assert_false(figure_get(&x->f, 0, 1, FIGURE_WHOLE, &e));
	fixture_free(x);
}

/* Medians of parts need not add up to that of the whole: the stack is drawn as high as the whole.
 */
static void test_parts_in_proportion(void **state)
{
	char dir[] = "/tmp/zcost-plot.XXXXXX", *tsv;
	struct fixture *x = fixture_new(
		"cpu", "variant\tside\truns\tapp_pct\tsys_pct\tbusy_pct\tbusy_lo\tbusy_hi\n"
		       "baseline\treceiver\t6\t20\t60\t100\t90\t110\n");

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(fixture_draw(x, "cpu"), 0);
	assert_has(x->f.foot, "drawn in proportion to the whole");
	assert_int_equal(figure_write(&x->f, dir, FIGURE_SVG, &x->err), 0);
	tsv = slurp(dir, "cpu.tsv");
	assert_has(tsv, "\t0\t25\t20\t\t\treceiver\tbaseline\tuser\n");
	assert_has(tsv, "\t25\t100\t60\t\t\treceiver\tbaseline\tsystem\n");
	assert_has(tsv, "\t0\t100\t100\t90\t110\treceiver\tbaseline\tall\n");
	assert_int_equal(dir_remove(dir, NULL), 0);
	free(tsv);
	fixture_free(x);
}

static void test_roi(void **state)
{
	struct fixture *x = fixture_new("roi", roi);
	struct estimate e;

	(void)state;
	assert_int_equal(fixture_draw(x, "roi_c"), 0);
	assert_string_equal(x->f.title, "mmap: 2.0× the T²/C of baseline");
	assert_string_equal(x->f.axis, "(Gbit/s)²/%");
	assert_int_equal(x->f.groups.n, 2);
	assert_string_equal(x->f.groups.mark[1].label, "total");
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e) && e.value == 0.5);
	fixture_free(x);
}

static void test_roi_exponents(void **state)
{
	struct fixture *x = fixture_new("roi", roi);

	(void)state;
	x->d.query.roi_n = 1.5;
	x->d.query.roi_m = 2;
	assert_int_equal(fixture_draw(x, "roi_p"), 0);
	assert_has(x->f.title, "T^1.5/P²");
	fixture_free(x);
}

static void test_roi_p_modelled(void **state)
{
	struct fixture *x = fixture_new("roi", roi);

	(void)state;
	assert_int_equal(fixture_draw(x, "roi_p"), 0);
	assert_has(x->f.title, "modelled, not measured");
	assert_has(x->f.foot, "modelled from CPU use, not measured");
	fixture_free(x);
}

static void test_roi_p_absent(void **state)
{
	struct fixture *x = fixture_new("roi", "variant\tside\truns\troi_c\troi_p\tpower_source\n"
					       "baseline\treceiver\t6\t0.5\t\t\n");

	(void)state;
	assert_int_equal(fixture_draw(x, "roi_p"), -ENODATA);
	assert_has(x->err.text, "no run has a power source");
	assert_has(x->err.text, "--power-csv");
	fixture_free(x);
}

static const char components[] =
	"variant\tside\tcomponent\tsamples\tself_share\tself_ns\tself_ns_ci\n"
	"baseline\treceiver\tother\t1\t1\t5\t1\n"
	"baseline\treceiver\tdata copy\t1\t1\t60\t4\n"
	"mmap\treceiver\tdata copy\t1\t1\t3\t1\n"
	"mmap\treceiver\tnovelty\t1\t1\t30\t1\n"
	"uring\treceiver\tdata copy\t1\t1\t2\t1\n";

static void test_components(void **state)
{
	struct fixture *x = fixture_new("components", components);
	struct estimate e;

	(void)state;
	assert_int_equal(fixture_draw(x, "components"), 0);
	/* uring copies less still by this table, but its every byte was copied */
	assert_string_equal(x->f.title,
			    "mmap, receiver: data copy 60.0 → 3.00 ns per KiB, in all 65.0 → 33.0");
	assert_int_equal(x->f.parts.n, 3);
	assert_string_equal(x->f.parts.mark[0].label, "data copy");
	assert_string_equal(x->f.parts.mark[1].label, "novelty");
	assert_string_equal(x->f.parts.mark[2].label, "other");
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e) && e.value == 65);
	assert_false(figure_get(&x->f, 0, 0, 1, &e));
	fixture_free(x);
}

static void test_functions(void **state)
{
	struct fixture *x =
		fixture_new("functions", "variant\tside\tsymbol\tdso\tself_ns\tself_ns_ci\n"
					 "baseline\treceiver\tcopy\t[kernel.kallsyms]\t60\t4\n"
					 "baseline\treceiver\tmain\t/usr/bin/a\t2\t1\n"
					 "mmap\treceiver\tmain\t/usr/bin/b\t3\t1\n"
					 "mmap\treceiver\tmap\t[kernel.kallsyms]\t40\t4\n"
					 "mmap\tsender\tsend\t[kernel.kallsyms]\t400\t4\n"
					 "mmap\treceiver\tunknown\t[kernel.kallsyms]\t\t\n");
	static const char *const only[] = {"mmap"};
	struct estimate e;

	(void)state;
	x->d.news = (const char **)only;
	x->d.nnews = 1;
	assert_int_equal(fixture_draw(x, "functions"), 0);
	assert_has(x->f.title, "baseline against mmap");
	assert_int_equal(x->f.groups.n, 4);
	assert_string_equal(x->f.groups.mark[0].label, "copy");
	assert_string_equal(x->f.groups.mark[1].label, "map");
	assert_string_equal(x->f.groups.mark[2].label, "main (b)");
	assert_string_equal(x->f.groups.mark[3].label, "main (a)");
	assert_true(figure_get(&x->f, 0, 0, FIGURE_WHOLE, &e) && e.lo == 56 && e.hi == 64);
	assert_false(figure_get(&x->f, 0, 1, FIGURE_WHOLE, &e)); /* vanished: absent, not 0 */
	fixture_free(x);
}

static void test_no_profile(void **state)
{
	struct fixture *x = fixture_new("functions", "variant\tside\tsymbol\tdso\tself_ns\n");

	(void)state;
	assert_int_equal(fixture_draw(x, "functions"), -ENODATA);
	assert_has(x->err.text, "no profile of the receiver");
	fixture_free(x);
}

static void test_unknown_variant(void **state)
{
	struct fixture *x = fixture_new("summary", summary);

	(void)state;
	x->d.base = "bsaeline";
	assert_int_equal(fixture_draw(x, "throughput"), -ENOENT);
	assert_has(x->err.text, "no variant 'bsaeline'");
	assert_has(x->err.text, "baseline, mmap, uring");
	fixture_free(x);
}

static int lossy_sheets(const struct chart_source *source, const char *name, const struct query *q,
			struct table *t, struct error *err)
{
	int rc = from_sheets(source, name, q, t, err);

	if (!rc && strcmp(name, "zerocopy")) {
		t->lossy = true;
		table_note(t, "lossy: mmap receiver: 12 samples lost");
		table_note(t, "basis busy");
		table_note(t, "lossy: mmap sender: the file ended early");
	}
	return rc;
}

static void test_losses(void **state)
{
	struct fixture *x = fixture_new("summary", summary);

	(void)state;
	x->source.table = lossy_sheets;
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_true(x->d.lossy);
	assert_int_equal(x->f.ncaptions, 2);
	assert_string_equal(x->f.captions[1],
			    "Incomplete data: mmap receiver: 12 samples lost (and 1 more)");
	fixture_free(x);
}

/* Every chart of THE TABLE says why it cannot be drawn from no tables at all. */
static void test_nothing(void **state)
{
	const struct chart *c;
	size_t i;

	(void)state;
	for (i = 0; (c = chart_at(i)); i++) {
		struct fixture *x = fixture_new("nothing", "");

		assert_int_equal(fixture_draw(x, c->name), -ENODATA);
		assert_true(x->err.text[0]);
		fixture_free(x);
	}
}

/* --- files --- */

/* Bytes 16 to 23 of a PNG: width and height, big endian. */
static void assert_png_size(const char *dir, const char *name, int width, int height)
{
	char *png = slurp(dir, name);
	const unsigned char *p = (const unsigned char *)png;

	assert_int_equal(p[16] << 24 | p[17] << 16 | p[18] << 8 | p[19], width);
	assert_int_equal(p[20] << 24 | p[21] << 16 | p[22] << 8 | p[23], height);
	free(png);
}

/* Names that would run commands, break the script, the table or the picture. */
static const char *const hostile[] = {
	"base'line`touch pwned`",
	"{/=80 @x}_^&~\\",
	"</text><script>%s%d\"$(touch pwned)",
	"new\nline\n!touch pwned\nsystem 'touch pwned'",
	"\"open",
};

static char *hostile_summary(void)
{
	struct str s = {0};
	size_t i;

	str_puts(&s, "variant\tside\truns\tthroughput_gbps\tthroughput_lo\tthroughput_hi\n");
	for (i = 0; i < array_size(hostile); i++)
		if (!strchr(hostile[i], '\n'))
			str_printf(&s, "%s\treceiver\t6\t%zu\t%zu.5\t%zu.5\n", hostile[i], i + 1, i,
				   i + 1);
	return str_take(&s);
}

static void check_hostile_files(const char *dir)
{
	char *tsv = slurp(dir, "throughput.tsv"), *gp = slurp(dir, "throughput.gp");
	char *svg = slurp(dir, "throughput.svg"), *pwned = xasprintf("%s/pwned", dir);

	assert_false(path_exists(pwned));
	assert_has(tsv, "{/=80 @x}_^&~\\\n"); /* as it was given */
	assert_lacks(svg, "<script>");
	assert_has(svg, "role=\"img\"");
	assert_has(svg, "<title>{/=80 @x}_^&amp;~\\ base'line`touch pwned`</title>");
	assert_has(svg, "width=\"1280\" height=\"720\"");
	assert_lacks(gp, "\n!touch");
	assert_png_size(dir, "throughput.png", 1920, 1080);
	free(pwned);
	free(tsv);
	free(gp);
	free(svg);
}

static void test_hostile_files(void **state)
{
	char dir[] = "/tmp/zcost-plot.XXXXXX", *text = hostile_summary();
	struct fixture *x = fixture_new("summary", text);

	(void)state;
	assert_non_null(mkdtemp(dir));
	x->d.facts.variants = (const char **)hostile;
	x->d.facts.nvariants = array_size(hostile);
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	figure_title(&x->f, "%s %s", hostile[1], hostile[0]);
	assert_int_equal(figure_write(&x->f, dir, FIGURE_SVG | FIGURE_PNG, &x->err), 0);
	if (figure_render(&x->f, dir, FIGURE_SVG | FIGURE_PNG, &x->err))
		fail_msg("%s", x->err.text);
	check_hostile_files(dir);
	assert_int_equal(dir_remove(dir, &x->err), 0);
	free(text);
	fixture_free(x);
}

/* Numbers pass unchanged; a missing interval stays empty, a missing bar has no row. */
static void test_tsv(void **state)
{
	char dir[] = "/tmp/zcost-plot.XXXXXX", *tsv;
	struct fixture *x = fixture_new(
		"summary", "variant\tside\truns\tthroughput_gbps\tthroughput_lo\tthroughput_hi\n"
			   "baseline\treceiver\t6\t10.123456789\t9.5\t10.5\n"
			   "uring\treceiver\t6\t20\t\t\n");

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_int_equal(figure_write(&x->f, dir, FIGURE_SVG, &x->err), 0);
	tsv = slurp(dir, "throughput.tsv");
	assert_has(tsv, "\t10.12345679\t9.5\t10.5\t");
	assert_has(tsv, "\t20\t\t\t");
	assert_lacks(tsv, "mmap");
	assert_int_equal(dir_remove(dir, &x->err), 0);
	free(tsv);
	fixture_free(x);
}

/* gnuplot's own words reach the user; no picture of an earlier run stays. */
static void test_gnuplot_fails(void **state)
{
	char dir[] = "/tmp/zcost-plot.XXXXXX", *gp, *svg;
	struct fixture *x = fixture_new("summary", summary);

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(fixture_draw(x, "throughput"), 0);
	assert_int_equal(figure_write(&x->f, dir, FIGURE_SVG, &x->err), 0);
	gp = xasprintf("%s/throughput.gp", dir);
	svg = xasprintf("%s/throughput.svg", dir);
	assert_int_equal(file_write(svg, "old", 3, NULL), 0);
	assert_int_equal(file_write(gp, "set nonsense\n", 13, NULL), 0);
	assert_int_equal(figure_render(&x->f, dir, FIGURE_SVG, &x->err), -EIO);
	assert_has(x->err.text, "throughput.gp");
	assert_has(x->err.text, "nrecognized option");
	assert_false(path_exists(svg));
	assert_int_equal(dir_remove(dir, NULL), 0);
	free(gp);
	free(svg);
	fixture_free(x);
}

static void test_formats(void **state)
{
	unsigned int formats;

	(void)state;
	assert_int_equal(figure_formats("svg,png,pdf", &formats), 0);
	assert_int_equal(formats, FIGURE_SVG | FIGURE_PNG | FIGURE_PDF);
	assert_int_equal(figure_formats("png", &formats), 0);
	assert_int_equal(formats, FIGURE_PNG);
	assert_int_equal(figure_formats("svg,gif", &formats), -EINVAL);
	assert_int_equal(figure_formats("", &formats), -EINVAL);
}

static int free_sheets(void **state)
{
	(void)state;
	arena_free(&sheets);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_label_clean),
		cmocka_unit_test(test_label_quote),
		cmocka_unit_test(test_label_fit),
		cmocka_unit_test(test_label_wrap),
		cmocka_unit_test(test_palette),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_throughput),
		cmocka_unit_test(test_no_claim),
		cmocka_unit_test(test_slower_claim),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_parts_in_proportion),
		cmocka_unit_test(test_roi),
		cmocka_unit_test(test_roi_exponents),
		cmocka_unit_test(test_roi_p_modelled),
		cmocka_unit_test(test_roi_p_absent),
		cmocka_unit_test(test_components),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_no_profile),
		cmocka_unit_test(test_unknown_variant),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_hostile_files),
		cmocka_unit_test(test_tsv),
		cmocka_unit_test(test_gnuplot_fails),
		cmocka_unit_test(test_formats),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, free_sheets);
}
