// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profile: `perf record` on the side's CPUs with call graphs. It starts before the workload,
 * with its events off, and a control socket switches the events on and off at the window's ends.
 * Each switch is acknowledged.
 *
 * Perf learns names and mappings of programs by events of the CPU on which a program starts. On all
 * CPUs it sees every program. On some CPUs it misses a program that started elsewhere and moved
 * here, as a pinned workload does. Then perf reads names and mappings from /proc at the window's
 * end, while the workload still runs.
 *
 * Build-ids are read at the end (--buildid-all), not with each mapping (--buildid-mmap). The latter
 * would tell two files with one path apart, but give none to the vdso, which is no file, and then
 * no clock_gettime() would have a name away from this host.
 *
 * A timer interrupts a fast stream for longer than it takes, and hundreds of interrupts a second
 * cost a stream as much as thousands. So cpu-clock, which is a timer, is on in parts of the window,
 * at a higher frequency. perf_parts.tsv has a row, `from to`, for each part.
 */
#include "collect/perf.h"

#include "collect/collect.h"
#include "collect/events/events.h"
#include "collect/host.h"
#include "collect/run/run.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000000, WHY_MAX = 4000 };
enum { READY_MS = 60000, SWITCH_MS = 10000, TURN_MS = 1000, END_MS = 120000 };
/* cpu-clock samples TIMES as often, in a fifth of the time. */
enum { PART = 25 * MS, PAUSE = 50 * MS, TIMES = 2 };

#define TIMER "cpu-clock"
static const char log_name[] = ".perf.log", ended_early[] = "ended before the window did";

struct perf {
	pid_t pid;
	int ours, perfs; /* ends of the socket of `perf record --control`; -1: not open */
	const char *event;
	char *data, *log; /* perf.data, and what perf printed */
	bool tail;	  /* perf reads names and mappings from /proc at the end (see above) */
	bool timer;	  /* the event is cpu-clock, which is on in parts of the window */
	struct collect_parts when;
	struct str parts; /* the text of perf_parts.tsv */
	uint64_t on_ns;	  /* when the events were switched on */
};

enum { STACK_MAX = 65528 }; /* perf's own limit */

int call_graph_check(const char *mode, struct error *err)
{
	const char *size = str_starts(mode, "dwarf,") ? mode + strlen("dwarf,") : "";
	char *end;
	unsigned long n = strtoul(size, &end, 10);

	if (!strcmp(mode, "fp") || !strcmp(mode, "lbr") || !strcmp(mode, "dwarf") ||
	    (*size >= '1' && *size <= '9' && !*end && n >= 8 && n <= STACK_MAX))
		return 0;
	return error_set(
		err, EINVAL,
		"unknown call graph mode '%s'; there are fp, dwarf, dwarf,SIZE with a SIZE of 8 to %d bytes, lbr",
		mode, STACK_MAX);
}

/* --- the control socket: perf acknowledges each command --- */

/* Waits for "ack\n", behind which most versions send a NUL. Returns 0 or -errno. */
static int perf_control_send(const struct perf *perf, const char *command, int timeout_ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)timeout_ms * MS;
	struct pollfd p = {.fd = perf->ours, .events = POLLIN};
	char buf[64];
	ssize_t n;
	int rc;

	if (write(perf->ours, command, strlen(command)) < 0)
		return -errno;
	for (;;) {
		uint64_t now = clock_mono_ns();

		rc = poll(&p, 1, now < end ? (int)((end - now) / MS) + 1 : 0);
		if (rc < 0 && errno == EINTR)
			continue;
		if (rc <= 0)
			return rc ? -errno : -ETIMEDOUT;
		n = read(perf->ours, buf, sizeof(buf));
		if (n <= 0)
			return -EPIPE;
		if (memmem(buf, (size_t)n, "ack\n", 4))
			return 0;
	}
}

/* --- can it be done? --- */

/* Refuses versions before 5.12, which know no `ping`. */
static int perf_check_version(struct collect *c)
{
	FILE *f = popen("perf --version 2>/dev/null", "re");
	char line[128] = "", *version; /* "perf version 6.1.192" */
	unsigned int major, minor;

	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		pclose(f);
	version = str_trim(line);
	if (!*version)
		return error_set(
			&c->err, ENOENT,
			"'perf --version' prints no version: on Ubuntu install linux-tools-$(uname -r), and for a kernel of your own put its tools/perf into PATH");
	collect_info_str(c, "version", version);
	if (sscanf(version, "perf version %u.%u", &major, &minor) == 2 &&
	    (major < 5 || (major == 5 && minor < 12)))
		return error_set(&c->err, ENOTSUP, "%s is too old; 5.12 or later is needed",
				 version);
	return 0;
}

