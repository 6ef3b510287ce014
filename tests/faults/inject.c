// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: fails one call of one kind, in the program that it is loaded into. Programs that
 * this one starts are left alone: the variables below are removed from the environment.
 *
 *	ZCOST_FAULT=KIND:N	the Nth call of that kind fails; the kinds are listed below
 *	ZCOST_FAULT=NAME:N	the Nth call of the function NAME fails
 *	ZCOST_FAULT=KIND:N:kill	SIGKILL comes in place of the call
 *	ZCOST_FAULT_COUNT=FILE	appends "KIND CALLS" for each kind when the program exits
 *	ZCOST_FAULT_TRACE=FILE	gets the return addresses of the failed call
 *
 * Calls that glibc makes inside itself (the read below fgets) do not pass here, so functions of
 * glibc that open or read are calls of these kinds, too. The heap is glibc's own: dlsym()
 * allocates.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* rename: all that changes names or sizes. fork: also threads. open: all that makes a descriptor.
 */
enum kind {
	ALLOC,
	OPEN,
	STAT,
	READ,
	WRITE,
	SYNC,
	CLOSE,
	RENAME,
	MMAP,
	FORK,
	EXEC,
	IOCTL,
	BPF,
	PERF,
	STEP,
	KINDS
};

/* Calls with an even number fail with the first error, the others with the second. */
static const struct {
	const char *name;
	int errors[2];
} kinds[KINDS] = {
	[ALLOC] = {"alloc", {ENOMEM, ENOMEM}}, [OPEN] = {"open", {EMFILE, ENFILE}},
	[STAT] = {"stat", {EIO, ENOMEM}},      [CLOSE] = {"close", {EIO, ENOSPC}},
	[EXEC] = {"exec", {ENOMEM, EMFILE}},   [READ] = {"read", {EIO, EIO}},
	[WRITE] = {"write", {EIO, ENOSPC}},    [SYNC] = {"sync", {EIO, ENOSPC}},
	[RENAME] = {"rename", {EIO, ENOSPC}},  [MMAP] = {"mmap", {ENOMEM, ENOMEM}},
	[FORK] = {"fork", {EAGAIN, ENOMEM}},   [IOCTL] = {"ioctl", {EIO, ENOMEM}},
	[BPF] = {"bpf", {ENOMEM, EMFILE}},     [PERF] = {"perf", {EMFILE, ENOMEM}},
	[STEP] = {"step", {EIO, EIO}},
};

/* 0 before main() and after it: what the loader and destructors do is not the program's. */
static atomic_bool counting;
static atomic_long calls[KINDS];
static long fail_at[KINDS];
static char function[32]; /* the function whose calls are counted; empty: each kind's are */
static atomic_long function_left;
static bool kills;
static const char *trace, *count;
static atomic_bool step_failed; /* until the next step: what sqlite3_errcode() answers */

/* The N-th call differs from run to run where threads race, so a number alone does not find it. */
static void trace_write(const char *path)
{
	FILE *out = fopen(path, "w");
	void *at[24];

	if (!out)
		return;
	backtrace_symbols_fd(at, backtrace(at, 24), fileno(out));
	fclose(out);
}

#define fails(kind) call_fails(kind, __func__)

static bool call_fails(enum kind k, const char *name)
{
	long n = counting ? ++calls[k] : 0;
	bool named = n && *function && !strcmp(name, function) && !--function_left;

	if (!n || (n != fail_at[k] && !named))
		return false;
	if (kills)
		kill(getpid(), SIGKILL);
	if (trace) {
		counting = false;
		trace_write(trace);
		counting = true;
	}
	errno = kinds[k].errors[n & 1];
	return true;
}

