// SPDX-License-Identifier: GPL-2.0-only
/* The charts of the page: they are drawn into a temporary folder, and their SVGs are copied. */
#include "plot/html_page.h"

#include "lib/file.h"
#include "lib/stop.h"

#include <errno.h>

struct charts {
	struct html_page *page;
	size_t bytes; /* the size of all pictures so far */
	bool no_gnuplot;
};

static int charts_is_svg(const struct dirent *e)
{
	return str_ends(e->d_name, ".svg");
}

static void charts_add_picture(struct charts *all, const struct chart *c, const char *path)
{
	struct html_page *p = all->page;
	struct error err = {0};
	autofree char *svg = NULL, *command = NULL, *id = NULL;
	size_t len;

	if (file_read(path, &svg, &len, &err)) {
		page_add_failed(p, "chart", c->name, &err);
		return;
	}
	if (all->bytes + len > PAGE_PICTURES) {
		page_add_absent(p, "chart", path_base_name(path),
				"the page would be too large with it");
	} else {
		all->bytes += len;
		id = xasprintf("c%d-%s", p->nids++, c->name);
		str_replace(id, '_', '-');
		command = page_command("plot", p->capture, c->name, "-o", "DIR", NULL);
		html_printf(&p->out, "<figure id=\"%s\">", id);
		html_add_svg(&p->out, svg, id);
		html_printf(&p->out, "<figcaption>%s · <code>%s</code></figcaption></figure>\n",
			    c->what, command);
	}
}

/* Adds the pictures in the folder. */
static void charts_add_folder(struct charts *all, const struct chart *c, const char *dir)
{
	autofree struct dirent **names = NULL;
	int n = scandir(dir, &names, charts_is_svg, versionsort);
	struct error err = {0};

	if (n < 0) {
		error_sys(&err, errno, "%s: cannot read", dir);
		page_add_failed(all->page, "chart", c->name, &err);
	}
	for (int i = 0; i < n; i++) {
		autofree char *path = xasprintf("%s/%s", dir, names[i]->d_name);

		charts_add_picture(all, c, path);
		free(names[i]);
	}
}

/* Draws a chart by gnuplot. */
static int charts_render(struct charts *all, const struct chart *c, const char *dir,
			 struct error *err)
{
	freed(figure_free) struct figure f;
	int rc = chart_draw(c, &all->page->d, &f, err);

	rc = rc ?: figure_write(&f, dir, FIGURE_SVG, err);
	if (!rc && !all->no_gnuplot) {
		rc = figure_render(&f, dir, FIGURE_SVG, err);
		all->no_gnuplot = rc == -ENOENT;
		rc = all->no_gnuplot ? 0 : rc;
	}
	return rc;
}

/* Draws a chart into a folder of its own, and adds its pictures. */
static int charts_add(struct charts *all, const struct chart *c, const char *folder,
		      struct error *err)
{
	autofree char *dir = xasprintf("%s/%s", folder, c->name);
	struct error why = {0};
	int written = 0, rc = dir_make(dir, err);

	all->page->d.left_graphs = 0;
	if (!rc && (c->write ? c->write(&all->page->d, dir, &written, &why)
			     : charts_render(all, c, dir, &why)))
		page_add_failed(all->page, "chart", c->name, &why);
	else if (!rc)
		charts_add_folder(all, c, dir);
	if (all->page->d.left_graphs)
		html_printf(
			&all->page->absent,
			"<li>chart <b>%s</b>: graphs left out: %d; zcost plot draws them</li>\n",
			c->name, all->page->d.left_graphs);
	return rc;
}

static int charts_add_all(struct html_page *p, const char *folder, struct error *err)
{
	struct charts all = {.page = p};
	const struct chart *c;
	int rc = 0;

	for (size_t i = 0; (c = chart_at(i)) && !rc && !stop_asked(); i++) {
		if (p->d.query.workload_only && c->whole)
			page_add_absent(p, "chart", c->name, c->whole);
		else
			rc = charts_add(&all, c, folder, err);
	}
	if (all.no_gnuplot)
		html_add_element(
			&p->out, "p class=alert",
			"gnuplot is not installed, so the page lacks the charts that gnuplot draws. Install the package gnuplot-nox or gnuplot, and make the page again.");
	return rc;
}

int page_add_charts(struct html_page *p, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	struct error ignored = {0};
	autofree char *folder = NULL;
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
	str_puts(&p->out, "</section>\n");
	return rc;
}
