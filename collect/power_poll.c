// SPDX-License-Identifier: GPL-2.0-only
#include "collect/power_poll.h"

#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/program_text.h"
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
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
	MS = 1000000,
	SECOND = 1000000000,
	PERIOD_MS = 1000,    /* least time from one start to the next */
	SILENCE_MS = 10000,  /* without output: the program hangs */
	PATIENCE_MS = 12000, /* wait for the first reading */
	NEXT_MS = 3000, /* the wait for another reading, plus twice the longest time of a reading */
	GRACE_MS = 500,
	FAILURES = 3,	   /* failed runs in a row end the polling */
	LONGEST = 1 << 16, /* bytes of one reading */
};

struct power_poll {
	const char *command;
	const struct run *run;
	int fd, wake;	  /* the .snap; an eventfd that tells the thread to check `stop` */
	atomic_bool stop; /* the thread shall end */
	pthread_t thread;

	/* used by the thread only */
	struct str out, said;	     /* output that is not parsed yet; standard error */
	uint64_t began_ns, heard_ns; /* start of this run of the program; its last output */
	int failures;
	bool printed, got; /* this run printed anything; it gave a reading */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool over;	    /* the thread has ended */
	uint64_t last_ns;   /* the last reading; 0: none yet */
	int64_t slowest_ms; /* longest time from the start, or from the reading before, to a reading
			     */
	unsigned int missed; /* runs that gave no reading */
	struct error err;    /* the last thing that went wrong */
};

static void power_poll_failed(struct power_poll *p, const char *why)
{
	pthread_mutex_lock(&p->lock);
	p->err.code = 0;
	error_set(&p->err, EIO, "%s: %s", p->command, why);
	pthread_mutex_unlock(&p->lock);
}

/* --- what it prints --- */

/* Saves the output unchanged. A line that is no reading may be a heading. */
static void power_poll_save(struct power_poll *p, const char *text, uint64_t now)
{
	char *line = xasprintf("%s%s", text, str_ends(text, "\n") ? "" : "\n");
	struct error err = {0};
	double watts;
	int64_t took;
	int saved = snap_append(p->fd, now, line, strlen(line));

	free(line);
	if (saved || watts_of_line(text, &watts, &err)) {
		power_poll_failed(p, saved ? strerror(-saved) : err.text);
		return;
	}
	p->got = true;
	p->failures = 0;
	pthread_mutex_lock(&p->lock);
	took = (int64_t)(now - (p->last_ns > p->began_ns ? p->last_ns : p->began_ns)) / MS;
	p->slowest_ms = took > p->slowest_ms ? took : p->slowest_ms;
	p->last_ns = now;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

/* Parses the whole lines of the output. */
static void power_poll_parse_lines(struct power_poll *p, uint64_t now)
{
	char *at = p->out.buf, *end;

	while (at && (end = strchr(at, '\n'))) {
		*end = '\0';
		if (*str_trim(at))
			power_poll_save(p, at, now);
		at = end + 1;
	}
	if (at && at != p->out.buf) {
		p->out.len = strlen(at);
		memmove(p->out.buf, at, p->out.len + 1);
	}
}

/* Reads the output. Returns false at its end. */
static bool power_poll_read(struct power_poll *p, int fd, struct str *to)
{
	char bytes[4096];
	ssize_t n = read(fd, bytes, sizeof(bytes)), i;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0)
		return false;
	for (i = 0; i < n; i++)
		if (to->len < LONGEST)
			str_putc(to, bytes[i] ? bytes[i] : ' ');
	p->heard_ns = clock_mono_ns();
	p->printed = true;
	return true;
}

/* --- one run of it --- */

/* Reads until the program closes its output or hangs, or the thread shall end. */
static bool power_poll_listen(struct power_poll *p, int out, int err)
{
	struct pollfd f[3] = {{.fd = out, .events = POLLIN},
			      {.fd = err, .events = POLLIN},
			      {.fd = p->wake, .events = POLLIN}};
	uint64_t woken;

	p->heard_ns = clock_mono_ns();
	while (f[0].fd >= 0) {
		uint64_t silent = (clock_mono_ns() - p->heard_ns) / MS;

		if (silent >= SILENCE_MS)
			return false;
		if (poll(f, 3, (int)(SILENCE_MS - silent)) < 0 && errno != EINTR)
			return false;
		if (f[2].revents && read(p->wake, &woken, sizeof(woken)) > 0 &&
		    atomic_load(&p->stop))
			return true;
		if (f[1].revents && !power_poll_read(p, err, &p->said))
			f[1].fd = -1;
		if (f[0].revents && !power_poll_read(p, out, &p->out))
			f[0].fd = -1;
		power_poll_parse_lines(p, clock_mono_ns());
	}
	return true;
}

/* Judges a run that ended. The last line of its output may lack the newline. */
static void power_poll_judge(struct power_poll *p, bool answered, int status)
{
	const char *what = NULL;
	char *words, *why;

	if (p->out.len)
		power_poll_save(p, p->out.buf, p->heard_ns);
	if (!answered)
		what = "it printed nothing for 10 s, so zcost ended it";
	else if (status)
		what = spawn_status_text(status);
	else if (!p->printed)
		what = "it prints nothing";
	if (what) {
		words = str_last_line(p->said.len ? p->said.buf : p->out.buf);
		why = xasprintf("%s%s%.200s", what, words ? ": " : "", words ? words : "");
		power_poll_failed(p, why);
		free(why);
	}
	if (p->got && answered && !status)
		return;
	p->failures++;
	p->missed++;
}

