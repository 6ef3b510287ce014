// SPDX-License-Identifier: GPL-2.0-only
/* zcost plot: THE TABLE's charts of one capture into a folder. */
#include "plot/cmd.h"

#include "analyze/open.h"
#include "analyze/option_uses.h"
#include "analyze/query_values.h"
#include "lib/alloc.h"
#include "lib/args.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/str.h"
#include "plot/facts.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_FORMAT = 0x100,
	KEY_BASE,
	KEY_NEW,
	KEY_LIST,
	KEY_N,
	KEY_M,
	KEY_MODEL,
	KEY_KIND,
	KEY_FROM,
	KEY_TO,
	KEY_VARIANT,
	KEY_SIDE
};

static const struct argp_option options[] = {
	{"capture", 'C', "CAPTURE", 0, "the capture folder; else the first argument", 0},
	{"output", 'o', "DIR", 0, "where to write; is made when missing", 0},
	{"format", KEY_FORMAT, "LIST", 0, "of svg, png, pdf; default svg,png", 0},
	{"base", KEY_BASE, "VARIANT", 0, "what others are held against; default: the first", 1},
	{"new", KEY_NEW, "VARIANT", 0, "held against it; may be repeated; default: all others", 1},
	{"variant", KEY_VARIANT, "V", 0, "only these: a name, or a glob over names: 'mmap+*'", 1},
	{"side", KEY_SIDE, "S", 0, "only this one, where a chart has several or chooses one", 1},
	{"from", KEY_FROM, "SECONDS", 0,
	 "only from then on, after the beginning of each run's window; read from the raw files", 1},
	{"to", KEY_TO, "SECONDS", 0, "only before then", 1},
	{"limit", 'n', "N", 0, "functions in a chart", 1},
	{"roi-n", KEY_N, "N", 0, "exponent of the throughput in T^n/C and T^n/P^m; default 2", 2},
	{"roi-m", KEY_M, "M", 0, "exponent of the power; default 1", 2},
	{"power-model", KEY_MODEL, "idle=W,per_cpu=W", 0,
	 "power from CPU use where none was measured; labelled as a model", 2},
	{"power-kind", KEY_KIND, "KIND", 0,
	 "wall, platform or package power; default: the first of these that was measured", 2},
	{"list", KEY_LIST, NULL, 0, "list the charts and end", 3},
	{0},
};

struct arguments {
	const char *capture, *dir, *base, *side;
	const char **news;
	int nnews, news_cap;
	const struct chart **charts;
	int ncharts, charts_cap;
	unsigned int formats;
	struct query query;
	struct open_options open;
	struct options_given given;
	bool list;
};

static void list_charts(FILE *out)
{
	const struct chart *c;
	size_t i;

	for (i = 0; (c = chart_at(i)); i++)
		fprintf(out, "  %-17s %s\n", c->name, c->what);
}

static void add_chart(struct arguments *a, const char *name)
{
	const struct chart *c = chart_find(name);

	if (!c) {
		fprintf(stderr, "zcost: there is no chart '%s'; the charts are\n", name);
		list_charts(stderr);
		exit(EXIT_USAGE);
	}
	array_grow(a->charts, a->ncharts, a->charts_cap);
	a->charts[a->ncharts++] = c;
}

static void add_new(struct arguments *a, const char *name)
{
	array_grow(a->news, a->nnews, a->news_cap);
	a->news[a->nnews++] = name;
}

static void add_argument(struct arguments *a, const char *arg)
{
	if (!a->capture)
		a->capture = arg;
	else
		add_chart(a, arg);
}

static void check_uses(struct argp_state *state, const struct arguments *a)
{
	const char **names = xcalloc((size_t)a->ncharts + 1, sizeof(*names));
	struct str why = {0};
	int i;

	for (i = 0; i < a->ncharts; i++)
		names[i] = a->charts[i]->name;
	if (a->ncharts && options_refused_by_all(&a->given, &plot_option_uses, names,
						 (size_t)a->ncharts, OF_CAPTURE, &why))
		argp_error(state, "%s", why.buf);
	free(names);
	str_free(&why);
}

