// SPDX-License-Identifier: GPL-2.0-only
#include "collect/folder.h"

#include "collect/collect.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every run's, whatever it collects. */
static const char *const common[] = {"workload.out", "workload.err", "run.json"};

/* What stands beside them, and is not the run's to remove. */
static const char *const beside[] = {"hosts", "zcost.db"};

static bool folder_lists(const char *name, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n && list[i]; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

static bool folder_is_of_run(const char *name)
{
	size_t i;

	if (*name == '.' || folder_lists(name, common, array_size(common)) ||
	    folder_lists(name, beside, array_size(beside)))
		return true;
	for (i = 0; collectors[i]; i++)
		if (folder_lists(name, collectors[i]->files, array_size(collectors[i]->files)))
			return true;
	return false;
}

static bool folder_has(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	bool there = path_exists(path);

	free(path);
	return there;
}

int folder_check(const char *dir, bool *used, struct error *err)
{
	struct dirent *e;
	int rc = 0;
	DIR *d;

	*used = folder_has(dir, "run.json") || folder_has(dir, "workload.out");
	d = *used ? NULL : opendir(dir);
	while (d && !rc && (e = readdir(d)))
		if (!folder_is_of_run(e->d_name))
			rc = error_set(err, EEXIST,
				       "%s: there is '%s' in it, which is no run's: give another "
				       "-o",
				       dir, e->d_name);
	if (d)
		closedir(d);
	return rc;
}

static void folder_remove(const char *dir, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n && list[i]; i++) {
		char *path = xasprintf("%s/%s", dir, list[i]);

		unlink(path);
		free(path);
	}
}

void folder_clear(const char *dir)
{
	size_t i;

	folder_remove(dir, common, array_size(common));
	for (i = 0; collectors[i]; i++)
		folder_remove(dir, collectors[i]->files, array_size(collectors[i]->files));
}
