// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of a run. Signals are blocked and read from a file descriptor. So there is one place
 * that waits, run_wait_until, and one way out: down through run_execute, which always ends what it
 * started and writes run.json.
 */
#include "collect/run/run.h"

#include "collect/bpf.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "workload/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * SIGKILL follows SIGTERM after this time. A workload prints its summary meanwhile, which takes
 * longer on a busy host.
 */
enum { MS = 1000000, SECOND = 1000 * MS, STOP_GRACE_MS = 2000, WORKLOAD_GRACE_MS = 5000 };

/* Collectors that are APART start this long before the window: perf takes a while. */
enum { LEAD = 250 * MS };

enum { LOOK_LEAST = 10 * MS, LOOK_MOST = 250 * MS }; /* between two looks at the workload */

enum woken { WOKEN_TIME, WOKEN_EXIT, WOKEN_GO, WOKEN_STOP };

/* Marks the run as failed. The first reason stays. */
__attribute__((format(printf, 2, 3))) static void run_fail(struct run *r, const char *fmt, ...)
{
	autofree char *why = xformat(fmt);

	if (!r->failed)
		snprintf(r->why, sizeof(r->why), "%s", why);
	r->failed = true;
}

/* --- waiting --- */

/*
 * Waits for the deadline, the workload's end, a line on standard input or a signal, whichever comes
 * first.
 */
static enum woken run_wait_until(struct run *r, uint64_t deadline)
{
	struct pollfd p[3] = {{.fd = r->signals, .events = POLLIN},
			      {.fd = r->running || r->npids ? r->pidfd : -1, .events = POLLIN},
			      {.fd = r->sync && !r->in.closed ? r->in.fd : -1, .events = POLLIN}};
	struct signalfd_siginfo si;
	enum sync_event event;

	while (!r->failed) {
		uint64_t now = clock_mono_ns(), left = deadline > now ? deadline - now : 0;
		struct timespec ts = {(time_t)(left / SECOND), (long)(left % SECOND)};
		int n = ppoll(p, 3, deadline == UINT64_MAX ? NULL : &ts, NULL);

		if (n < 0 && errno != EINTR)
			run_fail(r, "cannot wait: %s", strerror(errno));
		if (n < 0)
			continue;
		if (!n)
			return WOKEN_TIME;
		if (p[0].revents && read(r->signals, &si, sizeof(si)) == sizeof(si))
			run_fail(r, "stopped by signal %u (%s)", si.ssi_signo,
				 strsignal((int)si.ssi_signo));
		event = p[2].revents ? sync_read(&r->in) : SYNC_NOTHING;
		if (event == SYNC_ABORT)
			run_fail(r, "%s", r->in.why);
		else if (event == SYNC_GO)
			return WOKEN_GO;
		else if (p[1].revents && !r->failed)
			return WOKEN_EXIT;
	}
	return WOKEN_STOP;
}

/* --- the workload --- */

int run_create_file(const struct run *r, const char *name, struct error *err)
{
	autofree char *path = xasprintf("%s/%s", r->dir, name);
	int fd = file_create(path, O_APPEND, 0600);

	if (fd < 0)
		error_sys(err, -fd, "%s: cannot write", path);
	return fd;
}

/* Starts the command that was held until the window opened. */
static void run_let_go(struct run *r)
{
	struct error err = {0};

	if (r->held >= 0 && spawn_go(r->pid, r->words.word, r->held, &err)) {
		r->running = false;
		r->pid = 0;
		r->start_ns = 0; /* there was nothing to measure */
		run_fail(r, "%s", err.text);
	}
}

