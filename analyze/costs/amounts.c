// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/costs/basis.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	const char *events[3]; /* events with weights in this amount */
} amounts[] = {
	[IN_NS] = {"ns", {NULL}},
	[IN_CYCLES] = {"cycles", {"cycles", "cpu-cycles", NULL}},
	[IN_INSTRUCTIONS] = {"instructions", {"instructions", NULL}},
};

const char *amount_name(enum amount in)
{
	return amounts[in].name;
}

int amount_parse(const char *name, enum amount *in, struct error *err)
{
	size_t i;

	for (i = 0; i < array_size(amounts); i++) {
		if (!strcmp(amounts[i].name, name)) {
			*in = (enum amount)i;
			return 0;
		}
	}
	return error_set(err, EINVAL, "costs are in ns, cycles or instructions, not in '%s'", name);
}

bool amount_is_event(const char *event, const char *name)
{
	const char *slash = strchr(event, '/');
	size_t n;

	event = slash ? slash + 1 : event;
	n = strcspn(event, ":/");
	return strlen(name) == n && !strncmp(name, event, n);
}

bool amount_counted_by(enum amount in, const char *event)
{
	int i;

	for (i = 0; event && amounts[in].events[i]; i++)
		if (amount_is_event(event, amounts[in].events[i]))
			return true;
	return false;
}

double amount_given(const struct query *q)
{
	return q->in == IN_CYCLES	  ? q->work.cycles
	       : q->in == IN_INSTRUCTIONS ? q->work.instructions
					  : 0;
}

double amount_units(const struct query *q)
{
	return q->work.units > 0 ? q->work.units : q->work.rate * q->work.seconds;
}

void amount_columns(struct table *t, enum amount in)
{
	struct column *list;
	const char *ns, *name = amount_name(in);
	int i;

	if (in == IN_NS)
		return;
	list = arena_dup(&t->arena, t->columns, (size_t)t->ncolumns * sizeof(*list));
	for (i = 0; i < t->ncolumns; i++) {
		if (list[i].unit && str_starts(list[i].unit, "ns"))
			list[i].unit = arena_printf(&t->arena, "%s%s", name, list[i].unit + 2);
		ns = strstr(list[i].name, "_ns");
		if (ns && (!ns[3] || ns[3] == '_'))
			list[i].name =
				arena_printf(&t->arena, "%.*s_%s%s", (int)(ns - list[i].name),
					     list[i].name, name, ns + 3);
	}
	t->columns = list;
}
