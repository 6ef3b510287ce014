// SPDX-License-Identifier: GPL-2.0-only
#include "lib/error.h"

#include "lib/printable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set(struct error *err, int code, const char *fmt, va_list ap)
{
	err->code = code;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err && !err->code) {
		va_start(ap, fmt);
		set(err, code, fmt, ap);
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
		set(err, code, fmt, ap);
		va_end(ap);
		len = strlen(err->text);
		snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(code));
	}
	return -code;
}

enum exit_code error_exit(const struct error *err)
{
	return err->code == EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* A message is one line, whatever the names in it: nobody forges a second one. */
static void print_message(const char *prefix, const char *text)
{
	struct str scratch = {0};

	fprintf(stderr, "zcost: %s%s\n", prefix, printable(&scratch, text, PRINTABLE_LINE));
	str_free(&scratch);
}

void error_print(const struct error *err)
{
	print_message("", err->text[0] ? err->text : strerror(err->code));
}

static void say(const char *prefix, const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		return;
	print_message(prefix, text);
	free(text);
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}

void note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}
