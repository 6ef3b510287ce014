// SPDX-License-Identifier: GPL-2.0-only
/* zcost unpack ARCHIVE: unpacks a capture's folder. */
#include "analyze/archive/archive.h"
#include "analyze/commands/commands.h"
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/stop.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 0x100 };

static const struct argp_option options[] = {
	{"output", 'o', "DIR", 0,
	 "the folder to make (default: ARCHIVE without .tar.zst); it must be empty if it exists",
	 0},
	{"max-size", KEY_MAX, "SIZE", 0,
	 "refuse an archive if its files are larger in total; K, M, G, T; default: 32G, and 100 times the size of the archive where that is more than 256M",
	 0},
	{0},
};

static uint64_t unpack_parse_size(struct argp_state *state, const char *arg)
{
	static const char units[] = "KMGT";
	char *end;
	unsigned long long n = strtoull(arg, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;

	if (end == arg || *arg == '-' || (*end && (!unit || end[1])) || !n ||
	    n > (uint64_t)INT64_MAX >> shift)
		argp_error(state, "--max-size '%s' is not a size", arg);
	return (uint64_t)n << shift;
}

static error_t unpack_parse(int key, char *arg, struct argp_state *state)
{
	struct unpack *u = state->input;

	switch (key) {
	case 'o':
		u->folder = arg;
		return 0;
	case KEY_MAX:
		u->max_bytes = unpack_parse_size(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (u->archive)
			argp_error(state, "one archive at a time");
		u->archive = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which archive? give its name, or - for standard input");
		return 0;
	case ARGP_KEY_END:
		if (u->archive && !strcmp(u->archive, "-") && !u->folder)
			argp_error(state, "where to? give a folder with -o");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = unpack_parse,
	.args_doc = "ARCHIVE",
	.doc = "Makes a capture folder from an archive. The folder appears only when it is complete and checked.\vIf the archive is damaged, or holds anything but files and folders of a capture, zcost makes no folder and exits with status 1. If files differed from manifest.json before they were packed, zcost names them and exits with status 4.",
};

static int unpack_run(struct unpack *u)
{
	struct error err = {0};
	struct str files = {0};

	stop_watch();
	if (unpack_archive(u, &err)) {
		error_print(&err);
		stop_if_asked();
		return EXIT_FAILED;
	}
	findings_warn(&u->findings);
	if (!u->has_sums)
		print_note("%s: no checksums: 'zcost pack' did not make this archive", u->archive);
	if (!u->has_manifest)
		print_note("%s: no manifest.json: nothing to check its files against", u->folder);
	findings_files(&u->findings, u->files, u->has_manifest, &files);
	print_note("%s: %s", u->folder, files.buf);
	str_free(&files);
	return u->findings.n ? EXIT_LOSSY : EXIT_OK;
}

/* Returns ARCHIVE without .tar.zst. The caller frees the name. */
static char *unpack_default_folder(const char *archive)
{
	static const char suffix[] = ".tar.zst";
	size_t len = strlen(archive), cut = strlen(suffix);

	if (len > cut && str_ends(archive, suffix) && archive[len - cut - 1] != '/')
		return xstrndup(archive, len - cut);
	return xasprintf("%s.unpacked", archive);
}

int cmd_unpack(int argc, char **argv)
{
	struct unpack u = {0};
	char *folder;
	size_t len;
	int code;

	args_parse(&argp, argc, argv, 0, &u);
	folder = u.folder ? xstrdup(u.folder) : unpack_default_folder(u.archive);
	for (len = strlen(folder); len > 1 && folder[len - 1] == '/';)
		folder[--len] = '\0';
	u.folder = folder;
	code = unpack_run(&u);
	findings_free(&u.findings);
	free(folder);
	return code;
}
