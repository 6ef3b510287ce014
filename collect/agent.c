// SPDX-License-Identifier: GPL-2.0-only
#include "collect/agent.h"

#include "collect/events/events.h"
#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/command.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/names.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the processes of a run --- */

/*
 * A run that gets SIGTERM takes two seconds to end its workload, and then some time to write its
 * files.
 */
enum { TERM_MS = 10000, TICK_MS = 20 };

/*
 * Waits `patience_ms` for the processes with the mark of a folder to end by themselves, ends them,
 * and returns how many are left. `zcost collect --mark` takes the mark, too.
 */
static int agent_end_processes(const char *folder, int patience_ms)
{
	uint64_t deadline = clock_mono_ns() + (uint64_t)patience_ms * 1000000;
	autofree char *mark = xasprintf("ZCOST_RUN=%s/", folder);
	int n = 0;

	while (clock_mono_ns() < deadline && marked_count(mark, true))
		usleep(TICK_MS * 1000);
	if (marked_end(mark, true, TERM_MS))
		n = marked_count(mark, true);
	return n;
}

/* --- the folder: new and empty, and no other agent with the same key uses it --- */

/* /var/tmp is on a disk. /tmp may be in memory, and a recording is large. */
static char *agent_folder_path(const char *key)
{
	const char *tmp = getenv("TMPDIR");
	char *real, *path;

	if (!tmp || *tmp != '/')
		tmp = "/var/tmp";
	real = realpath(tmp, NULL);
	path = xasprintf("%s/zcost-%s", real ? real : tmp, key); /* as in the marks of runs */
	free(real);
	return path;
}

/* Ends and removes what a killed agent left: its processes and its folder. */
static int agent_folder_remove_old(const char *path, const struct stat *st, struct error *err)
{
	int left;

	if (!S_ISDIR(st->st_mode) || st->st_uid != geteuid())
		return error_set(
			err, EEXIST,
			"%s: exists and is not a folder of this user: remove it, or set TMPDIR",
			path);
	left = agent_end_processes(path, 0);
	if (left)
		return error_set(
			err, EBUSY,
			"%s: %d processes of an earlier capture run here and cannot be ended ('grep -l %s /proc/*/environ' shows them)",
			path, left, path);
	return dir_remove(path, err);
}

/* Makes the folder and returns its path, which the caller frees, or NULL after an error. */
static char *agent_folder_make(const char *key, struct error *err)
{
	char *path = agent_folder_path(key);
	struct stat st;
	int rc = caller_check_path(path, err);

	if (!rc && !lstat(path, &st))
		rc = agent_folder_remove_old(path, &st, err);
	if (!rc && mkdir(path, 0700))
		rc = error_sys(err, errno, "%s: cannot make the folder for runs", path);
	if (!rc)
		return path;
	free(path);
	return NULL;
}

/* --- rights --- */

struct rights rights_of_this_process(void)
{
	struct rights r = {.paranoid = perf_event_paranoid()};
	char *text, *at;

	if (file_read("/proc/self/status", &text, NULL, NULL))
		return r;
	at = strstr(text, "\nCapEff:");
	if (at)
		r.caps = strtoull(at + strlen("\nCapEff:"), NULL, 16);
	free(text);
	return r;
}

/* --- the agent --- */

/* A run ends by itself when its own connection ends. It has this much time for that. */
enum { BY_ITSELF_MS = 3000, IDLE_MS = 3600 * 1000 };

struct agent {
	char *folder;
	struct str in; /* input that is no whole line yet */
	struct intern sent;
	int patience_ms; /* for silence during a run, and for a peer that does not read; -1: for
			    ever */
	int idle_ms;	 /* for silence without a run */
	bool over;
	struct error err;
};

static volatile sig_atomic_t stop_signal;

static void agent_on_signal(int sig)
{
	stop_signal = sig;
}

/*
 * Installed without SA_RESTART: a signal ends the wait, and the agent ends as at the end of input.
 */