static void check(struct argp_state *state, const struct arguments *a)
{
	struct error err = {0};

	if (a->list)
		return;
	if (!a->capture)
		argp_error(state, "which capture? give its folder");
	if (!a->dir)
		argp_error(state, "where to? give a folder with -o");
	if (slice_check(&a->open.slice, &err))
		argp_error(state, "%s", err.text);
	check_uses(state, a);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	options_note(&a->given, options, key);
	switch (key) {
	case 'C':
		a->capture = arg;
		return 0;
	case 'o':
		a->dir = arg;
		return 0;
	case 'n':
		a->query.limit = arg_whole(state, "--limit", arg, 1, LIMIT_MOST);
		return 0;
	case KEY_FORMAT:
		if (figure_formats(arg, &a->formats))
			argp_error(state, "unknown format in '%s'; use svg, png, pdf", arg);
		return 0;
	case KEY_VARIANT:
		query_set_variant(state, &a->query, arg);
		return 0;
	case KEY_SIDE:
		a->side = arg;
		return 0;
	case KEY_FROM:
		query_set_time(state, &a->open.slice.from, "--from", arg);
		return 0;
	case KEY_TO:
		query_set_time(state, &a->open.slice.to, "--to", arg);
		return 0;
	case KEY_BASE:
		a->base = arg;
		return 0;
	case KEY_NEW:
		add_new(a, arg);
		return 0;
	case KEY_N:
		a->query.roi_n = arg_above_0(state, "--roi-n", arg);
		return 0;
	case KEY_M:
		a->query.roi_m = arg_above_0(state, "--roi-m", arg);
		return 0;
	case KEY_MODEL:
		query_set_model(state, &a->query, arg);
		return 0;
	case KEY_KIND:
		a->query.power_kind = arg;
		return 0;
	case KEY_LIST:
		a->list = true;
		return 0;
	case ARGP_KEY_ARG:
		add_argument(a, arg);
		return 0;
	case ARGP_KEY_END:
		check(state, a);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *help_filter(int key, const char *text, void *input)
{
	struct str s = {0};
	const struct chart *c;
	size_t i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	str_puts(&s, text);
	str_putc(&s, '\n');
	for (i = 0; (c = chart_at(i)); i++)
		args_help_line(&s, 20, c->name, c->what);
	return str_take(&s);
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[-C] CAPTURE [CHART...] -o DIR",
	.doc = "Draws the charts of an analyzed capture, ready for a slide.\v"
	       "Beside each picture stay its data, CHART.tsv, and its script, CHART.gp, which "
	       "gnuplot "
	       "draws again. Charts, all by default:",
	.help_filter = help_filter,
};

struct tally {
	int drawn, failed;
	bool no_gnuplot; /* said once; scripts and data are written all the same */
};

static void render(const struct figure *f, const struct arguments *a, struct tally *n)
{
	struct error err = {0};
	int rc;

	if (!a->formats)
		return;
	rc = n->no_gnuplot ? -ENOENT : figure_render(f, a->dir, a->formats, &err);

	n->drawn += !rc;
	n->failed += rc != 0;
	if (rc && !n->no_gnuplot)
		error_print(&err);
	n->no_gnuplot |= rc == -ENOENT;
}

/* A chart that was asked for by its name and cannot be drawn is a failure; one of all is not. */
static void draw_one(const struct chart *c, struct drawing *d, const struct arguments *a,
		     struct tally *n)
{
	struct error err = {0};
	struct figure f;
	int rc = chart_draw(c, d, &f, &err);

	if (rc == -ENODATA || rc == -ENOENT) {
		note("%s: not drawn: %s", c->name, err.text);
		n->failed += a->ncharts > 0;
	} else if (rc || figure_write(&f, a->dir, a->formats, &err)) {
		error_print(&err);
		n->failed++;
	} else {
		render(&f, a, n);
	}
	figure_free(&f);
}

/* Pictures without a word are worse than none. */
static void check_fonts(struct arguments *a, struct tally *n)
{
	struct error err = {0};

	if (!(a->formats & (FIGURE_PNG | FIGURE_PDF)) || figure_has_fonts())
		return;
	a->formats &= FIGURE_SVG;
	n->failed++;
	error_set(
		&err, ENOENT,
		"no font is installed (fc-list has none), so that PNG and PDF would have no text: "
		"install fonts-dejavu-core or dejavu-sans-fonts, or use --format svg");
	error_print(&err);
}

static int draw_all(struct drawing *d, struct arguments *a)
{
	struct tally n = {0};
	const struct chart *c;
	int i;

	check_fonts(a, &n);

	for (i = 0; (c = a->ncharts ? i < a->ncharts ? a->charts[i] : NULL : chart_at((size_t)i));
	     i++)
		draw_one(c, d, a, &n);
	if (n.drawn)
		note("%s: %d chart%s", a->dir, n.drawn, n.drawn == 1 ? "" : "s");
	if (n.failed || !n.drawn)
		return EXIT_FAILED;
	if (d->lossy)
		warn("data behind these charts is incomplete or lossy; 'zcost report runs %s' says "
		     "where",
		     a->capture);
	return d->lossy ? EXIT_LOSSY : EXIT_OK;
}

static int check_side(const struct arguments *a, struct store *store, struct error *err)
{
	struct str list = {0};
	const char **names;
	int i, n = store_sides(store, &names, err);
	bool found = !a->side;

	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		found |= a->side && !strcmp(names[i], a->side);
		str_printf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	if (!found)
		error_set(err, ENOENT, "no side '%s' in this capture; it has %s", a->side,
			  n ? list.buf : "none");
	str_free(&list);
	free(names);
	return found ? 0 : -ENOENT;
}

static int plot(struct arguments *a, struct store *store, struct error *err)
{
	struct chart_source source = {facts_table, store, facts_compare};
	struct drawing d = {.source = &source,
			    .query = a->query,
			    .base = a->base,
			    .news = a->news,
			    .nnews = a->nnews,
			    .side = a->side};
	bool made = !path_exists(a->dir);
	struct facts facts;
	int rc = facts_read(&facts, store, a->capture, a->query.variant, err), code = EXIT_FAILED;

	d.facts = facts.chart;
	if (!rc)
		rc = check_side(a, store, err);
	if (!rc)
		rc = dir_make(a->dir, err);
	if (!rc)
		rc = drawing_prepare(&d, err);
	if (!rc)
		code = draw_all(&d, a);
	else
		error_print(err);
	if (made)
		rmdir(a->dir); /* fails where anything is in it */
	drawing_free(&d);
	facts_free(&facts);
	return rc ? (int)error_exit(err) : code;
}

int cmd_plot(int argc, char **argv)
{
	struct arguments a = {.formats = FIGURE_SVG | FIGURE_PNG};
	struct store *store = NULL;
	struct error err = {0};
	int code = EXIT_FAILED;

	args_parse(&argp, argc, argv, 0, &a);
	if (a.list) {
		list_charts(stdout);
		code = EXIT_OK;
	} else if (capture_open(&store, a.capture, &a.open, &err)) {
		error_print(&err);
	} else {
		code = plot(&a, store, &err);
		if (store_close(store, err.code ? -err.code : 0, &err) && code != EXIT_FAILED) {
			error_print(&err);
			code = EXIT_FAILED;
		}
	}
	free(a.news);
	free(a.charts);
	return code;
}
