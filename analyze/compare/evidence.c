// SPDX-License-Identifier: GPL-2.0-only
/* A variant that was to be zero-copy and copied is no proof of what zero copy does. */
#include "analyze/compare/compare.h"

#include "analyze/measures/zerocopy.h"
#include "lib/str.h"

#include <stdlib.h>

static void check_end(const struct comparison *c, enum end e, struct str *line, bool *copied)
{
	struct query q = compare_query(c, e, NULL);
	struct table t;
	size_t i;

	*copied = false;
	if (c->end[e].bare)
		return;
	table_init(&t, "zerocopy", NULL, 0);
	zero_copy_notes(c->end[e].store, &q, q.variant, &t);
	for (i = 0; i < t.notes.n; i++)
		str_printf(line, "%s%s", line->len ? "; " : "", t.notes.note[i].value[0].text);
	*copied = t.notes.n;
	table_free(&t);
}

char *compare_evidence(struct comparison *c)
{
	struct str line = {0};
	bool base;

	check_end(c, BASE, &line, &base);
	check_end(c, NEW, &line, &c->rule.copied);
	if (!line.len)
		return NULL;
	str_puts(&line, c->rule.copied ? ": no speed-up is claimed" : "");
	return str_take(&line);
}
