// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: fails one call of one kind, in the program that it is loaded into.
 *
 *	ZCOST_FAULT=KIND:N	the Nth call of that kind fails: alloc open read write mmap step
 *	ZCOST_FAULT_COUNT=FILE	appends "KIND CALLS" for each kind when the program exits
 *	ZCOST_FAULT_TRACE=FILE	gets the return addresses of the failed call
 *
 * Calls that glibc makes inside itself (the read below fgets) do not pass here, so the functions
 * of <stdio.h> that read are kinds of read, too. The heap is glibc's own: dlsym() allocates.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum kind { ALLOC, OPEN, READ, WRITE, MMAP, STEP, KINDS };

static const struct {
	const char *name;
	int error;
} kinds[KINDS] = {
	[ALLOC] = {"alloc", ENOMEM}, [OPEN] = {"open", EMFILE}, [READ] = {"read", EIO},
	[WRITE] = {"write", EIO},    [MMAP] = {"mmap", ENOMEM}, [STEP] = {"step", EIO},
};

/* 0 before main() and after it: what the loader and destructors do is not the program's. */
static atomic_bool counting;
static atomic_long calls[KINDS];
static long fail_at[KINDS];
static const char *trace;
static atomic_bool step_failed; /* until the next step: what sqlite3_errcode() answers */

/* The N-th call differs from run to run where threads race, so a number alone does not find it. */
static void trace_write(const char *path)
{
	FILE *out = fopen(path, "w");
	void *at[16];

	if (!out)
		return;
	backtrace_symbols_fd(at, backtrace(at, 16), fileno(out));
	fclose(out);
}

static bool fails(enum kind k)
{
	if (!counting || ++calls[k] != fail_at[k])
		return false;
	if (trace) {
		counting = false;
		trace_write(trace);
		counting = true;
	}
	errno = kinds[k].error;
	return true;
}

__attribute__((constructor)) static void inject_begin(void)
{
	const char *fault = getenv("ZCOST_FAULT");
	const char *colon = fault ? strchr(fault, ':') : NULL;
	int k;

	for (k = 0; k < KINDS; k++)
		if (colon && !strncmp(fault, kinds[k].name, strlen(kinds[k].name)))
			fail_at[k] = atol(colon + 1);
	trace = getenv("ZCOST_FAULT_TRACE");
	counting = true;
}

__attribute__((destructor)) static void inject_end(void)
{
	const char *path = getenv("ZCOST_FAULT_COUNT");
	FILE *out;
	int k;

	counting = false;
	out = path ? fopen(path, "a") : NULL;
	for (k = 0; k < KINDS && out; k++)
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

INTERPOSE_OPEN(open, (const char *path, int flags, ...), path)
INTERPOSE_OPEN(open64, (const char *path, int flags, ...), path)
INTERPOSE_OPEN(openat, (int dir, const char *path, int flags, ...), dir, path)
INTERPOSE_OPEN(openat64, (int dir, const char *path, int flags, ...), dir, path)
INTERPOSE(OPEN, NULL, FILE *, fopen, (const char *path, const char *mode), (path, mode))
INTERPOSE(OPEN, NULL, FILE *, fopen64, (const char *path, const char *mode), (path, mode))
INTERPOSE(OPEN, NULL, DIR *, opendir, (const char *path), (path))
INTERPOSE(READ, -1, ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))
INTERPOSE(READ, -1, ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
INTERPOSE(READ, -1, ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at))
INTERPOSE(READ, NULL, struct dirent *, readdir, (DIR * dir), (dir))
INTERPOSE(WRITE, -1, ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
INTERPOSE(MMAP, MAP_FAILED, void *, mmap,
	  (void *at, size_t n, int prot, int flags, int fd, off_t offset),
	  (at, n, prot, flags, fd, offset))
INTERPOSE(MMAP, MAP_FAILED, void *, mmap64,
	  (void *at, size_t n, int prot, int flags, int fd, off64_t offset),
	  (at, n, prot, flags, fd, offset))

/* A stream remembers that it failed; glibc has no function that says so to it. */
enum { STREAM_FAILED = 0x20 /* _IO_ERR_SEEN */ };

#define INTERPOSE_STREAM(failure, type, name, parameters, arguments) \
	type name parameters;                                        \
	type name parameters                                         \
	{                                                            \
		NEXT(name);                                          \
                                                                     \
		if (!fails(READ))                                    \
			return next arguments;                       \
		stream->_flags |= STREAM_FAILED;                     \
		return failure;                                      \
	}

INTERPOSE_STREAM(0, size_t, fread, (void *p, size_t size, size_t n, FILE *stream),
		 (p, size, n, stream))
INTERPOSE_STREAM(NULL, char *, fgets, (char *p, int n, FILE *stream), (p, n, stream))
INTERPOSE_STREAM(-1, ssize_t, getline, (char **p, size_t *n, FILE *stream), (p, n, stream))
INTERPOSE_STREAM(-1, ssize_t, getdelim, (char **p, size_t *n, int c, FILE *stream),
		 (p, n, c, stream))
INTERPOSE_STREAM(-1, ssize_t, __getdelim, (char **p, size_t *n, int c, FILE *stream),
		 (p, n, c, stream))

/* --- SQLite, as if its file could not be read --- */

int sqlite3_step(sqlite3_stmt *stmt)
{
	NEXT(sqlite3_step);

	step_failed = fails(STEP);
	return step_failed ? SQLITE_IOERR : next(stmt);
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
