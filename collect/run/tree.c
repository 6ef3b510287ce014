// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/tree.h"

#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/spawn.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRESH_NS = 5000000, PATH_LEN = 96, KTHREADD = 2 /* the parent of all kernel threads */ };

/* What /proc/PID/stat says of a process. */
struct place {
	char state;
	pid_t parent, group, session;
	unsigned long user, system; /* CPU time in ticks */
	unsigned long long start;   /* ticks since boot */
};

size_t tree_file(char *buf, size_t cap, const char *path, ...)
{
	autoclose int fd = -1;
	char name[128];
	va_list ap;
	ssize_t n;

	va_start(ap, path);
	vsnprintf(name, sizeof(name), path, ap);
	va_end(ap);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, cap - 1);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	return (size_t)n;
}

/* The name may hold any byte, also ')'. Behind the last ')' there are only numbers. */
static bool tree_read_place(pid_t pid, struct place *p)
{
	char line[1024], *after;

	return tree_file(line, sizeof(line), "/proc/%d/stat", (int)pid) &&
	       (after = strrchr(line, ')')) &&
	       sscanf(after + 1,
		      " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %llu",
		      &p->state, &p->parent, &p->group, &p->session, &p->user, &p->system,
		      &p->start) == 7;
}

static bool tree_has_ended(pid_t pid)
{
	struct place p;

	return !tree_read_place(pid, &p) || p.state == 'Z' || p.state == 'X';
}

static bool tree_has(const struct tree *t, pid_t pid)
{
	return map_get(&t->known, (uint64_t)pid) != NULL;
}

static void tree_add(struct tree *t, pid_t pid, uint64_t start)
{
	if (t->nprocesses >= TREE_THREADS) {
		t->cut = true;
		return;
	}
	*map_at(&t->known, (uint64_t)pid) = 1;
	array_add(t->processes, t->nprocesses, t->processes_cap, (struct tree_process){pid, start});
}

/*
 * Adds the children of one thread from the kernel's list, "12 34 ". Of our own children only the
 * workload's are added.
 */
static void tree_add_children(struct tree *t, pid_t pid, const char *tid, pid_t command)
{
	autofree char *text = NULL;
	char path[PATH_LEN], *end;
	struct place p;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid, tid);
	if (file_read(path, &text, NULL, NULL))
		return;
	for (char *at = text; *at; at = end) {
		pid_t child = (pid_t)strtol(at, &end, 10);

		if (end == at)
			break;
		if (!tree_has(t, child) && child != getpid() && tree_read_place(child, &p) &&
		    (pid != getpid() || p.group == command || p.session != getsid(0)))
			tree_add(t, child, p.start);
	}
}

/* --- processes that zcost did not start --- */

/* Reads the name of the process. Returns false when it is none of `names`. */
static bool tree_read_name(pid_t pid, const char *names, struct tree_match *m)
{
	char name[64];
	size_t len = tree_file(name, sizeof(name), "/proc/%d/comm", (int)pid);

	if (!len)
		return false;
	name[len - (name[len - 1] == '\n')] = '\0';
	snprintf(m->name, sizeof(m->name), "%.15s", name);
	return str_matches_any(names, name);
}

/*
 * Says whether the kernel can show the environment. It has neither arguments nor environment for a
 * zombie and in the middle of an execve(), which sets the name first. Kernel threads never have
 * any.
 */
static bool tree_has_environment(pid_t pid, const struct place *p)
{
	char first[2];

	return p->parent == KTHREADD ||
	       tree_file(first, sizeof(first), "/proc/%d/cmdline", (int)pid);
}

/* Says whether a process is a match, and adds it if it is none of another run. */
static bool tree_match(struct tree *t, struct tree_match *m, const struct place *p, const char *pid,
		       const char *mark)
{
	uint64_t key = p->start << 22 ^ (uint64_t)m->process.pid; /* pids have 22 bits */

	if (map_get(&t->matched, key))
		return true;
	if (!tree_has_environment(m->process.pid, p) ||
	    (marked_has_mark(pid, "ZCOST_RUN=", true) && !marked_has_mark(pid, mark, false)))
		return false; /* the second: another run of zcost started it */
	if (t->nmatches >= TREE_THREADS) {
		t->cut = true;
		return false;
	}
	*map_at(&t->matched, key) = 1;
	array_add(t->matches, t->nmatches, t->matches_cap, *m);
	return true;
}

