// SPDX-License-Identifier: GPL-2.0-only
#include "lib/error.h"

#include "lib/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void error_fill(struct error *err, int code, const char *fmt, va_list ap)
{
	err->code = code;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err && !err->code) {
		va_start(ap, fmt);
		error_fill(err, code, fmt, ap);
		va_end(ap);
	}
	return -code;
}

int error_sys(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	if (err && !err->code) {
		va_start(ap, fmt);
		error_fill(err, code, fmt, ap);
		va_end(ap);
		len = strlen(err->text);
		snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(code));
	}
	return -code;
}

bool error_of_machine(int code)
{
	return code == EMFILE || code == ENFILE || code == ENOMEM || code == EIO ||
	       code == ENOSPC || code == EAGAIN;
}

enum exit_code error_exit(const struct error *err)
{
	return err->code == EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* Prints one line, so that a name with a newline in it cannot forge a second message. */
static void message_print(const char *prefix, const char *text)
{
	struct str scratch = {0};

	fprintf(stderr, "zcost: %s%s\n", prefix, printable(&scratch, text, PRINTABLE_LINE));
	str_free(&scratch);
}

void error_print(const struct error *err)
{
	message_print("", err->text[0] ? err->text : strerror(err->code));
}

static void message_print_format(const char *prefix, const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		return;
	message_print(prefix, text);
	free(text);
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_print_format("warning: ", fmt, ap);
	va_end(ap);
}

void print_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_print_format("", fmt, ap);
	va_end(ap);
}
