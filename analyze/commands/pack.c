// SPDX-License-Identifier: GPL-2.0-only
/* zcost pack CAPTURE: packs the folder into one archive. */
#include "analyze/archive/archive.h"
#include "analyze/commands/commands.h"
#include "analyze/model/rows.h"
#include "analyze/store/store.h"
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/sha256.h"
#include "lib/stop.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVEL = 3, MAX_LEVEL = 19, KEY_ANONYMOUS = 0x100 };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "output file (default: CAPTURE.tar.zst); - is standard output",
	 0},
	{"level", 'l', "N", 0, "level of zstd: 1 (fast) to 19 (small); default 3", 0},
	{"jobs", 'j', "N", 0,
	 "number of threads that compress (default: one per CPU); the archive is the same for any number",
	 0},
	{"anonymous", KEY_ANONYMOUS, NULL, 0,
	 "pack only the store, and hide names of hosts, users, programs and files, addresses and commands in it; names of variants, sides, settings, functions and source files, files in the bin and lib folders of the system, ports, interfaces and the kernel's version stay",
	 0},
	{0},
};

struct pack_arguments {
	struct pack p;
	bool anonymous;
};

/* Refuses the name of another kind of archive: its user would unpack it with the wrong program. */
static void pack_check_ending(const struct argp_state *state, const char *path)
{
	static const char *const others[] = {".zip", ".gz", ".tgz", ".xz", ".bz2", ".7z", ".tar"};
	size_t i;

	for (i = 0; i < array_size(others); i++)
		if (str_ends(path, others[i]))
			argp_error(state,
				   "-o %s: pack writes a .tar.zst: give the file that ending",
				   path);
}

static error_t pack_parse(int key, char *arg, struct argp_state *state)
{
	struct pack_arguments *args = state->input;
	struct pack *p = &args->p;

	switch (key) {
	case KEY_ANONYMOUS:
		args->anonymous = true;
		return 0;
	case 'o':
		pack_check_ending(state, arg);
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
static char *pack_default_output(const char *capture, const char *end)
{
	char *real = realpath(capture, NULL), *path = NULL;
	const char *last = strrchr(capture, '/');

	last = last ? last + 1 : capture;
	if (*last && strcmp(last, ".") && strcmp(last, ".."))
		path = xasprintf("%s%s", capture, end);
	else if (real)
		path = xasprintf("%s%s", real, end);
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
		print_note(path_exists(p->capture) ? "%s: not a folder" : NO_SUCH_CAPTURE,
			   p->capture);
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
		warn("%s, and then pack again: reports refuse this store", err.text);
	free(db);
}

/* --- anonymous --- */

static json_t *json_keep(const json_t *from, const char *const keys[], size_t n)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; i < n; i++)
		json_object_set(o, keys[i], json_object_get(from, keys[i]));
	return o;
}

static json_t *json_keep_each(const json_t *from, const char *const keys[], size_t n)
{
	json_t *list = json_array(), *one;
	size_t i;

	json_array_foreach (from, i, one)
		json_array_append_new(list, json_keep(one, keys, n));
	return list;
}

/* Copies what the manifest says of runs and variants, without commands, settings and messages. */
static json_t *manifest_make_anonymous(const json_t *manifest)
{
	static const char *const of_capture[] = {"schema_version", "zcost_version", "created",
						 "complete",	   "order",	    "sides",
						 "estimator"};
	static const char *const of_variant[] = {"name", "planned", "base"};
	static const char *const of_run[] = {"variant", "pass", "repeat", "status", "sides"};
	json_t *o = json_keep(manifest, of_capture, array_size(of_capture));

	json_object_set_new(o, "anonymous", json_true());
	json_object_set_new(o, "variants",
			    json_keep_each(json_object_get(manifest, "variants"), of_variant,
					   array_size(of_variant)));
	json_object_set_new(
		o, "runs",
		json_keep_each(json_object_get(manifest, "runs"), of_run, array_size(of_run)));
	return o;
}

