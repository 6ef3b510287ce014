// SPDX-License-Identifier: GPL-2.0-only
#include "lib/spawn.h"

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	bool set;
	mode_t mask;
} before_private;

void spawn_private(void)
{
	before_private.mask = umask(077);
	before_private.set = true;
}

static struct rlimit files_before; /* rlim_max 0: the limit was not raised */

void spawn_raise_files(void)
{
	getrlimit(RLIMIT_NOFILE, &files_before);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){files_before.rlim_max, files_before.rlim_max});
}

int spawn_open_signals(int flags, struct error *err)
{
	struct sigaction hangup;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* A signal that nohup made us ignore would come all the same once it is blocked. */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | flags);
	return fd < 0 ? error_sys(err, errno, "cannot wait for signals") : fd;
}

static void spawn_redirect(int fd, int to)
{
	if (fd > 0 && fd != to)
		dup2(fd, to);
}

bool spawn_find_program(const char *name, char path[PATH_MAX])
{
	const char *at = getenv("PATH") ?: "/bin:/usr/bin", *end;

	snprintf(path, PATH_MAX, "%s", name);
	for (; !strchr(name, '/'); at = end + 1) {
		end = strchrnul(at, ':');
		snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "",
			 name);
		if (!access(path, X_OK) || !*end)
			break;
	}
	return !access(path, X_OK);
}

/* Marks the descriptors above 2, which a child must not inherit. */
static void spawn_close_on_exec(void)
{
	int end = (int)sysconf(_SC_OPEN_MAX);

	/* Before Linux 5.11 the kernel refuses the flag CLOSE_RANGE_CLOEXEC, which is 4. */
	if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 4))
		for (int fd = STDERR_FILENO + 1; fd < end; fd++)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/*
 * Leaves our session. With our controlling terminal a child could type commands into our shell
 * (TIOCSTI), and with our session keyring it could read our keys.
 */
static void spawn_leave_session(void)
{
	setsid();
	syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	spawn_close_on_exec();
}

/* Stops until spawn_go(). A stopped child would not end by SIGTERM when its parent dies. */
static void spawn_hold(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	syscall(SYS_kill, getpid(), SIGSTOP);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* Runs in the child and never returns. Sends the errno of a failed exec up the close-on-exec pipe.
 */
static void spawn_exec_child(char *const argv[], const struct spawn *o, pid_t parent, int report)
{
	char path[PATH_MAX];
	sigset_t none;
	int e;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (o->apart)
		spawn_leave_session(); /* closes descriptors up to our limit */
	else if (o->session)
		setsid();
	else
		setpgid(0, 0);
	if (files_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_before);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	spawn_redirect(o->in, STDIN_FILENO);
	spawn_redirect(o->out, STDOUT_FILENO);
	spawn_redirect(o->err, STDERR_FILENO);
	if (before_private.set)
		umask(before_private.mask);
	if (o->file_most) {
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){o->file_most, o->file_most});
		signal(SIGXFSZ, SIG_IGN); /* write() fails, and the child goes on */
	}
	if (o->mark)
		putenv((char *)o->mark);
	if (!o->cwd || !chdir(o->cwd)) {
		if (o->held) {
			spawn_find_program(argv[0], path); /* before it stops */
			spawn_hold();
			execv(path, argv);
		}
		execvp(argv[0], argv);
	}
	e = errno;
	if (write(report, &e, sizeof(e)) < 0)
		_exit(126);
	_exit(127);
}

