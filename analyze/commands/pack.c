// SPDX-License-Identifier: GPL-2.0-only
/* zcost pack CAPTURE: packs the folder into one archive. zcost unpack ARCHIVE: the reverse. */
#include "analyze/archive/archive.h"
#include "analyze/commands/commands.h"
#include "analyze/store/store.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/sha256.h"
#include "lib/stop.h"

#include <errno.h>
#include <unistd.h>

enum { LEVEL = 3, MAX_LEVEL = 19, KEY_ANONYMOUS = 0x100, KEY_MAX };

static const struct argp_option pack_options[] = {
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

static error_t pack_parse(int key, char *arg, struct argp_state *state)
{
	struct pack_arguments *args = state->input;
	struct pack *p = &args->p;

	switch (key) {
	case KEY_ANONYMOUS:
		args->anonymous = true;
		return 0;
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

static const struct argp pack_argp = {
	.options = pack_options,
	.parser = pack_parse,
	.args_doc = "CAPTURE",
	.doc = "Packs a capture folder, with its store if it has one, into one archive. 'zcost unpack' makes the folder again, which all other commands read.\vzcost first checks the files against the checksums in manifest.json. If a file differs or is missing, zcost names it, packs the other files, and exits with status 4.",
};

/* Returns the archive's name beside the folder. "." takes the folder's real name. */
static char *pack_default_output(const char *capture, const char *end)
{
	const char *last = path_base_name(capture);
	bool named = *last && strcmp(last, ".") && strcmp(last, "..");
	autofree char *real = named ? NULL : realpath(capture, NULL);

	return xasprintf("%s%s", real ? real : capture, end);
}

/* Warns of a store that reports refuse: the archive's reader may be unable to analyze it again. */
static void pack_check_store(const struct pack *p)
{
	autofree char *db = xasprintf("%s/zcost.db", p->capture);
	struct store *store = NULL;
	struct error err = {0};

	if (path_exists(db) &&
	    (store_open(&store, p->capture, &err) || store_close(store, 0, &err)))
		warn("%s, and then pack again: reports refuse this store", err.text);
}

/* --- anonymous --- */

/* Returns an object with some members of another, or a list of such objects from a list. */
static json_t *json_keep(const json_t *from, const char *const keys[])
{
	json_t *to = json_is_array(from) ? json_array() : json_object(), *one;
	size_t i;

	json_array_foreach (from, i, one)
		json_array_append_new(to, json_keep(one, keys));
	for (i = 0; json_is_object(to) && keys[i]; i++)
		json_object_set(to, keys[i], json_object_get(from, keys[i]));
	return to;
}

/* Copies what the manifest says of runs and variants, without commands, settings and messages. */
static json_t *manifest_make_anonymous(const json_t *manifest)
{
	static const char *const of_capture[] = {
		"schema_version", "zcost_version", "created",	"complete",
		"order",	  "sides",	   "estimator", NULL};
	static const char *const of_variant[] = {"name", "planned", "base", NULL};
	static const char *const of_run[] = {"variant", "pass", "repeat", "status", "sides", NULL};
	json_t *o = json_keep(manifest, of_capture);

	json_object_set_new(o, "anonymous", json_true());
	json_object_set_new(o, "variants",
			    json_keep(json_object_get(manifest, "variants"), of_variant));
	json_object_set_new(o, "runs", json_keep(json_object_get(manifest, "runs"), of_run));
	return o;
}

/* Writes manifest.json and the store of an anonymous capture into the folder `to`. */
static int anonymous_write(const char *capture, const char *to, struct error *err)
{
	char *from = xasprintf("%s/manifest.json", capture), hex[65];
	autofree char *path = xasprintf("%s/manifest.json", to), *db = xasprintf("%s/zcost.db", to);
	struct store *store = NULL;
	json_auto_t *manifest = NULL, *anonymous = NULL;
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
	rc = rc ?: json_write(path, anonymous, JSON_INDENT(1), err);
	rc = rc ?: sha256_file(path, hex, err);
	rc = rc ?: store_write_anonymous(store, db, hex, err);
	rc = store_close(store, rc, err);
	free(from);
	return rc;
}

/* The folder in the archive is called `capture`, because a folder's name may name a customer. */
static int pack_anonymous(struct pack *p, struct error *err)
{
	const char *tmp = getenv("TMPDIR"), *capture = p->capture;
	autofree char *scratch = xasprintf("%s/zcost-XXXXXX", tmp && *tmp ? tmp : "/var/tmp"),
		      *folder = NULL;
	int rc;

	if (!mkdtemp(scratch))
		return error_sys(err, errno, "%s: cannot make a folder (TMPDIR)", scratch);
	folder = xasprintf("%s/capture", scratch);
	rc = dir_make(folder, err);
	rc = rc ?: anonymous_write(capture, folder, err);
	p->capture = folder;
	rc = rc ?: pack_capture(p, err);
	p->capture = capture;
	dir_remove(scratch, NULL);
	return rc;
}

/* Prints the findings and the number of files. Returns the exit status. */
static int archive_report(const char *made, const char *checked, const struct findings *f,
			  size_t files, bool has_manifest)
{
	freed(str_free) struct str text = {0};

	if (f->n > FINDINGS_SHOWN)
		warn("and %zu more", f->n - FINDINGS_SHOWN);
	if (!has_manifest)
		print_note("%s: no manifest.json: nothing to check its files against", checked);
	str_printf(&text, "%zu files", files);
	if (has_manifest && (f->checked || f->differ))
		str_printf(&text, ", %zu with the checksums of manifest.json", f->checked);
	if (has_manifest && f->differ)
		str_printf(&text, ", %zu that differ%s", f->differ, f->differ == 1 ? "s" : "");
	print_note("%s: %s", made, text.buf);
	return f->n ? EXIT_LOSSY : EXIT_OK;
}

/* Prints why there is no archive or no folder. Returns the exit status. */
static int archive_fail(const struct error *err)
{
	error_print(err);
	stop_if_asked();
	return EXIT_FAILED;
}

/* Returns the path without slashes at its end. The caller frees it. */
static char *path_trim(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return xstrndup(path, len);
}

static int pack_run(struct pack *p, bool anonymous)
{
	struct error err = {0};

	if (!path_is_dir(p->capture)) {
		print_note(path_exists(p->capture) ? "%s: not a folder" : NO_SUCH_CAPTURE,
			   p->capture);
		return EXIT_FAILED;
	}
	if (!strcmp(p->output, "-") && isatty(STDOUT_FILENO)) {
		print_note("%s: zcost does not write an archive to a terminal; give -o FILE",
			   p->capture);
		return EXIT_USAGE;
	}
	stop_watch();
	if (anonymous ? pack_anonymous(p, &err) : pack_capture(p, &err))
		return archive_fail(&err);
	if (!anonymous)
		pack_check_store(p);
	return archive_report(p->output, p->capture, &p->findings, p->files, p->has_manifest);
}

int cmd_pack(int argc, char **argv)
{
	struct pack_arguments args = {
		.p = {.level = LEVEL, .threads = (int)sysconf(_SC_NPROCESSORS_ONLN)}};
	struct pack *p = &args.p;
	autofree char *capture = NULL, *made = NULL;

	args_parse(&pack_argp, argc, argv, 0, &args);
	p->capture = capture = path_trim(p->capture);
	if (!p->output)
		made = pack_default_output(capture,
					   args.anonymous ? "-anonymous.tar.zst" : ".tar.zst");
	p->output = p->output ?: made;
	return pack_run(p, args.anonymous);
}

/* --- unpack --- */

static const struct argp_option unpack_options[] = {
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

static const struct argp unpack_argp = {
	.options = unpack_options,
	.parser = unpack_parse,
	.args_doc = "ARCHIVE",
	.doc = "Makes a capture folder from an archive. The folder appears only when it is complete and checked.\vIf the archive is damaged, or holds anything but files and folders of a capture, zcost makes no folder and exits with status 1. If files differed from manifest.json before they were packed, zcost names them and exits with status 4.",
};

static int unpack_run(struct unpack *u)
{
	struct error err = {0};

	stop_watch();
	if (unpack_archive(u, &err))
		return archive_fail(&err);
	if (!u->has_sums)
		print_note("%s: no checksums: 'zcost pack' did not make this archive", u->archive);
	return archive_report(u->folder, u->folder, &u->findings, u->files, u->has_manifest);
}

int cmd_unpack(int argc, char **argv)
{
	static const char suffix[] = ".tar.zst";
	struct unpack u = {0};
	autofree char *folder = NULL;

	args_parse(&unpack_argp, argc, argv, 0, &u);
	if (u.folder)
		folder = path_trim(u.folder);
	else if (str_ends(u.archive, suffix) && strlen(path_base_name(u.archive)) > strlen(suffix))
		folder = xstrndup(u.archive, strlen(u.archive) - strlen(suffix));
	else
		folder = xasprintf("%s.unpacked", u.archive);
	u.folder = folder;
	return unpack_run(&u);
}