static void tree_add_named(struct tree *t, const char *names, const char *mark)
{
	struct tree_match m;
	struct dirent *e;
	struct place p;

	each_entry (e, "/proc") {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid <= 0 || pid == getpid() || !tree_read_name(pid, names, &m) ||
		    !tree_read_place(pid, &p))
			continue;
		m.process = (struct tree_process){pid, p.start};
		if (tree_match(t, &m, &p, e->d_name, mark) && !tree_has(t, pid))
			tree_add(t, pid, p.start);
	}
}

bool tree_add_root(struct tree *t, pid_t pid)
{
	struct tree_match m = {.process.pid = pid};
	struct place p;

	if (!tree_read_place(pid, &p) || !tree_read_name(pid, "*", &m))
		return false;
	m.process.start = p.start;
	tree_add(t, pid, p.start);
	array_add(t->matches, t->nmatches, t->matches_cap, m);
	return true;
}

/* --- threads --- */

/* Adds the threads of a process, unless it is our own, and the children of each thread. */
static void tree_walk(struct tree *t, pid_t pid, pid_t command)
{
	char path[PATH_LEN];
	struct dirent *e;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	each_entry (e, path) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (pid != getpid() && t->nthreads < TREE_THREADS)
			array_add(t->threads, t->nthreads, t->threads_cap,
				  (struct tree_thread){pid, (pid_t)atoi(e->d_name)});
		else if (pid != getpid())
			t->cut = true;
		tree_add_children(t, pid, e->d_name, command);
	}
}

static void tree_read(struct tree *t, pid_t command, const char *names, const char *mark)
{
	autofree struct tree_process *old = t->processes;
	size_t n = t->nprocesses;
	uint64_t begun = clock_mono_ns();
	struct place p;

	t->processes = NULL;
	map_free(&t->known);
	t->nprocesses = t->processes_cap = t->nthreads = 0;
	if (tree_read_place(command, &p))
		tree_add(t, command, p.start);
	for (size_t i = 0; i < n; i++) /* those that still live under the same number */
		if (!tree_has(t, old[i].pid) && tree_read_place(old[i].pid, &p) &&
		    p.start == old[i].start)
			tree_add(t, old[i].pid, p.start);
	if (*names)
		tree_add_named(t, names, mark);
	tree_walk(t, getpid(), command);
	for (size_t i = 0; i < t->nprocesses; i++) /* the list grows in the loop */
		tree_walk(t, t->processes[i].pid, command);
	t->most = t->nthreads > t->most ? t->nthreads : t->most;
	t->read_ns = clock_mono_ns();
	t->took_ns = t->read_ns - begun;
}

const struct tree *tree_of(struct run *r)
{
	if (!r->tree.read_ns || clock_mono_ns() - r->tree.read_ns > FRESH_NS + 4 * r->tree.took_ns)
		tree_read(&r->tree, r->pid, r->named, r->mark);
	return &r->tree;
}

struct tree_state tree_state_of(const struct tree *t)
{
	struct tree_state all = {.sleeps = true};
	struct place p;

	for (size_t i = 0; i < t->nprocesses; i++) {
		if (!tree_read_place(t->processes[i].pid, &p))
			continue;
		all.sleeps &= p.state != 'R' && p.state != 'D';
		all.cpu_s += (double)(p.user + p.system) / (double)sysconf(_SC_CLK_TCK);
	}
	return all;
}

void tree_free(struct tree *t)
{
	free(t->processes);
	free(t->matches);
	free(t->threads);
	map_free(&t->known);
	map_free(&t->matched);
	*t = (struct tree){0};
}

/* --- the guard --- */

enum { GRACE_MS = 2000 };

/*
 * Waits for our end in its own process group, so that a signal to our group does not end it. Never
 * returns.
 */
