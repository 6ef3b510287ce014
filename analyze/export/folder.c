// SPDX-License-Identifier: GPL-2.0-only
/* An export of several files: all are written before any gets its name, because some of them would
 * look like all. */
#include "analyze/export/export.h"

#include "lib/file.h"

#include <errno.h>

int export_open_folder(struct export *x, char **tmp, struct error *err)
{
	int rc = caller_check_path(x->path, err);

	if (rc)
		return rc;
	remains_remove(x->path);
	*tmp = remains_name(x->path);
	return dir_make(*tmp, err);
}

static int folder_place_file(void *folder, const struct walked *e, struct error *err)
{
	autofree char *path = xasprintf("%s/%s", (const char *)folder, e->name);

	return e->level == 1 && rename(e->path, path)
		       ? error_sys(err, errno, "%s: cannot write", path)
		       : 0;
}

int export_close_folder(struct export *x, const char *tmp, int rc, struct error *err)
{
	if (!rc && rename(tmp, x->path))
		rc = dir_walk(tmp, folder_place_file, (void *)x->path, err);
	if (tmp)
		dir_remove(tmp, NULL);
	return rc;
}
