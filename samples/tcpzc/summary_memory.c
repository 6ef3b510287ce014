// SPDX-License-Identifier: GPL-2.0-only
/* What the memory was that flows sent from and received into. */
#include "summary.h"

static const char *const names[] = {
	[BUFFERS_REGISTERED] = "registered",
	[BUFFERS_PLAIN] = "plain",
};

/* A kernel has registered buffers for all flows or for none: one that sent has found out. */
static void summary_put_buffers(json_t *o, const struct flow *flows, unsigned int n, bool back)
{
	enum buffers all = BUFFERS_NONE;
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct flow *f = back ? flows[i].back : &flows[i];

		if (f->buffers > all)
			all = f->buffers;
	}
	if (all != BUFFERS_NONE)
		json_object_set_new(o, "buffers", json_string(names[all]));
}

static void summary_put_huge(json_t *o, const struct flow *flows, unsigned int n, bool back)
{
	size_t bytes[HUGE_KINDS] = {0};
	unsigned int i, k;

	for (i = 0; i < n; i++) {
		const struct flow *f = back ? flows[i].back : &flows[i];

		for (k = 0; k < HUGE_MAPS; k++)
			bytes[f->huge[k].kind] += f->huge[k].bytes;
	}
	json_object_set_new(o, "huge_pages",
			    json_pack("{s:I,s:I}", "hugetlb", (json_int_t)bytes[HUGE_TLB], "thp",
				      (json_int_t)bytes[HUGE_TRANSPARENT]));
}

void summary_put_memory(json_t *o, const struct flow *flows, unsigned int n, bool back)
{
	if (flows->opt->huge_pages)
		summary_put_huge(o, flows, n, back);
	summary_put_buffers(o, flows, n, back);
}