static void guard_watch(int from, const char *mark)
{
	sigset_t all;
	int null;
	char byte;
	ssize_t n;

	setpgid(0, 0);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "zcost-guard");
	/*
	 * Other descriptors stay open, so a program that waits for all of us by a lock waits for
	 * the guard too.
	 */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(null, i);
	do
		n = read(from, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		marked_end(mark, false, GRACE_MS);
	_exit(0);
}

int guard_start(struct guard *g, const char *mark, struct error *err)
{
	int fds[2], e;

	*g = (struct guard){.fd = -1};
	if (pipe2(fds, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	g->pid = fork();
	e = errno;
	if (!g->pid) {
		close(fds[1]);
		guard_watch(fds[0], mark);
	}
	close(fds[0]);
	g->fd = fds[1];
	if (g->pid > 0)
		return 0;
	close(g->fd);
	*g = (struct guard){.fd = -1};
	return error_sys(err, e, "cannot fork");
}

void guard_stop(struct guard *g)
{
	if (!g->pid)
		return;
	if (write(g->fd, "", 1) == 1)
		waitpid(g->pid, NULL, 0);
	close(g->fd);
	*g = (struct guard){.fd = -1};
}

/* --- orphans --- */

/* KILL_MS limits the wait for a process that hangs in the kernel, or forks without end. */
enum { MS = 1000000, KILL_MS = 5000 };

void orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Sends sig to all our children except one and returns their number. Signal 0 only counts. */
static int orphans_signal(int sig, pid_t except)
{
	struct dirent *e;
	struct place p;
	int n = 0;

	each_entry (e, "/proc") {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (!pid || pid == except || !tree_read_place(pid, &p) || p.parent != getpid())
			continue;
		kill(pid, sig);
		n++;
	}
	return n;
}

/* Reaps the children that ended. Returns true while others live. */
static bool orphans_reap(pid_t except)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0);
	return !pid && orphans_signal(0, except);
}

void orphans_end(int grace_ms, pid_t except)
{
	uint64_t deadline = clock_mono_ns() + (uint64_t)grace_ms * MS, now = 0;

	if (!orphans_reap(except))
		return;
	orphans_signal(SIGTERM, except);
	while (orphans_reap(except) && now < deadline + (uint64_t)KILL_MS * MS) {
		now = clock_mono_ns();
		if (now > deadline)
			orphans_signal(SIGKILL, except);
		usleep(5000);
	}
}

/* --- what the processes hold --- */

static void tree_add_socket(struct tree_sockets *s, pid_t pid, int dir, const char *name)
{
	unsigned long long inode;
	char link[64];
	ssize_t n = readlinkat(dir, name, link, sizeof(link) - 1);

	if (n <= 0)
		return;
	link[n] = '\0';
	if (sscanf(link, "socket:[%llu]", &inode) == 1 && !map_get(&s->pid_of, inode))
		*map_at(&s->pid_of, inode) = (uint64_t)pid;
}

/* `looked` counts the open files. */
static void tree_add_sockets(struct tree_sockets *s, pid_t pid, size_t *looked)
{
	struct dirent *e;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir) { /* only root may look for the files, none, of a process that has ended */
		s->refused |= (errno == EACCES || errno == EPERM) && !tree_has_ended(pid);
		return;
	}
	for (; *looked < TREE_FILES && (e = readdir(dir)); ++*looked)
		if (e->d_name[0] != '.')
			tree_add_socket(s, pid, dirfd(dir), e->d_name);
	closedir(dir);
}

void tree_find_sockets(const struct tree *t, struct tree_sockets *s)
{
	size_t looked = 0;

	for (size_t i = 0; i < t->nprocesses && looked < TREE_FILES; i++)
		tree_add_sockets(s, t->processes[i].pid, &looked);
	s->crowded |= looked == TREE_FILES;
}

void tree_sockets_report(struct collect *c, const struct tree_sockets *s)
{
	if (s->refused)
		collect_degraded(
			c,
			"no permission to read the open files of some of the workload's processes: run as root");
	if (s->crowded)
		collect_degraded(
			c,
			"the workload has more than %d open files: sockets among the rest were left out",
			TREE_FILES);
}
