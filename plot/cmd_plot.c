// SPDX-License-Identifier: GPL-2.0-only
/* zcost plot: draws the charts of one capture, or of a bare perf.data, into a folder. */
#include "analyze/commands/options.h"
#include "lib/file.h"
#include "lib/words.h"
#include "plot/chart.h"

#include <errno.h>
#include <unistd.h>

struct arguments {
	struct options o; /* first: options.c fills it */
	const char *capture, *dir, *base, *side;
	const char **news;
	int nnews, news_cap;
	const char **words; /* arguments that are no options: capture and charts */
	int nwords, words_cap;
	const struct chart **charts;
	int ncharts, charts_cap;
	unsigned int formats;
	bool list, icicle, reverse;
};

static struct feature chart_feature(const struct chart *c)
{
	return c ? (struct feature){c->name, c->what, c->options, c->whole} : (struct feature){0};
}

static struct feature plot_feature(size_t i)
{
	return chart_feature(chart_at(i));
}

static void plot_option_formats(const struct option_given *g)
{
	if (figure_formats(g->arg, &((struct arguments *)g->to)->formats))
		argp_error(g->state, "unknown format in '%s'; use svg, png, pdf", g->arg);
}

static void plot_option_new(const struct option_given *g)
{
	struct arguments *a = g->to;

	array_add(a->news, a->nnews, a->news_cap, g->arg);
}

#define AT(member) offsetof(struct arguments, member)

// clang-format off
static const struct option_row own[] = {
	OPTION("capture", "CAPTURE", GROUP_NONE, "the capture folder; else the first argument",
	       option_text, .at = AT(capture), .key = 'C'),
	OPTION("output", "DIR", GROUP_NONE, "folder for the charts; created if missing", option_text,
	       .at = AT(dir), .key = 'o'),
	OPTION("format", "svg|png|pdf[,...]", GROUP_NONE, "formats: svg, png, pdf; default svg,png",
	       plot_option_formats),
	OPTION("base", "VARIANT", GROUP_RUNS, "variant to compare with; default: the first",
	       option_text, .at = AT(base)),
	OPTION("new", "VARIANT", GROUP_RUNS,
	       "variant to compare with the base; may be repeated; default: all others", plot_option_new),
	{.name = "side", .parse = option_text, .at = AT(side)},
	{.name = "limit", .key = 'n'},
	OPTION("icicle", NULL, GROUP_OUTPUT, "flame graphs: draw the root on top", option_flag,
	       .at = AT(icicle)),
	OPTION("reverse", NULL, GROUP_ROWS,
	       "flame graphs: begin with the functions that the time is in, and divide them by their callers",
	       option_flag, .at = AT(reverse)),
	OPTION("list", NULL, GROUP_NONE, "list the charts and end", option_flag, .at = AT(list)),
	{0},
};
// clang-format on

static error_t plot_parse(int key, char *arg, struct argp_state *state);
static char *plot_help(int key, const char *text, void *input);

static const struct command command = {
	.argp = {.parser = plot_parse,
		 .args_doc = "[-C] CAPTURE [CHART...] -o DIR\n[--perf] FILE [CHART...] -o DIR",
		 .doc = "Draws the charts of an analyzed capture, or the flame graph of a bare perf.data, ready for a slide.\vBeside each picture stay its data, CHART.tsv, and its script, CHART.gp, which gnuplot draws again.",
		 .help_filter = plot_help},
	.heading = "Charts, all by default:",
	.sources = {"a capture", "a perf.data (--perf)", "", ""},
	.feature = plot_feature,
	.offers = "perf",
	.own = own,
};

static void plot_list_charts(void)
{
	const struct chart *c;

	for (size_t i = 0; (c = chart_at(i)); i++)
		printf("  %-17s %s\n", c->name, c->what);
}

static void plot_add_chart(struct arguments *a, const char *name)
{
	const struct chart *c = chart_find(name);
	char *names;

	if (!c) {
		names = options_feature_names(&command);
		fprintf(stderr,
			"zcost: there is no chart '%s'; %s'zcost plot --list' lists the charts\n",
			name, did_you_mean(names, name));
		free(names);
		exit(EXIT_USAGE);
	}
	array_add(a->charts, a->ncharts, a->charts_cap, c);
}

