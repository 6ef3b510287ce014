// SPDX-License-Identifier: GPL-2.0-only
#include "collect/power_poll.h"

#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/words.h"
#include "lib/snap.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	MS = 1000000,
	SECOND = 1000000000,
	LOOK_MS = 200,	     /* the thread checks `stop` so often */
	PATIENCE_MS = 12000, /* wait for the first reading */
	NEXT_MS = 3000, /* the wait for another reading, plus twice the longest time of a reading */
	GRACE_MS = 500,
	LONGEST = 1 << 16, /* bytes of one reading */
};

/*
 * Runs the command $1 again and again, at most once a second. Ends with its exit status when the
 * first run fails, or later three runs in a row. The last line of a run may lack the newline.
 */
static const char loop[] = "n=2; while :; do sleep 1 & /bin/sh -c \"$1\"; s=$?; echo; "
			   "[ $s = 0 ] && n=0 || n=$((n + 1)); [ $n -lt 3 ] || exit $s; wait; done";

struct power_poll {
	const char *command;
	const struct run *run;
	int snap, out, said; /* said: a file with what the command prints as errors */
	atomic_bool stop;    /* the thread shall end */
	pthread_t thread;
	struct str text; /* output that is no whole line yet; used by the thread only */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool over;	    /* the command has ended by itself */
	uint64_t last_ns;   /* the last reading; 0: none yet */
	int64_t slowest_ms; /* the longest time between two readings */
	struct error err;   /* the last thing that went wrong */
};

static void power_poll_failed(struct power_poll *p, const char *why)
{
	pthread_mutex_lock(&p->lock);
	p->err.code = 0;
	error_set(&p->err, EIO, "%s: %s", p->command, why);
	pthread_mutex_unlock(&p->lock);
}

/* --- what it prints --- */

/* Saves a line unchanged. A line that is no reading may be a heading. */
static void power_poll_save(struct power_poll *p, const char *text, uint64_t now)
{
	autofree char *line = xasprintf("%s\n", text);
	struct error err = {0};
	double watts;
	int saved = snap_append(p->snap, now, line, strlen(line));

	if (saved || watts_of_line(text, &watts, &err)) {
		power_poll_failed(p, saved ? strerror(-saved) : err.text);
		return;
	}
	pthread_mutex_lock(&p->lock);
	if (p->last_ns && (int64_t)(now - p->last_ns) / MS > p->slowest_ms)
		p->slowest_ms = (int64_t)(now - p->last_ns) / MS;
	p->last_ns = now;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

/* Returns false at the end of the output. */
static bool power_poll_read(struct power_poll *p)
{
	char bytes[4096];
	ssize_t n = read(p->out, bytes, sizeof(bytes)), i;
	uint64_t now = clock_mono_ns();

	for (i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			if (p->text.len < LONGEST)
				str_putc(&p->text, bytes[i] ? bytes[i] : ' ');
			continue;
		}
		if (p->text.len && *str_trim(p->text.buf))
			power_poll_save(p, p->text.buf, now);
		str_reset(&p->text);
	}
	return n > 0 || (n < 0 && errno == EINTR);
}

/* Reports the exit status of the command, and the last line of its errors. */
static void power_poll_judge(struct power_poll *p, int status)
{
	char said[LONGEST], *words, *why;
	ssize_t n = pread(p->said, said, sizeof(said) - 1, 0);

	said[n > 0 ? n : 0] = '\0';
	words = str_last_line(said);
	why = xasprintf("%s%s%.200s", spawn_status_text(status), words ? ": " : "",
			words ? words : "");
	power_poll_failed(p, why);
	free(why);
}

