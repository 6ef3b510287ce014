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

static const char *skip_digits(const char *s)
{
	while (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])))
		s++;
	return s;
}

/* Moves behind a number that stands alone, or two that are a range; a digit inside of a word is the
 * word's. */
static const char *skip_number(const char *s, const char *start)
{
	if (!isdigit((unsigned char)*s) || (s > start && isalnum((unsigned char)s[-1])))
		return s;
	s = skip_digits(s);
	if (str_starts(s, "..") && isdigit((unsigned char)s[2]))
		s = skip_digits(s + 2);
	return s;
}

/* Is the number at `at` which one it is, as in "CPUs 4,12", and not how many? */
static bool is_name(const char *start, const char *at)
{
	static const char *const of[] = {"CPU", "CPUs", "node", "nodes"};
	const char *end = at, *word;
	size_t i;

	while (end > start && strchr("0123456789,.-", end[-1]))
		end--;
	if (end == start || end[-1] != ' ')
		return false;
	for (word = --end; word > start && isalpha((unsigned char)word[-1]); word--)
		;
	for (i = 0; i < array_size(of); i++)
		if (strlen(of[i]) == (size_t)(end - word) &&
		    !memcmp(word, of[i], (size_t)(end - word)))
			return true;
	return false;
}

/* Returns the text with a mark for each number; keep_names leaves the numbers that are names. */
static char *text_kind(const char *text, bool keep_names)
{
	struct str s = {0};
	const char *p = text, *next;

	for (; *p; p = next) {
		next = skip_number(p, text);
		if (next == p)
			str_putc(&s, *next++);
		else if (keep_names && is_name(text, p))
			str_add(&s, p, (size_t)(next - p));
		else
			str_putc(&s, '\1');
	}
	return str_take(&s);
}

/* Adds the note to those with an equal key, and frees the key. */
static void kinds_add(struct note_kinds *k, char *key, const char *note, const void *run)
{
	uint32_t id = intern_str(&k->keys, key);
	struct note_kind *kind;

	free(key);
	if (id == k->n) {
		array_grow(k->kinds, k->n, k->cap);
		k->kinds[k->n++] = (struct note_kind){.first = run};
	}
	kind = &k->kinds[id];
	kind->runs += !kind->n || kind->last != run;
	kind->last = run;
	array_grow(kind->texts, kind->n, kind->cap);
	kind->texts[kind->n++] = arena_strdup(&k->keys.arena, note);
}

void note_kinds_add(struct note_kinds *k, const char *note, const void *run)
{
	const char *body = body_of(note);
	char *kind = text_kind(body, false);

	kinds_add(k,
		  xasprintf("%s %.*s%s", run ? "run" : "capture", (int)(body - note), note, kind),
		  note, run);
	free(kind);
}

void note_kinds_free(struct note_kinds *k)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		free(k->kinds[i].texts);
	free(k->kinds);
	intern_free(&k->keys);
}

bool notes_alike(const char *a, const char *b)
{
	const char *body_a = body_of(a), *body_b = body_of(b);
	char *kind_a, *kind_b;
	bool alike;

	if (body_a - a != body_b - b || memcmp(a, b, (size_t)(body_a - a)) != 0)
		return false;
	kind_a = text_kind(body_a, false);
	kind_b = text_kind(body_b, false);
	alike = !strcmp(kind_a, kind_b);
	free(kind_a);
	free(kind_b);
	return alike;
}

static void put_number(struct str *s, const char *number)
{
	str_printf(s, "%.*s", (int)(skip_digits(number) - number), number);
}

/* The last of the number, or of the range, that is at `s`. */
static const char *upper_of(const char *s)
{
	const char *end = skip_digits(s);

	return str_starts(end, "..") && isdigit((unsigned char)end[2]) ? end + 2 : s;
}

