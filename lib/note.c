// SPDX-License-Identifier: GPL-2.0-only
#include "lib/note.h"

#include "lib/intern.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>

enum { NAMES_SHOWN = 3 };

static const char *const severities[] = {
	[SEVERITY_INFO] = "info",     [SEVERITY_WARNING] = "warning", [SEVERITY_LOSSY] = "lossy",
	[SEVERITY_METHOD] = "method", [SEVERITY_RESULT] = "result",
};

const char *severity_name(enum note_severity severity)
{
	return severities[severity];
}

bool severity_parse(const char *name, enum note_severity *severity)
{
	int i = name ? str_index(severities, array_size(severities), name) : -1;

	if (i >= 0)
		*severity = (enum note_severity)i;
	return i >= 0;
}

/* --- conversions of a sentence --- */

struct conversion {
	const char *start, *end; /* "%5.1f" */
	const char *length;	 /* start of "zu" in "%zu" */
	char type;		 /* 's', 'd', 'u', 'f', 'g', 'c'; 0 after the last conversion */
};

/* Returns the next conversion after `s`. "%%" is text. */
static struct conversion conversion_next(const char *s)
{
	struct conversion c = {0};

	for (s = strchr(s, '%'); s && s[1] == '%'; s = strchr(s + 2, '%'))
		;
	if (!s)
		return c;
	c.start = s;
	c.length = s + 1 + strspn(s + 1, "+-# 0123456789.");
	c.end = c.length + strspn(c.length, "hlzj");
	c.type = *c.end++;
	return c;
}

const char *note_collector(const struct note *note)
{
	const char *concerns = note->kind->concerns;

	return concerns && !strcmp(concerns, "*") ? note->value[0].text : concerns;
}

bool note_text_is_own(const struct note_kind *kind, size_t place)
{
	struct conversion c = conversion_next(kind->sentence);

	while (c.type && place--)
		c = conversion_next(c.end);
	return c.type == 's' && c.start[1] == '-';
}

static double conversion_integer(const struct conversion *c, va_list *ap)
{
	bool is_signed = c->type == 'd' || c->type == 'i';

	if (*c->length == 'z')
		return (double)va_arg(*ap, size_t);
	if (*c->length == 'l')
		return is_signed ? (double)va_arg(*ap, long long)
				 : (double)va_arg(*ap, unsigned long long);
	return is_signed ? (double)va_arg(*ap, int) : (double)va_arg(*ap, unsigned int);
}

static struct note_value conversion_value(const struct conversion *c, struct arena *a, va_list *ap)
{
	const char *text;

	switch (c->type) {
	case 's':
		text = va_arg(*ap, const char *);
		return (struct note_value){.text = arena_strdup(a, text ? text : "")};
	case 'f':
	case 'g':
	case 'e':
		return (struct note_value){.number = va_arg(*ap, double)};
	default:
		return (struct note_value){.number = conversion_integer(c, ap)};
	}
}

struct note *notes_add(struct notes *list, const struct note_kind *kind, ...)
{
	struct note *n = array_new(list->note, list->n, list->cap);
	va_list ap;

	*n = (struct note){.kind = kind, .severity = kind->severity};
	va_start(ap, kind);
	for (struct conversion c = conversion_next(kind->sentence);
	     c.type && n->nvalues < NOTE_VALUES; c = conversion_next(c.end))
		n->value[n->nvalues++] = conversion_value(&c, &list->arena, &ap);
	va_end(ap);
	return n;
}

struct note *notes_copy(struct notes *list, const struct note *note)
{
	struct note *n = array_new(list->note, list->n, list->cap);

	*n = *note;
	n->variant = arena_strdup(&list->arena, note->variant);
	n->side = arena_strdup(&list->arena, note->side);
	n->pass = arena_strdup(&list->arena, note->pass);
	for (int i = 0; i < n->nvalues; i++)
		n->value[i].text = arena_strdup(&list->arena, note->value[i].text);
	return n;
}

struct note *notes_set_side(struct notes *list, const char *variant, const char *side)
{
	struct note *n = &list->note[list->n - 1];

	n->variant = arena_strdup(&list->arena, variant);
	n->side = arena_strdup(&list->arena, side);
	return n;
}

bool notes_have(const struct notes *list, enum note_severity severity)
{
	size_t i;

	for (i = 0; i < list->n && list->note[i].severity != severity; i++)
		;
	return i < list->n;
}

void notes_free(struct notes *list)
{
	free(list->note);
	arena_free(&list->arena);
	*list = (struct notes){0};
}

/* --- the sentence --- */

/*
 * Appends the text between two conversions. "%%" is one character. Of "{is|are}" the first word
 * follows the number 1.
 */
static void sentence_add_plain(struct str *s, const char *from, const char *to, bool one)
{
	const char *bar, *end;

	for (; from < to; from++) {
		if (*from == '{') {
			bar = from + strcspn(from, "|");
			end = bar + strcspn(bar, "}");
			str_add(s, one ? from + 1 : bar + 1,
				(size_t)(one ? bar - from : end - bar) - 1);
			from = end;
			continue;
		}
		str_putc(s, *from);
		from += *from == '%';
	}
}

