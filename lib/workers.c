// SPDX-License-Identifier: GPL-2.0-only
#include "lib/workers.h"

#include "lib/alloc.h"

#include <unistd.h>

struct worker {
	void (*work)(void *arg, size_t number);
	void *arg;
	size_t number;
	pthread_t thread;
	bool started;
};

size_t workers_count(unsigned int asked, size_t parts, size_t parts_worth_a_thread)
{
	size_t n = asked ? asked : (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	size_t most = asked ? parts : parts / parts_worth_a_thread;

	if (n > most)
		n = most;
	if (n > WORKERS_MAX)
		n = WORKERS_MAX;
	return n ? n : 1;
}

static void *workers_start(void *arg)
{
	struct worker *w = arg;

	w->work(w->arg, w->number);
	return NULL;
}

void workers_run(size_t n, void (*work)(void *arg, size_t number), void *arg)
{
	autofree struct worker *w = xcalloc(n, sizeof(*w));

	for (size_t i = 1; i < n; i++) {
		w[i] = (struct worker){.work = work, .arg = arg, .number = i};
		w[i].started = !pthread_create(&w[i].thread, NULL, workers_start, &w[i]);
	}
	work(arg, 0);
	for (size_t i = 1; i < n; i++)
		if (w[i].started)
			pthread_join(w[i].thread, NULL);
}

void background_start(struct background *b, void *(*work)(void *arg), void *arg)
{
	b->runs = !pthread_create(&b->thread, NULL, work, arg);
	if (!b->runs)
		work(arg);
}

void background_wait(struct background *b)
{
	if (b->runs)
		pthread_join(b->thread, NULL);
	b->runs = false;
}
