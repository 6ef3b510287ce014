// SPDX-License-Identifier: GPL-2.0-only
/* The charts of a history, one for each figure, and the page that has them. */
#include "plot/html_page.h"

#include "lib/file.h"
#include "plot/flame.h"
#include "plot/palette.h"

#include <errno.h>

enum { DAY = 10 }; /* characters of 2026-11-23 */

/* Adds a trend to its panel: its captures pale, the levels between its changes strong. */
static void trend_put(struct figure *f, const struct trend *t, int panel)
{
	int curve = figure_curve(f, panel, 0, "capture", true);

	for (size_t i = 0; i < t->n; i++)
		figure_point(f, curve, t->runs[i]->day, estimate_plain(t->x[i]));
	for (const struct trend_segment *s = t->segments; s < t->segments + t->nsegments; s++) {
		double from = t->runs[s->from]->day;

		curve = figure_curve(f, panel, 0, "level", false);
		figure_point(f, curve, from, s->level);
		figure_point(f, curve, t->runs[s->to - 1]->day, s->level);
		if (s->verdict)
			figure_mark(f, panel, (from + t->runs[s->from - 1]->day) / 2, NAN, NAN,
				    isnan(s->change.value)
					    ? s->verdict
					    : figure_text(f, "%+.1f %%", s->change.value));
	}
}

/* Draws n trends of one figure, a panel for each. */
static void trends_put(struct figure *f, const struct trends *all, const struct trend *t, size_t n)
{
	const struct history_series *s = &t->runs[0]->s;

	figure_curves(f, "day", "of")->near = true;
	f->group_word = "series";
	figure_bar(f, "median", palette_variant(1));
	for (size_t i = 0; i < n && i < CURVES_PANELS; i++) {
		const struct history_series *of = &t[i].runs[0]->s;

		trend_put(f, &t[i],
			  figure_group(f, figure_text(f, "%s %s", of->variant, of->side)));
		for (size_t k = 0; k < t[i].n && !i; k++)
			figure_tick(f, t->runs[k]->day,
				    figure_text(f, "%.*s", DAY, t->runs[k]->c.created));
	}
	if (n > CURVES_PANELS)
		figure_doubt(f, "%zu more series have no room (--variant, --side)",
			     n - CURVES_PANELS);
	f->title = figure_text(f, "%s, %s: %d change%s", s->figure, s->unit, f->curves->nmarks,
			       f->curves->nmarks == 1 ? "" : "s");
	f->subtitle = "Strong: the median of a level, with its 95 % interval. Pale: that of each "
		      "capture. Dashed: a change";
	f->foot = figure_text(f, "%s · %zu captures · at most %g false alarms in a series and year",
			      t->runs[0]->c.name, t->n, all->false_alarms);
}

/* Draws the figures into the folder, and adds their SVG to the page. NULL: there is no page. */
static int trends_draw_all(const struct trends *all, const char *dir, struct str *page,
			   struct error *err)
{
	unsigned formats = FIGURE_SVG | (page ? 0 : FIGURE_PNG);
	int rc = dir_make(dir, err);

	for (size_t i = 0, from = 0; i < all->n && !rc; from = i) {
		const char *figure = all->list[from].runs[0]->s.figure;
		autofree char *path = NULL, *svg = NULL;
		freed(figure_free) struct figure f;

		while (i < all->n && !strcmp(all->list[i].runs[0]->s.figure, figure))
			i++;
		figure_init(&f, "history");
		f.name = flame_file_name(&f, (const char *const[]){"history", figure}, 2);
		path = xasprintf("%s/%s.svg", dir, f.name);
		trends_put(&f, all, &all->list[from], i - from);
		rc = figure_write(&f, dir, formats, err) ?: figure_render(&f, dir, formats, err);
		if (!rc && page)
			rc = file_read(path, &svg, NULL, err);
		if (svg) {
			str_puts(page, "<figure>");
			html_add_svg(page, svg, f.name);
			str_puts(page, "</figure>\n");
		}
	}
	return rc;
}

/* The page has no script. */
static int trends_write_page(const struct trends *all, const char *path, const char *dir,
			     struct error *err)
{
	autofree char *command = page_command("history", "show", "--history", all->path, NULL);
	const struct html_heading heading = {
		.id = "levels",
		.title = "Levels and changes",
		.what = "A level has the captures between two changes.",
		.command = command,
		.most = PAGE_ROWS,
		.open = true};
	freed(str_free) struct str out = {0};
	freed(table_free) struct table t = {0};
	int rc;

	trends_add_rows(all, false, &t);
	page_begin(&out, "Figures over many captures");
	html_add_element(&out, "p class=soft", t.title);
	str_puts(&out, "</header>\n<main>\n");
	rc = trends_draw_all(all, dir, &out, err);
	html_add_table(&out, &t, &heading);
	str_puts(&out, "</main>\n</body>\n</html>\n");
	return rc ? rc : page_print(path, &out, err);
}

int trends_draw(const struct trends *all, const char *dir, const char *page, struct error *err)
{
	char tmp[] = "/tmp/zcost-page.XXXXXX";
	int rc = dir ? trends_draw_all(all, dir, NULL, err) : 0;

	if (rc || !page)
		return rc;
	if (!mkdtemp(tmp))
		return error_sys(err, errno, "%s", tmp);
	rc = trends_write_page(all, page, tmp, err);
	dir_remove(tmp, NULL);
	return rc;
}
