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

static void charts_add_picture(struct html_page *p, const struct chart *c, const char *path,
			       size_t *bytes)
{
	struct error err = {0};
	char *svg, *command, *id;
	size_t len;

	if (file_read(path, &svg, &len, &err)) {
		page_add_failed(p, c->name, &err);
		return;
	}
	if (*bytes + len > PAGE_PICTURES) {
		page_add_absent(p, path_base_name(path), "the page would be too large with it");
	} else {
		*bytes += len;
		id = xasprintf("c%d-%s", p->nids++, c->name);
		str_replace(id, '_', '-');
		command = page_command("plot", p->capture, c->name, "-o", "DIR", NULL);
		html_printf(&p->out, "<figure id=\"%s\">", id);
		html_add_svg(&p->out, svg, id);
		html_printf(&p->out, "<figcaption>%s · <code>%s</code></figcaption></figure>\n",
			    c->what, command);
		free(command);
		free(id);
	}
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

struct page_figures {
	struct html_page *page;
	struct gallery figures;
	bool no_gnuplot;
};

/* Writes the charts that gnuplot draws. */
static void page_figures_write(struct page_figures *pf, const char *folder)
{
	struct html_page *p = pf->page;
	const struct chart *c;
	struct figure f;
	size_t i;

	for (i = 0; (c = chart_at(i)) && !stop_asked(); i++) {
		struct error why = {0};

		if (chart_is_left_out(p, c))
			page_add_absent(p, c->name, c->whole);
		if (c->write || chart_is_left_out(p, c))
			continue;
		if (chart_draw(c, &p->d, &f, &why) || figure_write(&f, folder, FIGURE_SVG, &why))
			page_add_failed(p, c->name, &why);
		else
			gallery_add(&pf->figures, &f);
		figure_free(&f);
	}
}

static void page_figure_rendered(void *arg, const struct figure *f, int rc, struct error *err)
{
	struct page_figures *pf = arg;

	if (rc == -ENOENT)
		pf->no_gnuplot = true;
	else if (rc)
		page_add_failed(pf->page, f->name, err);
}

static int charts_add_all(struct html_page *p, const char *folder, struct error *err)
{
	struct page_figures pf = {.page = p};
	const struct chart *c;
	size_t i, bytes = 0;
	int rc = 0;

	page_figures_write(&pf, folder);
	gallery_render(&pf.figures, folder, FIGURE_SVG, page_figure_rendered, &pf);
	for (i = 0; (c = chart_at(i)) && !rc && !stop_asked(); i++) {
		char *path = xasprintf("%s/%s.svg", folder, c->name);

		if (c->write && !chart_is_left_out(p, c))
			rc = charts_add_written(p, c, folder, &bytes, err);
		else if (path_exists(path))
			charts_add_picture(p, c, path, &bytes);
		free(path);
	}
	if (pf.no_gnuplot)
		html_add_element(
			&p->out, "p class=alert",
			"gnuplot is not installed, so the page lacks the charts that gnuplot draws. Install the package gnuplot-nox or gnuplot, and make the page again.");
	gallery_free(&pf.figures);
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
