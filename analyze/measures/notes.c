// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/notes.h"

#include <ctype.h>
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
