// SPDX-License-Identifier: GPL-2.0-only
#include "capture/order.h"

#include "lib/alloc.h"

#include <stdlib.h>

static void add_round(struct order *o, const struct plan *p, enum pass pass, unsigned int repeat)
{
	size_t i, n = p->nvariants;

	for (i = 0; i < n; i++)
		o->run[o->n++] = (struct run_id){
			.variant = repeat % 2 ? i : n - 1 - i, .pass = pass, .repeat = repeat};
}

void order_make(struct order *o, const struct plan *p)
{
	unsigned int repeat, rounds = 0;
	int pass;

	for (pass = 0; pass < PASS_COUNT; pass++)
		rounds += p->repeats[pass];
	*o = (struct order){.run = xcalloc(rounds * p->nvariants + 1, sizeof(*o->run))};
	for (pass = 0; pass < PASS_COUNT; pass++)
		for (repeat = 1; p->passes & 1u << pass && repeat <= p->repeats[pass]; repeat++)
			add_round(o, p, (enum pass)pass, repeat);
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
