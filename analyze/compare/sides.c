// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs the sides of BASE with the sides of NEW. A plan names its sides; the side of one run of
 * `collect` is "local". Sides with different names are a pair only where each end has one side, or
 * where --side names both.
 */
#include "analyze/compare/compare.h"

#include <errno.h>

struct end_sides {
	const char **names; /* the array is owned, the names are the store's */
	int n;
};

static bool sides_have(const struct end_sides *s, const char *name)
{
	return str_index(s->names, (size_t)s->n, name) >= 0;
}

/* Returns the first side of both, receivers before others, or NULL. */
static const char *sides_find_common(const struct end_sides of[ENDS])
{
	const struct end_sides *a = of[BASE].n ? &of[BASE] : &of[NEW],
			       *b = of[NEW].n ? &of[NEW] : a;

	for (int i = 0; i < a->n; i++)
		if (sides_have(b, a->names[i]))
			return a->names[i];
	return NULL;
}

static void sides_free(struct end_sides of[ENDS])
{
	free(of[BASE].names);
	free(of[NEW].names);
}

/* Reads the sides of both ends. A file has none and goes with any side. */
static int sides_read(const struct comparison *c, struct end_sides of[ENDS], struct error *err)
{
	memset(of, 0, ENDS * sizeof(*of));
	for (int e = 0; e < ENDS; e++) {
		if (c->end[e].bare)
			continue;
		of[e].n = store_sides(c->end[e].store, &of[e].names, err);
		if (of[e].n > 0)
			continue;
		if (!of[e].n)
			error_set(err, ENODATA, "%s has no runs", store_path(c->end[e].store));
		sides_free(of);
		return of[e].n ? of[e].n : -ENODATA;
	}
	return 0;
}

static int sides_check_named(const struct comparison *c, enum end e, const struct end_sides *of,
			     struct error *err)
{
	const char *side = c->side[e];
	autofree char *list = NULL;

	if (c->end[e].bare || sides_have(of, side))
		return 0;
	list = compare_names(of->names, of->n);
	return error_set(err, ENOENT, "%s has no side '%s'; %sit has: %s%s",
			 store_path(c->end[e].store), side, did_you_mean(list, side), list,
			 c->end[NEW].shared || c->side[BASE] != c->side[NEW]
				 ? ""
				 : " (--side BASE'S,NEW'S names one of each)");
}

static int sides_refuse(const struct comparison *c, const struct end_sides of[ENDS],
			struct error *err)
{
	autofree char *base = compare_names(of[BASE].names, of[BASE].n);
	autofree char *new = compare_names(of[NEW].names, of[NEW].n);

	return error_set(
		err, ENOENT,
		"%s has the side%s %s, %s has %s: name the side of each, as in --side %s,%s",
		c->end[BASE].label, of[BASE].n == 1 ? "" : "s", base, c->end[NEW].label, new,
		of[BASE].names[0], of[NEW].names[0]);
}

int compare_pair_sides(struct comparison *c, struct error *err)
{
	struct end_sides of[ENDS];
	int ret = sides_read(c, of, err);

	if (ret)
		return ret;
	c->total = c->side[BASE] && !strcmp(c->side[BASE], SIDE_TOTAL) &&
		   !strcmp(c->side[NEW], SIDE_TOTAL);
	if (c->total)
		c->side[BASE] = c->side[NEW] = NULL;
	for (int e = 0; e < ENDS && c->side[BASE] && !ret; e++)
		ret = sides_check_named(c, (enum end)e, &of[e], err);
	if (!c->side[BASE] && of[BASE].n && of[NEW].n && !sides_find_common(of)) {
		if (of[BASE].n > 1 || of[NEW].n > 1)
			ret = sides_refuse(c, of, err);
		for (int e = 0; e < ENDS && !ret; e++)
			c->side[e] = of[e].names[0];
	}
	sides_free(of);
	return ret;
}

bool compare_set_sides(struct comparison *c, char *arg)
{
	char *rest = arg;

	c->side[BASE] = str_token(&rest, ',');
	c->side[NEW] = rest ? rest : c->side[BASE];
	return *c->side[BASE] && *c->side[NEW] && !(rest && strchr(rest, ','));
}

void compare_note_sides(const struct comparison *c, struct table *t)
{
	struct end_sides of[ENDS];

	if (c->side[BASE] || sides_read(c, of, NULL))
		return;
	for (int e = 0; e < ENDS; e++)
		for (int i = 0; i < of[e].n && of[!e].n; i++)
			if (!sides_have(&of[!e], of[e].names[i]))
				note_add(&t->notes, compare_side_missing, c->end[!e].label,
					 of[e].names[i], c->end[e].label);
	sides_free(of);
}

int compare_side(const struct comparison *c, const char **side, struct error *err)
{
	struct end_sides of[ENDS];
	int ret;

	*side = c->side[BASE] ? c->side[BASE] : "";
	if (c->total)
		return error_set(
			err, EINVAL,
			"--side total: a list of costs has no total of the sides; --table metrics has");
	if (compare_is_bare(c))
		return c->side[BASE] ? error_set(err, EINVAL, "--side: files have no sides") : 0;
	ret = sides_read(c, of, err);
	if (ret)
		return ret;
	for (int e = 0; e < ENDS && c->side[BASE] && !ret; e++)
		ret = sides_check_named(c, (enum end)e, &of[e], err);
	if (!c->side[BASE])
		*side = sides_find_common(of);
	sides_free(of);
	return ret;
}