static void variables_remove(void)
{
	static const char *const names[] = {"LD_PRELOAD", "ZCOST_FAULT", "ZCOST_FAULT_COUNT",
					    "ZCOST_FAULT_TRACE"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
}

__attribute__((constructor)) static void inject_begin(void)
{
	const char *fault = getenv("ZCOST_FAULT");
	char name[sizeof(function)] = "";
	bool is_kind = false;
	long n = 0;

	trace = getenv("ZCOST_FAULT_TRACE"); /* the texts stay where they are */
	count = getenv("ZCOST_FAULT_COUNT");
	if (fault)
		sscanf(fault, "%31[a-z_0-9]:%ld", name, &n);
	for (int k = 0; k < KINDS; k++)
		if (!strcmp(name, kinds[k].name)) {
			fail_at[k] = n;
			is_kind = true;
		}
	if (!is_kind)
		strcpy(function, name);
	function_left = n;
	kills = fault && strstr(fault, ":kill");
	variables_remove();
	counting = true;
}

__attribute__((destructor)) static void inject_end(void)
{
	FILE *out;

	counting = false;
	out = count ? fopen(count, "a") : NULL;
	for (int k = 0; k < KINDS && out; k++)
		fprintf(out, "%s %ld\n", kinds[k].name, (long)calls[k]);
	if (out)
		fclose(out);
}

/* --- memory --- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	return fails(ALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(ALLOC) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails(ALLOC) ? NULL : __libc_realloc(p, size);
}

/* --- the rest: the next library's function of that name --- */

#define NEXT(name)                     \
	static __typeof__(name) *next; \
	if (!next)                     \
	next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define INTERPOSE(kind, failure, type, name, parameters, arguments) \
	type name parameters;                                       \
	type name parameters                                        \
	{                                                           \
		NEXT(name);                                         \
		return fails(kind) ? failure : next arguments;      \
	}

#define INTERPOSE_OPEN(name, parameters, ...)                             \
	int name parameters                                               \
	{                                                                 \
		mode_t mode = 0;                                          \
		va_list ap;                                               \
		NEXT(name);                                               \
                                                                          \
		va_start(ap, flags);                                      \
		if (flags & (O_CREAT | O_TMPFILE))                        \
			mode = va_arg(ap, mode_t);                        \
		va_end(ap);                                               \
		return fails(OPEN) ? -1 : next(__VA_ARGS__, flags, mode); \
	}

/* The descriptor is gone even where close() fails. */
#define INTERPOSE_CLOSE(failure, name, parameter, argument) \
	int name(parameter)                                 \
	{                                                   \
		int rc;                                     \
		NEXT(name);                                 \
                                                            \
		rc = next(argument);                        \
		return fails(CLOSE) ? failure : rc;         \
	}

// clang-format off
INTERPOSE_OPEN(open, (const char *path, int flags, ...), path)
INTERPOSE_OPEN(open64, (const char *path, int flags, ...), path)
INTERPOSE_OPEN(openat, (int dir, const char *path, int flags, ...), dir, path)
INTERPOSE_OPEN(openat64, (int dir, const char *path, int flags, ...), dir, path)
INTERPOSE(OPEN, NULL, FILE *, fopen, (const char *path, const char *mode), (path, mode))
INTERPOSE(OPEN, NULL, FILE *, fopen64, (const char *path, const char *mode), (path, mode))
INTERPOSE(OPEN, NULL, FILE *, fdopen, (int fd, const char *mode), (fd, mode))
INTERPOSE(OPEN, NULL, DIR *, opendir, (const char *path), (path))
INTERPOSE(OPEN, NULL, DIR *, fdopendir, (int fd), (fd))
INTERPOSE(OPEN, -1, int, scandir, (const char *dir, struct dirent ***list,
		 int (*filter)(const struct dirent *),
		 int (*order)(const struct dirent **, const struct dirent **)), (dir, list, filter, order))
INTERPOSE(OPEN, -1, int, scandir64, (const char *dir, struct dirent64 ***list,
		 int (*filter)(const struct dirent64 *),
		 int (*order)(const struct dirent64 **, const struct dirent64 **)), (dir, list, filter, order))
INTERPOSE(OPEN, -1, int, nftw, (const char *path, __nftw_func_t visit, int most, int flags),
	  (path, visit, most, flags))
INTERPOSE(OPEN, -1, int, mkostemp, (char *name, int flags), (name, flags))
INTERPOSE(OPEN, -1, int, pipe, (int fds[2]), (fds))
INTERPOSE(OPEN, -1, int, pipe2, (int fds[2], int flags), (fds, flags))
INTERPOSE(OPEN, -1, int, dup, (int fd), (fd))
INTERPOSE(OPEN, -1, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
INTERPOSE(OPEN, -1, int, memfd_create, (const char *name, unsigned int flags), (name, flags))
INTERPOSE(OPEN, -1, int, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags))

INTERPOSE(STAT, -1, int, stat, (const char *path, struct stat *st), (path, st))
INTERPOSE(STAT, -1, int, stat64, (const char *path, struct stat64 *st), (path, st))
INTERPOSE(STAT, -1, int, lstat, (const char *path, struct stat *st), (path, st))
INTERPOSE(STAT, -1, int, lstat64, (const char *path, struct stat64 *st), (path, st))
INTERPOSE(STAT, -1, int, fstat, (int fd, struct stat *st), (fd, st))
INTERPOSE(STAT, -1, int, fstat64, (int fd, struct stat64 *st), (fd, st))
INTERPOSE(STAT, -1, int, fstatat, (int dir, const char *path, struct stat *st, int flags), (dir, path, st, flags))
INTERPOSE(STAT, -1, int, fstatat64, (int dir, const char *path, struct stat64 *st, int flags), (dir, path, st, flags))
INTERPOSE(STAT, -1, int, statx, (int dir, const char *path, int flags, unsigned int mask, struct statx *st),
	  (dir, path, flags, mask, st))
INTERPOSE(STAT, -1, int, access, (const char *path, int mode), (path, mode))

INTERPOSE(READ, -1, ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))
INTERPOSE(READ, -1, ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
INTERPOSE(READ, -1, ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at))
INTERPOSE(READ, -1, ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags))
INTERPOSE(READ, -1, ssize_t, recvfrom, (int fd, void *p, size_t n, int flags, struct sockaddr *from,
		 socklen_t *len), (fd, p, n, flags, from, len))
