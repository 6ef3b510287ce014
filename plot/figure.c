// SPDX-License-Identifier: GPL-2.0-only
/* A figure as data, and its .tsv: first the geometry for gnuplot, then the names for people.
 */
#include "plot/figure.h"

#include "lib/output.h"
#include "plot/label.h"

void figure_init(struct figure *f, const char *name)
{
	*f = (struct figure){.name = name, .group_word = "group", .absent = "n/a"};
}

void figure_free(struct figure *f)
{
	free(f->groups.mark);
	free(f->bars.mark);
	free(f->parts.mark);
	free(f->data);
	curves_free(f);
	arena_free(&f->arena);
	*f = (struct figure){0};
}

static const char *figure_vtext(struct figure *f, const char *fmt, va_list ap)
{
	autofree char *text = xvasprintf(fmt, ap);

	return label_clean(&f->arena, text);
}

const char *figure_text(struct figure *f, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = figure_vtext(f, fmt, ap);
	va_end(ap);
	return text;
}

void figure_doubt(struct figure *f, const char *fmt, ...)
{
	va_list ap;

	if (f->doubts++)
		return;
	va_start(ap, fmt);
	f->doubt = figure_vtext(f, fmt, ap);
	va_end(ap);
}

void figure_remark(struct figure *f, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = figure_vtext(f, fmt, ap);
	va_end(ap);
	f->remarks = f->remarks ? arena_printf(&f->arena, "%s · %s", f->remarks, text) : text;
}

int figure_find_mark(const struct figure_marks *m, const char *name)
{
	for (int i = 0; i < m->n; i++)
		if (!strcmp(m->mark[i].name, name))
			return i;
	return -1;
}

static int figure_add_mark(struct figure *f, struct figure_marks *m, const char *label,
			   uint32_t rgb)
{
	array_grow(m->mark, m->n, m->cap);
	m->mark[m->n] = (struct figure_mark){arena_strdup(&f->arena, label),
					     label_clean(&f->arena, label), rgb};
	return m->n++;
}

int figure_group(struct figure *f, const char *label)
{
	return figure_add_mark(f, &f->groups, label, 0);
}

int figure_bar(struct figure *f, const char *label, uint32_t rgb)
{
	return figure_add_mark(f, &f->bars, label, rgb);
}

int figure_part(struct figure *f, const char *label, uint32_t rgb)
{
	return figure_add_mark(f, &f->parts, label, rgb);
}

void figure_put_step(struct figure *f, int group, int bar, double from, struct estimate e)
{
	struct figure_bar new = {group, bar, FIGURE_WHOLE, from, e, ""};

	if (e.hi - e.lo <= 1e-9 * fabs(e.hi)) /* equal runs, but for the rounding of sums */
		new.e.lo = new.e.hi = e.value;
	array_add(f->data, f->ndata, f->data_cap, new);
}

void figure_put(struct figure *f, int group, int bar, int part, struct estimate e)
{
	figure_put_step(f, group, bar, 0, e);
	f->data[f->ndata - 1].part = part;
}

void figure_put_noted(struct figure *f, int group, int bar, struct estimate e, const char *note)
{
	figure_put(f, group, bar, FIGURE_WHOLE, e);
	f->data[f->ndata - 1].note = arena_strdup(&f->arena, note);
}

static const struct figure_bar *figure_find(const struct figure *f, int group, int bar, int part)
{
	return array_find(x, f->data, f->ndata,
			  x->group == group && x->bar == bar && x->part == part);
}

const char *figure_note(const struct figure *f, int group, int bar)
{
	const struct figure_bar *b = figure_find(f, group, bar, FIGURE_WHOLE);

	return b ? b->note : "";
}

double figure_from(const struct figure *f, int group, int bar)
{
	const struct figure_bar *b = figure_find(f, group, bar, FIGURE_WHOLE);

	return b ? b->from : 0;
}

bool figure_has_steps(const struct figure *f)
{
	return array_find(x, f->data, f->ndata, x->from != 0);
}

bool figure_get(const struct figure *f, int group, int bar, int part, struct estimate *e)
{
	const struct figure_bar *b = figure_find(f, group, bar, part);

	*e = b ? b->e : estimate_plain(NAN);
	return !isnan(e->value);
}

bool figure_part_exceeds(const struct figure *f, int part, double least)
{
	return array_find(x, f->data, f->ndata, x->part == part && x->e.value > least);
}

bool figure_has_many(const struct figure *f)
{
	return f->bars.n > FIGURE_BARS && !f->curves && !figure_has_steps(f);
}

void figure_choose_rows(struct figure *f)
{
	f->rows = figure_has_many(f);
	f->lying |= f->rows;
}

