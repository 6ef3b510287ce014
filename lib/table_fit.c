// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table_layout.h"

#include <string.h>

int fit_width(const struct people *p, int gap)
{
	int sum = -gap, i;

	for (i = 0; i < p->ncolumns; i++)
		sum += p->columns[i].place != IN_ROWS ? 0 : p->columns[i].width + gap;
	return sum;
}

static struct people_column *fit_widest_name(struct people *p, int least)
{
	struct people_column *c, *best = NULL;

	for (c = p->columns; c < p->columns + p->ncolumns; c++)
		if (c->place == IN_ROWS && !c->whole && c->width > least &&
		    (!best || c->width > best->width))
			best = c;
	return best;
}

bool fit_names(struct people *p, int gap, int width, int least)
{
	struct people_column *c;

	while (fit_width(p, gap) > width && (c = fit_widest_name(p, least)))
		c->width--;
	return fit_width(p, gap) <= width;
}

static bool fit_is_same_in_each_row(const struct people *p, int column)
{
	size_t row;

	for (row = 1; row < p->rows; row++)
		if (strcmp(people_cell(p, row, column), people_cell(p, 0, column)))
			return false;
	return p->rows > 1;
}

void fit_hide_constant(struct people *p, struct str *once)
{
	int i;

	for (i = 0; i < p->ncolumns - 1; i++) {
		struct people_column *c = &p->columns[i];

		if (c->place != IN_ROWS || !c->left || !fit_is_same_in_each_row(p, i))
			continue;
		c->place = SAID_ONCE;
		str_printf(once, "%s%s %s", once->len ? ", " : "", c->name, people_cell(p, 0, i));
	}
}

/* Returns the position after `chars` characters. */
static const char *after(const char *s, int chars)
{
	for (; *s; s++)
		if (((unsigned char)*s & 0xc0) != 0x80 && !chars--)
			break;
	return s;
}

void fit_short(struct str *out, const char *s, int width)
{
	int len = people_width_of(s), tail = (width - 2) / 3, head = width - 2 - tail;

	if (len <= width)
		str_puts(out, s);
	else if (width < 3)
		str_printf(out, "%.*s", (int)(after(s, width) - s), s);
	else
		str_printf(out, "%.*s..%s", (int)(after(s, head) - s), s, after(s, len - tail));
}

void fit_put_short(FILE *out, const char *s, int width)
{
	struct str text = {0};

	fit_short(&text, s, width);
	fputs(text.buf ? text.buf : "", out);
	str_free(&text);
}