static void sentence_add_number(struct str *s, const struct conversion *c, double x)
{
	char format[32];

	if (!isfinite(x)) {
		str_puts(s, "an unknown number");
	} else if (strchr("fge", c->type)) {
		snprintf(format, sizeof(format), "%.*s%c", (int)(c->length - c->start), c->start,
			 c->type);
		str_printf(s, format, x);
	} else if (c->type == 'x') {
		str_printf(s, "%#llx", (unsigned long long)x);
	} else {
		str_printf(s, "%.0f", x);
	}
}

void notes_range(const struct note *const *notes, size_t n, int place, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		*low = fmin(*low, notes[i]->value[place].number);
		*high = fmax(*high, notes[i]->value[place].number);
	}
}

/*
 * Appends one value, or "1.3 to 5.3" if the notes differ. Sets *one for a number: whether it is
 * printed as "1".
 */
static void sentence_add_value(struct str *s, const struct conversion *c,
			       const struct note *const *notes, size_t n, int place, bool *one)
{
	freed(str_free) struct str first = {0}, last = {0};
	double low, high;

	if (notes[0]->value[place].text) {
		str_puts(s, notes[0]->value[place].text);
		return;
	}
	notes_range(notes, n, place, &low, &high);
	sentence_add_number(&first, c, low);
	sentence_add_number(&last, c, high);
	str_puts(s, first.buf);
	*one = !strcmp(first.buf, "1") && !strcmp(last.buf, "1");
	if (strcmp(first.buf, last.buf))
		str_printf(s, " to %s", last.buf);
}

static void sentence_add(struct str *s, const struct note *const *notes, size_t n)
{
	const char *at = notes[0]->kind->sentence;
	struct conversion c;
	bool one = false;

	for (int place = 0; place < notes[0]->nvalues; place++) {
		c = conversion_next(at);
		if (!c.type)
			break;
		sentence_add_plain(s, at, c.start, one);
		sentence_add_value(s, &c, notes, n, place, &one);
		at = c.end;
	}
	sentence_add_plain(s, at, at + strlen(at), one);
}

/* --- the variants, sides and runs of a note --- */

static bool texts_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool note_same_side(const struct note *a, const struct note *b)
{
	return texts_equal(a->variant, b->variant) && texts_equal(a->side, b->side);
}

/*
 * Finds the first note of each side, at most n notes. Returns their number. The caller frees
 * *sides.
 */
static size_t notes_sides(const struct note *const *notes, size_t n, const struct note ***sides)
{
	const struct note **found = xcalloc(n, sizeof(*found));
	size_t k, count = 0;

	for (size_t i = 0; i < n; i++) {
		for (k = count; k > 0 && !note_same_side(found[k - 1], notes[i]); k--)
			;
		if (!k)
			found[count++] = notes[i];
	}
	*sides = found;
	return count;
}

static const char *run_pass(const struct note *note)
{
	return note->pass && *note->pass ? note->pass : "run";
}

/* Counts the runs that have the note. A run counts once for all its sides and tables. */
static size_t notes_count_runs(const struct note *const *notes, size_t n)
{
	freed(intern_free) struct intern runs = {0};
	freed(str_free) struct str key = {0};

	for (size_t i = 0; i < n; i++) {
		if (notes[i]->repeat <= 0)
			continue;
		str_reset(&key);
		str_printf(&key, "%s\n%s\n%d", notes[i]->variant ?: "", notes[i]->pass ?: "",
			   notes[i]->repeat);
		intern_str(&runs, key.buf);
	}
	return runs.n;
}

/*
 * Appends " (4 of 6 runs)", or nothing if all runs have the note. If the total number of runs is
 * unknown, as in the table of runs, appends " (measure-01)" or " (2 runs, first measure-01)".
 */
static void whose_add_runs(struct str *s, const struct note *const *notes, size_t n,
			   const struct note *const *sides, size_t nsides)
{
	size_t runs = 0, hit = notes_count_runs(notes, n);

	for (size_t i = 0, k; i < nsides; i++) { /* the sides of a variant have the same runs */
		for (k = 0; !texts_equal(sides[k]->variant, sides[i]->variant); k++)
			;
		runs += k == i ? (size_t)sides[i]->runs : 0;
	}
	if (hit && hit < runs)
		str_printf(s, " (%zu of %zu runs)", hit, runs);
	else if (hit == 1 && !runs)
		str_printf(s, " (%s-%02d)", run_pass(notes[0]), notes[0]->repeat);
	else if (hit && !runs)
		str_printf(s, " (%zu runs, first %s-%02d)", hit, run_pass(notes[0]),
			   notes[0]->repeat);
}

/* Appends "mmap receiver, mmap sender and 3 more (4 of 6 runs)". */
static void whose_add(struct str *s, const struct note *const *notes, size_t n)
{
	autofree const struct note **sides = NULL;
	size_t nsides;

	if (!notes[0]->variant && !notes[0]->side)
		return;
	nsides = notes_sides(notes, n, &sides);
	for (size_t i = 0; i < nsides && i < NAMES_SHOWN; i++)
		str_printf(s, "%s%s%s%s", i ? ", " : "", sides[i]->variant ? sides[i]->variant : "",
			   sides[i]->variant && sides[i]->side ? " " : "",
			   sides[i]->side ? sides[i]->side : "");
	if (nsides > NAMES_SHOWN)
		str_printf(s, " and %zu more", nsides - NAMES_SHOWN);
	whose_add_runs(s, notes, n, sides, nsides);
}

