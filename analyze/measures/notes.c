// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/notes.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Behind "severity: variant side: ", where there is such a head. */
static const char *body_of(const char *text)
{
	const char *colon = strstr(text, ": ");
	const char *second = colon ? strstr(colon + 2, ": ") : NULL;

	return second ? second + 2 : text;
}

/* Moves behind a number that stands alone; a digit inside of a word is the word's. */
static const char *skip_number(const char *s, const char *start)
{
	if (!isdigit((unsigned char)*s) || (s > start && isalnum((unsigned char)s[-1])))
		return s;
	while (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])))
		s++;
	return s;
}

bool notes_alike(const char *a, const char *b)
{
	const char *body_a = body_of(a), *body_b = body_of(b);
	const char *p = body_a, *q = body_b;

	if (body_a - a != body_b - b || memcmp(a, b, (size_t)(body_a - a)))
		return false;
	for (;;) {
		const char *next_p = skip_number(p, body_a), *next_q = skip_number(q, body_b);

		if ((next_p == p) != (next_q == q))
			return false;
		p = next_p;
		q = next_q;
		if (*p != *q)
			return false;
		if (!*p)
			return true;
		p++;
		q++;
	}
}

static void put_number(struct str *s, const char *number)
{
	str_printf(s, "%.*s", (int)(skip_number(number, number) - number), number);
}

/* The number that each text has at its place, or the first and the last of them by size. */
static void put_range(struct str *s, const char *const *at, size_t n)
{
	const char *low = at[0], *high = at[0];
	size_t i;

	for (i = 1; i < n; i++) {
		low = strtod(at[i], NULL) < strtod(low, NULL) ? at[i] : low;
		high = strtod(at[i], NULL) > strtod(high, NULL) ? at[i] : high;
	}
	put_number(s, low);
	if (strtod(low, NULL) < strtod(high, NULL)) {
		str_puts(s, "..");
		put_number(s, high);
	}
}

char *notes_range(const char *const *texts, size_t n)
{
	const char **at = xcalloc(n, sizeof(*at)), *body = body_of(texts[0]);
	struct str s = {0};
	size_t i;

	str_printf(&s, "%.*s", (int)(body - texts[0]), texts[0]);
	for (i = 0; i < n; i++)
		at[i] = body_of(texts[i]);
	while (*at[0]) {
		if (skip_number(at[0], body) == at[0]) {
			str_putc(&s, *at[0]);
			for (i = 0; i < n; i++)
				at[i]++;
			continue;
		}
		put_range(&s, at, n);
		for (i = 0; i < n; i++)
			at[i] = skip_number(at[i], at[i]);
	}
	free(at);
	return s.buf;
}

void notes_say_once(struct table *t, const char *text)
{
	size_t i;

	for (i = 0; i < t->nnotes; i++)
		if (notes_alike(t->notes[i], text))
			return;
	table_note(t, "%s", text);
}

static void add_note(void *table, const char *severity, const char *text)
{
	struct table *t = table;

	t->lossy |= !strcmp(severity, "lossy");
	table_note(t, "%s%s%s", strcmp(severity, "note") ? severity : "",
		   strcmp(severity, "note") ? ": " : "", text);
}

void notes_of_profile(struct table *t, const struct profile *p)
{
	profile_tell_health(p, add_note, t);
}
