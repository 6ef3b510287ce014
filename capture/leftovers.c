// SPDX-License-Identifier: GPL-2.0-only
/* What a capture that was killed left half done: files about to be renamed, runs nobody names. */
#include "capture/capture.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

typedef int (*visitor)(struct capture *c, const char *path, const char *name, struct error *err);

/* Calls `visit` for each entry of a folder; a folder that is not there has none. */
static int folder_visit(struct capture *c, const char *dir, visitor visit, struct error *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	while (d && !rc && (e = readdir(d))) {
		char *path;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		rc = visit(c, path, e->d_name, err);
		free(path);
	}
	if (d)
		closedir(d);
	return rc;
}

static int leftovers_drop_file(struct capture *c, const char *path, const char *name, struct error *err)
{
	(void)c;
	if (str_starts(name, "manifest.json.tmp.") || str_starts(name, "plan.ini.tmp.") ||
	    !strcmp(name, ".incoming"))
		return dir_remove(path, err);
	return 0;
}

/* "measure-01" and the like; a user's own files are none of our business. */
static bool is_run_name(const char *name)
{
	size_t i, n;

	for (i = 0; i < PASS_COUNT; i++) {
		n = strlen(pass_names[i]);
		if (!strncmp(name, pass_names[i], n) && name[n] == '-')
			return !name[n + 1 + strspn(name + n + 1, "0123456789")];
	}
	return false;
}

static int leftovers_drop_run(struct capture *c, const char *path, const char *name, struct error *err)
{
	const char *variant_and_name = path + strlen(c->dir) + strlen("/runs/");

	if (*name == '.' && str_ends(name, ".tmp"))
		return dir_remove(path, err);
	if (is_run_name(name) && !manifest_has_run(&c->manifest, variant_and_name))
		return dir_remove(path, err);
	return 0;
}

static int leftovers_drop_runs(struct capture *c, const char *path, const char *name,
			     struct error *err)
{
	(void)name;
	return folder_visit(c, path, leftovers_drop_run, err);
}

int leftovers_remove(struct capture *c, struct error *err)
{
	char *runs = xasprintf("%s/runs", c->dir);
	int rc = folder_visit(c, c->dir, leftovers_drop_file, err);

	if (!rc)
		rc = folder_visit(c, runs, leftovers_drop_runs, err);
	free(runs);
	return rc;
}
