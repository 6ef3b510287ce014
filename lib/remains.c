// SPDX-License-Identifier: GPL-2.0-only
#include "lib/remains.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *remains_name(const char *path)
{
	return xasprintf("%s.tmp.%d", path, (int)getpid());
}

/* Is `name` START followed by the number of a process that is no more? */
static bool remains_is_dead(const char *name, const char *start)
{
	char *end;
	long pid;

	if (!str_starts(name, start))
		return false;
	name += strlen(start);
	pid = strtol(name, &end, 10);
	return end > name && !*end && pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

void remains_remove(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup("./");
	char *start = xasprintf("%s.tmp.", slash ? slash + 1 : path);
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char *found = remains_is_dead(e->d_name, start)
				      ? xasprintf("%s%s", folder, e->d_name)
				      : NULL;

		if (found)
			dir_remove(found, NULL);
		free(found);
	}
	if (dir)
		closedir(dir);
	free(folder);
	free(start);
}