/* Medians of parts need not add up to the median of the whole. */
double figure_stack_excess(const struct figure *f)
{
	double excess = 0, sum;
	struct estimate e;
	int p;

	for (int g = 0; g < f->groups.n && f->parts.n; g++) {
		for (int b = 0; b < f->bars.n; b++) {
			for (p = 0, sum = 0; p < f->parts.n; p++)
				sum += figure_get(f, g, b, p, &e) ? e.value : 0;
			if (figure_get(f, g, b, FIGURE_WHOLE, &e))
				excess = fmax(excess, sum - e.value);
		}
	}
	return excess;
}

enum { C_SERIES, C_AT0, C_AT1, C_FROM, C_TO, C_VALUE, C_LO, C_HI, C_GROUP, C_VARIANT, C_PART, C_N };

static void tsv_add_row(struct table *t, const struct figure *f, const int place[3], double from,
			double to, struct estimate e)
{
	double at = page_position(f, place[0], place[1]), half = BAR_HALF / 100.0;
	int part = place[2];
	struct value *row = table_row(t);

	row[C_SERIES] = value_int(part != FIGURE_WHOLE ? part + 1 : f->parts.n ? 0 : place[1] + 1);
	row[C_AT0] = value_real(at - half);
	row[C_AT1] = value_real(at + half);
	row[C_FROM] = value_real(from);
	row[C_TO] = value_real(to);
	row[C_VALUE] = value_real(e.value);
	row[C_LO] = value_real(e.lo);
	row[C_HI] = value_real(e.hi);
	row[C_GROUP] = value_str(t, f->groups.mark[place[0]].name);
	row[C_VARIANT] = value_str(t, f->bars.mark[place[1]].name);
	if (f->parts.n)
		row[C_PART] = value_str(t, part == FIGURE_WHOLE ? "all" : f->parts.mark[part].name);
	else if (f->note_word)
		row[C_PART] = value_str(t, figure_note(f, place[0], place[1]));
}

static void tsv_add_bar(struct table *t, const struct figure *f, const struct page *page, int group,
			int bar)
{
	int place[3] = {group, bar, 0};
	struct estimate e;
	double zero = group * page->pitch, from = zero, to;

	for (; place[2] < f->parts.n; place[2]++) {
		if (!figure_get(f, group, bar, place[2], &e))
			continue;
		to = from + e.value;
		tsv_add_row(t, f, place, from, to, e);
		from = to;
	}
	place[2] = FIGURE_WHOLE;
	from = zero + figure_from(f, group, bar);
	if (figure_get(f, group, bar, FIGURE_WHOLE, &e))
		tsv_add_row(t, f, place, from, from + e.value, e);
}

int figure_write_table(const struct table *t, const char *dir, struct error *err)
{
	autofree char *path = xasprintf("%s/%s.tsv", dir, t->name);
	struct sink out;
	return sink_open(&out, path, err)
		       ?: sink_close(&out, table_write(t, FORMAT_TSV, 0, out.f), err);
}

int figure_write_tsv(const struct figure *f, const char *dir, struct error *err)
{
	struct column columns[C_N] = {
		[C_SERIES] = {"series", .type = V_INT},
		[C_AT0] = {"at0", .type = V_REAL, .digits = 2},
		[C_AT1] = {"at1", .type = V_REAL, .digits = 2},
		[C_FROM] = {"from", .type = V_REAL, .digits = 3},
		[C_TO] = {"to", .type = V_REAL, .digits = 3},
		[C_VALUE] = {"value", .type = V_REAL, .digits = 3},
		[C_LO] = {"lo", .type = V_REAL, .digits = 3},
		[C_HI] = {"hi", .type = V_REAL, .digits = 3},
		[C_GROUP] = {f->group_word, .type = V_STR},
		[C_VARIANT] = {"variant", .type = V_STR},
		[C_PART] = {f->parts.n ? "part" : f->note_word, .type = V_STR},
	};
	freed(page_free) struct page page;
	freed(table_free) struct table t = {0};

	page_make(&page, f);
	table_init(&t, f->name, columns, f->parts.n || f->note_word ? C_N : C_PART);
	for (int g = 0; g < f->groups.n; g++)
		for (int b = 0; b < f->bars.n; b++)
			tsv_add_bar(&t, f, &page, g, b);
	return figure_write_table(&t, dir, err);
}

bool figure_has_whiskers(const struct figure *f, bool of_parts)
{
	return array_find(x, f->data, f->ndata,
			  (!of_parts || x->part != FIGURE_WHOLE) && x->e.hi > x->e.lo);
}
