// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/scores_absent.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

static void list_add(struct str *s, const char *text)
{
	str_printf(s, "%s%s", s->len ? ", " : "", text);
}

static struct absence *absence_of(struct absences *a, const char *score, const char *reason)
{
	struct absence *new;
	size_t i;

	for (i = a->first; i < a->n; i++)
		if (!strcmp(a->list[i].reason, reason))
			return &a->list[i];
	array_grow(a->list, a->n, a->cap);
	new = &a->list[a->n++];
	*new = (struct absence){.reason = xstrdup(reason), .nnames = 1};
	list_add(&new->names, score);
	return new;
}

void absences_add(struct absences *a, const char *score, const char *variant, const char *side,
		  const char *reason)
{
	struct absence *at = absence_of(a, score, reason);
	char *block = xasprintf("%s %s", variant, side);

	list_add(&at->blocks, block);
	at->nblocks++;
	free(block);
}

static bool alike(const struct absence *a, const struct absence *b)
{
	return !strcmp(a->reason, b->reason) && a->nblocks == b->nblocks &&
	       !strcmp(a->blocks.buf ?: "", b->blocks.buf ?: "");
}

static void absence_free(struct absence *a)
{
	free(a->reason);
	str_free(&a->blocks);
	str_free(&a->names);
}

/* Scores that the same blocks lack for the same reason stand in one line. */
static bool joins(struct absences *a, struct absence *last)
{
	size_t i;

	for (i = 0; i < a->first; i++) {
		if (!alike(&a->list[i], last))
			continue;
		list_add(&a->list[i].names, last->names.buf);
		a->list[i].nnames++;
		return true;
	}
	return false;
}

void absences_next(struct absences *a, size_t blocks)
{
	size_t i, kept = a->first;

	for (i = a->first; i < a->n; i++) {
		if (a->list[i].nblocks == blocks)
			str_reset(&a->list[i].blocks);
		if (joins(a, &a->list[i]))
			absence_free(&a->list[i]);
		else
			a->list[kept++] = a->list[i];
	}
	a->first = a->n = kept;
}

void absences_say(const struct absences *a, struct table *t)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		const struct absence *at = &a->list[i];

		table_note(t, "%s %s absent%s%s: %s", at->names.buf, at->nnames > 1 ? "are" : "is",
			   at->blocks.len ? " for " : "", at->blocks.len ? at->blocks.buf : "",
			   at->reason);
	}
}

void absences_free(struct absences *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		absence_free(&a->list[i]);
	free(a->list);
	*a = (struct absences){0};
}
