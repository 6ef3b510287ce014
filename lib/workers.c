// SPDX-License-Identifier: GPL-2.0-only
#include "lib/workers.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
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

/* The result follows the error in the file. Once the parent is gone, nobody reads it. */
static void twin_work(const struct twin *t, int (*work)(void *, struct str *, struct error *),
		      void *arg)
{
	freed(str_free) struct str result = {0};
	struct error err = {0};
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	str_add(&result, &err, sizeof(err));
	rc = work(arg, &result, &err);
	memcpy(result.buf, &err, sizeof(err));
	_exit(file_write_all(t->said, result.buf, result.len) || rc ? EXIT_FAILED : EXIT_OK);
}

int twin_start(struct twin *t, int (*work)(void *, struct str *, struct error *), void *arg,
	       struct error *err)
{
	int ends[2], rc = pipe2(ends, O_CLOEXEC) ? -errno : 0;

	t->pid = rc ? -1 : fork();
	if (t->pid < 0)
		return error_sys(err, errno, "cannot start a process");
	t->said = ends[!t->pid];
	close(ends[!!t->pid]);
	if (!t->pid)
		twin_work(t, work, arg);
	return 0;
}

static void twin_read(const struct twin *t, struct str *all)
{
	struct pollfd p = {.fd = t->said, .events = POLLIN};
	char part[65536];
	ssize_t n = 1;

	while (n > 0) {
		if (stop_asked())
			kill(t->pid, SIGTERM);
		if (poll(&p, 1, 100) <= 0)
			continue;
		n = read(t->said, part, sizeof(part));
		str_add(all, part, n > 0 ? (size_t)n : 0);
	}
	close(t->said);
}

int twin_wait(struct twin *t, struct str *result, struct error *err)
{
	freed(str_free) struct str all = {0};
	struct error said = {0};
	int status = 0, rc;

	twin_read(t, &all);
	rc = spawn_wait(t->pid, -1, &status);
	if (all.len >= sizeof(said))
		memcpy(&said, all.buf, sizeof(said));
	if (said.code)
		*err = said;
	else if (rc || status)
		error_set(err, EIO, "a process of zcost %s", spawn_status_text(status));
	else
		str_add(result, all.buf + sizeof(said), all.len - sizeof(said));
	return -err->code;
}
