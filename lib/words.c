// SPDX-License-Identifier: GPL-2.0-only
#include "lib/words.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void words_add_owned(struct words *w, char *word)
{
	w->word = xrealloc(w->word, (w->n + 2) * sizeof(*w->word));
	w->word[w->n++] = word;
	w->word[w->n] = NULL;
}

void words_add(struct words *w, const char *word)
{
	words_add_owned(w, xstrdup(word));
}

void words_addf(struct words *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	words_add_owned(w, xvasprintf(fmt, ap));
	va_end(ap);
}

/* Copies one quoted part. Returns the text after the closing quote, or NULL without one. */
static const char *word_read_quoted(struct str *word, const char *p, char quote)
{
	for (; *p && *p != quote; p++) {
		if (quote == '"' && *p == '\\' && (p[1] == '"' || p[1] == '\\'))
			p++;
		str_putc(word, *p);
	}
	return *p ? p + 1 : NULL;
}

/* Reads one word from `p`, which is no blank. Returns the text after it, or NULL for an open quote.
 */
static const char *word_read(struct str *word, const char *p)
{
	str_puts(word, "");
	while (p && *p && !isspace((unsigned char)*p)) {
		if (*p == '\'' || *p == '"') {
			p = word_read_quoted(word, p + 1, *p);
			continue;
		}
		if (*p == '\\' && p[1])
			p++;
		str_putc(word, *p++);
	}
	return p;
}

int words_split(struct words *w, const char *text, struct error *err)
{
	const char *p = text;
	struct str word = {0};

	for (;;) {
		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			return 0;
		p = word_read(&word, p);
		if (!p) {
			str_free(&word);
			return error_set(err, EINVAL, "a quote is not closed in: %s", text);
		}
		words_add_owned(w, str_take(&word));
	}
}

void words_free(struct words *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		free(w->word[i]);
	free(w->word);
	*w = (struct words){0};
}

static void words_join_quoted(struct str *s, const char *word)
{
	str_putc(s, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			str_puts(s, "'\\''");
		else
			str_putc(s, *word);
	}
	str_putc(s, '\'');
}

char *words_join(char *const word[])
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%^";
	struct str s = {0};
	size_t i;

	for (i = 0; word[i]; i++) {
		if (i)
			str_putc(&s, ' ');
		if (*word[i] && !word[i][strspn(word[i], plain)])
			str_puts(&s, word[i]);
		else
			words_join_quoted(&s, word[i]);
	}
	return str_take(&s);
}