INTERPOSE(READ, -1, ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))
INTERPOSE(READ, -1, ssize_t, readlink, (const char *path, char *p, size_t n), (path, p, n))
INTERPOSE(READ, NULL, struct dirent *, readdir, (DIR * dir), (dir))

INTERPOSE(WRITE, -1, ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
INTERPOSE(WRITE, -1, ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
INTERPOSE(WRITE, -1, ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at))
INTERPOSE(WRITE, -1, ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
INTERPOSE(WRITE, -1, ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags))
INTERPOSE(WRITE, -1, ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))

INTERPOSE(SYNC, -1, int, fsync, (int fd), (fd))
INTERPOSE(SYNC, -1, int, fdatasync, (int fd), (fd))
INTERPOSE(SYNC, -1, int, syncfs, (int fd), (fd))

INTERPOSE_CLOSE(-1, close, int fd, fd)
INTERPOSE_CLOSE(EOF, fclose, FILE * stream, stream)

INTERPOSE(RENAME, -1, int, rename, (const char *from, const char *to), (from, to))
INTERPOSE(RENAME, -1, int, mkdir, (const char *path, mode_t mode), (path, mode))
INTERPOSE(RENAME, NULL, char *, mkdtemp, (char *name), (name))
INTERPOSE(RENAME, -1, int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode))
INTERPOSE(RENAME, -1, int, unlink, (const char *path), (path))
INTERPOSE(RENAME, -1, int, rmdir, (const char *path), (path))
INTERPOSE(RENAME, -1, int, remove, (const char *path), (path))
INTERPOSE(RENAME, -1, int, ftruncate, (int fd, off_t size), (fd, size))
INTERPOSE(RENAME, -1, int, ftruncate64, (int fd, off64_t size), (fd, size))

INTERPOSE(MMAP, MAP_FAILED, void *, mmap,
	  (void *at, size_t n, int prot, int flags, int fd, off_t offset),
	  (at, n, prot, flags, fd, offset))
INTERPOSE(MMAP, MAP_FAILED, void *, mmap64,
	  (void *at, size_t n, int prot, int flags, int fd, off64_t offset),
	  (at, n, prot, flags, fd, offset))

INTERPOSE(FORK, NULL, FILE *, popen, (const char *command, const char *mode), (command, mode))
INTERPOSE(FORK, errno, int, pthread_create, (pthread_t *id, const pthread_attr_t *attr,
		 void *(*start)(void *), void *arg), (id, attr, start, arg))
// clang-format on

static int exec_error; /* in a child: the errno of its exec() */

/* The child is not counted: it soon becomes another program. The parent counts its exec(). */
pid_t fork(void)
{
	int e = 0;
	pid_t pid;
	NEXT(fork);

	if (fails(FORK))
		return -1;
	if (fails(EXEC))
		e = errno;
	pid = next();
	if (!pid) {
		counting = false;
		count = NULL;
		exec_error = e;
	}
	return pid;
}

static bool exec_fails(void)
{
	errno = exec_error;
	return exec_error;
}

int execv(const char *path, char *const argv[])
{
	NEXT(execv);

	return exec_fails() ? -1 : next(path, argv);
}

int execvp(const char *path, char *const argv[])
{
	NEXT(execvp);

	return exec_fails() ? -1 : next(path, argv);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;
	NEXT(ioctl);

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	return fails(IOCTL) ? -1 : next(fd, request, arg);
}