static int power_poll_spawn(struct power_poll *p, pid_t *pid, struct error *err)
{
	char *argv[] = {"/bin/sh", "-c", (char *)loop, "sh", (char *)p->command, NULL};
	struct spawn opts = {.in = open("/dev/null", O_RDONLY | O_CLOEXEC), .err = p->said};
	int out[2], rc;

	if (pipe2(out, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	p->out = out[0];
	opts.out = out[1];
	rc = spawn_start(pid, argv, &opts, err);
	close(out[1]);
	close(opts.in);
	return rc;
}

/* Listens until the command ends. Returns false when the thread shall end before. */
static bool power_poll_listen(struct power_poll *p)
{
	struct pollfd f = {.events = POLLIN};
	struct error err = {0};
	int status = 0;
	bool more = true;
	pid_t pid;

	if (power_poll_spawn(p, &pid, &err)) {
		power_poll_failed(p, err.text);
		return true;
	}
	f.fd = p->out;
	while (more && !atomic_load(&p->stop))
		more = poll(&f, 1, LOOK_MS) <= 0 || power_poll_read(p);
	if (more || spawn_wait(pid, GRACE_MS, &status))
		spawn_stop(pid, GRACE_MS, NULL);
	if (!more)
		power_poll_judge(p, status);
	return !more;
}

static void *power_poll_thread(void *arg)
{
	struct power_poll *p = arg;
	bool over;

	run_leave_cpus(p->run);
	over = power_poll_listen(p);
	pthread_mutex_lock(&p->lock);
	p->over = over;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* --- the other side --- */

int power_poll_until(struct power_poll *p, uint64_t mono_ns, struct error *err)
{
	int64_t wait_ms;
	struct timespec end;
	uint64_t until;
	int rc = 0;

	pthread_mutex_lock(&p->lock);
	wait_ms = p->last_ns ? NEXT_MS + 2 * p->slowest_ms : PATIENCE_MS;
	until = clock_mono_ns() + (uint64_t)wait_ms * MS;
	end = (struct timespec){(time_t)(until / SECOND), (long)(until % SECOND)};
	while (!rc && p->last_ns < mono_ns && !p->over)
		rc = pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, &end);
	if (p->last_ns >= mono_ns)
		rc = 0;
	else if (p->err.code)
		rc = error_set(err, p->err.code, "%s", p->err.text);
	else
		rc = error_set(err, ETIMEDOUT, "%s: no reading for %.1f s", p->command,
			       (double)wait_ms / 1000);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

static int power_poll_begin(struct power_poll *p, const char *path, const char *heading,
			    struct error *err)
{
	int rc;

	p->snap = file_create(path, O_APPEND, 0600);
	p->said = memfd_create("power-command", MFD_CLOEXEC);
	if (p->snap < 0 || p->said < 0)
		return error_sys(err, errno, "%s: cannot write", path);
	rc = snap_append(p->snap, clock_mono_ns(), heading, strlen(heading));
	if (rc)
		return error_sys(err, -rc, "%s: cannot write", path);
	rc = pthread_create(&p->thread, NULL, power_poll_thread, p);
	return rc ? error_sys(err, rc, "cannot start a thread") : 0;
}

static void power_poll_release(struct power_poll *p)
{
	close(p->snap);
	close(p->said);
	close(p->out);
	str_free(&p->text);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

int power_poll_start(struct power_poll **poll, const struct run *run, const char *command,
		     const char *path, const char *heading, struct error *err)
{
	struct power_poll *p = xcalloc(1, sizeof(*p));
	int rc;

	p->run = run;
	p->command = command;
	p->out = -1;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	rc = power_poll_begin(p, path, heading, err);
	if (rc) {
		power_poll_release(p);
		return rc;
	}
	rc = power_poll_until(p, 1, err);
	if (!rc)
		*poll = p;
	else
		power_poll_stop(p, NULL);
	return rc;
}

int power_poll_stop(struct power_poll *p, struct error *err)
{
	int rc;

	atomic_store(&p->stop, true);
	pthread_join(p->thread, NULL);
	rc = p->over ? error_set(err, EIO, "%s", p->err.text) : 0;
	power_poll_release(p);
	return rc;
}
