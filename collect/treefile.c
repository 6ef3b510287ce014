// SPDX-License-Identifier: GPL-2.0-only
#include "collect/treefile.h"

#include "collect/reading.h"
#include "collect/run.h"
#include "lib/alloc.h"

#include <stdlib.h>

struct treefile {
	struct reading r;
	size_t most;
	bool cut;
};

int treefile_prepare(struct collect *c)
{
	struct treefile *t = xcalloc(1, sizeof(*t));

	c->data = t;
	return reading_open(&t->r, c, c->is->files[0]);
}

static int treefile_read(struct collect *c, treefile_fill fill, bool must)
{
	struct treefile *t = c->data;
	const struct tree *tree;

	if (!reading_begin(&t->r, must))
		return 0;
	tree = tree_of(c->run);
	fill(&t->r.text, tree);
	t->most = tree->nthreads > t->most ? tree->nthreads : t->most;
	t->cut |= tree->cut;
	return reading_end(&t->r, &c->err);
}

int treefile_take(struct collect *c, treefile_fill fill)
{
	return treefile_read(c, fill, true);
}

int treefile_snap(struct collect *c, treefile_fill fill)
{
	return treefile_read(c, fill, false);
}

void treefile_finish(struct collect *c)
{
	struct treefile *t = c->data;

	if (!t)
		return;
	if (t->r.n)
		collect_info_int(c, "threads", (int64_t)t->most);
	if (t->cut)
		collect_degraded(
			c, "the workload has more than %d threads: the rest was not looked at",
			TREE_THREADS);
	reading_close(&t->r, c);
	free(t);
}