static enum kind syscall_kind(long number)
{
	switch (number) {
	case SYS_bpf:
		return BPF;
	case SYS_perf_event_open:
		return PERF;
	case SYS_openat2:
	case SYS_pidfd_open:
	case SYS_memfd_create:
		return OPEN;
	default:
		return KINDS;
	}
}

long syscall(long number, ...)
{
	enum kind k = syscall_kind(number);
	va_list ap;
	long a[6];
	NEXT(syscall);

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (k != KINDS && fails(k))
		return -1;
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* A stream remembers that it failed; glibc has no function that says so to it. */
enum { STREAM_FAILED = 0x20 /* _IO_ERR_SEEN */ };

#define INTERPOSE_STREAM(kind, failure, type, name, parameters, arguments) \
	type name parameters;                                              \
	type name parameters                                               \
	{                                                                  \
		NEXT(name);                                                \
                                                                           \
		if (!stream || !fails(kind))                               \
			return next arguments;                             \
		stream->_flags |= STREAM_FAILED;                           \
		return failure;                                            \
	}

INTERPOSE_STREAM(READ, 0, size_t, fread, (void *p, size_t size, size_t n, FILE *stream),
		 (p, size, n, stream))
INTERPOSE_STREAM(READ, NULL, char *, fgets, (char *p, int n, FILE *stream), (p, n, stream))
/* Without memory these functions fail, and the stream does not remember it. */
#define INTERPOSE_LINE(name, parameters, arguments) \
	ssize_t name parameters                     \
	{                                           \
		NEXT(name);                         \
                                                    \
		if (fails(ALLOC))                   \
			return -1;                  \
		if (!fails(READ))                   \
			return next arguments;      \
		stream->_flags |= STREAM_FAILED;    \
		return -1;                          \
	}

INTERPOSE_LINE(getline, (char **p, size_t *n, FILE *stream), (p, n, stream))
INTERPOSE_LINE(getdelim, (char **p, size_t *n, int c, FILE *stream), (p, n, c, stream))
INTERPOSE_LINE(__getdelim, (char **p, size_t *n, int c, FILE *stream), (p, n, c, stream))
INTERPOSE_STREAM(WRITE, EOF, int, fflush, (FILE * stream), (stream))

/* It reads only where the buffer is empty. */
int fgetc(FILE *stream)
{
	NEXT(fgetc);

	if (stream->_IO_read_ptr < stream->_IO_read_end || !fails(READ))
		return next(stream);
	stream->_flags |= STREAM_FAILED;
	return EOF;
}

/* --- SQLite, as if its file could not be read --- */

/* In sqlite3_exec(), which would not see a failure of a step that it did not make. */
static _Thread_local bool inside;

static bool step_fails(void)
{
	step_failed = !inside && fails(STEP);
	return step_failed;
}

int sqlite3_step(sqlite3_stmt *stmt)
{
	NEXT(sqlite3_step);

	return step_fails() ? SQLITE_IOERR : next(stmt);
}

/* A statement that cannot be prepared is NULL. */
static bool prepare_fails(sqlite3_stmt **stmt)
{
	if (step_fails())
		*stmt = NULL;
	return step_failed;
}

int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int n, sqlite3_stmt **stmt, const char **tail)
{
	NEXT(sqlite3_prepare_v2);

	return prepare_fails(stmt) ? SQLITE_IOERR : next(db, sql, n, stmt, tail);
}

int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int n, unsigned int flags, sqlite3_stmt **stmt,
		       const char **tail)
{
	NEXT(sqlite3_prepare_v3);

	return prepare_fails(stmt) ? SQLITE_IOERR : next(db, sql, n, flags, stmt, tail);
}

int sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *arg,
		 char **message)
{
	int rc;
	NEXT(sqlite3_exec);

	if (inside) /* SQLite runs scripts itself */
		return next(db, sql, row, arg, message);
	if (step_fails())
		return SQLITE_IOERR;
	inside = true;
	rc = next(db, sql, row, arg, message);
	inside = false;
	return rc;
}

int sqlite3_errcode(sqlite3 *db)
{
	NEXT(sqlite3_errcode);

	return step_failed ? SQLITE_IOERR : next(db);
}

int sqlite3_extended_errcode(sqlite3 *db)
{
	NEXT(sqlite3_extended_errcode);

	return step_failed ? SQLITE_IOERR_READ : next(db);
}

const char *sqlite3_errmsg(sqlite3 *db)
{
	NEXT(sqlite3_errmsg);

	return step_failed ? sqlite3_errstr(SQLITE_IOERR) : next(db);
}
