// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/archive.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/names.h"
#include "lib/stop.h"
#include "lib/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { HEX = 64 };

struct member *members_add(struct members *m, const char *name, bool folder)
{
	array_add(m->list, m->n, m->cap, (struct member){.name = xstrdup(name), .folder = folder});
	return &m->list[m->n - 1];
}

static int members_by_name(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

void members_sort(struct members *m)
{
	array_sort(m->list, m->n, members_by_name);
}

struct member *members_find(const struct members *m, const char *name)
{
	struct member key = {.name = (char *)name};

	return m->n ? bsearch(&key, m->list, m->n, sizeof(*m->list), members_by_name) : NULL;
}

size_t members_files(const struct members *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += !m->list[i].folder;
	return n;
}

void members_free(struct members *m)
{
	array_free(e, m->list, m->n, free(e->name));
	*m = (struct members){0};
}

int members_check_capture(const struct members *m, const char *path, struct error *err)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->list[i].name, "manifest.json") ||
		    !strcmp(m->list[i].name, "run.json") || str_starts(m->list[i].name, "runs/"))
			return 0;
	return error_set(err, ENOENT,
			 "%s: no capture: it has no manifest.json, no runs/ and no run.json", path);
}

__attribute__((format(printf, 2, 3))) static void findings_add(struct findings *f, const char *fmt,
							       ...)
{
	va_list ap;
	autofree char *text = NULL;

	if (f->n++ >= FINDINGS_SHOWN)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	warn("%s", text);
}

static void findings_compare(const struct members *m, const char *name, const char *hex,
			     const char *whose, struct findings *f)
{
	const struct member *have = members_find(m, name);

	if (!have || have->folder)
		findings_add(f, "%." NAME_SHOWN "s: is missing, though %s names it", name, whose);
	else if (!strcasecmp(have->hex, hex))
		f->checked++;
	else if (++f->differ)
		findings_add(f, "%." NAME_SHOWN "s: differs from the checksum in %s", name, whose);
}

static void members_add_manifest_list(struct members *m, const char *folder, const json_t *files)
{
	const char *name;
	json_t *hex;

	json_object_foreach ((json_t *)files, name, hex) {
		autofree char *path = xasprintf("%s/%s", folder, name);
		struct member *added = members_add(m, path, false);

		if (json_is_string(hex) && json_string_length(hex) == HEX)
			memcpy(added->hex, json_string_value(hex), HEX);
	}
}

void members_of_manifest(struct members *m, const json_t *manifest)
{
	const json_t *run;
	size_t i;

	json_array_foreach (json_object_get(manifest, "runs"), i, run) {
		const char *variant = json_str(run, "variant"), *pass = json_str(run, "pass");
		autofree char *folder = xasprintf("runs/%s/%s-%02d", variant ? variant : "",
						  pass ? pass : "", (int)json_u64(run, "repeat"));

		members_add_manifest_list(m, folder, json_object_get(run, "files"));
	}
	members_add_manifest_list(m, "hosts", json_object_get(manifest, "hosts"));
	members_sort(m);
}

int members_against_manifest(const struct members *m, const char *folder, json_t **manifest,
			     struct findings *f, struct error *err)
{
	autofree char *path = xasprintf("%s/manifest.json", folder);
	bool has = members_find(m, "manifest.json");
	freed(members_free) struct members named = {0};

	*manifest = has ? json_file(path, err) : NULL;
	members_of_manifest(&named, *manifest);
	for (size_t i = 0; i < named.n; i++)
		findings_compare(m, named.list[i].name, named.list[i].hex, "manifest.json", f);
	return has && !*manifest ? -EBADMSG : 0;
}

void members_write_sums(const struct members *m, struct str *text)
{
	for (size_t i = 0; i < m->n; i++)
		if (!m->list[i].folder)
			str_printf(text, "%s  %s\n", m->list[i].hex, m->list[i].name);
}

static bool members_parse_sum(struct members *m, const char *line)
{
	struct member *added;

	if (strspn(line, "0123456789abcdefABCDEF") != HEX || line[HEX] != ' ' ||
	    (line[HEX + 1] != ' ' && line[HEX + 1] != '*') || !line[HEX + 2])
		return false;
	added = members_add(m, line + HEX + 2, false);
	memcpy(added->hex, line, HEX);
	return true;
}

void members_against_sums(const struct members *m, const char *text, struct findings *f)
{
	char *line;
	freed(members_free) struct members sums = {0};
	bool good = true;

	each_part (line, text, '\n')
		good = good && (!*line || members_parse_sum(&sums, line));
	members_sort(&sums);
	if (!good)
		findings_add(f, SUMS_NAME " is damaged");
	for (size_t i = 0; i < sums.n && good; i++)
		findings_compare(m, sums.list[i].name, sums.list[i].hex, SUMS_NAME, f);
	for (size_t i = 0; i < m->n && good; i++)
		if (!m->list[i].folder && strcmp(m->list[i].name, SUMS_NAME) &&
		    !members_find(&sums, m->list[i].name))
			findings_add(f, "%." NAME_SHOWN "s: " SUMS_NAME " does not name it",
				     m->list[i].name);
}

/* --- the folder --- */

/* Returns whether the name is like zcost.db.tmp.123: a killed process left it, or writes it now. */
static bool scan_is_temporary(const char *name)
{
	const char *tmp = strstr(name, ".tmp.");

	return tmp && tmp[5] && !tmp[5 + strspn(tmp + 5, "0123456789")];
}

const char *member_fault(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
		return NULL;
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a fifo";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

struct scan {
	struct members *members;
	struct findings *findings;
};

static int scan_add_entry(void *arg, const struct walked *e, struct error *err)
{
	const struct scan *s = arg;
	bool folder = S_ISDIR(e->st.st_mode);
	autofree char *clean = NULL;
	int rc;

	if (stop_asked())
		return error_set(err, EINTR, "interrupted");
	if (e->code)
		return error_sys(err, e->code, "%s: cannot read", e->path);
	if (!strcmp(e->name, SUMS_NAME) || scan_is_temporary(path_base_name(e->name)))
		return 0;
	rc = name_clean(e->name, &clean, err);
	if (rc)
		return rc;
	if (!member_fault(e->st.st_mode))
		members_add(s->members, clean, folder)->st = e->st;
	else
		findings_add(s->findings, "%s: left out: %s", clean, member_fault(e->st.st_mode));
	return 0;
}

int scan_folder(struct members *m, const char *capture, struct findings *f, struct error *err)
{
	struct scan s = {m, f};
	int rc = dir_walk(capture, scan_add_entry, &s, err);

	members_sort(m);
	return rc;
}

static bool scan_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

int scan_open(const struct member *e, const char *capture, struct error *err)
{
	autofree char *path = xasprintf("%s/%s", capture, e->name);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc = fd;
	struct stat st;

	if (fd < 0) {
		rc = error_sys(err, errno, "%s: cannot open", path);
	} else if (fstat(fd, &st) || !scan_is_same_file(&st, &e->st)) {
		rc = error_set(err, EAGAIN,
			       "%s: changed while it was packed; wait until the capture is done",
			       path);
		close(fd);
	}
	return rc;
}

int scan_sums(struct members *m, const char *capture, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < m->n && !rc; i++) {
		autofree char *path = xasprintf("%s/%s", capture, m->list[i].name);

		if (!m->list[i].folder)
			rc = sha256_file(path, m->list[i].hex, err);
	}
	return rc;
}
