// SPDX-License-Identifier: GPL-2.0-only
#include "collect/snapfile.h"

#include "lib/file.h"
#include "lib/alloc.h"
#include "lib/snap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int snapfile_probe(struct collect *c, const char *source)
{
	return access(source, R_OK) ? error_sys(&c->err, errno, "%s: cannot read", source) : 0;
}

int snapfile_prepare(struct collect *c)
{
	char *path = collect_path(c, c->is->files[0]);
	int fd = file_create(path, O_APPEND, 0600);

	if (fd < 0)
		error_sys(&c->err, errno, "%s: cannot write", path);
	else
		c->data = xmemdup(&fd, sizeof(fd));
	free(path);
	return -c->err.code;
}

int snapfile_take(struct collect *c, const char *source)
{
	return snap_append_file(*(int *)c->data, source, &c->err);
}

void snapfile_finish(struct collect *c)
{
	if (c->data)
		close(*(int *)c->data);
	free(c->data);
}