/* Writes manifest.json and the store of an anonymous capture into the folder `to`. */
static int anonymous_write(const char *capture, const char *to, struct error *err)
{
	char *from = xasprintf("%s/manifest.json", capture), hex[65];
	char *path = xasprintf("%s/manifest.json", to), *db = xasprintf("%s/zcost.db", to);
	struct store *store = NULL;
	json_t *manifest = NULL, *anonymous = NULL;
	int rc = store_open(&store, capture, err);

	if (!rc && !path_exists(from))
		rc = error_set(
			err, ENOENT,
			"%s: --anonymous takes what zcost capture made: there is no manifest.json",
			capture);
	if (!rc && !(manifest = json_file(from, err)))
		rc = -EBADMSG;
	if (!rc)
		anonymous = manifest_make_anonymous(manifest);
	if (!rc)
		rc = json_write(path, anonymous, JSON_INDENT(1), err);
	if (!rc)
		rc = sha256_file(path, hex, err);
	if (!rc)
		rc = store_write_anonymous(store, db, hex, err);
	rc = store_close(store, rc, err);
	json_decref(manifest);
	json_decref(anonymous);
	free(from);
	free(path);
	free(db);
	return rc;
}

/* The folder in the archive is called `capture`, because a folder's name may name a customer. */
static int pack_anonymous(struct pack *p, struct error *err)
{
	const char *tmp = getenv("TMPDIR"), *capture = p->capture;
	char *scratch = xasprintf("%s/zcost-XXXXXX", tmp && *tmp ? tmp : "/var/tmp"), *folder;
	int rc = 0;

	if (!mkdtemp(scratch)) {
		rc = error_sys(err, errno, "%s: cannot make a folder (TMPDIR)", scratch);
		free(scratch);
		return rc;
	}
	folder = xasprintf("%s/capture", scratch);
	rc = dir_make(folder, err);
	if (!rc)
		rc = anonymous_write(capture, folder, err);
	p->capture = folder;
	if (!rc)
		rc = pack_capture(p, err);
	p->capture = capture;
	dir_remove(scratch, NULL);
	free(scratch);
	free(folder);
	return rc;
}

static int pack_run(struct pack *p, bool anonymous)
{
	struct error err = {0};
	struct str files = {0};
	int code = pack_check(p);

	if (code)
		return code;
	stop_watch();
	if (anonymous ? pack_anonymous(p, &err) : pack_capture(p, &err)) {
		error_print(&err);
		stop_if_asked();
		return EXIT_FAILED;
	}
	findings_warn(&p->findings);
	if (!anonymous)
		pack_check_store(p);
	if (!p->has_manifest)
		print_note("%s: no manifest.json: nothing to check its files against", p->capture);
	findings_files(&p->findings, p->files, p->has_manifest && !anonymous, &files);
	print_note("%s: %s", p->output, files.buf);
	str_free(&files);
	return p->findings.n ? EXIT_LOSSY : EXIT_OK;
}

int cmd_pack(int argc, char **argv)
{
	struct pack_arguments args = {
		.p = {.level = LEVEL, .threads = (int)sysconf(_SC_NPROCESSORS_ONLN)}};
	struct pack *p = &args.p;
	char *capture, *made = NULL;
	size_t len;
	int code;

	args_parse(&argp, argc, argv, 0, &args);
	capture = xstrdup(p->capture);
	for (len = strlen(capture); len > 1 && capture[len - 1] == '/';)
		capture[--len] = '\0';
	p->capture = capture;
	if (!p->output)
		p->output = made = pack_default_output(
			capture, args.anonymous ? "-anonymous.tar.zst" : ".tar.zst");
	if (!p->output)
		p->output = made = xstrdup("capture.tar.zst");
	code = pack_run(p, args.anonymous);
	findings_free(&p->findings);
	free(capture);
	free(made);
	return code;
}
