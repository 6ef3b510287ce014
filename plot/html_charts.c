// SPDX-License-Identifier: GPL-2.0-only
/* The charts of the page: each is drawn into a temporary folder, and every SVG in it is taken. */
#include "plot/html_page.h"

#include "lib/file.h"

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
	struct str id = {0};
	char *svg, *command;
	size_t len;

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
		html_add_svg(&p->out, svg, id.buf);
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
	rc = c->write(d, dir, &written, err);
	if (cut) {
		d->news = NULL;
		d->nnews = 0;
	}
	return rc;
}

/* Draws into the folder: a figure by gnuplot, or the chart's own files. */
static int charts_draw(struct html_page *p, const struct chart *c, const char *dir,
		       bool *no_gnuplot, struct error *err)
{
	struct figure f;
	int rc;

	if (c->write)
		return charts_write(p, c, dir, err);
	rc = chart_draw(c, &p->d, &f, err);
	if (!rc)
		rc = figure_write(&f, dir, FIGURE_SVG, err);
	if (!rc && !*no_gnuplot) {
		rc = figure_render(&f, dir, FIGURE_SVG, err);
		*no_gnuplot = rc == -ENOENT;
	}
	figure_free(&f);
	return *no_gnuplot ? 0 : rc;
}

static int charts_add_all(struct html_page *p, const char *folder, struct error *err)
{
	const struct chart *c;
	size_t i, bytes = 0;
	bool no_gnuplot = false;
	int rc = 0;

	for (i = 0; (c = chart_at(i)) && !rc; i++) {
		char *dir = xasprintf("%s/%s", folder, c->name);
		struct error why = {0};

		if (p->d.query.workload_only && c->whole) {
			page_add_absent(p, c->name, c->whole);
			free(dir);
			continue;
		}
		rc = dir_make(dir, err);
		if (!rc && charts_draw(p, c, dir, &no_gnuplot, &why))
			page_add_failed(p, c->name, &why);
		else if (!rc)
			charts_add_folder(p, c, dir, &bytes);
		free(dir);
	}
	if (no_gnuplot)
		html_add_element(
			&p->out, "p class=alert",
			"gnuplot is not installed, so the page lacks the charts that gnuplot draws. Install the package gnuplot-nox or gnuplot, and make the page again.");
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
	if (!mkdtemp(folder)) {
		rc = error_sys(err, errno, "%s", folder);
	} else {
		rc = charts_add_all(p, folder, err);
		dir_remove(folder, &ignored);
	}
	free(folder);
	str_puts(&p->out, "</section>\n");
	return rc;
}
