// SPDX-License-Identifier: GPL-2.0-only
#include "plot/html_page.h"

#include "lib/command.h"
#include "lib/file.h"
#include "lib/output.h"
#include "lib/stop.h"
#include "lib/workers.h"

EMBED_TEXT(html_css, "plot/html.css");
EMBED_TEXT(html_js, "plot/html.js");

/* --- head and foot --- */

/* The policy forbids every request, whatever a name in the capture says. */
static const char page_head[] =
	"<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
	"<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-src 'self'\">\n<title>";

static const char page_nav[] =
	"<nav aria-label=Sections><div><a href=#verdicts>Verdicts</a> <a href=#charts>Charts</a> "
	"<a href=#changes>Changes</a> <a href=#tables>Tables</a> <a href=#warnings>Warnings</a> "
	"<a href=#method>Method</a> <a href=#commands>Commands</a>\n"
	"<input id=search type=search placeholder=\"Search all tables ( / )\" "
	"aria-label=\"Search all tables\"> <output id=found></output></div></nav>\n<main>\n";

void page_begin(struct str *out, const char *title)
{
	str_puts(out, page_head);
	html_printf(out, "%s</title>\n<style>\n", title);
	str_puts(out, html_css);
	str_puts(out, "</style>\n</head>\n<body>\n<header>\n");
	html_add_element(out, "h1", title);
}

static char *page_title(const struct html_page *p)
{
	const struct comparison *c = p->r->compared;

	if (c)
		return xasprintf("%s against %s", c->end[NEW].label, c->end[BASE].label);
	return xstrdup(p->d.facts.capture);
}

static void page_add_fact(struct str *s, const char *text)
{
	if (text && *text)
		str_printf(s, "%s%s", s->len ? " · " : "", text);
}

/* Says which part of the capture the page has, if not all. */
static void page_add_selection(struct html_page *p)
{
	const struct query *q = &p->r->query;

	if (p->d.side)
		html_add_element(&p->out, "p class=scope",
				 arena_printf(&p->d.arena, "Only the side %s.", p->d.side));
	if (q->workload_only)
		html_add_element(
			&p->out, "p class=scope",
			"Only the workload's processes: CPU use, costs and T²/C are of them alone. Costs of code are parts of their CPU time.");
	if (q->basis)
		html_add_element(&p->out, "p class=scope",
				 q->basis == BASIS_WALL
					 ? "Costs of code are parts of the time of all CPUs."
					 : "Costs of code are parts of the busy time of the CPUs.");
}

static void page_add_head(struct html_page *p)
{
	const struct chart_facts *f = &p->d.facts;
	autofree char *title = page_title(p);
	freed(str_free) struct str facts = {0};

	page_begin(&p->out, title);
	if (p->r->compared)
		page_add_fact(&facts, f->capture);
	page_add_fact(&facts, f->host);
	if (f->kernel)
		str_printf(&facts, " · Linux %s", f->kernel);
	page_add_fact(&facts, f->date);
	if (f->slice)
		str_printf(&facts, " · only %s of each window", f->slice);
	str_printf(&facts, "%szcost %s", facts.len ? " · " : "", zcost_version);
	html_add_element(&p->out, "p class=soft", facts.buf);
	page_add_selection(p);
	str_puts(&p->out, "</header>\n");
	str_puts(&p->out, page_nav);
}

/* --- verdicts --- */

static void page_add_pair_words(struct html_page *p, const struct html_pair *pair)
{
	freed(str_free) struct str no_subject = {0}, words = {0};
	const char *line;

	commit_print_verdicts(&no_subject, 0, &words, &pair->figures, pair->outcome.limits_differ);
	html_printf(&p->out, "<li><b>%s</b> against %s: %s", pair->c.end[NEW].label,
		    pair->c.end[BASE].label,
		    words.len			  ? words.buf
		    : pair->outcome.limits_differ ? "no cost has a value at both ends"
						  : "no metric has a value at both ends");
	each_part (line, pair->first.len ? pair->first.buf : "", '\n')
		if (*line)
			html_add_element(&p->out, "p class=alert", line);
	str_puts(&p->out, "</li>\n");
}

static void page_add_words(struct html_page *p)
{
	if (!p->npairs)
		html_add_element(&p->out, "p", PAGE_ALONE);
	str_puts(&p->out, "<ul class=verdicts>\n");
	for (size_t i = 0; i < p->npairs; i++)
		page_add_pair_words(p, &p->pairs[i]);
	str_add(&p->out, p->failed.buf, p->failed.len);
	str_puts(&p->out, "</ul>\n");
	if (p->npairs_all > p->npairs)
		str_printf(&p->out, "<p>These are the first %zu of %zu comparisons.</p>\n",
			   p->npairs, p->npairs_all);
}