static void plot_check_options(struct argp_state *state, const struct arguments *a)
{
	autofree struct feature *charts = xcalloc((size_t)a->ncharts + 1, sizeof(*charts));
	enum data_source source = options_source(&a->o, a->capture);

	for (int i = 0; i < a->ncharts; i++) {
		charts[i] = chart_feature(a->charts[i]);
		options_check_source(state, &a->o, "chart", &charts[i], source);
	}
	if (a->ncharts)
		options_check(state, &a->o, charts, (size_t)a->ncharts, source);
}

/* With --perf or -C all arguments are charts. Else the first is the capture, or a perf.data. */
static void plot_sort_arguments(struct arguments *a)
{
	int i = 0;

	if (!a->capture && !a->o.input && a->nwords && bare_is(a->words[0]) &&
	    !bare_is_text(a->words[0]))
		options_set_perf(&a->o, a->words[i++]);
	else if (!a->capture && !a->o.input && a->nwords)
		a->capture = a->words[i++];
	for (; i < a->nwords; i++)
		plot_add_chart(a, a->words[i]);
}

static void plot_check(struct argp_state *state, struct arguments *a)
{
	struct error err = {0};

	if (a->list)
		return;
	plot_sort_arguments(a);
	if (a->capture && a->o.input)
		argp_error(state, "plot reads one source: either a capture or a file");
	if (!a->capture && !a->o.input)
		argp_error(state, "the capture is missing; give its folder");
	if (!a->dir)
		argp_error(state, "the folder for the charts is missing; give it with -o");
	if (a->capture && slice_check(&a->o.slice, &err))
		argp_error(state, "%s", err.text);
	plot_check_options(state, a);
}

static error_t plot_parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		array_add(a->words, a->nwords, a->words_cap, arg);
		return 0;
	case ARGP_KEY_END:
		plot_check(state, a);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *plot_help(int key, const char *text, void *input)
{
	struct str s = {0};

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	str_printf(&s, "%s\n\n", text);
	options_help_features(&s, &command);
	return str_take(&s);
}

struct tally {
	int drawn, failed;
	bool no_gnuplot;
};

/* A chart with a picture of its own is an SVG with a script. Without gnuplot, the scripts and data
 * of the other charts are written. */
static int plot_write_chart(const struct chart *c, struct drawing *d, const struct arguments *a,
			    struct tally *n, struct error *err)
{
	freed(figure_free) struct figure f = {0};
	int rc;

	if (c->write && !(a->formats & FIGURE_SVG))
		return error_set(
			err, ENODATA,
			"it is drawn as SVG only; a browser shows it and prints it as PDF");
	if (c->write)
		return c->write(d, a->dir, &n->drawn, err);
	rc = chart_draw(c, d, &f, err);
	rc = rc ?: figure_write(&f, a->dir, a->formats, err);
	if (!rc && !n->no_gnuplot) {
		rc = figure_render(&f, a->dir, a->formats, err);
		n->drawn += !rc;
		n->no_gnuplot = rc == -ENOENT;
	}
	if (n->no_gnuplot && rc == -ENOENT) {
		error_print(err);
		n->failed++;
		rc = 0;
	}
	return rc;
}

/* A chart that cannot be drawn is a failure only where the user named it. */
static void plot_draw_chart(const struct chart *c, struct drawing *d, const struct arguments *a,
			    struct tally *n)
{
	const struct feature is = chart_feature(c);
	enum data_source source = options_source(&a->o, a->capture);
	const char *untaken = options_untaken(&a->o, &is, source);
	struct error err = {0};
	int rc;

	if (!c->options[source])
		return;
	if (untaken) {
		if (c->whole && !strcmp(untaken, WORKLOAD_ONLY))
			print_note("%s: not drawn: --%s: %s", c->name, untaken, c->whole);
		else
			print_note("%s: not drawn: --%s does not apply to it", c->name, untaken);
		return;
	}
	rc = plot_write_chart(c, d, a, n, &err);
	if (rc == -ENODATA || rc == -ENOENT) {
		print_note("%s: not drawn: %s", c->name, err.text);
		n->failed += a->ncharts > 0;
	} else if (rc) {
		error_print(&err);
		n->failed++;
	}
}

