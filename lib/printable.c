// SPDX-License-Identifier: GPL-2.0-only
#include "lib/printable.h"

#include <stdbool.h>

int utf8_decode(const char *s, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t *p = (const uint8_t *)s;
	int n = *p < 0x80   ? 1
		: *p < 0xc0 ? 0
		: *p < 0xe0 ? 2
		: *p < 0xf0 ? 3
		: *p < 0xf8 ? 4
			    : 0,
	    i;

	*code = n == 1 ? *p : n ? *p & (0x7fu >> n) : 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	if (!n || *code < least[n] || *code > 0x10ffff || (*code & ~0x7ffu) == 0xd800)
		return 0;
	return n;
}

static bool printable_is_space(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r';
}

/* C0, DEL and C1; line and paragraph separators; marks, overrides and isolates of direction. */
static bool printable_is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
	       c == 0xfffe || c == 0xffff;
}

/* Most strings are names in plain ASCII: one pass over them is all that they cost. */
static bool printable_is_plain(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f)
			return false;
	return true;
}

static void printable_add_code(struct str *out, const char *s, int n, uint32_t code, int kind)
{
	int i;

	if (n && printable_is_space(code) && kind == PRINTABLE_LINE) {
		str_putc(out, ' ');
	} else if (n && (!printable_is_unsafe(code) || code == '\t' || code == '\n')) {
		str_add(out, s, (size_t)n);
	} else {
		for (i = 0; i < (n ? n : 1); i++)
			str_printf(out, "\\x%02x", (unsigned char)s[i]);
	}
}

const char *printable(struct str *scratch, const char *s, int kind)
{
	uint32_t code;
	int n;

	if (printable_is_plain(s))
		return s;
	str_reset(scratch);
	for (; *s; s += n ? n : 1) {
		n = utf8_decode(s, &code);
		printable_add_code(scratch, s, n, code, kind);
	}
	return scratch->buf;
}