/* The workload reads /dev/null: with --sync, standard input belongs to us. */
static bool run_start_workload(struct run *r)
{
	struct error err = {0};
	struct spawn opts = {.in = open("/dev/null", O_RDONLY | O_CLOEXEC),
			     .out = run_create_file(r, "workload.out", &err),
			     .err = run_create_file(r, "workload.err", &err),
			     .mark = r->mark,
			     .apart = r->user};

	/* Without a warm-up the command is measured from its first instruction. */
	if (!r->sync && r->warmup_s <= 0)
		opts.held = &r->held;
	r->running = !err.code && !spawn_start(&r->pid, r->words.word, &opts, &err);
	if (!r->running)
		r->pid = 0;
	else if ((r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0)) < 0)
		error_sys(&err, errno, "cannot watch the workload");
	if (err.code)
		run_fail(r, "%s", err.text);
	close(opts.in);
	close(opts.out);
	close(opts.err);
	return !err.code;
}

static struct workload_run run_as_workload(const struct run *r)
{
	return (struct workload_run){r->dir, r->started_ns, clock_mono_ns(), 0};
}

static void run_reap_workload(struct run *r)
{
	struct workload_run w = run_as_workload(r);
	autofree char *words = NULL;

	spawn_wait(r->pid, -1, &r->status);
	kill(-r->pid, SIGKILL); /* processes that it left in its group */
	r->running = false;
	if (!r->status)
		return;
	words = workload_words(&w, r->units);
	run_fail(r, words ? "the workload %s: \"%s\"" : "the workload %s",
		 spawn_status_text(r->status), words);
}

/* The advice to run longer is for a workload that did some work. */
static void run_fail_early(struct run *r)
{
	const struct adapter *is = adapter_find(r->units);
	struct workload_run w = run_as_workload(r);
	autofree char *undone = is && !is->collector ? workload_undone(&w, r->units) : NULL;

	run_fail(r, "the workload ended before the window opened: %s",
		 undone ? undone : "let it run longer than the warm-up");
}

/* Gives the workload --grace seconds after the window to end by itself, then stops it. */
static void run_end_workload(struct run *r)
{
	uint64_t deadline = clock_deadline(r->grace_s);

	while (r->running && !r->failed) {
		enum woken w = run_wait_until(r, deadline);

		if (w == WOKEN_EXIT)
			run_reap_workload(r);
		else if (w == WOKEN_TIME)
			break;
	}
	if (r->running) {
		spawn_stop(r->pid, WORKLOAD_GRACE_MS, &r->status);
		r->running = false;
		r->stopped = true;
	}
}

/* --- the window --- */

static void run_start_before(struct run *r)
{
	collect_start(r->collect, r->ncollect, APART);
	collect_before(r->collect, r->ncollect);
}

/* Takes the first readings so that they end just before the window opens. */
static enum woken run_wait_for_start(struct run *r, uint64_t start)
{
	enum woken w = run_wait_until(r, start > LEAD ? start - LEAD : 0);
	uint64_t from;

	if (w != WOKEN_TIME)
		return w;
	run_start_before(r);
	from = clock_mono_ns();
	if (start > from) {
		/* A rehearsal tells how long the readings take. They get a quarter more. */
		collect_snap(r->collect, r->ncollect, true);
		w = run_wait_until(r, start - (clock_mono_ns() - from) * 5 / 4);
	}
	if (w != WOKEN_TIME)
		return w;
	collect_start(r->collect, r->ncollect, DATED);
	return run_wait_until(r, start);
}

/*
 * Waits for `go`, and looks meanwhile how far the workload has come. The looks become rarer,
 * because each one lists the workload's sockets.
 */
static enum woken run_watch_motion(struct run *r)
{
	struct motion *m = motion_begin(r);
	uint64_t begun = clock_mono_ns();
	enum woken w;

	do {
		uint64_t now = clock_mono_ns(), pause = (now - begun) / 4;

		pause = pause < LOOK_LEAST ? LOOK_LEAST : pause > LOOK_MOST ? LOOK_MOST : pause;
		w = run_wait_until(r, motion_look(m) ? UINT64_MAX : now + pause);
	} while (w == WOKEN_TIME);
	motion_end(m);
	return w;
}

