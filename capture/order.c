// SPDX-License-Identifier: GPL-2.0-only
#include "capture/order.h"

#include "lib/alloc.h"

#include <stdlib.h>

/* Adds n variants from `first` on, in reverse order for every second repeat. */
static void order_add_round(struct order *o, size_t first, size_t n, enum pass pass,
			    unsigned int repeat)
{
	size_t i;

	for (i = 0; i < n; i++)
		o->run[o->n++] = (struct run_id){.variant = first + (repeat % 2 ? i : n - 1 - i),
						 .pass = pass,
						 .repeat = repeat};
}

static void order_add_rounds(struct order *o, const struct plan *p, size_t first, size_t n)
{
	unsigned int repeat;
	enum pass pass;

	for (pass = 0; pass < PASS_COUNT; pass++)
		for (repeat = 1; p->passes & 1u << pass && repeat <= plan_repeats(p, pass);
		     repeat++)
			order_add_round(o, first, n, pass, repeat);
}

/* Returns the number of variants from `first` on that have the same combination. */
static size_t order_block_length(const struct plan *p, size_t first)
{
	size_t n = 1;

	while (first + n < p->nvariants &&
	       p->variants[first + n].combination == p->variants[first].combination)
		n++;
	return n;
}

void order_make(struct order *o, const struct plan *p)
{
	size_t first, n, rounds = 0;
	enum pass pass;

	for (pass = 0; pass < PASS_COUNT; pass++)
		rounds += plan_repeats(p, pass);
	*o = (struct order){.run = xcalloc(rounds * p->nvariants + 1, sizeof(*o->run))};
	for (first = 0; first < p->nvariants; first += n) {
		n = p->order == ORDER_BLOCKS ? order_block_length(p, first) : p->nvariants;
		order_add_rounds(o, p, first, n);
	}
}

void order_free(struct order *o)
{
	free(o->run);
	*o = (struct order){0};
}

char *run_name(const struct plan *p, const struct run_id *id)
{
	return xasprintf("%s/%s-%02u", p->variants[id->variant].name, pass_names[id->pass],
			 id->repeat);
}