static void page_add_limits(struct html_page *p, int store)
{
	struct error why = {0};
	freed(limits_free) struct limits l = {0};

	if (limits_read(p->stores[store], &p->r->query, &l, &why))
		html_add_element(&p->out, "li", why.text);
	for (const struct limit_row *r = l.row; r < l.row + l.n; r++)
		if (page_has_variant(p, store, r->variant))
			html_printf(&p->out, "<li><b>%s</b>: %s %s: %s</li>\n", r->variant, r->side,
				    limit_kinds[r->kind].name, r->evidence);
}

static void page_add_warning_count(struct html_page *p)
{
	freed(note_lines_free) struct note_lines lines;

	note_lines_make(&lines, &p->losses);
	if (lines.n)
		str_printf(&p->out,
			   "<p class=alert><a href=#warnings>%zu warning%s</a> on the data of this "
			   "page.</p>\n",
			   lines.n, lines.n == 1 ? "" : "s");
}

static void page_add_verdicts(struct html_page *p)
{
	str_puts(&p->out, "<section id=verdicts><h2>Verdicts</h2>\n");
	page_add_words(p);
	str_puts(&p->out, "<h3>Was it zero copy?</h3>\n<ul>\n");
	str_add(&p->out, p->zero_copy.buf, p->zero_copy.len);
	str_puts(&p->out, "</ul>\n<h3>What limited it?</h3>\n<ul>\n");
	for (int s = 0; s < p->nstores; s++)
		page_add_limits(p, s);
	str_puts(&p->out, "</ul>\n");
	page_add_warning_count(p);
	str_puts(&p->out, "</section>\n");
}

/* --- warnings and method --- */

static void page_add_note_list(struct html_page *p, const struct notes *notes)
{
	freed(note_lines_free) struct note_lines lines;

	note_lines_make(&lines, notes);
	for (size_t i = 0; i < lines.n; i++) {
		autofree char *text = note_line_text(&lines.line[i]);

		html_add_element(&p->out, "li", text);
	}
}

static void page_add_warnings(struct html_page *p)
{
	str_puts(&p->out, "<section id=warnings><h2>Warnings</h2>\n");
	if (!p->losses.n)
		html_add_element(&p->out, "p", "No data were lost, and no figure has a warning.");
	str_puts(&p->out, "<ul class=warnings>\n");
	page_add_note_list(p, &p->losses);
	str_puts(&p->out, "</ul>\n");
	if (p->absent.len)
		str_printf(&p->out,
			   "<details class=absent><summary>Not in this page</summary>"
			   "<ul>\n%s</ul></details>\n",
			   p->absent.buf);
	str_puts(&p->out, "</section>\n");
}

static const char *const method_lines[] = {
	"A cost is a function's share of the samples, times the busy CPU time of the side per unit of work. The costs of a table add up to that busy time.",
	"A change is the cost of the new variant minus the cost of the base, in ns per unit of work. The changes add up to the change of the total.",
	"An interval is the 95 % interval over the runs, or below 6 runs their range: a [low .. high], or a value +- half of it.",
	"A verdict is better or worse if the exact Mann-Whitney test over the runs has p < 0.05 and the change is above the threshold (2 % by default). A list of costs has Holm's correction. Otherwise the verdict is ~, or it names the reason why there is none.",
	"A figure that nobody measured is absent or -. It is never 0 and never a guess.",
};

static void page_add_method(struct html_page *p)
{
	str_puts(
		&p->out,
		"<section id=method><h2>How each figure is made</h2>\n<p>Each table says below "
		"its rows what it is and which command prints it. The options of this page go with "
		"the command where it takes them.</p>\n<ul>\n");
	for (size_t i = 0; i < array_size(method_lines); i++)
		html_add_element(&p->out, "li", method_lines[i]);
	page_add_note_list(p, &p->methods);
	str_puts(&p->out,
		 "</ul>\n<details class=absent><summary>Remarks on the runs</summary><ul>\n");
	page_add_note_list(p, &p->remarks);
	str_puts(&p->out, "</ul></details>\n</section>\n");
}

/* --- the page --- */

/* What the process of the charts tells the page. Their text and the text of the absent ones follow.
 */
struct charts_result {
	size_t len;
	bool lossy;
};

static int page_draw_charts(void *arg, struct str *result, struct error *err)
{
	struct html_page *p = arg;
	int rc = 0;

	p->absent.len = p->out.len = 0;
	for (int i = 0; i < p->nstores && !rc; i++)
		rc = store_open_again(p->stores[i], err);
	rc = rc ?: page_add_charts(p, err);
	for (int i = 0; i < p->nstores && !rc; i++)
		rc = store_failed(p->stores[i], err);
	str_add(result, &(struct charts_result){p->out.len, p->r->lossy},
		sizeof(struct charts_result));
	str_add(result, p->out.buf, p->out.len);
	str_add(result, p->absent.buf, p->absent.len);
	return rc;
}

