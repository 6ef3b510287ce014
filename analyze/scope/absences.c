// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/scope/absences.h"

#include "analyze/model/notes.h"

#include <stdlib.h>
#include <string.h>

static void absence_list_add(struct str *s, const char *text)
{
	str_printf(s, "%s%s", s->len ? ", " : "", text);
}

static bool absence_same_reason(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static struct absence *absence_of(struct absences *a, const char *score, const char *reason)
{
	struct absence *new;
	size_t i;

	for (i = a->first; i < a->n; i++)
		if (absence_same_reason(a->list[i].reason, reason))
			return &a->list[i];
	array_grow(a->list, a->n, a->cap);
	new = &a->list[a->n++];
	*new = (struct absence){.reason = reason ? xstrdup(reason) : NULL, .nnames = 1};
	absence_list_add(&new->names, score);
	return new;
}

void absences_add(struct absences *a, const char *score, const char *variant, const char *side,
		  const char *reason)
{
	struct absence *at = absence_of(a, score, reason);
	char *block = xasprintf("%s %s", variant, side);

	absence_list_add(&at->blocks, block);
	at->nblocks++;
	free(block);
}

static bool absence_alike(const struct absence *a, const struct absence *b)
{
	return absence_same_reason(a->reason, b->reason) && a->nblocks == b->nblocks &&
	       !strcmp(a->blocks.buf ?: "", b->blocks.buf ?: "");
}

static void absence_free(struct absence *a)
{
	free(a->reason);
	str_free(&a->blocks);
	str_free(&a->names);
}

/* Merges `last` into an earlier absence with the same blocks and reason. */
static bool absence_joins(struct absences *a, struct absence *last)
{
	size_t i;

	for (i = 0; i < a->first; i++) {
		if (!absence_alike(&a->list[i], last))
			continue;
		absence_list_add(&a->list[i].names, last->names.buf);
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
		if (absence_joins(a, &a->list[i]))
			absence_free(&a->list[i]);
		else
			a->list[kept++] = a->list[i];
	}
	a->first = a->n = kept;
}

static void absence_add_note(struct notes *notes, const struct absence *at)
{
	const char *verb = at->nnames > 1 ? "are" : "is", *of = at->blocks.len ? " for " : "",
		   *blocks = at->blocks.len ? at->blocks.buf : "";

	if (!at->reason)
		note_add(notes, score_absent_datagrams, at->names.buf, verb, of, blocks);
	else
		note_add(notes, score_absent, at->names.buf, verb, of, blocks, at->reason);
}

void absences_add_notes(const struct absences *a, struct table *t)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		const struct absence *at = &a->list[i];

		absence_add_note(&t->notes, at);
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