/* Returns true when the window may open, and false when the run is over before. */
static bool run_wait_for_go(struct run *r, uint64_t *start, uint64_t *duration)
{
	enum woken w = WOKEN_TIME;

	*start = clock_mono_ns() + (uint64_t)(r->warmup_s * SECOND) + (r->npids ? 2 * LEAD : 0);
	*duration = (uint64_t)(r->duration_s * SECOND);
	if (r->sync) {
		sync_print(r, "ready");
		w = run_watch_motion(r);
		*start = r->in.start_ns;
		*duration = r->in.duration_ns;
	}
	/* Without a warm-up the command is held: the window opens at its start. */
	if (w == WOKEN_GO || (w == WOKEN_TIME && (r->warmup_s > 0 || r->npids))) {
		w = run_wait_for_start(r, *start);
	} else if (w == WOKEN_TIME) {
		run_start_before(r);
		collect_start(r->collect, r->ncollect, DATED);
	}
	if (w != WOKEN_EXIT)
		return w == WOKEN_TIME;
	if (r->npids) {
		run_fail(r, "a process of --pid ended before the window opened");
		return false;
	}
	run_reap_workload(r);
	run_fail_early(r);
	return false;
}

/*
 * Takes a reading each second until `end`, or, when it is 0, until the command ends. The account of
 * BPF programs has its parts far from the readings. No collector takes a turn just before the end,
 * because a turn may be slow.
 */
static void run_watch(struct run *r, uint64_t end)
{
	uint64_t next = r->start_ns + SECOND, account = r->start_ns + SECOND / 25;
	uint64_t turn = r->start_ns;

	r->until_ns = end;
	for (;;) {
		uint64_t due = account < next ? account : next;
		enum woken w;

		due = turn < due ? turn : due;
		w = run_wait_until(r, end && end < due ? end : due);

		if (w == WOKEN_EXIT || w == WOKEN_STOP)
			return;
		if (w != WOKEN_TIME)
			continue;
		if (end && clock_mono_ns() >= end)
			return;
		if (due == turn) {
			turn = collect_turn(r->collect, r->ncollect);
			turn = end && turn > end - SECOND / 50 ? UINT64_MAX : turn;
			continue;
		}
		if (due == account) {
			account += bpf_account_step(r->collect, r->ncollect, &r->account);
			continue;
		}
		collect_snap(r->collect, r->ncollect, false);
		while (next <= clock_mono_ns())
			next += SECOND;
	}
}

/* Records the workload's processes: the laptop tells their samples from those of others. */
static void run_note_processes(struct run *r)
{
	const struct tree *tree = tree_of(r);
	size_t k;

	for (size_t i = 0; r->pid && i < tree->nprocesses; i++) {
		for (k = 0; k < r->nprocesses && r->processes[k] != tree->processes[i].pid; k++)
			;
		if (k == r->nprocesses)
			array_add(r->processes, r->nprocesses, r->processes_cap,
				  tree->processes[i].pid);
	}
}

static void run_measure(struct run *r)
{
	uint64_t start, duration, end;
	struct pollfd p;

	sync_print(r, "step measuring");
	if (!run_wait_for_go(r, &start, &duration))
		return;
	r->own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	r->start_ns = clock_mono_ns();
	r->wanted_ns = r->held < 0 ? start : r->start_ns;
	collect_start(r->collect, r->ncollect, AT_THE_EDGE);
	run_let_go(r);
	run_note_processes(r);
	/*
	 * The windows of all sides end at one time, also that of a side which opened late: the end
	 * of the first window ends the workload of all sides.
	 */
	end = r->sync && r->wanted_ns + duration > r->start_ns ? r->wanted_ns : r->start_ns;
	end = duration ? end + duration : 0;
	run_watch(r, end);
	r->end_ns = r->start_ns ? clock_mono_ns() : 0;
	collect_stop(r->collect, r->ncollect, AT_THE_EDGE);
	collect_stop(r->collect, r->ncollect, DATED);
	r->own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - r->own_ns;
	if (r->account >= 0)
		close(r->account); /* a part that the end cut counts for nothing */
	sync_print(r, "step ending the measurement");
	collect_stop(r->collect, r->ncollect, APART);
	run_note_processes(r);
	if (!r->failed && r->start_ns && r->end_ns + duration / 100 < end)
		r->early_ns = end - r->end_ns; /* by more than 1 % of the wanted length */
	p = (struct pollfd){.fd = r->pidfd, .events = POLLIN};
	if (r->running && poll(&p, 1, 0) > 0)
		run_reap_workload(r);
	collect_after(r->collect, r->ncollect);
}

