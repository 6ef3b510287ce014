// SPDX-License-Identifier: GPL-2.0-only
#include "capture/plan.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

static void place(char **text, const char *bindir)
{
	const char *at = strstr(*text, PLAN_BINDIR), *from = *text;
	struct str s = {0};

	if (!at)
		return;
	for (; at; at = strstr(from, PLAN_BINDIR)) {
		str_add(&s, from, (size_t)(at - from));
		str_puts(&s, bindir);
		from = at + strlen(PLAN_BINDIR);
	}
	str_puts(&s, from);
	free(*text);
	*text = str_take(&s);
}

static void place_side(struct side_plan *s, const char *bindir)
{
	char **const values[] = {&s->cpus,	 &s->prefix,	&s->collect,	  &s->units,
				 &s->call_graph, &s->power_csv, &s->power_command};
	size_t i;

	for (i = 0; i < array_size(values); i++)
		place(values[i], bindir);
}

void plan_set_bindir(struct plan *p, enum side side, const char *bindir)
{
	size_t i;

	place_side(&p->sides[side], bindir);
	for (i = 0; i < p->ncombinations; i++)
		place_side(&p->combinations[i].plan->sides[side], bindir);
	for (i = 0; i < p->nvariants; i++)
		place(&p->variants[i].command[side], bindir);
}
