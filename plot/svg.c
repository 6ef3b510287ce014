// SPDX-License-Identifier: GPL-2.0-only
#include "plot/svg.h"

#include "plot/label.h"

#include <string.h>

static void put_head(struct str *out, const struct figure *f)
{
	int i;

	str_puts(out, "<title>");
	label_xml(out, f->title ? f->title : f->name);
	str_puts(out, "</title>\n<desc>");
	label_xml(out, f->subtitle ? f->subtitle : "");
	for (i = 0; i < f->ncaptions; i++) {
		str_puts(out, ". ");
		label_xml(out, f->captions[i]);
	}
	str_puts(out, ". ");
	label_xml(out, f->foot ? f->foot : "");
	str_puts(out, "</desc>");
}

/* The end of "<name>...</name>" at `s`, or NULL. */
static const char *element_end(const char *s, const char *open, const char *close)
{
	const char *end = str_starts(s, open) ? strstr(s, close) : NULL;

	return end ? end + strlen(close) : NULL;
}

void svg_describe(struct str *out, const char *svg, const struct figure *f)
{
	const char *p = svg, *end;
	bool head = false;

	while (*p) {
		if (!head && str_starts(p, "<svg")) {
			str_puts(out, "<svg role=\"img\"");
			p += 4;
		} else if ((end = element_end(p, "<title>", "</title>"))) {
			if (!head)
				put_head(out, f);
			head = true;
			p = end;
		} else if ((end = element_end(p, "<desc>", "</desc>"))) {
			p = end;
		} else if (str_starts(p, "]]>")) { /* gnuplot writes it as it is; XML forbids it */
			str_puts(out, "]]&gt;");
			p += 3;
		} else {
			str_putc(out, *p++);
		}
	}
}
