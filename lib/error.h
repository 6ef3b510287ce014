/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors travel as a negative errno plus one line of text. Library code fills a `struct error`
 * and returns; only commands print it and choose the exit code. The text says what went wrong,
 * where (file, offset, line), and the way out.
 */
#ifndef ZC_ERROR_H
#define ZC_ERROR_H

#include <stdarg.h>

/* Exit codes of every zcost command. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_GATE = 3,	/* a gate of `compare` failed */
	EXIT_LOSSY = 4, /* done, but data incomplete or lossy */
};

struct error {
	int code; /* positive errno, 0: no error */
	char text[1024];
};

/* Records code and text, the first one wins; returns -code. `err` may be NULL. */
int error_set(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set with ": <strerror(code)>" added. */
int error_sys(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The exit code of an error: EINVAL is a command line that is wrong, whatever the data; all else is
 * that something is not there, cannot be read, or is damaged. docs/reference/output.md has the
 * rule.
 */
enum exit_code error_exit(const struct error *err);

/* One line "zcost: <text>" on stderr. */
void error_print(const struct error *err);

/* One line "zcost: warning: ..." / "zcost: ..." on stderr. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
