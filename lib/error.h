/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An error is a negative errno and one line of text. Library code fills a `struct error` and
 * returns. Only commands print it and choose the exit code. The text says what happened, where
 * (file, offset, line), and the way out.
 */
#ifndef ZC_ERROR_H
#define ZC_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

/* The exit codes of every zcost command. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_GATE = 3,	/* a gate of `compare` failed */
	EXIT_LOSSY = 4, /* done, but the data are incomplete or lossy */
};

struct error {
	int code; /* positive errno, 0: no error */
	char text[1024];
};

/* Stores code and text unless `err` is NULL or holds an error already. Returns -code. */
int error_set(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set(), with ": <strerror(code)>" behind the text. */
int error_sys(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Returns whether the errno blames this moment and not the file: no memory, no free descriptor, no
 * process, no library, a disk that is full or cannot be read. A reader that does without a missing
 * file must not do without this one.
 */
bool error_of_machine(int code);

/* Returns EXIT_USAGE for EINVAL, an error in the command line, and EXIT_FAILED for all others. */
enum exit_code error_exit(const struct error *err);

/*
 * Prints a message on stderr. It is one line, so that a name with a newline in it cannot forge a
 * second message. A terminal gets it at its width, later lines indented.
 */
void message_print(const char *prefix, const char *text);

/* Prints "zcost: <text>" on stderr. */
void error_print(const struct error *err);

void message_printf(const char *prefix, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Print "zcost: warning: ..." and "zcost: ..." on stderr. */
#define warn(...)	message_printf("zcost: warning: ", __VA_ARGS__)
#define print_note(...) message_printf("zcost: ", __VA_ARGS__)

#endif
