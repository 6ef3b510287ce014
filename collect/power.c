// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power, from all sources of this host: the energy counters of powercap (RAPL), commands that print
 * watts, the logs of external meters. The name of a counter says where it lies, such as
 * "package-0/core". A reading of a counter costs one pread and stays in memory during the window.
 */
#include "collect/collect.h"
#include "collect/host.h"
#include "collect/options.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/snap.h"
#include "lib/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- --power-command --- */

/*
 * A shell runs the command beside the workload once a second, or slower where the command takes
 * longer, or only once where it goes on printing. A thread saves each line with its time in a .snap
 * file. Both run away from the measured CPUs where there are others.
 */

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
	ssize_t n = read(p->out, bytes, sizeof(bytes));
	uint64_t now = clock_mono_ns();

	for (ssize_t i = 0; i < n; i++) {
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
	struct spawn opts = {.in = open("/dev/null", O_RDONLY | O_CLOEXEC),
			     .err = p->said,
			     .mark = p->run->mark};
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

/* Waits some seconds for a reading of that time or later. */
static int power_poll_until(struct power_poll *p, uint64_t mono_ns, struct error *err)
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
		return error_sys(err, p->snap < 0 ? -p->snap : errno, "%s: cannot write", path);
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

/* Ends the poll. Returns 0, or the reason why the command ended earlier. */
static int power_poll_stop(struct power_poll *p, struct error *err)
{
	int rc;

	atomic_store(&p->stop, true);
	pthread_join(p->thread, NULL);
	rc = p->over ? error_set(err, EIO, "%s", p->err.text) : 0;
	power_poll_release(p);
	return rc;
}

/*
 * Starts the poll and waits some seconds for its first reading. Without one the poll ends, and the
 * error has the command's own words. `heading` is the first record of the .snap at `path`.
 */
static int power_poll_start(struct power_poll **poll, const struct run *run, const char *command,
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

/* --- the energy counters --- */

static const char *const kinds[] = {"wall", "platform", "package", "other"};

int power_command_split(const char *text, const char **kind, const char **command,
			struct error *err)
{
	size_t i, n;

	*kind = kinds[0];
	*command = text;
	for (i = 0; i < array_size(kinds); i++) {
		n = strlen(kinds[i]);
		if (strncmp(text, kinds[i], n) || text[n] != '=')
			continue;
		*kind = kinds[i];
		*command = text + n + 1;
	}
	if ((*command)[strspn(*command, " \t")])
		return 0;
	return error_set(err, EINVAL,
			 "the command is missing; it must print watts, one reading a line");
}

/* An energy counter, in microjoules. */
struct domain {
	char *name;
	int fd;
	uint64_t max; /* it wraps behind this value; 0: unknown */
	uint64_t last, base, last_ns;
	bool read, gone;
};

struct power {
	struct domain *d;
	size_t n, cap;
	bool denied;	     /* a counter may not be read */
	struct error failed; /* a counter, or its name, that the machine could not read */
	struct power_poll *command;
	struct str rows;
};

enum { MOST_WATTS = 20000 }; /* no single energy counter grows faster */

static const char heading[] = "source\tdomain\tt_ns\tmicrojoules\twatts\n";

/* --- what there is --- */

/* Returns the name of a zone: intel-rapl:0 is package-0, intel-rapl:0:1 a domain inside it. */
static char *power_zone_name(const char *class, const char *zone, struct error *err)
{
	autofree char *own = host_label(err, "%s/%s/name", class, zone);
	autofree char *parent = NULL, *above = NULL;
	const char *colon = strrchr(zone, ':');

	if (strchr(zone, ':') == colon)
		return xstrdup(own ? own : zone);
	parent = xstrndup(zone, (size_t)(colon - zone));
	above = power_zone_name(class, parent, err);
	return xasprintf("%s/%s", above, own ? own : zone);
}

/*
 * Adds a counter. One that is gone by now is no error. The same package shows a second time through
 * memory-mapped registers, and is skipped there.
 */
static void power_add_zone(void *power, const char *class, const char *zone, struct error *err)
{
	autofree char *path = xasprintf("%s/%s/energy_uj", class, zone);
	autofree char *max = host_fact("%s/%s/max_energy_range_uj", class, zone);
	bool is_zone = strchr(zone, ':') && !str_starts(zone, "intel-rapl-mmio");
	int fd = is_zone ? open(path, O_RDONLY | O_CLOEXEC) : -ENOENT;
	struct power *p = power;

	if (fd >= 0)
		array_add(p->d, p->n, p->cap,
			  (struct domain){.name = power_zone_name(class, zone, err),
					  .fd = fd,
					  .max = max ? strtoull(max, NULL, 10) : 0});
	else if (is_zone && (errno == EACCES || errno == EPERM))
		p->denied = true;
	else if (is_zone && error_of_machine(errno))
		error_sys(err, errno, "%s: cannot open", path);
}

static void power_release(struct power *p)
{
	array_free(e, p->d, p->n, close(e->fd), free(e->name));
	str_free(&p->rows);
	free(p);
}

static int power_probe(struct collect *c)
{
	static const char denied[] = "energy counters are there but not readable: run as root";
	autofree char *class = xasprintf("%s/class/powercap", sysfs_root());
	autofree char *list = NULL;
	bool other = c->run->power_command || c->run->power_csv;
	struct power *p = xcalloc(1, sizeof(*p));

	host_each(class, power_add_zone, p, &p->failed);
	if (p->failed.code)
		collect_degraded(c, "%s", p->failed.text);
	else if (p->denied && !p->n && !other)
		error_set(&c->err, EACCES, "%s", denied);
	else if (!p->n && !other)
		error_set(
			&c->err, ENODEV,
			"no power source: no energy counters (powercap) on this host; --power-command runs a program that prints watts, --power-csv takes an external meter's log");
	else if (p->denied)
		collect_why(c, "%s", denied); /* the other sources are read without them */
	if (c->err.code) {
		power_release(p);
		return -c->err.code;
	}
	list = xasprintf("%s%s%s", p->n ? ",powercap" : "", c->run->power_command ? ",command" : "",
			 c->run->power_csv ? ",csv" : "");
	if (*list)
		collect_info_str(c, "source", list + 1);
	c->data = p;
	return 0;
}

/* A command that does not start is a loss: the user named it. */
static int power_prepare(struct collect *c)
{
	const char *kind, *command;
	struct power *p = c->data;
	autofree char *path = NULL, *about = NULL;
	struct error err = {0};

	if (!c->run->power_command)
		return 0;
	power_command_split(c->run->power_command, &kind, &command, NULL);
	path = collect_path(c, c->is->files[1]);
	about = xasprintf("# kind: %s\n# command: %s\n", kind, command);
	if (power_poll_start(&p->command, c->run, command, path, about, &err)) {
		collect_degraded(c, "%s", err.text);
		unlink(path);
	}
	return 0;
}

/* --- readings --- */

/*
 * Says whether the counter wrapped. After a reset it would seem to have grown faster than
 * MOST_WATTS.
 */
static bool power_went_round(const struct domain *d, uint64_t value, uint64_t now_ns)
{
	double microjoules = (double)(d->max - d->last) + (double)value;

	return d->max >= d->last &&
	       microjoules <= (double)MOST_WATTS * (double)(now_ns - d->last_ns) / 1e3;
}

/*
 * Reads the microjoules since an arbitrary start, unwrapped from the first reading on. Returns 0 or
 * -errno; -ERANGE: the counter was set back.
 */
static int power_read_counter(struct domain *d, uint64_t now_ns, uint64_t *value)
{
	char text[32], *end;
	ssize_t n = pread(d->fd, text, sizeof(text) - 1, 0);
	uint64_t now;

	if (n < 0)
		return -errno;
	text[n] = '\0';
	errno = 0;
	now = strtoull(text, &end, 10);
	if (end == text || errno)
		return -EINVAL;
	if (d->read && now < d->last) {
		if (!power_went_round(d, now, now_ns))
			return -ERANGE; /* the energy in between is unknown */
		d->base += d->max;
	}
	d->read = true;
	d->last = now;
	d->last_ns = now_ns;
	*value = d->base + now;
	return 0;
}

static int power_read_all(struct collect *c)
{
	struct power *p = c->data;

	if (p->n && !p->rows.len)
		str_puts(&p->rows, heading);
	for (struct domain *d = p->d; d < p->d + p->n; d++) {
		uint64_t value = 0, now = clock_mono_ns();
		int rc;

		if (d->gone)
			continue;
		rc = power_read_counter(d, now, &value);
		d->gone = rc;
		if (rc)
			collect_degraded(c, "%s: %s", d->name,
					 rc == -ERANGE ? "the energy counter was set back"
						       : strerror(-rc));
		else
			str_printf(&p->rows, "powercap\t%s\t%" PRIu64 "\t%" PRIu64 "\t\n", d->name,
				   now, value);
	}
	return 0;
}

/* Waits until the last reading of the command lies behind the window's end. */
static int power_after(struct collect *c)
{
	struct power *p = c->data;

	if (p->command && c->run->end_ns)
		return power_poll_until(p->command, c->run->end_ns, &c->err);
	return 0;
}

static void power_finish(struct collect *c)
{
	autofree char *path = collect_path(c, c->is->files[2]);
	struct power *p = c->data;
	struct error err = {0};

	if (p->command && power_poll_stop(p->command, &err))
		collect_degraded(c, "%s", err.text);
	collect_write(c, c->is->files[0], &p->rows);
	err = (struct error){0};
	/* Unchanged: zcost analyze understands the meter's clock and columns. */
	if (c->run->power_csv && file_copy(c->run->power_csv, path, &err))
		collect_degraded(c, "%s", err.text);
	power_release(p);
}

const struct collector collector_power = {
	.name = "power",
	.what = "energy counters, commands that print watts, a meter's log",
	.files = {"power.tsv", "power-command.snap", "power.csv"},
	.when = DATED,
	.passes = PASS_MEASURE,
	.probe = power_probe,
	.prepare = power_prepare,
	.start = power_read_all,
	.snap = power_read_all,
	.stop = power_read_all,
	.after = power_after,
	.finish = power_finish,
};
