// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/periods.h"

enum { DIGITS = 65, FAR = 5 }; /* digits from the usual: 16 times, whatever the rest is */

void periods_join(struct periods *to, const struct periods *from)
{
	int i;

	for (i = 0; i < DIGITS; i++) {
		to->digits[i].samples += from->digits[i].samples;
		to->digits[i].weight += from->digits[i].weight;
	}
}

/* The digits of the median sample. */
static int usual(const struct periods *p)
{
	uint64_t all = 0, below = 0;
	int i;

	for (i = 0; i < DIGITS; i++)
		all += p->digits[i].samples;
	for (i = 0; i < DIGITS - 1; i++) {
		below += p->digits[i].samples;
		if (below > all / 2)
			break;
	}
	return i;
}

void periods_flag(const struct periods *p, struct profile_event *e)
{
	int middle = usual(p), i;

	for (i = 0; i < DIGITS; i++) {
		if (i <= middle - FAR)
			e->starts += p->digits[i].samples;
		if (i < middle + FAR)
			continue;
		e->outliers += p->digits[i].samples;
		e->outlier_weight += p->digits[i].weight;
	}
}
