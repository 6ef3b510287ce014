// SPDX-License-Identifier: GPL-2.0-only
/* What BASE and NEW stand for. */
#include "analyze/compare/compare.h"

#include "analyze/compare/bare.h"
#include "analyze/measures/scope.h"
#include "analyze/analysis/open.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *compare_names(const char **names, int n)
{
	struct str s = {0};
	int i;

	for (i = 0; i < n; i++)
		str_printf(&s, "%s%s", i ? ", " : "", names[i]);
	return str_take(&s);
}

static int find_variant(struct compare_end *e, const char *capture, const char *want,
			struct error *err)
{
	const char **names;
	int n = store_variants(e->store, &names, err), i, ret = 0;
	char *list;

	if (n < 0)
		return n;
	for (i = 0; want && i < n; i++)
		if (!strcmp(names[i], want))
			e->variant = names[i];
	if (!want && n == 1)
		e->variant = names[0];
	list = compare_names(names, n);
	if (!e->variant && want)
		ret = error_set(err, ENOENT, "%s has no variant '%s'; it has: %s", capture, want,
				n ? list : "none");
	else if (!e->variant)
		ret = error_set(err, EINVAL, "%s has %d variants: %s; name one as %s:VARIANT",
				capture, n, n ? list : "none", capture);
	free(list);
	free(names);
	return ret;
}

static int open_in(struct compare_end *e, const char *capture, const char *variant,
		   const struct time_slice *slice, struct error *err)
{
	const struct open_options how = {.slice = *slice};
	int ret = e->store ? 0 : capture_open(&e->store, capture, &how, err);

	return ret ? ret : find_variant(e, capture, variant, err);
}

/* CAPTURE or CAPTURE:VARIANT; a path with a colon in it wins over the cut. */
static int open_ref(struct compare_end *e, const char *ref, const struct query *q,
		    const struct time_slice *slice, struct error *err)
{
	const char *colon = strrchr(ref, ':');
	char *capture;
	int ret;

	if (bare_is(ref))
		return bare_open(&e->bare, ref, q, slice, err);
	if (path_exists(ref))
		return open_in(e, ref, NULL, slice, err);
	if (!colon)
		return error_set(err, ENOENT,
				 "there is no capture '%s'; for a variant of one, say -C CAPTURE "
				 "or CAPTURE:%s",
				 ref, ref);
	capture = xstrndup(ref, (size_t)(colon - ref));
	ret = open_in(e, capture, colon + 1, slice, err);
	free(capture);
	return ret;
}

int compare_open(struct comparison *c, const char *capture, const char *base, const char *new,
		 struct error *err)
{
	const char *const refs[ENDS] = {base, new};
	int ret = 0, i;

	for (i = 0; i < ENDS && !ret; i++) {
		c->end[i] = (struct compare_end){.label = xstrdup(refs[i])};
		if (capture && i == NEW) {
			c->end[i].store = c->end[BASE].store;
			c->end[i].shared = true;
		}
		ret = capture ? open_in(&c->end[i], capture, refs[i], &c->slice, err)
			      : open_ref(&c->end[i], refs[i], &c->query, &c->slice, err);
	}
	return ret ? compare_close(c, ret, err) : 0;
}

int compare_failed(const struct comparison *c, struct error *err)
{
	int ret = store_failed(c->end[BASE].store, err);

	return ret ? ret : store_failed(c->end[NEW].store, err);
}

int compare_close(struct comparison *c, int ret, struct error *err)
{
	int i;

	for (i = 0; i < ENDS; i++) {
		if (c->end[i].store && !c->end[i].shared)
			ret = store_close(c->end[i].store, ret, err);
		bare_close(c->end[i].bare);
		free(c->end[i].label);
		c->end[i] = (struct compare_end){0};
	}
	return ret;
}

void compare_manner(const struct comparison *c, struct table *t)
{
	bool inlines[ENDS];
	int i;

	for (i = 0; i < ENDS; i++) {
		if (!c->end[i].store)
			return;
		manner_say(c->end[i].store, true, t);
		inlines[i] = store_capture_value(c->end[i].store, "inlines") != NULL;
	}
	if (inlines[BASE] != inlines[NEW])
		note_add(&t->notes, compare_inlines, c->end[inlines[NEW]].label);
}

bool compare_is_bare(const struct comparison *c)
{
	return c->end[BASE].bare && c->end[NEW].bare;
}

int compare_estimator(struct comparison *c, struct error *err)
{
	int ret = scope_estimator(c->end[BASE].store, &c->query, &c->estimator, err);

	if (!ret)
		c->query.estimator = estimator_names[c->estimator];
	return ret;
}

struct query compare_query(const struct comparison *c, enum end e, const char *side)
{
	struct query q = c->query;

	q.variant = c->end[e].variant;
	q.side = compare_side_of(c, e, side);
	if (!c->end[e].bare)
		return q;
	q.side = NULL;
	q.rate = c->work[e].rate;
	q.units = c->work[e].units;
	q.seconds = c->work[e].seconds;
	q.busy_ns = c->work[e].busy_ns;
	bare_query(c->end[e].bare, &q);
	return q;
}
