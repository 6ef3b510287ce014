// SPDX-License-Identifier: GPL-2.0-only
/* The charts of the page: they are drawn into a temporary folder, and their SVGs are copied. */
#include "plot/html_page.h"

#include "lib/file.h"
#include "lib/stop.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int charts_is_svg(const struct dirent *e)
{
	return str_ends(e->d_name, ".svg");
}

/* Where a narrow picture stands beside CHART.svg, adds it for phones. Returns whether it does. */
static bool charts_add_narrow(struct html_page *p, const struct chart *c, const char *wide,
			      const char *id, size_t *bytes)
{
	char *path = xasprintf("%.*s-narrow.svg", (int)(strlen(wide) - strlen(".svg")), wide);
	char *name = xasprintf("%s-narrow", id), *svg;
	struct error err = {0};
	size_t len;
	bool there = path_exists(path);

	if (there && file_read(path, &svg, &len, &err)) {
		page_add_failed(p, c->name, &err);
		there = false;
	}
	if (there) {
		*bytes += len;
		html_add_svg(&p->out, "narrow", svg, name);
		free(svg);
	}
	free(name);
	free(path);
	return there;
}

static void charts_add_picture(struct html_page *p, const struct chart *c, const char *path,
			       size_t *bytes)
{
	struct error err = {0};
	struct str id = {0};
	char *svg, *command;
	size_t len;
	bool two;

	if (file_read(path, &svg, &len, &err)) {
		page_add_failed(p, c->name, &err);
		return;
	}
	*bytes += len;
	if (*bytes > PAGE_PICTURES) {
		*bytes -= len;
		page_add_absent(p, path_base_name(path), "the page would be too large with it");
	} else {
		str_printf(&id, "c%d-", p->nids++);
		html_add_id(&id, c->name);
		command = page_command("plot", p->capture, c->name, "-o", "DIR", NULL);
		str_printf(&p->out, "<figure id=\"%s\">", id.buf);
		two = charts_add_narrow(p, c, path, id.buf, bytes);
		html_add_svg(&p->out, two ? "wide" : "scroll", svg, id.buf);
		str_puts(&p->out, "<figcaption>");
		html_add_text(&p->out, c->what);
		str_puts(&p->out, " · <code>");
		html_add_text(&p->out, command);
		str_puts(&p->out, "</code></figcaption></figure>\n");
		free(command);
	}
	str_free(&id);
	free(svg);
}

static void charts_add_folder(struct html_page *p, const struct chart *c, const char *dir,
			      size_t *bytes)
{
	struct dirent **names = NULL;
	int n = scandir(dir, &names, charts_is_svg, alphasort), i;
	struct error err = {0};

	if (n < 0) {
		error_sys(&err, errno, "%s: cannot read", dir);
		page_add_failed(p, c->name, &err);
	}
	for (i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, names[i]->d_name);

		charts_add_picture(p, c, path, bytes);
		free(path);
		free(names[i]);
	}
	free(names);
}

/* Draws a chart that has a picture of each variant: of those with tables, where there are many. */
static int charts_write(struct html_page *p, const struct chart *c, const char *dir,
			struct error *err)
{
	struct drawing *d = &p->d;
	bool cut = !p->r->compared && d->facts.nvariants > PAGE_PAIRS + 1;
	int written = 0, rc;

	if (cut) {
		d->news = d->facts.variants + 1;
		d->nnews = PAGE_PAIRS;
		page_add_absent(p, c->name, "the page has the pictures of the first variants only");
	}
	d->pictures_only = true;
	rc = c->write(d, dir, &written, err);
	if (cut) {
		d->news = NULL;
		d->nnews = 0;
	}
	return rc;
}

/* Draws a chart's own files, and adds the pictures among them. */
static int charts_add_written(struct html_page *p, const struct chart *c, const char *folder,
			      size_t *bytes, struct error *err)
{
	char *dir = xasprintf("%s/%s", folder, c->name);
	struct error why = {0};
	int rc = dir_make(dir, err);

	if (!rc && charts_write(p, c, dir, &why))
		page_add_failed(p, c->name, &why);
	else if (!rc)
		charts_add_folder(p, c, dir, bytes);
	free(dir);
	return rc;
}

static bool chart_is_left_out(const struct html_page *p, const struct chart *c)
{
	return p->d.query.workload_only && c->whole;
}