static void agent_catch_signals(void)
{
	struct sigaction act = {.sa_handler = agent_on_signal};

	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void agent_print_line(struct agent *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void agent_print_line(struct agent *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!fflush(stdout))
		return;
	error_sys(&a->err, errno, "standard output");
	clearerr(stdout); /* agent_run() prints the error */
	a->over = true;
}

static void agent_print_hello(struct agent *a)
{
	char exe[PATH_MAX] = "", host[256] = "host", caps[24];
	struct rights r = rights_of_this_process();
	json_t *o;
	char *text;

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		*exe = '\0';
	gethostname(host, sizeof(host) - 1);
	snprintf(caps, sizeof(caps), "%" PRIx64, r.caps);
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:s}", "zcost", zcost_version, "exe", exe,
		      "host", host, "boot_id", host_boot_id(), "caps", caps, "paranoid", r.paranoid,
		      "folder", a->folder);
	text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	agent_print_line(a, "%s", text ? text : "{}");
	free(text);
	json_decref(o);
}

static void agent_handle_named(struct agent *a, const char *line)
{
	const char *name = strchr(line, ' ');
	struct error err = {0};
	char *dir, *rest;
	double s, idle_s;

	if (!name || !name_is_safe(++name)) {
		agent_print_line(a, "failed not understood: %s", line);
		return;
	}
	dir = xasprintf("%s/%s", a->folder, name);
	if (str_starts(line, "send ") || str_starts(line, "news ")) {
		a->over = !stream_send(STDOUT_FILENO, dir, *line == 'n' ? &a->sent : NULL,
				       a->patience_ms);
	} else if (str_starts(line, "drop ")) {
		if (dir_remove(dir, &err))
			agent_print_line(a, "failed %s", err.text);
		else
			agent_print_line(a, "dropped");
	} else if (str_starts(line, "patience ")) { /* "patience 64", "patience 64 3600" */
		s = strtod(name, &rest);
		idle_s = strtod(rest, NULL);
		a->patience_ms = (int)(s * 1000);
		a->idle_ms = idle_s > 0 ? (int)(idle_s * 1000) : a->idle_ms;
	} else {
		agent_print_line(a, "failed not understood: %s", line);
	}
	free(dir);
}

static void agent_handle(struct agent *a, const char *line)
{
	uint64_t heard = clock_mono_ns();

	if (!strcmp(line, "clock")) {
		agent_print_line(a, "clock %" PRIu64 " %" PRIu64, heard, clock_mono_ns());
	} else if (!strcmp(line, "sweep")) {
		agent_print_line(a, "swept %d", agent_end_processes(a->folder, 0));
	} else if (!strcmp(line, "forget")) {
		intern_free(&a->sent);
		a->sent = (struct intern){0};
	} else if (strcmp(line, "alive") != 0) {
		agent_handle_named(a, line);
	}
}

static void agent_read(struct agent *a)
{
	char buf[256];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf)), i;

	if (n <= 0) {
		a->over = !n || errno != EINTR;
		return;
	}
	for (i = 0; i < n && !a->over; i++) {
		if (buf[i] != '\n') {
			str_putc(&a->in, buf[i]);
			continue;
		}
		agent_handle(a, a->in.buf ? a->in.buf : "");
		str_reset(&a->in);
	}
}

/*
 * A cut network brings no end of input, only silence. During a run the agent waits for `patience`.
 * Without a run it waits much longer, because nobody speaks while a plan's `before` runs.
 */
static void agent_serve(struct agent *a)
{
	char *mark = xasprintf("ZCOST_RUN=%s/", a->folder); /* marks the processes of a run */
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t heard = clock_mono_ns();

	while (!a->over && !stop_signal) {
		bool patient = a->patience_ms < 0 || a->patience_ms > a->idle_ms;
		int n = poll(&p, 1, patient ? a->idle_ms : a->patience_ms);

		if (n > 0) {
			agent_read(a);
			heard = clock_mono_ns();
		} else if (!n) {
			a->over = marked_count(mark, true) ||
				  clock_mono_ns() - heard >= (uint64_t)a->idle_ms * 1000000;
		}
	}
	free(mark);
}

int agent_run(const char *key)
{
	struct agent a = {.patience_ms = -1, .idle_ms = IDLE_MS};
	int left;

	agent_catch_signals();
	a.folder = agent_folder_make(key, &a.err);
	if (!a.folder) {
		error_print(&a.err);
		return EXIT_FAILED;
	}
	agent_print_hello(&a);
	agent_serve(&a);
	left = agent_end_processes(a.folder, BY_ITSELF_MS);
	if (left)
		warn("%d processes of a run could not be ended", left);
	dir_remove(a.folder, &a.err);
	if (a.err.code)
		error_print(&a.err);
	free(a.folder);
	str_free(&a.in);
	intern_free(&a.sent);
	return left || a.err.code ? EXIT_FAILED : EXIT_OK;
}
