// SPDX-License-Identifier: GPL-2.0-only
#include "collect/agent.h"

#include "collect/events/events.h"
#include "collect/host.h"
#include "lib/clock.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/intern.h"
#include "lib/names.h"
#include "lib/spawn.h"
#include "lib/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* --- files through a pipe --- */

enum { CHUNK = 64 * 1024 };

/*
 * The pipe to write to. One write has at most the bytes that a ready pipe takes without blocking.
 */
struct sink {
	int fd, patience_ms;
	struct intern *sent;
};

static bool stream_write(const struct sink *to, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		struct pollfd ready = {.fd = to->fd, .events = POLLOUT};
		int there = poll(&ready, 1, to->patience_ms);
		ssize_t n = there > 0 ? write(to->fd, p, len < PIPE_BUF ? len : PIPE_BUF) : there;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static bool stream_write_line(const struct sink *to, const char *word, const char *rest)
{
	autofree char *line = xasprintf("%s%s\n", word, rest);

	return stream_write(to, line, strlen(line));
}

static bool stream_write_bytes(const struct sink *to, int file, uint64_t size)
{
	char buf[CHUNK], hex[65];
	struct sha256 sum;
	bool whole = true, sent = true;
	uint64_t left = size;

	sha256_begin(&sum);
	while (left && sent) {
		size_t want = left < CHUNK ? (size_t)left : CHUNK;
		ssize_t n = whole ? read(file, buf, want) : 0;

		if (n <= 0) { /* a file that ended early has zeros for the rest */
			whole = false;
			memset(buf, 0, want);
			n = (ssize_t)want;
		}
		sha256_add(&sum, buf, (size_t)n);
		sent = stream_write(to, buf, (size_t)n);
		left -= (uint64_t)n;
	}
	sha256_hex(&sum, hex);
	return sent && stream_write_line(to, "sum ", whole ? hex : "-");
}

static bool stream_is_known(struct intern *sent, const char *name, const struct stat *st)
{
	autofree char *key = xasprintf("%s\n%lld %lld.%09ld", name, (long long)st->st_size,
				       (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
	size_t before = sent->n;

	intern_str(sent, key);
	return sent->n == before;
}

static bool stream_write_failed(const struct sink *to, const char *path, int code)
{
	autofree char *why = xasprintf("%s: %s", path, strerror(code));

	return stream_write_line(to, "failed ", why);
}

static bool stream_write_file(const struct sink *to, const char *path, const char *name)
{
	autoclose int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	autofree char *head = NULL;
	struct stat st;

	if (file < 0 || fstat(file, &st))
		return stream_write_failed(to, path, errno);
	if (to->sent && stream_is_known(to->sent, name, &st))
		return true;
	head = xasprintf("%lld %s", (long long)st.st_size, name);
	return stream_write_line(to, "file ", head) &&
	       stream_write_bytes(to, file, (uint64_t)st.st_size);
}

static int stream_visit(void *to, const struct walked *e, struct error *err)
{
	bool there;

	(void)err;
	if (e->code && e->code != ENOENT)
		there = stream_write_failed(to, e->path, e->code);
	/* A killed process may have left a part of a file under a temporary name. */
	else if (e->code || !S_ISREG(e->st.st_mode) || strstr(path_base_name(e->name), ".tmp."))
		there = true;
	else if (!name_is_safe(e->name))
		there = stream_write_line(to, "failed ", "there is a file with an unsafe name");
	else
		there = stream_write_file(to, e->path, e->name);
	return there ? 0 : -EIO;
}

/*
 * Writes the files below `dir` to `fd`, or none when there is no such folder. Files that are in
 * `sent` by name, size and time of change are left out, and the others are added to it; NULL sends
 * all. Returns false when nobody reads `fd`, or nobody did for `patience_ms` (-1: for ever).
 */
static bool stream_send(int fd, const char *dir, struct intern *sent, int patience_ms)
{
	struct sink to = {fd, patience_ms, sent};

	return !dir_walk(dir, stream_visit, &to, NULL) && stream_write_line(&to, "end", "");
}

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
	const char *chosen = getenv("TMPDIR"),
		   *tmp = chosen && *chosen == '/' ? chosen : "/var/tmp";
	autofree char *real = realpath(tmp, NULL);

	return xasprintf("%s/zcost-%s", real ? real : tmp, key); /* as in the marks of runs */
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
	autofree char *text = NULL;
	char *at;

	if (file_read("/proc/self/status", &text, NULL, NULL))
		return r;
	at = strstr(text, "\nCapEff:");
	if (at)
		r.caps = strtoull(at + strlen("\nCapEff:"), NULL, 16);
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

__attribute__((format(printf, 2, 3))) static void agent_print_line(struct agent *a, const char *fmt,
								   ...)
{
	autofree char *line = xformat(fmt);

	puts(line);
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
	autofree char *text = NULL;
	json_auto_t *o = NULL;

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		*exe = '\0';
	gethostname(host, sizeof(host) - 1);
	snprintf(caps, sizeof(caps), "%" PRIx64, r.caps);
	o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:s}", "zcost", zcost_version, "exe", exe,
		      "host", host, "boot_id", host_boot_id(), "caps", caps, "paranoid", r.paranoid,
		      "folder", a->folder);
	text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	agent_print_line(a, "%s", text ? text : "{}");
}

static void agent_handle_named(struct agent *a, const char *line)
{
	const char *name = strchr(line, ' ');
	autofree char *dir = NULL;
	struct error err = {0};
	double s, idle_s;
	char *rest;

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
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	if (n <= 0) {
		a->over = !n || errno != EINTR;
		return;
	}
	for (ssize_t i = 0; i < n && !a->over; i++) {
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
	autofree char *mark =
		xasprintf("ZCOST_RUN=%s/", a->folder); /* marks the processes of a run */
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
}

int agent_run(const char *key)
{
	/* Without SA_RESTART a signal ends the wait, and the agent ends as at the end of input. */
	struct sigaction act = {.sa_handler = agent_on_signal};
	struct agent a = {.patience_ms = -1, .idle_ms = IDLE_MS};
	int left;

	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
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