static int perf_probe(struct collect *c)
{
	struct perf p = {.ours = -1, .perfs = -1};
	int rc;

	if (!host_has_program("perf"))
		return error_set(&c->err, ENOENT, NO_PERF);
	if (perf_check_version(c))
		return -c->err.code;
	rc = perf_event_choose(&c->run->cpus, &p.event, &c->err);
	if (rc)
		return rc;
	p.timer = !strcmp(p.event, TIMER);
	p.when = (struct collect_parts){.part_ns = PART, .pause_ns = PAUSE};
	c->data = xmemdup(&p, sizeof(p));
	return 0;
}

/* --- set up --- */

static int perf_launch(struct collect *c, struct perf *p)
{
	/* The kernel lowers its limit under load. */
	unsigned int max = perf_event_max_rate(), asked = c->run->freq * (p->timer ? TIMES : 1);
	unsigned int hz = max && asked > max ? max : asked;
	autofree char *freq = xasprintf("%u", hz), *cpus = cpuset_format(&c->run->cpus);
	autofree char *control = xasprintf("--control=fd:%d,%d", p->perfs, p->perfs);
	autofree char *pages = xasprintf("%u", perf_event_ring_pages(cpuset_count(&c->run->cpus)));
	// clang-format off
	char *argv[] = {
		"perf", "record", "-q", "--call-graph", (char *)c->run->call_graph,
		"-e", (char *)p->event, "-F", freq, "-C", cpus, "-k", "CLOCK_MONOTONIC",
		"-m", pages, "-D", "-1", control, "--buildid-all", "-N", "-o", p->data,
		p->tail ? "--tail-synthesize" : NULL, NULL};
	// clang-format on
	autoclose int log = run_create_file(c->run, log_name, &c->err);
	int rc = -c->err.code;
	struct spawn opts = {.out = log, .err = log, .mark = c->run->mark};

	rc = rc ?: spawn_start(&p->pid, argv, &opts, &c->err);
	collect_info_int(c, "frequency", hz);
	return rc;
}

/* Fills `err` with what happened and the last line that perf printed. */
static int perf_set_died(struct perf *p, const char *when, struct error *err)
{
	autofree char *text = NULL;
	char *last = file_read(p->log, &text, NULL, NULL) ? NULL : str_last_line(text);

	if (disk_is_full(p->log)) /* there was no room for perf's own words */
		error_sys(err, ENOSPC, "perf record %s: %s", when, p->data);
	else
		error_set(err, EIO, "perf record %s%s%s", when, last ? ": " : "", last ? last : "");
	return -EIO;
}

static int perf_prepare(struct collect *c)
{
	struct perf *p = c->data;
	int ends[2], rc;

	p->tail = cpuset_count(&c->run->cpus) < cpuset_count(&c->run->online);
	p->data = collect_path(c, "perf.data");
	p->log = collect_path(c, log_name);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_sys(&c->err, errno, "cannot make a socket");
	p->ours = ends[0];
	p->perfs = ends[1];
	fcntl(p->perfs, F_SETFD, 0); /* it must survive perf's exec; no process may inherit ours */
	rc = perf_launch(c, p);
	if (rc)
		return rc;
	fd_close(&p->perfs);
	/* Not `disable`: it would also switch off the events for mappings and names. */
	rc = perf_control_send(p, "ping\n", READY_MS);
	if (rc)
		return perf_set_died(
			p, rc == -ETIMEDOUT ? "did not start within 60 s" : "did not start",
			&c->err);
	collect_info_str(c, "event", p->event);
	collect_info_str(c, "callgraph", c->run->call_graph);
	return 0;
}

/* --- the window --- */

/* Waits until perf has done it. `failed` says what it means if perf is gone. */
static int perf_tell(struct collect *c, const char *command, int timeout_ms, const char *failed)
{
	struct perf *p = c->data;
	int rc = perf_control_send(p, command, timeout_ms);

	if (!rc)
		return 0;
	c->turn_ns = UINT64_MAX;
	return perf_set_died(p, rc == -ETIMEDOUT ? "does not answer" : failed, &c->err);
}

static int perf_start(struct collect *c)
{
	struct perf *p = c->data;

	c->turn_ns = p->timer ? 0 : UINT64_MAX;
	return perf_tell(c, p->timer ? "ping\n" : "enable\n", SWITCH_MS,
			 "could not be switched on");
}

/* Adds a part to perf_parts.tsv, if one has begun. */
static void perf_end_part(struct perf *p)
{
	if (p->on_ns)
		str_printf(&p->parts, "%s%" PRIu64 "\t%" PRIu64 "\n",
			   p->parts.len ? "" : "from\tto\n", p->on_ns, clock_mono_ns());
	p->on_ns = 0;
}

