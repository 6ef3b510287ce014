// SPDX-License-Identifier: GPL-2.0-only
#include "lib/str.h"

#include "lib/alloc.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>

static void str_reserve(struct str *s, size_t more)
{
	size_t need = s->len + more + 1;

	if (need <= s->cap)
		return;
	s->cap = need < 64 ? 64 : need + need / 2;
	s->buf = xrealloc(s->buf, s->cap);
}

void str_add(struct str *s, const void *bytes, size_t n)
{
	str_reserve(s, n);
	if (n)
		memcpy(s->buf + s->len, bytes, n);
	s->len += n;
	s->buf[s->len] = '\0';
}

void str_puts(struct str *s, const char *text)
{
	str_add(s, text, strlen(text));
}

void str_putc(struct str *s, char c)
{
	str_add(s, &c, 1);
}

void str_printf(struct str *s, const char *fmt, ...)
{
	size_t room = s->cap - s->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->buf ? s->buf + s->len : NULL, s->buf ? room : 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		if (s->buf)
			s->buf[s->len] = '\0';
		return;
	}
	if (!s->buf || (size_t)n >= room) {
		str_reserve(s, (size_t)n);
		va_start(ap, fmt);
		vsnprintf(s->buf + s->len, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	s->len += (size_t)n;
}

void str_item(struct str *s, bool first, bool last, const char *item)
{
	str_printf(s, "%s%s", first ? "" : last ? " and " : ", ", item);
}

void str_reset(struct str *s)
{
	s->len = 0;
	if (s->buf)
		s->buf[0] = '\0';
}

char *str_take(struct str *s)
{
	char *buf = s->buf ? s->buf : xstrdup("");

	*s = (struct str){0};
	return buf;
}

void str_free(struct str *s)
{
	free(s->buf);
	*s = (struct str){0};
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool str_matches(const char *pattern, const char *name)
{
	return !pattern || !strcmp(pattern, name) ||
	       (strpbrk(pattern, "*?[\\") && !fnmatch(pattern, name, 0));
}

int str_index(const char *const *list, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] && !strcmp(list[i], s))
			return (int)i;
	return -1;
}

bool str_matches_any(const char *patterns, const char *name)
{
	autofree char *copy = xstrdup(patterns);
	char *save;

	for (char *word = strtok_r(copy, " \t\n", &save); word;
	     word = strtok_r(NULL, " \t\n", &save))
		if (str_matches(word, name))
			return true;
	return false;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !memcmp(s + n - m, suffix, m);
}

bool str_is_name(const char *s, const char *more)
{
	const char *p = s;

	while (isalnum((unsigned char)*p) || (*p && strchr(more, *p)))
		p++;
	return p > s && !*p;
}

char *str_trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

void str_put_xml(struct str *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '&')
			str_puts(out, "&amp;");
		else if (*s == '<')
			str_puts(out, "&lt;");
		else if (*s == '>')
			str_puts(out, "&gt;");
		else
			str_putc(out, *s);
	}
}

void str_replace(char *s, char from, char to)
{
	for (; *s; s++)
		if (*s == from)
			*s = to;
}

char *str_token(char **rest, char sep)
{
	char *token = *rest, *end;

	if (!token)
		return NULL;
	end = strchr(token, sep);
	if (end)
		*end++ = '\0';
	*rest = end;
	return token;
}

char *str_last_line(char *text)
{
	char *last = NULL, *line;

	while ((line = str_token(&text, '\n')))
		if (*str_trim(line))
			last = str_trim(line);
	return last;
}

int utf8_decode(const char *s, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t *p = (const uint8_t *)s;
	int n = *p < 0x80 ? 1 : *p < 0xc0 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf8 ? 4 : 0;

	*code = n == 1 ? *p : n ? *p & (0x7fu >> n) : 0;
	for (int i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	if (!n || *code < least[n] || *code > 0x10ffff || (*code & ~0x7ffu) == 0xd800)
		return 0;
	return n;
}

/* These are C0, DEL, C1, line and paragraph separators, and all that changes text direction. */
static bool printable_is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
	       c == 0xfffe || c == 0xffff;
}

/* Most strings are names in plain ASCII, so this one pass is all that they cost. */
static bool printable_is_plain(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f)
			return false;
	return true;
}

static void printable_add_code(struct str *out, const char *s, int n, uint32_t code, int kind)
{
	if (n && kind == PRINTABLE_LINE && (code == '\t' || code == '\n' || code == '\r')) {
		str_putc(out, ' ');
	} else if (n && (!printable_is_unsafe(code) || code == '\t' || code == '\n')) {
		str_add(out, s, (size_t)n);
	} else {
		for (int i = 0; i < (n ? n : 1); i++)
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

enum { NEAR_WORD_MOST = 32 };

/* Returns how many characters to insert, delete or replace in `a` of n characters to make `b`. */
static size_t str_distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t row[NEAR_WORD_MOST + 1], above, corner;

	for (size_t k = 0; k <= m; k++)
		row[k] = k;
	for (size_t i = 1; i <= n; i++) {
		corner = row[0];
		row[0] = i;
		for (size_t k = 1; k <= m; k++) {
			above = row[k];
			corner += a[i - 1] != b[k - 1];
			row[k] = (above < row[k - 1] ? above : row[k - 1]) + 1;
			row[k] = corner < row[k] ? corner : row[k];
			corner = above;
		}
	}
	return row[m];
}

const char *did_you_mean(const char *words, const char *typed)
{
	static _Thread_local char text[128];
	size_t n = strlen(typed), least = n / 3 + 1, len, d;

	*text = '\0';
	if (n > NEAR_WORD_MOST)
		return text;
	for (; words && *words; words += len + strspn(words + len, ", ")) {
		len = strcspn(words, ", ");
		d = n > 1 && !strncmp(words, typed, n) ? 0 : str_distance(words, len, typed, n);
		if (d >= least)
			continue;
		least = d;
		snprintf(text, sizeof(text), "did you mean %.*s? ", (int)len, words);
	}
	return text;
}

int str_chars(const char *s, size_t bytes)
{
	const char *end = s + bytes;
	int n = 0;

	for (; s < end; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

const char *str_line(const char **rest, int room, size_t *len)
{
	const char *start = *rest + strspn(*rest, " "), *at = start;
	size_t word;

	if (!*start)
		return NULL;
	for (*len = 0; *at && *at != '\n'; at += strspn(at, " ")) {
		word = strcspn(at, " \n");
		if (*len && str_chars(start, (size_t)(at - start) + word) > room)
			break;
		at += word;
		*len = (size_t)(at - start);
	}
	*rest = at + (*at == '\n');
	return start;
}

char *str_wrap(const char *text, int room, int margin)
{
	struct str s = {0};
	const char *line;
	size_t len;

	while ((line = str_line(&text, room, &len))) {
		if (s.buf)
			str_printf(&s, "\n%*s", margin, "");
		str_add(&s, line, len);
	}
	return str_take(&s);
}