/* --- set-up --- */

/*
 * Saves both clocks at one moment: by them logs with the time of day are aligned with the window.
 */
static void run_note_start(struct run *r)
{
	struct timespec now;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	r->started_ns = clock_mono_ns();
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(r->wall_clock, sizeof(r->wall_clock), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(r->wall_clock + n, sizeof(r->wall_clock) - n, ".%06ldZ", now.tv_nsec / 1000);
}

/*
 * The mark in the environment tells which run a process belongs to. It is unique: the next run in
 * the same folder may begin before all processes of this one are gone.
 */
static int run_start_guard(struct run *r, struct error *err)
{
	autofree char *dir = realpath(r->dir, NULL);

	if (!dir)
		return error_sys(err, errno, "%s: cannot be found", r->dir);
	r->mark = xasprintf("ZCOST_RUN=%s#%llu", dir, (unsigned long long)clock_mono_ns());
	return guard_start(&r->guard, r->mark, err);
}

/* Ends what an earlier run left when both it and its guard were killed. */
static void run_end_earlier(const struct run *r)
{
	autofree char *dir = realpath(r->dir, NULL),
		      *mark = xasprintf("ZCOST_RUN=%s#", dir ? dir : "");
	autofree char *out = xasprintf("%s/workload.out", r->dir);
	int n = dir && path_exists(out) ? marked_end(mark, true, STOP_GRACE_MS) : 0;

	if (n)
		print_note("%s: ended %d processes of an earlier run that was killed", r->dir, n);
}

void run_leave_cpus(const struct run *r)
{
	cpu_set_t aside;

	CPU_ZERO(&aside);
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpuset_has(&r->online, cpu) && !cpuset_has(&r->cpus, cpu))
			CPU_SET(cpu, &aside);
	if (CPU_COUNT(&aside))
		sched_setaffinity(0, sizeof(aside), &aside);
}

/*
 * Moves us off the measured CPUs and raises our priority: on a busy host the window would otherwise
 * open some milliseconds late, differently on each side. It is called after the workload has
 * started, so the workload and its children have all CPUs and their own priority.
 */
static void run_step_aside(const struct run *r)
{
	struct sched_param first = {.sched_priority = 1};

	run_leave_cpus(r);
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first); /* root may */
}

/* Finds the processes of --pid and watches them. Their pidfds stay open until zcost ends. */
static int run_attach(struct run *r, struct error *err)
{
	static char *none[] = {NULL};
	struct epoll_event event = {.events = EPOLLIN};
	struct stat st;

	r->argv = none;
	r->stopped = true;
	r->pid = r->pids[0];
	r->pidfd = epoll_create1(EPOLL_CLOEXEC);
	for (size_t i = 0; i < r->npids; i++) {
		int pid = (int)r->pids[i], fd = (int)syscall(SYS_pidfd_open, pid, 0);
		autofree char *ns = xasprintf("/proc/%d/ns/net", pid);

		if (fd < 0 || epoll_ctl(r->pidfd, EPOLL_CTL_ADD, fd, &event) ||
		    !tree_add_root(&r->tree, pid))
			return error_sys(err, errno, "--pid %d: cannot watch this process", pid);
		if (stat(ns, &st))
			return error_sys(
				err, errno,
				"--pid %d: cannot look into this process: run as root, or as its user",
				pid);
	}
	return 0;
}

