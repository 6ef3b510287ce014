// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sides of BASE against sides of NEW. A plan calls them receiver and sender, one run of `collect`
 * is "local": what has no name in common is compared only where there is but one way to do it, or
 * where the user said which.
 */
#include "analyze/compare/compare.h"

#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sides {
	const char **names; /* the array is owned, the names are the store's */
	int n;
};

static bool has(const struct sides *s, const char *name)
{
	int i;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->names[i], name))
			return true;
	return false;
}

/* The receiver where both have it, else the first that both have; NULL: none. */
static const char *common_side(const struct sides of[ENDS])
{
	const struct sides *a = of[BASE].n ? &of[BASE] : &of[NEW], *b = of[NEW].n ? &of[NEW] : a;
	int i;

	if (has(a, "receiver") && has(b, "receiver"))
		return "receiver";
	for (i = 0; i < a->n; i++)
		if (has(b, a->names[i]))
			return a->names[i];
	return NULL;
}

static void forget(struct sides of[ENDS])
{
	free(of[BASE].names);
	free(of[NEW].names);
}

/* A file has none, and fits any. */
static int read_sides(const struct comparison *c, struct sides of[ENDS], struct error *err)
{
	int e;

	memset(of, 0, ENDS * sizeof(*of));
	for (e = 0; e < ENDS; e++) {
		if (c->end[e].bare)
			continue;
		of[e].n = store_sides(c->end[e].store, &of[e].names, err);
		if (of[e].n > 0)
			continue;
		if (!of[e].n)
			error_set(err, ENODATA, "%s has no runs", store_path(c->end[e].store));
		forget(of);
		return of[e].n ? of[e].n : -ENODATA;
	}
	return 0;
}

static int check_named(const struct comparison *c, enum end e, const struct sides *of,
		       struct error *err)
{
	const char *side = c->side[e];
	char *list;

	if (c->end[e].bare || has(of, side))
		return 0;
	list = compare_names(of->names, of->n);
	error_set(err, ENOENT, "%s has no side '%s'; it has: %s%s", store_path(c->end[e].store),
		  side, list,
		  c->end[NEW].shared || c->side[BASE] != c->side[NEW]
			  ? ""
			  : " (--side BASE'S,NEW'S names one of each)");
	free(list);
	return -ENOENT;
}

static int refuse(const struct comparison *c, const struct sides of[ENDS], struct error *err)
{
	char *base = compare_names(of[BASE].names, of[BASE].n);
	char *new = compare_names(of[NEW].names, of[NEW].n);

	error_set(err, ENOENT,
		  "%s has the side%s %s, %s has %s: name which is held against which, as in --side "
		  "%s,%s",
		  c->end[BASE].label, of[BASE].n == 1 ? "" : "s", base, c->end[NEW].label, new,
		  of[BASE].names[0], of[NEW].names[0]);
	free(base);
	free(new);
	return -ENOENT;
}

static int check_both(const struct comparison *c, const struct sides of[ENDS], struct error *err)
{
	int e, ret = 0;

	for (e = 0; e < ENDS && !ret; e++)
		ret = check_named(c, (enum end)e, &of[e], err);
	return ret;
}

static bool is_total(const struct comparison *c)
{
	return !strcmp(c->side[BASE], "total") && !strcmp(c->side[NEW], "total");
}

static int pair(struct comparison *c, const struct sides of[ENDS], struct error *err)
{
	int e;

	if (c->side[BASE])
		return is_total(c) ? 0 : check_both(c, of, err);
	if (compare_is_bare(c) || common_side(of))
		return 0;
	if (of[BASE].n > 1 || of[NEW].n > 1)
		return refuse(c, of, err);
	for (e = 0; e < ENDS; e++)
		c->side[e] = of[e].names[0];
	return 0;
}

int compare_pair_sides(struct comparison *c, struct error *err)
{
	struct sides of[ENDS];
	int ret = read_sides(c, of, err);

	if (ret)
		return ret;
	ret = pair(c, of, err);
	forget(of);
	return ret;
}

const char *compare_side_of(const struct comparison *c, enum end e, const char *side)
{
	return side && c->side[e] ? c->side[e] : side;
}

void compare_sides_say(const struct comparison *c, struct table *t)
{
	struct sides of[ENDS];
	int e, i;

	if (c->side[BASE]) {
		if (strcmp(c->side[BASE], c->side[NEW]))
			note_add(&t->notes, compare_side_names, c->side[BASE], c->side[NEW],
				 c->end[NEW].label);
		return;
	}
	if (read_sides(c, of, NULL))
		return;
	for (e = 0; e < ENDS; e++)
		for (i = 0; i < of[e].n && of[!e].n; i++)
			if (!has(&of[!e], of[e].names[i]))
				note_add(&t->notes, compare_side_missing, c->end[!e].label,
					 of[e].names[i], c->end[e].label);
	forget(of);
}

int compare_side(const struct comparison *c, const char **side, struct error *err)
{
	struct sides of[ENDS];
	int ret;

	*side = c->side[BASE] ? c->side[BASE] : "";
	if (compare_is_bare(c))
		return c->side[BASE] ? error_set(err, EINVAL, "--side: files have no sides") : 0;
	ret = read_sides(c, of, err);
	if (ret)
		return ret;
	if (c->side[BASE])
		ret = check_both(c, of, err); /* of costs there is no total */
	else
		*side = common_side(of);
	forget(of);
	return ret;
}