/* The charts that gnuplot draws. */
struct page_figures {
	struct gallery figures;
	struct page_figure {
		const struct chart *chart;
		struct error why; /* the picture is absent */
	} * list;		  /* by chart */
	bool no_gnuplot;
};

/* Writes a chart, and for phones a narrow one unless it has too many bars for that. */
static int page_figures_write(struct html_page *p, struct page_figures *pf, const struct chart *c,
			      const char *folder, struct error *why)
{
	struct figure f;
	int narrow, rc = 0;

	for (narrow = 0; narrow < 2 && !rc; narrow++) {
		rc = chart_draw(c, &p->d, &f, why);
		if (narrow && figure_has_many(&f)) {
			figure_free(&f);
			break;
		}
		f.narrow = narrow;
		f.name = narrow ? arena_printf(&f.arena, "%s-narrow", c->name) : f.name;
		if (!rc)
			rc = figure_write(&f, folder, FIGURE_SVG, why);
		if (!rc)
			gallery_add(&pf->figures, &f);
		figure_free(&f);
	}
	return rc;
}

static void page_figures_draw(struct html_page *p, struct page_figures *pf, const char *folder)
{
	const struct chart *c;
	size_t i, n = 0;

	while (chart_at(n))
		n++;
	pf->list = xcalloc(n, sizeof(*pf->list));
	for (i = 0; i < n; i++) {
		struct error *why = &pf->list[i].why;

		c = pf->list[i].chart = chart_at(i);
		if (c->write || chart_is_left_out(p, c) || stop_asked())
			continue;
		page_figures_write(p, pf, c, folder, why);
	}
}

static void page_figure_rendered(void *arg, const struct figure *f, int rc, struct error *err)
{
	struct page_figures *pf = arg;
	size_t i = 0;

	if (f->narrow && rc != -ENOENT)
		return; /* the wide picture is there */
	while (!f->narrow && strcmp(pf->list[i].chart->name, f->name) != 0)
		i++;
	if (rc == -ENOENT)
		pf->no_gnuplot = true;
	else if (rc)
		pf->list[i].why = *err;
}

static void page_figure_add(struct html_page *p, const struct page_figures *pf,
			    const struct page_figure *f, const char *folder, size_t *bytes)
{
	char *path = xasprintf("%s/%s.svg", folder, f->chart->name);

	if (f->why.code)
		page_add_failed(p, f->chart->name, &f->why);
	else if (!pf->no_gnuplot)
		charts_add_picture(p, f->chart, path, bytes);
	free(path);
}

static int charts_add_all(struct html_page *p, const char *folder, struct error *err)
{
	struct page_figures pf = {0};
	const struct chart *c;
	size_t i, bytes = 0;
	int rc = 0;

	page_figures_draw(p, &pf, folder);
	gallery_render(&pf.figures, folder, FIGURE_SVG, page_figure_rendered, &pf);
	for (i = 0; (c = chart_at(i)) && !rc && !stop_asked(); i++) {
		if (chart_is_left_out(p, c))
			page_add_absent(p, c->name, c->whole);
		else if (c->write)
			rc = charts_add_written(p, c, folder, &bytes, err);
		else
			page_figure_add(p, &pf, &pf.list[i], folder, &bytes);
	}
	if (pf.no_gnuplot)
		html_add_element(
			&p->out, "p class=alert",
			"gnuplot is not installed, so the page lacks the charts that gnuplot draws. Install the package gnuplot-nox or gnuplot, and make the page again.");
	gallery_free(&pf.figures);
	free(pf.list);
	return rc;
}

int page_add_charts(struct html_page *p, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	struct error ignored = {0};
	char *folder;
	int rc;

	str_puts(&p->out, "<section id=charts><h2>Charts</h2>\n");
	if (!p->d.base) {
		html_add_element(
			&p->out, "p",
			"The charts are those of one capture: zcost plot draws them for each.");
		str_puts(&p->out, "</section>\n");
		return 0;
	}
	folder = xasprintf("%s/zcost-page.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	stop_watch(); /* a signal ends zcost when the folder is gone */
	if (!mkdtemp(folder)) {
		rc = error_sys(err, errno, "%s", folder);
	} else {
		rc = charts_add_all(p, folder, err);
		dir_remove(folder, &ignored);
	}
	stop_if_asked();
	stop_unwatch();
	free(folder);
	str_puts(&p->out, "</section>\n");
	return rc;
}
