// SPDX-License-Identifier: GPL-2.0-only
/* HTML as text: escaped words, tables of figures, and pictures that need no other file. */
#include "plot/html_page.h"

#include "analyze/compare/compare.h"
#include "lib/table_layout.h"
#include "plot/label.h"

static void html_add_text(struct str *out, const char *s)
{
	freed(str_free) struct str scratch = {0};
	const char *c = printable(&scratch, s, PRINTABLE_LINE);

	for (; *c; c++)
		if (*c == '"')
			str_puts(out, "&quot;");
		else
			str_put_xml(out, (char[2]){*c});
}

void html_printf(struct str *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	for (; *fmt; fmt++) {
		if (*fmt != '%' || *++fmt == '%')
			str_putc(out, *fmt);
		else if (*fmt == 's')
			html_add_text(out, va_arg(ap, const char *));
		else if (*fmt == 'd')
			str_printf(out, "%d", va_arg(ap, int));
		else if (*fmt++ == 'z')
			str_printf(out, "%zu", va_arg(ap, size_t));
	}
	va_end(ap);
}

void html_add_element(struct str *out, const char *tag, const char *text)
{
	str_printf(out, "<%s>", tag);
	html_add_text(out, text);
	str_printf(out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

/* --- tables --- */

static void table_add_head(struct str *out, const struct people *p, const struct table *t)
{
	str_puts(out, "<thead><tr>");
	for (int i = 0; i < p->ncolumns; i++) {
		const struct column *c = &t->columns[p->columns[i].value];

		str_puts(out, p->columns[i].left ? "<th scope=col" : "<th scope=col class=n");
		if (c->what)
			html_printf(out, " title=\"%s\"", c->what);
		html_printf(out, ">%s", c->name);
		if (c->unit)
			html_printf(out, " <i>%s</i>", c->unit);
		str_puts(out, "</th>");
	}
	str_puts(out, "</tr></thead>\n");
}

/* Returns the class of a cell: numbers stand right, and a verdict has a colour beside its word. */
static const char *table_cell_class(const struct people *p, const struct table *t, size_t row,
				    int i)
{
	const char *cell = people_cell(p, row, i);

	if (!strcmp(t->columns[p->columns[i].value].name, "verdict")) {
		if (!strcmp(cell, verdict_name(VERDICT_BETTER)))
			return " class=better";
		if (!strcmp(cell, verdict_name(VERDICT_WORSE)))
			return " class=worse";
	}
	return p->columns[i].left ? "" : " class=n";
}

static void table_add_rows(struct str *out, const struct people *p, const struct table *t,
			   size_t most)
{
	str_puts(out, "<tbody>\n");
	for (size_t row = 0; row < p->rows && row < most; row++) {
		str_puts(out, "<tr>");
		for (int i = 0; i < p->ncolumns; i++) {
			str_printf(out, "<td%s>", table_cell_class(p, t, row, i));
			html_printf(out, "%s</td>", people_cell(p, row, i));
		}
		str_puts(out, "</tr>\n");
	}
	str_puts(out, "</tbody></table></div>\n");
}

/* Results, and the sums of the sides. Other notes are once in the lists of the page. */
static void table_add_notes(struct str *out, const struct table *t)
{
	freed(note_lines_free) struct note_lines lines;

	note_lines_make(&lines, &t->notes);
	for (size_t i = 0; i < lines.n && lines.line[i].severity >= SEVERITY_METHOD; i++) {
		if (lines.line[i].severity == SEVERITY_RESULT)
			html_add_element(out, "p class=result", lines.line[i].text);
		else if (lines.line[i].notes[0]->variant)
			html_add_element(out, "p class=what", lines.line[i].text);
	}
}

static void table_add_about(struct str *out, const struct html_heading *h, const struct people *p)
{
	if (h->what)
		html_add_element(out, "p class=what", h->what);
	if (p->absent)
		html_printf(out, "<p class=what>Not measured: %s</p>\n", p->absent);
	if (!h->command)
		return;
	str_puts(out, "<p class=what>");
	if (p->rows > h->most)
		html_printf(out, "The first %zu of %zu rows. ", h->most, p->rows);
	html_printf(out, "<code>%s</code></p>\n", h->command);
}

void html_add_table(struct str *out, const struct table *t, const struct html_heading *h)
{
	freed(people_free) struct people p;

	people_of(&p, t);
	str_printf(out, "<details class=table id=\"%s\"%s>", h->id, h->open ? " open" : "");
	html_printf(out,
		    "<summary><b>%s</b> <small>%zu row%s</small></summary>\n"
		    "<div class=scroll tabindex=0 role=region aria-label=\"%s\"><table>",
		    h->title, t->rows, t->rows == 1 ? "" : "s", h->title);
	table_add_head(out, &p, t);
	table_add_rows(out, &p, t, h->most);
	table_add_notes(out, t);
	table_add_about(out, h, &p);
	str_puts(out, "</details>\n");
}

/* --- pictures --- */

/*
 * Each picture is in a frame, where its ids and scripts are its own. The frame loads with the page:
 * a printer does not wait for frames that load later. The attribute is in single quotes, because
 * SVG and JSON have many double ones.
 */
void html_add_svg(struct str *out, const char *svg, const char *name)
{
	const char *start = strstr(svg, "<svg"), *box = start ? strstr(start, "viewBox=\"") : NULL;
	double x, y, w, h;

	if (!box || sscanf(box, "viewBox=\"%lf %lf %lf %lf", &x, &y, &w, &h) != 4)
		return;
	str_printf(
		out,
		"<div class=\"scroll picture\" tabindex=0><iframe sandbox=allow-scripts "
		"title=\"chart %s\" style=\"aspect-ratio:%g/%g\" srcdoc='"
		"<!doctype html><style>html{overflow:hidden}body{margin:0}svg{display:block;width:100%%;height:auto}</style>",
		name, w, h);
	for (; *start; start++) {
		if (*start == '\'')
			str_puts(out, "&#39;");
		else if (*start == '&')
			str_puts(out, "&amp;");
		else
			str_putc(out, *start);
	}
	str_puts(out, "'></iframe></div>\n");
}