/* Starts the command with its output and errors in pipes, whose ends to read are in `from`. */
static bool power_poll_spawn(struct power_poll *p, int from[2], pid_t *pid)
{
	char *argv[] = {"/bin/sh", "-c", (char *)p->command, NULL};
	int out[2] = {-1, -1}, errors[2] = {-1, -1};
	struct spawn opts = {.in = open("/dev/null", O_RDONLY | O_CLOEXEC)};
	struct error err = {0};

	if (pipe2(out, O_CLOEXEC) || pipe2(errors, O_CLOEXEC))
		error_sys(&err, errno, "cannot make a pipe");
	opts.out = out[1];
	opts.err = errors[1];
	if (!err.code)
		spawn_start(pid, argv, &opts, &err);
	close(out[1]);
	close(errors[1]);
	close(opts.in);
	from[0] = out[0];
	from[1] = errors[0];
	if (err.code)
		power_poll_failed(p, err.text);
	return !err.code;
}

static void power_poll_run_once(struct power_poll *p)
{
	bool answered;
	int from[2], status = 0;
	pid_t pid;

	str_reset(&p->out);
	str_reset(&p->said);
	p->got = p->printed = false;
	p->began_ns = clock_mono_ns();
	if (power_poll_spawn(p, from, &pid)) {
		answered = power_poll_listen(p, from[0], from[1]);
		if (atomic_load(&p->stop) || !answered || spawn_wait(pid, GRACE_MS, &status))
			spawn_stop(pid, GRACE_MS, NULL);
		if (!atomic_load(&p->stop))
			power_poll_judge(p, answered, status);
	} else {
		p->failures = FAILURES;
	}
	close(from[0]);
	close(from[1]);
}

static void power_poll_rest(struct power_poll *p, uint64_t until)
{
	struct pollfd f = {.fd = p->wake, .events = POLLIN};
	uint64_t now = clock_mono_ns(), woken;

	if (now < until && poll(&f, 1, (int)((until - now) / MS) + 1) > 0 &&
	    read(p->wake, &woken, sizeof(woken)) < 0)
		power_poll_failed(p, strerror(errno));
}

static void *power_poll_thread(void *arg)
{
	struct power_poll *p = arg;

	run_leave_cpus(p->run);
	while (!atomic_load(&p->stop) && p->failures < FAILURES) {
		power_poll_run_once(p);
		pthread_mutex_lock(&p->lock);
		if (!p->last_ns)
			p->failures = FAILURES; /* it does not start */
		pthread_mutex_unlock(&p->lock);
		if (p->failures < FAILURES)
			power_poll_rest(p, p->began_ns + (uint64_t)PERIOD_MS * MS);
	}
	pthread_mutex_lock(&p->lock);
	p->over = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* --- the other side --- */

static void power_poll_wake(struct power_poll *p)
{
	uint64_t one = 1;

	if (write(p->wake, &one, sizeof(one)) < 0)
		power_poll_failed(p, strerror(errno));
}

static int power_poll_wait_for(struct power_poll *p, uint64_t mono_ns, int64_t wait_ms,
			       struct error *err)
{
	uint64_t until = clock_mono_ns() + (uint64_t)wait_ms * MS;
	struct timespec end = {(time_t)(until / (SECOND)), (long)(until % (SECOND))};
	int rc = 0;

	while (!rc && p->last_ns < mono_ns && !p->over)
		rc = pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, &end);
	if (p->last_ns >= mono_ns)
		return 0;
	if (p->err.code)
		return error_set(err, p->err.code, "%s", p->err.text);
	return error_set(err, ETIMEDOUT, "%s: no reading for %.1f s", p->command,
			 (double)wait_ms / 1000);
}

int power_poll_until(struct power_poll *p, uint64_t mono_ns, struct error *err)
{
	int rc;

	power_poll_wake(p);
	pthread_mutex_lock(&p->lock);
	rc = power_poll_wait_for(p, mono_ns, p->last_ns ? NEXT_MS + 2 * p->slowest_ms : PATIENCE_MS,
				 err);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

static int power_poll_begin(struct power_poll *p, const char *path, const char *heading,
			    struct error *err)
{
	int rc;

	p->fd = file_create(path, O_APPEND, 0600);
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->fd < 0 || p->wake < 0)
		return error_sys(err, errno, "%s: cannot write", path);
	rc = snap_append(p->fd, clock_mono_ns(), heading, strlen(heading));
	if (rc)
		return error_sys(err, -rc, "%s: cannot write", path);
	rc = pthread_create(&p->thread, NULL, power_poll_thread, p);
	return rc ? error_sys(err, rc, "cannot start a thread") : 0;
}

static void power_poll_release(struct power_poll *p)
{
	close(p->fd);
	close(p->wake);
	str_free(&p->out);
	str_free(&p->said);
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
		power_poll_stop(p, NULL, NULL);
	return rc;
}

int power_poll_stop(struct power_poll *p, unsigned int *missed, struct error *err)
{
	bool over;
	int rc = 0;

	pthread_mutex_lock(&p->lock);
	over = p->over;
	pthread_mutex_unlock(&p->lock);
	atomic_store(&p->stop, true);
	power_poll_wake(p);
	pthread_join(p->thread, NULL);
	if (missed)
		*missed += p->missed;
	if (over)
		rc = error_set(err, EIO, "%s; gave up after %d attempts", p->err.text, FAILURES);
	power_poll_release(p);
	return rc;
}