static int spawn_exec_result(pid_t pid, char *const argv[], int report, struct error *err)
{
	int e = 0;
	ssize_t n;

	do
		n = read(report, &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	close(report);
	if (n != sizeof(e))
		return 0;
	waitpid(pid, NULL, 0);
	return error_sys(err, e, "cannot run %s", argv[0]);
}

int spawn_go(pid_t pid, char *const argv[], int held, struct error *err)
{
	kill(pid, SIGCONT);
	return spawn_exec_result(pid, argv, held, err);
}

/* Waits until the child has stopped, so that its setup is over, in the kernel as well. */
static void spawn_wait_stopped(pid_t pid)
{
	siginfo_t si;

	while (waitid(P_PID, (id_t)pid, &si, WSTOPPED | WEXITED | WNOWAIT) && errno == EINTR)
		;
}

int spawn_start(pid_t *pid, char *const argv[], const struct spawn *opts, struct error *err)
{
	static const struct spawn plain;
	pid_t parent = getpid();
	int report[2], e;

	if (pipe2(report, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	*pid = fork();
	if (*pid < 0) {
		e = errno;
		close(report[0]);
		close(report[1]);
		return error_sys(err, e, "cannot fork");
	}
	if (!*pid)
		spawn_exec_child(argv, opts ? opts : &plain, parent, report[1]);
	close(report[1]);
	if (!opts || !opts->held)
		return spawn_exec_result(*pid, argv, report[0], err);
	spawn_wait_stopped(*pid);
	*opts->held = report[0];
	return 0;
}

static int spawn_reap(pid_t pid, int flags, int *status)
{
	int st = 0;
	pid_t got;

	do
		got = waitpid(pid, &st, flags);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (!got)
		return -EAGAIN;
	if (status)
		*status = st;
	return 0;
}

/* LOOK_MS: how often to look for the end of a child where no descriptor is free to wait on. */
enum { MS = 1000000, LOOK_MS = 10 };

int spawn_wait(pid_t pid, int timeout_ms, int *status)
{
	struct pollfd p = {.events = POLLIN};
	uint64_t now, end = clock_mono_ns() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms) * MS;
	int rc, left;

	if (timeout_ms < 0)
		return spawn_reap(pid, 0, status);
	p.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	while ((rc = spawn_reap(pid, WNOHANG, status)) == -EAGAIN) {
		now = clock_mono_ns();
		if (now >= end)
			break;
		left = (int)((end - now + MS - 1) / MS);
		if (p.fd < 0 && left > LOOK_MS) /* poll() only sleeps */
			left = LOOK_MS;
		poll(&p, 1, left);
	}
	fd_close(&p.fd);
	return rc == -EAGAIN ? -ETIMEDOUT : rc;
}

static void spawn_signal_group(pid_t pid, int sig)
{
	/* The child may not lead its group yet. */
	if (kill(-pid, sig))
		kill(pid, sig);
}

void spawn_stop(pid_t pid, int grace_ms, int *status)
{
	spawn_signal_group(pid, SIGTERM);
	spawn_signal_group(pid, SIGCONT); /* a stopped process gets the SIGTERM, too */
	if (spawn_wait(pid, grace_ms, status) == -ETIMEDOUT) {
		spawn_signal_group(pid, SIGKILL);
		spawn_reap(pid, 0, status);
	}
	kill(-pid, SIGKILL); /* the rest of the group */
}

const char *spawn_status_text(int status)
{
	static _Thread_local char text[96];

	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "was killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, sizeof(text), "exited with status %d", WEXITSTATUS(status));
	return text;
}

int spawn_run(char *const argv[], const struct spawn *opts, struct error *err)
{
	pid_t pid;
	int status = 0, rc = spawn_start(&pid, argv, opts, err);

	if (rc)
		return rc;
	rc = spawn_wait(pid, -1, &status);
	if (rc)
		return error_sys(err, -rc, "cannot wait for %s", argv[0]);
	if (status)
		return error_set(err, EIO, "%s %s", argv[0], spawn_status_text(status));
	return 0;
}

/*
 * A process that survives SIGKILL hangs in the kernel. KILL_MS limits the wait for it. An ordinary
 * process can call gigabytes of its memory its environment. A process with more than ENVIRON_MOST
 * counts as one without a mark, as does one that cleared its environment.
 */
enum { TICK_US = 10000, KILL_MS = 5000, ENVIRON_MOST = 1 << 20 };

/* `env` holds strings with a NUL behind each. */
static bool marked_find_mark(const char *env, size_t len, const char *mark, bool begins)
{
	size_t n = strlen(mark), at = 0;

	while (at < len) {
		size_t one = strnlen(env + at, len - at);

		if (one >= n && !memcmp(env + at, mark, n) && (begins || one == n))
			return true;
		at += one + 1;
	}
	return false;
}

bool marked_has_mark(const char *pid, const char *mark, bool begins)
{
	autofree char *env = NULL;
	char path[300];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	return !file_read_most(path, ENVIRON_MOST, &env, &len, NULL) &&
	       marked_find_mark(env, len, mark, begins);
}

/* The kernel may have reused the pid. So this opens a pidfd first and checks the mark again. */
static void marked_signal_one(const char *pid, const char *mark, bool begins, int sig)
{
	autoclose int fd = (int)syscall(SYS_pidfd_open, atoi(pid), 0);

	if (fd >= 0 && marked_has_mark(pid, mark, begins)) {
		syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
		syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
	}
}

/* Sends `sig` to all marked processes and returns their number. Signal 0 only counts. */
static int marked_signal_all(const char *mark, bool begins, int sig)
{
	struct dirent *e;
	int n = 0;

	each_entry (e, "/proc") {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid > 0 && pid != getpid() && marked_has_mark(e->d_name, mark, begins)) {
			if (sig)
				marked_signal_one(e->d_name, mark, begins, sig);
			n++;
		}
	}
	return n;
}

static bool marked_end_within(const char *mark, bool begins, int sig, int ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)ms * MS;

	while (marked_signal_all(mark, begins, sig)) {
		if (clock_mono_ns() > end)
			return false;
		usleep(TICK_US);
	}
	return true;
}

int marked_count(const char *mark, bool begins)
{
	return marked_signal_all(mark, begins, 0);
}

int marked_end(const char *mark, bool begins, int grace_ms)
{
	int n = marked_signal_all(mark, begins, SIGTERM);

	if (n && !marked_end_within(mark, begins, 0, grace_ms))
		marked_end_within(mark, begins, SIGKILL, KILL_MS);
	return n;
}