/* The number that each text has at its place, or the first and the last of them by size. */
static void put_range(struct str *s, const char *const *at, size_t n)
{
	const char *low = at[0], *high = upper_of(at[0]), *upper;
	size_t i;

	for (i = 1; i < n; i++) {
		upper = upper_of(at[i]);
		low = strtod(at[i], NULL) < strtod(low, NULL) ? at[i] : low;
		high = strtod(upper, NULL) > strtod(high, NULL) ? upper : high;
	}
	put_number(s, low);
	if (strtod(low, NULL) < strtod(high, NULL)) {
		str_puts(s, "..");
		put_number(s, high);
	}
}

static char *texts_range(const char *const *texts, size_t n)
{
	const char **at = xcalloc(n, sizeof(*at)), *start = texts[0];
	struct str s = {0};
	size_t i;

	memcpy(at, texts, n * sizeof(*at));
	str_puts(&s, "");
	while (*at[0]) {
		if (skip_number(at[0], start) == at[0]) {
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
	return str_take(&s);
}

char *notes_range(const char *const *texts, size_t n)
{
	const char **bodies = xcalloc(n, sizeof(*bodies));
	char *range, *text;
	size_t i;

	for (i = 0; i < n; i++)
		bodies[i] = body_of(texts[i]);
	range = texts_range(bodies, n);
	text = xasprintf("%.*s%s", (int)(bodies[0] - texts[0]), texts[0], range);
	free(range);
	free(bodies);
	return text;
}

void notes_say_once(struct table *t, const char *text)
{
	size_t i;

	for (i = 0; i < t->nnotes; i++)
		if (notes_alike(t->notes[i], text))
			return;
	table_note(t, "%s", text);
}

/* "warning: variant side: text" or "lossy: ...": the variant and side; else NULL. */
static const char *whose(const char *note, size_t *len)
{
	const char *start = strchr(note, ' '), *end;

	if (!start || (!str_starts(note, "warning: ") && !str_starts(note, "lossy: ")))
		return NULL;
	end = strstr(++start, ": ");
	*len = end ? (size_t)(end - start) : 0;
	return end ? start : NULL;
}

enum { NAMES = 3 };

/* "warning: a receiver, a sender and 3 more: covers 1.28..1.33 s" */
static void put_gathered(struct table *t, const char *const *notes, size_t n)
{
	size_t shown = n <= NAMES + 1 ? n : NAMES, i, len;
	const char *first = whose(notes[0], &len);
	const char **texts = xcalloc(n, sizeof(*texts));
	struct str s = {0};
	char *text;

	str_printf(&s, "%.*s", (int)(first - notes[0]), notes[0]);
	for (i = 0; i < n; i++) {
		const char *of = whose(notes[i], &len);

		if (i < shown)
			str_printf(&s, "%s%.*s", i ? ", " : "", (int)len, of);
		texts[i] = of + len + 2;
	}
	if (shown < n)
		str_printf(&s, " and %zu more", n - shown);
	text = texts_range(texts, n);
	table_note(t, "%s: %s", s.buf, text);
	free(text);
	free(texts);
	str_free(&s);
}

/* The severity and the kind of the text; a note of no side, the number i, is alike to no other. */
static char *gathering_key(const char *note, size_t i)
{
	size_t len;
	const char *of = whose(note, &len);
	char *kind, *key;

	if (!of)
		return xasprintf("%zu", i);
	kind = text_kind(of + len, true);
	key = xasprintf("%.*s%s", (int)(of - note), note, kind);
	free(kind);
	return key;
}

void notes_gather(struct table *t)
{
	const char **all = t->notes;
	struct note_kinds kinds = {0};
	size_t n = t->nnotes, i;

	t->notes = NULL;
	t->nnotes = t->notes_cap = 0;
	for (i = 0; i < n; i++)
		kinds_add(&kinds, gathering_key(all[i], i), all[i], NULL);
	for (i = 0; i < kinds.n; i++) {
		const struct note_kind *kind = &kinds.kinds[i];

		if (kind->n > 1)
			put_gathered(t, kind->texts, kind->n);
		else
			table_note(t, "%s", kind->texts[0]);
	}
	note_kinds_free(&kinds);
	free(all);
}

void notes_whole_run(struct table *t, const char *what)
{
	table_note(t,
		   "%s: the workload's own count over its whole run, warm-up included; other "
		   "figures are of the window",
		   what);
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