static int run_set_up(struct run *r, struct error *err)
{
	bool used;
	int rc = folder_check(r->dir, &used, err);

	r->pidfd = r->held = r->account = -1;
	r->in.fd = STDIN_FILENO;
	rc = rc ?: dir_make(r->dir, err);
	rc = rc ?: caller_check_folder(r->dir, err);
	rc = rc ?: caller_check_path(r->hosts, err);
	if (rc)
		return rc;
	run_end_earlier(r);
	if (used && !r->sync)
		print_note("%s: replacing the earlier run in this folder", r->dir);
	folder_clear(r->dir);
	rc = run_create_file(r, "workload.out", err); /* folder_check() finds a killed run by it */
	if (rc < 0)
		return rc;
	close(rc);
	r->signals = spawn_open_signals(0, err);
	rc = r->signals < 0 ? r->signals : 0;
	rc = rc ?: cpuset_online(&r->online, err);
	if (!rc)
		orphans_adopt();
	rc = rc ?: run_start_guard(r, err);
	if (rc)
		return rc;
	return r->npids ? run_attach(r, err)
			: user_command(&r->words, r->user, r->prefix, r->argv, r->mark, err);
}

bool run_has_collector(const struct run *r, const char *name)
{
	for (size_t i = 0; i < r->ncollect; i++)
		if (!strcmp(r->collect[i].is->name, name))
			return true;
	return false;
}

/*
 * Fails a run without any work in it. A workload that is stopped at the end of the window has no
 * exit status that says so. The passes that measure no throughput may lack the collector to tell.
 */
static void run_judge_work(struct run *r)
{
	const struct adapter *is = adapter_find(r->units);
	struct workload_run w = run_as_workload(r);
	bool blind = is && is->collector && !run_has_collector(r, is->collector);
	autofree char *undone = r->failed ? NULL : workload_undone(&w, blind ? "none" : r->units);

	if (undone)
		run_fail(r, "%s", undone);
	else if (blind && strcmp(r->pass, "profile") && strcmp(r->pass, "syscalls") &&
		 strcmp(r->pass, "trace"))
		run_fail(r, "--units %s needs the collector '%s': add it to --collect", r->units,
			 is->collector);
	if (!r->failed && r->end_ns)
		r->cut_off = workload_cut_off(&w, r->units, r->start_ns, r->end_ns);
}

int run_execute(struct run *r, struct error *err)
{
	int rc = run_set_up(r, err);

	if (rc) {
		words_free(&r->words);
		return rc;
	}
	run_note_start(r);
	collect_prepare(r->collect, r->ncollect);
	sync_print(r, "step starting the command");
	if (r->npids || run_start_workload(r)) {
		run_step_aside(r);
		run_measure(r);
	}
	sync_print(r, "step waiting for the end of the command");
	run_end_workload(r);
	collect_finish(r->collect, r->ncollect);
	sync_print(r, "step ending processes that the command left");
	orphans_end(STOP_GRACE_MS, r->guard.pid);
	guard_stop(&r->guard);
	free(r->mark);
	words_free(&r->words);
	r->ended_ns = clock_mono_ns();
	sync_print(r, "step writing run.json");
	run_judge_work(r);
	/* A workload or a tool that cannot write often ends without a word. */
	if (r->failed && disk_is_full(r->dir))
		snprintf(r->why + strlen(r->why), sizeof(r->why) - strlen(r->why), "; %s: %s",
			 r->dir, strerror(ENOSPC));
	close(r->pidfd);
	close(r->signals);
	rc = run_write_json(r, err);
	tree_free(&r->tree);
	free(r->processes);
	free(r->cut_off);
	return rc;
}