/* --- merging --- */

static int note_compare_texts(const struct note *a, const struct note *b)
{
	int c;

	for (int i = 0; i < a->nvalues && i < b->nvalues; i++) {
		if (!a->value[i].text || !b->value[i].text)
			continue;
		c = strcmp(a->value[i].text, b->value[i].text);
		if (c)
			return c;
	}
	return a->nvalues - b->nvalues;
}

static int note_compare_numbers(const struct note *a, const struct note *b)
{
	for (int i = 0; i < a->nvalues && i < b->nvalues; i++)
		if (a->value[i].number != b->value[i].number)
			return a->value[i].number < b->value[i].number ? -1 : 1;
	return 0;
}

/*
 * Compares notes. Notes that share a line compare equal. Numbers of runs and of passes become a
 * range. Numbers of a file, a variant or a side share a line only if they are equal.
 */
static int note_compare_kinds(const struct note *a, const struct note *b)
{
	int whole_a = !a->variant && !a->side, whole_b = !b->variant && !b->side, c;

	if (a->kind != b->kind)
		return (uintptr_t)a->kind < (uintptr_t)b->kind ? -1 : 1;
	if (a->severity != b->severity)
		return (int)a->severity - (int)b->severity;
	if (whole_a != whole_b)
		return whole_a - whole_b;
	if (!a->repeat != !b->repeat)
		return !a->repeat - !b->repeat;
	c = note_compare_texts(a, b);
	return c || a->repeat || (a->pass && b->pass) ? c : note_compare_numbers(a, b);
}

bool notes_equal(const struct note *a, const struct note *b)
{
	return !note_compare_kinds(a, b) && !note_compare_numbers(a, b);
}

static int note_compare(const void *x, const void *y)
{
	const struct note *a = *(const struct note *const *)x, *b = *(const struct note *const *)y;

	return note_compare_kinds(a, b) ?: ascending(a, b);
}

static int line_compare(const void *x, const void *y)
{
	const struct note_line *a = x, *b = y;
	const struct note_kind *kind_a = a->notes[0]->kind, *kind_b = b->notes[0]->kind;
	bool doubts = a->severity == SEVERITY_WARNING || a->severity == SEVERITY_LOSSY;

	if (a->severity != b->severity)
		return (int)b->severity - (int)a->severity;
	if (doubts && kind_a != kind_b)
		return ascending((uintptr_t)kind_a, (uintptr_t)kind_b);
	return ascending(a->notes[0], b->notes[0]);
}

static void line_fill(struct note_line *line, const struct note **notes, size_t n, struct arena *a)
{
	freed(str_free) struct str s = {0};
	const char *end;
	size_t from;

	*line = (struct note_line){.severity = notes[0]->severity, .notes = notes, .n = n};
	str_puts(&s, "");
	whose_add(&s, notes, n);
	line->whose = arena_strdup(a, s.buf);
	str_puts(&s, s.len ? ": " : "");
	from = s.len;
	sentence_add(&s, notes, n);
	line->text = arena_strdup(a, s.buf);
	end = strstr(line->text + from, "; ");
	line->brief =
		end ? arena_printf(a, "%.*s", (int)(end - line->text), line->text) : line->text;
}

void note_lines_make(struct note_lines *lines, const struct notes *list)
{
	const struct note **all;
	size_t end, n = list->n;

	*lines = (struct note_lines){0};
	all = arena_alloc(&lines->arena, (n + 1) * sizeof(*all));
	lines->line = xcalloc(n + 1, sizeof(*lines->line));
	for (size_t i = 0; i < n; i++)
		all[i] = &list->note[i];
	array_sort(all, n, note_compare);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && !note_compare_kinds(all[i], all[end]); end++)
			;
		line_fill(&lines->line[lines->n++], all + i, end - i, &lines->arena);
	}
	array_sort(lines->line, lines->n, line_compare);
}

void note_lines_free(struct note_lines *lines)
{
	free(lines->line);
	arena_free(&lines->arena);
	*lines = (struct note_lines){0};
}

size_t note_lines_shown(const struct note_lines *lines)
{
	size_t i, others = 0;

	for (i = 0; i < lines->n; i++)
		if (lines->line[i].severity < SEVERITY_METHOD && ++others > NOTES_SHOWN)
			break;
	return i;
}

static char *line_message(const struct note_line *line, const char *text)
{
	bool named = line->severity == SEVERITY_WARNING || line->severity == SEVERITY_LOSSY;

	return xasprintf("%s%s%s", named ? severity_name(line->severity) : "", named ? ": " : "",
			 text);
}

char *note_line_text(const struct note_line *line)
{
	return line_message(line, line->text);
}

char *note_line_brief(const struct note_line *line)
{
	return line_message(line, line->brief);
}
