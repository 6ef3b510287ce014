// SPDX-License-Identifier: GPL-2.0-only
#include "plot/label.h"

/* Advance widths of ' ' to '~' in DejaVu Sans, hundredths of the font size. */
static const uint8_t widths[] = {
	32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,	 32, 34, 64, 64, 64,
	64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
	58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,	 61, 73, 68, 99, 68,
	61, 68, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,	 63, 63, 28, 28, 58,
	28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,	 52, 64, 34, 64, 84,
};
static const double bold_factor = 1.13, other_width = 0.85, wide_width = 1.05;

char *label_clean(struct arena *a, const char *s)
{
	freed(str_free) struct str scratch = {0};

	return arena_strdup(a, s ? printable(&scratch, s, PRINTABLE_LINE) : "");
}

static double character_width(uint32_t code)
{
	if (code >= 0x20 && code < 0x7f)
		return widths[code - 0x20] / 100.0;
	return code >= 0x1100 ? wide_width : other_width;
}

static double bytes_width(const char *s, size_t len, double size, bool bold)
{
	const char *end = s + len;
	double sum = 0;
	uint32_t code;
	int n;

	for (; s < end; s += n ? n : 1) {
		n = utf8_decode(s, &code);
		sum += character_width(code);
	}
	return sum * size * (bold ? bold_factor : 1);
}

double label_width(const char *s, double size, bool bold)
{
	return bytes_width(s, strlen(s), size, bold);
}

static size_t utf8_back(const char *s, size_t at)
{
	do
		at--;
	while (at && ((unsigned char)s[at] & 0xc0) == 0x80);
	return at;
}

static size_t utf8_forward(const char *s, size_t at)
{
	do
		at++;
	while (((unsigned char)s[at] & 0xc0) == 0x80);
	return at;
}

/* Returns the beginning, up to `share` of the width, and as much of the end as then has room. */
static char *label_cut(struct arena *a, const char *s, double size, double width, double share)
{
	size_t len = strlen(s), head = share < 1 ? len / 2 : len, tail;
	double room = width - label_width("…", size, false);

	if (label_width(s, size, false) <= width)
		return arena_strdup(a, s);
	while (head && ((unsigned char)s[head] & 0xc0) == 0x80)
		head--;
	tail = head;
	while (head > 0 && bytes_width(s, head, size, false) > room * share)
		head = utf8_back(s, head);
	room -= bytes_width(s, head, size, false);
	while (tail < len && bytes_width(s + tail, len - tail, size, false) > room)
		tail = utf8_forward(s, tail);
	return arena_printf(a, "%.*s…%s", (int)head, s, s + tail);
}

char *label_fit(struct arena *a, const char *s, double size, double width)
{
	return label_cut(a, s, size, width, 0.55);
}

/* Returns whether the character of `n` bytes at `s` is one of `set`. */
static bool character_is_one_of(const char *set, const char *s, size_t n)
{
	for (size_t at = 0; set[at]; at = utf8_forward(set, at))
		if (!strncmp(set + at, s, n))
			return true;
	return false;
}

/* Returns where the first line ends: the last break that fits; 0 where there is none. `any`: inside
 * a word. */
static size_t line_end(const char *s, const struct label_shape *shape, size_t *any)
{
	size_t at = 0, next, end = 0;
	double width = 0;
	uint32_t code;

	for (; s[at]; at = next) {
		next = utf8_forward(s, at);
		utf8_decode(s + at, &code);
		width += character_width(code);
		if (at && width * shape->size * (shape->bold ? bold_factor : 1) > shape->width)
			break;
		if (character_is_one_of(shape->breaks, s + at, next - at))
			end = next;
	}
	*any = at;
	return s[at] ? end : at;
}

bool label_wraps(const char *s, const struct label_shape *shape)
{
	size_t len, any;

	for (int n = 0; *s && n < shape->lines; n++, s += len) {
		len = line_end(s, shape, &any);
		if (!len)
			return false;
	}
	return !*s;
}

int label_wrap(struct arena *a, const char *s, const struct label_shape *shape, char **lines)
{
	double slack = shape->bold ? bold_factor : 1;
	int n = 0;

	while (*s && n < shape->lines) {
		size_t any, len = line_end(s, shape, &any);
		char *line;

		if (!len)
			len = any;
		if (n == shape->lines - 1 && s[len]) {
			lines[n++] = label_cut(a, s, shape->size * slack, shape->width,
					       shape->name ? 0.55 : 1);
			break;
		}
		line = arena_dup(a, s, len + 1);
		line[len] = 0;
		lines[n++] = str_trim(line);
		s += len;
	}
	return n;
}

/* Returns whether gnuplot may read the character as a quote, an escape, a command or a macro. */
static bool gnuplot_is_special(char c)
{
	return (unsigned char)c < ' ' || strchr("\"'\\`@$#", c);
}

void label_quote(struct str *out, const char *s)
{
	bool escaped = false;

	str_putc(out, '"');
	for (; *s; s++) {
		/* gnuplot reads any number of octal digits after a backslash. */
		escaped = gnuplot_is_special(*s) || (escaped && *s >= '0' && *s <= '7');
		if (escaped)
			str_printf(out, "\\%03o", (unsigned char)*s);
		else
			str_putc(out, *s);
	}
	str_putc(out, '"');
}

void label_quote_enhanced(struct str *out, const char *s)
{
	freed(str_free) struct str marked = {0};

	for (; *s; s++) {
		if (strchr("{}^_@&~\\", *s))
			str_putc(&marked, '\\');
		str_putc(&marked, *s);
	}
	label_quote(out, marked.buf ? marked.buf : "");
}
