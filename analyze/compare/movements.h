/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The largest movements of costs, in words for people and as rows for json: "receiver data copy
 * -61.0 ns/KiB (95.8 to 34.8), interval -64.2 .. -58.1, p = 0.0022: real, better".
 */
#ifndef ZC_MOVEMENTS_H
#define ZC_MOVEMENTS_H

#include "analyze/compare/diff.h"

struct movement {
	const char *side, *unit; /* of work: "KiB" */
	const struct diff_row *row;
};

struct movements {
	struct movement *list;
	size_t n, cap;
	size_t untested; /* rows of a list that its runs, two and more a side, are too few to test
			  */
};

/* Adds all rows of a judged diff, which must live until movements_free. */
void movements_add(struct movements *m, const char *side, const struct diff *d, const char *unit);

/*
 * Notes of `t`, and its detail "movements": the five largest. When none of the five is beyond the
 * error of its measurement it says just that, but where more runs might have told it how many these
 * are, and where none has a known error that; `thing` is the word for a row, "component".
 */
void movements_say(struct movements *m, const struct comparison *c, struct table *t,
		   const char *thing);
void movements_free(struct movements *m);

#endif
