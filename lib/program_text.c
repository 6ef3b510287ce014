// SPDX-License-Identifier: GPL-2.0-only
#include "lib/program_text.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	double watts;
} watts_units[] = {{"", 1}, {"W", 1}, {"watt", 1}, {"watts", 1}, {"mW", 1e-3}, {"kW", 1e3}};

static bool watts_scale_unit(const char *unit, double *watts)
{
	size_t i;

	for (i = 0; i < array_size(watts_units); i++) {
		if (strcasecmp(unit, watts_units[i].name))
			continue;
		*watts *= watts_units[i].watts;
		return true;
	}
	return false;
}

/* Returns "231.5" of "watts: 231.5". */
static char *watts_skip_word(char *line)
{
	static const char word[] = "watts";
	size_t n = sizeof(word) - 1;

	if (strncasecmp(line, word, n) ||
	    (!isspace((unsigned char)line[n]) && !strchr(":=", line[n])))
		return line;
	line += n;
	return line + strspn(line, " \t:=");
}

static int watts_refuse_line(const char *line, struct error *err)
{
	return error_set(err, ENODATA,
			 "'%.80s' is not a reading; a line is to hold a number, or 'watts NUMBER'",
			 line);
}

int watts_of_line(const char *line, double *watts, struct error *err)
{
	char *copy = xstrdup(line), *text = watts_skip_word(str_trim(copy)), *end;
	int rc = 0;

	*watts = strtod(text, &end);
	if (end == text || !isfinite(*watts) || !watts_scale_unit(str_trim(end), watts))
		rc = watts_refuse_line(str_trim(copy), err);
	else if (*watts < 0)
		rc = error_set(err, ERANGE, "'%.80s': power cannot be negative", str_trim(copy));
	free(copy);
	return rc;
}