/* The tables are made while another process draws the charts. */
static int page_add_rest(struct html_page *p, struct error *err)
{
	freed(str_free) struct str drawn = {0}, tables = {0};
	const struct charts_result *charts;
	struct twin drawing;
	int rc = twin_start(&drawing, page_draw_charts, p, err), tabled;

	if (rc)
		return rc;
	stop_watch(); /* a signal ends zcost when the folder of the charts is gone */
	tabled = page_add_pairs(p, err);
	tabled = tabled ?: page_add_measures(p, err);
	rc = twin_wait(&drawing, &drawn, err);
	stop_if_asked();
	stop_unwatch();
	if (tabled || rc)
		return tabled ?: rc;
	charts = (const struct charts_result *)drawn.buf;
	p->r->lossy |= charts->lossy;
	tables = p->out;
	p->out = (struct str){0};
	str_add(&p->out, drawn.buf + sizeof(*charts), charts->len);
	str_add(&p->out, tables.buf, tables.len);
	str_add(&p->absent, drawn.buf + sizeof(*charts) + charts->len,
		drawn.len - sizeof(*charts) - charts->len);
	page_add_warnings(p);
	page_add_method(p);
	return page_add_commands(p, err);
}

/* The verdicts come first, and count the warnings of all that follows. */
static int page_add_all(struct html_page *p, struct error *err)
{
	int rc = page_read_pairs(p, err);
	freed(str_free) struct str rest = {0};

	rc = rc ?: page_add_rest(p, err);
	rest = p->out;
	p->out = (struct str){0};
	if (!rc) {
		page_add_head(p);
		page_add_verdicts(p);
		str_add(&p->out, rest.buf, rest.len);
		html_printf(&p->out, "</main>\n<footer>zcost %s</footer>\n<script>\n",
			    zcost_version);
		str_puts(&p->out, html_js);
		str_puts(&p->out, "</script>\n</body>\n</html>\n");
	}
	return rc;
}

/* Returns the only side of the page. NULL: all, or sides with two names. */
static const char *page_side(const struct page_request *r)
{
	const char *const *side = r->compared ? (const char *const *)r->compared->side : NULL;

	if (!side)
		return r->query.side;
	return side[BASE] && side[NEW] && !strcmp(side[BASE], side[NEW]) ? side[BASE] : NULL;
}

/* Charts are of one capture. A page of two captures has their tables. */
static int page_open(struct html_page *p, struct error *err)
{
	struct page_request *r = p->r;
	struct comparison *c = r->compared;
	int rc;

	p->stores[0] = r->store ? r->store : c->end[BASE].store;
	p->nstores = 1;
	if (c && c->end[NEW].store != c->end[BASE].store)
		p->stores[p->nstores++] = c->end[NEW].store;
	for (int i = 0; i < p->nstores; i++)
		store_hold_metrics(p->stores[i]);
	p->source = facts_source(p->stores[0]);
	p->d.source = &p->source;
	p->d.store = p->stores[0];
	p->d.side = page_side(r);
	p->d.most_graphs = PAGE_GRAPHS;
	p->d.query = r->query;
	p->d.query.side = NULL;
	if (p->nstores > 1)
		return 0;
	p->capture = r->capture ? r->capture : store_path(p->stores[0]);
	rc = facts_read(&p->d.facts, p->stores[0], p->capture, &r->query, c ? NULL : r->query.side,
			err);
	if (c) {
		p->d.base = c->end[BASE].variant;
		p->d.news = &c->end[NEW].variant;
		p->d.nnews = 1;
	}
	return rc ? rc : drawing_prepare(&p->d, err);
}

int page_print(const char *path, const struct str *page, struct error *err)
{
	struct sink out;
	int rc = sink_open(&out, path, err);

	if (rc)
		return rc;
	fwrite(page->buf, 1, page->len, out.f);
	return sink_close(&out, 0, err);
}

static void html_page_free(struct html_page *p)
{
	array_free(e, p->pairs, p->npairs, str_free(&e->first), table_free(&e->metrics),
		   figures_free(&e->figures));
	drawing_free(&p->d);
	notes_free(&p->losses);
	notes_free(&p->remarks);
	notes_free(&p->methods);
	str_free(&p->failed);
	str_free(&p->zero_copy);
	str_free(&p->absent);
	str_free(&p->out);
}

int page_write(struct page_request *r, struct error *err)
{
	freed(html_page_free) struct html_page p = {.r = r};
	int rc = page_open(&p, err);

	rc = rc ?: page_add_all(&p, err);
	for (int i = 0; i < p.nstores && !rc; i++)
		rc = store_failed(p.stores[i], err);
	if (!rc && r->compared) {
		r->outcome = p.pairs[0].outcome;
		r->compared->rule = p.pairs[0].c.rule; /* with drift, for the gate on functions */
	}
	return rc ?: page_print(r->path, &p.out, err);
}
