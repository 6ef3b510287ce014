// SPDX-License-Identifier: GPL-2.0-only
#include "lib/str.h"

#include "lib/alloc.h"

#include <fnmatch.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	return !pattern || !strcmp(pattern, name) || !fnmatch(pattern, name, 0);
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !memcmp(s + n - m, suffix, m);
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