static int plot_draw_charts(struct drawing *d, struct arguments *a)
{
	autofree char *word = shell_word(a->capture ?: "");
	struct tally n = {0};
	const struct chart *c;

	for (int i = 0;
	     (c = a->ncharts ? i < a->ncharts ? a->charts[i] : NULL : chart_at((size_t)i)); i++)
		plot_draw_chart(c, d, a, &n);
	if (n.drawn)
		print_note("%s: %d chart%s", a->dir, n.drawn, n.drawn == 1 ? "" : "s");
	if (n.failed || !n.drawn)
		return EXIT_FAILED;
	if (d->lossy)
		warn("data behind these charts is incomplete or lossy%s%s%s",
		     a->capture ? "; 'zcost report runs " : "", a->capture ? word : "",
		     a->capture ? "' says where" : "");
	return d->lossy ? EXIT_LOSSY : EXIT_OK;
}

static bool plot_takes_two_captures(const struct arguments *a)
{
	for (int i = 0; i < a->ncharts; i++)
		if (!(a->charts[i]->flags & CHART_TWO_CAPTURES))
			return false;
	return a->ncharts;
}

static void plot_add_file_facts(struct chart_facts *f, const char *path, const struct profile *p)
{
	f->capture = strcmp(path, "-") ? path_base_name(path) : "standard input";
	if (p->host != PROFILE_NONE)
		f->host = intern_get(&p->strings, p->host);
	if (p->release != PROFILE_NONE)
		f->kernel = intern_get(&p->strings, p->release);
}

/* Draws the charts of the store, or of the bare file where there is none. */
static int plot_run(struct arguments *a, struct store *store, struct error *err)
{
	const struct chart_source none = {.from = NULL},
				  source = store ? facts_source(store) : none;
	freed(drawing_free) struct drawing d = {.source = &source,
						.store = store,
						.path = store ? a->capture : a->o.path,
						.two_captures = plot_takes_two_captures(a),
						.icicle = a->icicle,
						.reverse = a->reverse,
						.base = a->base,
						.news = a->news,
						.nnews = a->nnews,
						.side = a->side};
	bool made = !path_exists(a->dir);
	int code = EXIT_FAILED, rc;

	if (store)
		rc = facts_read(&d.facts, store, a->capture, &a->o.q, a->side, err);
	else
		rc = options_read_input(&a->o, err);
	d.query = a->o.q;
	rc = rc ?: dir_make(a->dir, err);
	if (!rc && store) {
		rc = drawing_prepare(&d, err);
	} else if (!rc) {
		plot_add_file_facts(&d.facts, a->o.path, &a->o.profile);
		d.slice = a->o.slice;
		d.base = d.facts.capture;
	}
	if (!rc)
		code = plot_draw_charts(&d, a);
	else
		error_print(err);
	if (made)
		rmdir(a->dir); /* fails where the folder is not empty */
	return rc ? (int)error_exit(err) : code;
}

int cmd_plot(int argc, char **argv)
{
	struct arguments a = {.formats = FIGURE_SVG | FIGURE_PNG};
	struct store *store = NULL;
	struct error err = {0};
	int code = EXIT_FAILED;

	options_parse(&a.o, &command, argc, argv);
	if (a.list) {
		plot_list_charts();
		code = EXIT_OK;
	} else if (a.o.input) {
		code = plot_run(&a, NULL, &err);
	} else if (options_open_capture(&a.o, a.capture, NULL, &store, &err)) {
		error_print(&err);
	} else {
		code = plot_run(&a, store, &err);
		if (store_close(store, err.code ? -err.code : 0, &err) && code != EXIT_FAILED) {
			error_print(&err);
			code = EXIT_FAILED;
		}
	}
	options_free(&a.o);
	free(a.news);
	free(a.words);
	free(a.charts);
	return code;
}
