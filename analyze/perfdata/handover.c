// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/handover.h"

#include "lib/alloc.h"

#include <stdlib.h>

void handover_init(struct handover *h)
{
	*h = (struct handover){.lock = PTHREAD_MUTEX_INITIALIZER,
			       .changed = PTHREAD_COND_INITIALIZER};
	h->batches = xcalloc(HANDOVER_BATCHES, sizeof(*h->batches));
}

void handover_free(struct handover *h)
{
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->changed);
	free(h->batches);
}

/* The batch being filled: it is the maker's alone. */
static struct handover_batch *filling(struct handover *h)
{
	return &h->batches[h->made % HANDOVER_BATCHES];
}

/*
 * Gives it away and waits until the next one is free. Each side is woken when the other is half
 * through, and not for every batch.
 */
static bool give(struct handover *h)
{
	bool stop;

	pthread_mutex_lock(&h->lock);
	h->made++;
	if (h->made - h->taken >= HANDOVER_BATCHES / 2)
		pthread_cond_signal(&h->changed);
	while (h->made - h->taken == HANDOVER_BATCHES && !h->stop)
		pthread_cond_wait(&h->changed, &h->lock);
	stop = h->stop;
	pthread_mutex_unlock(&h->lock);
	filling(h)->n = 0;
	filling(h)->round = filling(h)->last = false;
	return !stop;
}

struct tracepoint *handover_slot(struct handover *h)
{
	return &filling(h)->list[filling(h)->n];
}

bool handover_keep(struct handover *h)
{
	return ++filling(h)->n < HANDOVER_EVENTS || give(h);
}

bool handover_round(struct handover *h)
{
	filling(h)->round = true;
	return give(h);
}

/* Nobody may be left to free the next batch: it is not waited for. */
void handover_end(struct handover *h)
{
	filling(h)->last = true;
	pthread_mutex_lock(&h->lock);
	h->made++;
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
}

const struct handover_batch *handover_next(struct handover *h)
{
	pthread_mutex_lock(&h->lock);
	while (h->made == h->taken)
		pthread_cond_wait(&h->changed, &h->lock);
	pthread_mutex_unlock(&h->lock);
	return &h->batches[h->taken % HANDOVER_BATCHES];
}

void handover_done(struct handover *h)
{
	pthread_mutex_lock(&h->lock);
	h->taken++;
	if (h->made - h->taken <= HANDOVER_BATCHES / 2)
		pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
}

void handover_stop(struct handover *h)
{
	pthread_mutex_lock(&h->lock);
	h->stop = true;
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
}