/* The events for mappings and names stay on. */
static int perf_turn(struct collect *c)
{
	struct perf *p = c->data;
	int rc;

	if (!collect_part_is_due(c, &p->when))
		return 0;
	rc = perf_tell(c, p->when.on ? "enable " TIMER "\n" : "disable " TIMER "\n", TURN_MS,
		       ended_early);
	if (rc)
		return rc;
	perf_end_part(p);
	p->on_ns = p->when.on ? clock_mono_ns() : 0;
	collect_part_next(c, &p->when);
	return 0;
}

static void perf_end_perf(struct collect *c, struct perf *p)
{
	int status = 0;

	if (p->pid <= 0)
		return;
	if (c->run->sync &&
	    c->run->failed) { /* the file is thrown away: do not wait for perf to finish it */
		spawn_stop(p->pid, 1000, NULL);
		p->pid = 0;
		return;
	}
	kill(p->pid, SIGINT);
	if (spawn_wait(p->pid, END_MS, &status)) {
		spawn_stop(p->pid, 1000, NULL);
		collect_degraded(c, "perf record did not end; its file may be cut short");
	} else if (status && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) &&
		   WEXITSTATUS(status) != 128 + SIGINT) {
		perf_set_died(p, "failed", &c->err);
		collect_degraded(c, "%s", c->err.text);
	}
	p->pid = 0;
}

static int perf_stop(struct collect *c)
{
	int rc = perf_tell(c, "disable\n", SWITCH_MS, ended_early);

	perf_end_part(c->data);
	return rc;
}

static int perf_after(struct collect *c)
{
	struct perf *p = c->data;

	if (p->tail)
		perf_end_perf(c, p);
	return 0;
}

/* --- the end --- */

void dso_save_all(struct collect *c, const struct intern *files, struct str *copies)
{
	struct dso_room room = dso_room_of(c->run->hosts);
	freed(str_free) struct str why = {0};
	uint32_t kept = 0;

	for (uint32_t i = 0; i < files->n; i++) {
		struct error err = {0};
		struct perf_file as;
		const char *name = perf_file_get(files, i, &as);
		char id[129];

		kept += !dso_save(c->run->hosts, name, &as, &room, id, &err);
		if (copies && !err.code && !strpbrk(name, "\t\n"))
			str_printf(copies, "%s\t%s\n", id, name);
		if (err.code && err.code != ENOENT && why.len < WHY_MAX)
			str_printf(&why, "%s%s", why.len ? "; " : "", err.text);
		if (error_of_machine(err.code))
			collect_degraded(c, "%s; its functions may have no names", err.text);
		if (err.code == EFBIG)
			collect_why(c, "%s; their symbols are found on this host only", err.text);
	}
	collect_info_int(c, "dsos", kept);
	collect_info_int(c, "dsos_not_kept", (int64_t)(files->n - kept));
	if (why.len)
		collect_info_str(c, "dso_not_kept_why", why.buf);
}

/* Reports how much was recorded, and how much was lost. */
static void perf_report(struct collect *c, struct perf *p)
{
	struct perf_data_sums sums;
	freed(intern_free) struct intern files = {0};
	struct error err = {0};

	if (perf_data_read(p->data, &sums, &files, &err))
		collect_degraded(c, "%s", err.text);
	c->lost = (int64_t)sums.lost;
	collect_info_int(c, "samples", (int64_t)sums.samples);
	collect_info_int(c, "throttled", (int64_t)sums.throttled);
	if (sums.lost)
		collect_degraded(c, "perf lost %llu records; a lower --freq loses fewer",
				 (unsigned long long)sums.lost);
	dso_save_all(c, &files, NULL);
	if (p->timer)
		collect_why(c, "no PMU: cpu-clock"); /* where there is no other remark */
}

static void perf_finish(struct collect *c)
{
	autofree struct perf *p = c->data;

	perf_end_perf(c, p);
	fd_close(&p->ours);
	fd_close(&p->perfs);
	if (c->state != COLLECT_UNSUPPORTED)
		perf_report(c, p);
	collect_write(c, "perf_parts.tsv", &p->parts);
	str_free(&p->parts);
	if (p->log)
		unlink(p->log);
	free(p->log);
	free(p->data);
}

const struct collector collector_perf = {
	.name = "perf",
	.what = "profile: perf record with call graphs",
	.files = {"perf.data", "perf_parts.tsv"},
	.when = APART,
	.passes = PASS_PROFILE,
	.required = PASS_PROFILE,
	.probe = perf_probe,
	.prepare = perf_prepare,
	.start = perf_start,
	.turn = perf_turn,
	.stop = perf_stop,
	.after = perf_after,
	.finish = perf_finish,
};
