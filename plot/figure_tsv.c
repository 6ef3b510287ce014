// SPDX-License-Identifier: GPL-2.0-only
/* What a figure draws, as a table: geometry first, which gnuplot reads, then what people read. */
#include "plot/figure.h"

#include "lib/file.h"
#include "plot/page.h"

#include <errno.h>
#include <stdlib.h>

enum { C_SERIES, C_AT0, C_AT1, C_FROM, C_TO, C_VALUE, C_LO, C_HI, C_GROUP, C_VARIANT, C_PART, C_N };

static void put_row(struct table *t, const struct figure *f, const int place[3], double from,
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

static void put_bar(struct table *t, const struct figure *f, int group, int bar)
{
	int place[3] = {group, bar, 0};
	struct estimate e;
	double from = 0, to, scale = figure_part_scale(f, group, bar);

	for (; place[2] < f->parts.n; place[2]++) {
		if (!figure_get(f, group, bar, place[2], &e))
			continue;
		to = from + scale * e.value;
		put_row(t, f, place, from, to, e);
		from = to;
	}
	place[2] = FIGURE_WHOLE;
	from = figure_from(f, group, bar);
	if (figure_get(f, group, bar, FIGURE_WHOLE, &e))
		put_row(t, f, place, from, from + e.value, e);
}

static int write_table(const struct table *t, const char *path, struct error *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int rc;

	if (!out)
		return error_sys(err, errno, "%s: cannot write", path);
	rc = table_write(t, FORMAT_TSV, out);
	if (fclose(out) && !rc)
		rc = -ENOMEM;
	rc = rc ? error_sys(err, -rc, "%s: cannot write", path) : file_write(path, text, len, err);
	free(text);
	return rc;
}

int figure_write_tsv(const struct figure *f, const char *path, struct error *err)
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
	struct table t;
	int g, b, rc;

	table_init(&t, f->name, columns, f->parts.n || f->note_word ? C_N : C_PART);
	for (g = 0; g < f->groups.n; g++)
		for (b = 0; b < f->bars.n; b++)
			put_bar(&t, f, g, b);
	rc = write_table(&t, path, err);
	table_free(&t);
	return rc;
}
