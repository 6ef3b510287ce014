// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/pass_two.h"

#include "analyze/perfdata/workers.h"
#include "lib/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { CHUNKS_PER_THREAD = 64 }; /* a thread for less is not worth its start */

struct pass {
	struct folds *folds;
	const struct recording *r;
	atomic_size_t next; /* the first chunk that nobody has taken */
};

static void work(void *arg, size_t number)
{
	struct pass *p = arg;
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->r->nchunks)
		fold_chunk(&p->folds->list[number], &p->r->chunks[i]);
	fold_finish(&p->folds->list[number]);
}

/* Group values are differences from one sample to the next: they need the file's order. */
static bool needs_order(const struct recording *r)
{
	size_t i;

	for (i = 0; i < r->events.n; i++)
		if (r->events.list[i].sample_type & PERF_SAMPLE_READ)
			return true;
	return false;
}

void pass_two(struct folds *f, const struct recording *r, const struct perfdata_options *o)
{
	struct pass p = {.folds = f, .r = r};
	size_t i;

	f->n = needs_order(r) ? 1 : workers_count(o->threads, r->nchunks, CHUNKS_PER_THREAD);
	f->list = xcalloc(f->n, sizeof(*f->list));
	for (i = 0; i < f->n; i++)
		fold_init(&f->list[i], r, o);
	workers_run(f->n, work, &p);
}

void folds_free(struct folds *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		fold_free(&f->list[i]);
	free(f->list);
}
