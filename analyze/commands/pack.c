// SPDX-License-Identifier: GPL-2.0-only
/* zcost pack CAPTURE: packs the folder into one archive. */
#include "analyze/archive/archive.h"
#include "analyze/commands/commands.h"
#include "analyze/store/store.h"
#include "lib/command.h"
#include "lib/file.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVEL = 3, MAX_LEVEL = 19 };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "output file (default: CAPTURE.tar.zst); - is standard output",
	 0},
	{"level", 'l', "N", 0, "level of zstd: 1 (fast) to 19 (small); default 3", 0},
	{"jobs", 'j', "N", 0,
	 "number of threads that compress (default: one per CPU); the archive is the same for any number",
	 0},
	{0},
};

static error_t pack_parse(int key, char *arg, struct argp_state *state)
{
	struct pack *p = state->input;

	switch (key) {
	case 'o':
		p->output = arg;
		return 0;
	case 'l':
		p->level = (int)arg_whole(state, "--level", arg, 1, MAX_LEVEL);
		return 0;
	case 'j':
		p->threads = (int)arg_whole(state, "--jobs", arg, 1, 256);
		return 0;
	case ARGP_KEY_ARG:
		if (p->capture)
			argp_error(state, "one capture at a time");
		p->capture = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which capture? give its folder");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = pack_parse,
	.args_doc = "CAPTURE",
	.doc = "Packs a capture folder, with its store if it has one, into one archive. 'zcost unpack' unpacks the archive, and every command accepts the archive in place of the folder.\vzcost first checks the files against the checksums in manifest.json. If a file differs or is missing, zcost names it, packs the other files, and exits with status 4.",
};

/* Returns the archive's name beside the folder, or NULL; "." takes the folder's real name. */
static char *pack_default_output(const char *capture)
{
	char *real = realpath(capture, NULL), *path = NULL;
	const char *last = strrchr(capture, '/');

	last = last ? last + 1 : capture;
	if (*last && strcmp(last, ".") && strcmp(last, ".."))
		path = xasprintf("%s.tar.zst", capture);
	else if (real)
		path = xasprintf("%s.tar.zst", real);
	free(real);
	return path;
}

/* Returns whether the archive would lie in the folder: the next archive would then contain it. */
static bool pack_lies_inside(const char *output, const char *capture)
{
	char *copy = xstrdup(output), *slash = strrchr(copy, '/');
	char *folder, *real = realpath(capture, NULL);
	bool inside;

	if (slash)
		slash[slash == copy] = '\0';
	folder = realpath(slash ? copy : ".", NULL);
	inside = folder && real && !strncmp(folder, real, strlen(real)) &&
		 (!folder[strlen(real)] || folder[strlen(real)] == '/');
	free(copy);
	free(folder);
	free(real);
	return inside;
}

static int pack_refuse(const char *text, const char *name)
{
	print_note("%s: %s", name, text);
	return EXIT_USAGE;
}

static int pack_check(const struct pack *p)
{
	if (!path_is_dir(p->capture)) {
		print_note("%s: %s", p->capture,
			   path_exists(p->capture) ? "not a folder" : "no such capture");
		return EXIT_FAILED;
	}
	if (!strcmp(p->output, "-"))
		return isatty(STDOUT_FILENO)
			       ? pack_refuse(
					 "zcost does not write an archive to a terminal; give -o FILE",
					 p->capture)
			       : EXIT_OK;
	return pack_lies_inside(p->output, p->capture)
		       ? pack_refuse(
				 "the archive would be inside the capture; give -o FILE elsewhere",
				 p->output)
		       : EXIT_OK;
}

/* Warns of a store that reports refuse: the archive's reader may be unable to analyze it again. */
static void pack_check_store(const struct pack *p)
{
	char *db = xasprintf("%s/zcost.db", p->capture);
	struct store *store = NULL;
	struct error err = {0};

	if (path_exists(db) &&
	    (store_open(&store, p->capture, &err) || store_close(store, 0, &err)))
		warn("%s, and then pack again: reports of %s refuse this store", err.text,
		     p->output);
	free(db);
}

static int pack_run(struct pack *p)
{
	struct error err = {0};
	struct str files = {0};
	int code = pack_check(p);

	if (code)
		return code;
	stop_watch();
	if (pack_capture(p, &err)) {
		error_print(&err);
		stop_if_asked();
		return EXIT_FAILED;
	}
	findings_warn(&p->findings);
	pack_check_store(p);
	if (!p->has_manifest)
		print_note("%s: no manifest.json: nothing to check its files against", p->capture);
	findings_files(&p->findings, p->files, p->has_manifest, &files);
	print_note("%s: %s", p->output, files.buf);
	str_free(&files);
	return p->findings.n ? EXIT_LOSSY : EXIT_OK;
}

int cmd_pack(int argc, char **argv)
{
	struct pack p = {.level = LEVEL, .threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
	char *capture, *made = NULL;
	size_t len;
	int code;

	args_parse(&argp, argc, argv, 0, &p);
	capture = xstrdup(p.capture);
	for (len = strlen(capture); len > 1 && capture[len - 1] == '/';)
		capture[--len] = '\0';
	p.capture = capture;
	if (!p.output)
		p.output = made = pack_default_output(capture);
	if (!p.output)
		p.output = made = xstrdup("capture.tar.zst");
	code = pack_run(&p);
	findings_free(&p.findings);
	free(capture);
	free(made);
	return code;
}
