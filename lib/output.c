// SPDX-License-Identifier: GPL-2.0-only
#include "lib/output.h"

#include <errno.h>
#include <string.h>

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0, "text (default), tsv, csv, json, md, or commit: for a commit message", 90},
	{"output", 'o', "FILE", 0, "write there instead of standard output", 90},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct output *o = state->input;

	switch (key) {
	case 'f':
		if (table_format_parse(arg, &o->format))
			argp_error(state, "unknown format '%s'; use text, tsv, csv, json, md or commit",
				   arg);
		return 0;
	case 'o':
		o->path = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp output_argp = {.options = options, .parser = parse};

int output_table(const struct output *o, const struct table *t, struct error *err)
{
	FILE *out = o->path && strcmp(o->path, "-") ? fopen(o->path, "we") : stdout;
	int rc;

	if (!out)
		return error_sys(err, errno, "%s: cannot write", o->path);
	rc = table_write(t, o->format, out);
	if (fflush(out) && !rc)
		rc = -errno;
	if (out != stdout && fclose(out) && !rc)
		rc = -errno;
	return rc ? error_sys(err, -rc, "%s: cannot write", o->path ? o->path : "standard output")
		  : 0;
}
