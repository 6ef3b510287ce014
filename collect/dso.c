// SPDX-License-Identifier: GPL-2.0-only
#include "collect/dso.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* HOSTS/dso/<id>/<name>; the folder is made. */
static char *place(const char *hosts, const char *id, const char *name, struct error *err)
{
	char *dir = xasprintf("%s/dso/%s", hosts, id), *to = NULL;

	if (!dir_make(dir, err))
		to = xasprintf("%s/%s", dir, name);
	free(dir);
	return to;
}

/* Whole or not at all: the other side's run may be saving the same file. */
static int copy_whole(const char *from, const char *to, struct error *err)
{
	char *tmp;
	int rc;

	if (path_exists(to))
		return 0;
	tmp = xasprintf("%s.tmp.%d", to, (int)getpid());
	rc = file_copy(from, tmp, err);
	if (!rc && rename(tmp, to))
		rc = error_sys(err, errno, "%s: cannot write", to);
	if (rc)
		unlink(tmp);
	free(tmp);
	return rc;
}

static void save_debug(const char *hosts, const char *id, const char *name)
{
	char *from = xasprintf("/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	char *debug = xasprintf("%s.debug", name), *to = NULL;

	if (path_exists(from))
		to = place(hosts, id, debug, NULL);
	if (to)
		copy_whole(from, to, NULL);
	free(to);
	free(debug);
	free(from);
}

/* -ENODATA: not an ELF file with a build-id. */
static int id_of_file(const char *path, char id[129])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = -ENODATA;
	struct stat st;
	void *map;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			rc = elf_build_id(map, (size_t)st.st_size, id) ? 0 : -ENODATA;
			munmap(map, (size_t)st.st_size);
		}
	}
	close(fd);
	return rc;
}

/* The vdso is in our memory as in everybody's: its file ends behind its section headers. */
static int save_vdso(const char *hosts, struct error *err)
{
	const Elf64_Ehdr *h = (const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	size_t len;
	char id[129], *to;
	int rc;

	if (!h || h->e_ident[EI_CLASS] != ELFCLASS64)
		return -ENODATA;
	len = h->e_shoff + (size_t)h->e_shentsize * h->e_shnum;
	if (!elf_build_id(h, len, id))
		return -ENODATA;
	to = place(hosts, id, "[vdso]", err);
	if (!to)
		return -err->code;
	rc = path_exists(to) ? 0 : file_write(to, h, len, err);
	free(to);
	return rc;
}

int dso_save(const char *hosts, const char *path, struct error *err)
{
	char id[129], *to;
	int rc;

	if (!strcmp(path, "[vdso]"))
		return save_vdso(hosts, err);
	rc = id_of_file(path, id);
	if (rc == -ENODATA)
		return rc;
	if (rc)
		return error_sys(err, -rc, "%s: cannot open", path);
	to = place(hosts, id, base_name(path), err);
	if (!to)
		return -err->code;
	rc = copy_whole(path, to, err);
	if (!rc)
		save_debug(hosts, id, base_name(path));
	free(to);
	return rc;
}
