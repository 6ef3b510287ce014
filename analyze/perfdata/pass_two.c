// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/pass_two.h"

#include "lib/alloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHUNKS_PER_THREAD = 16, THREADS_MAX = 64 }; /* a thread for less is not worth its merge */

struct worker {
	struct fold *fold;
	atomic_size_t *next; /* shared: the first chunk that nobody has taken */
	pthread_t thread;
	bool started;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	const struct recording *r = w->fold->r;
	size_t i;

	while ((i = atomic_fetch_add(w->next, 1)) < r->nchunks)
		fold_chunk(w->fold, &r->chunks[i]);
	return NULL;
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

static size_t thread_count(const struct recording *r, const struct perfdata_options *o)
{
	size_t n = o->threads ? o->threads : (size_t)sysconf(_SC_NPROCESSORS_ONLN);

	if (n > r->nchunks / CHUNKS_PER_THREAD)
		n = r->nchunks / CHUNKS_PER_THREAD;
	if (n > THREADS_MAX)
		n = THREADS_MAX;
	return n && !needs_order(r) ? n : 1;
}

/* The caller's thread is the first worker; one that cannot be started leaves its share to others.
 */
void pass_two(struct folds *f, const struct recording *r, const struct perfdata_options *o)
{
	atomic_size_t next = 0;
	struct worker *workers;
	size_t i;

	f->n = thread_count(r, o);
	f->list = xcalloc(f->n, sizeof(*f->list));
	workers = xcalloc(f->n, sizeof(*workers));
	for (i = 0; i < f->n; i++) {
		fold_init(&f->list[i], r, o);
		workers[i] = (struct worker){.fold = &f->list[i], .next = &next};
		if (i)
			workers[i].started =
				!pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	work(&workers[0]);
	for (i = 1; i < f->n; i++)
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
	free(workers);
}

void folds_free(struct folds *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		fold_free(&f->list[i]);
	free(f->list);
}
