// SPDX-License-Identifier: GPL-2.0-only
#include "lib/error.h"

#include "lib/output.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

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
	       code == ENOSPC || code == EAGAIN || code == ELIBACC;
}

enum exit_code error_exit(const struct error *err)
{
	return err->code == EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

void message_print(const char *prefix, const char *text)
{
	int width = output_terminal_width(STDERR_FILENO);
	freed(str_free) struct str scratch = {0}, all = {0};
	autofree char *lines = NULL;

	str_printf(&all, "%s%s", prefix, printable(&scratch, text, PRINTABLE_LINE));
	lines = str_wrap(all.buf, width ? width - 2 : INT_MAX, 2);
	fprintf(stderr, "%s\n", lines);
}

void error_print(const struct error *err)
{
	message_print("zcost: ", err->text[0] ? err->text : strerror(err->code));
}

void message_printf(const char *prefix, const char *fmt, ...)
{
	autofree char *text = xformat(fmt);

	message_print(prefix, text);
}
