// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/symbols/dso_files.h"

#include "analyze/symbols/elf_symbols.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct finding {
	struct dso_identity dso;
	char adopted[65]; /* a build-id that was not recorded */
	struct dso_files *found;
	bool stale;
	char *why;
	size_t why_size;
};

/*
 * %p the mapped path, %b its base name, %i the build-id, %x its first two digits, %y the others,
 * %h the capture's host folder, %s the symfs folder, %~ the home folder, %l the debug link.
 */
static const char *const host_places[] = {"%h/dso/%i/%b.debug", "%h/dso/%i/%b", NULL};
static const char *const symfs_places[] = {
	"%s/usr/lib/debug/.build-id/%x/%y.debug",
	"%s/usr/lib/debug%p.debug",
	"%s/usr/lib/debug%p",
	"%s%p",
	"%s/%b",
	NULL,
};
static const char *const this_host_places[] = {
	"%d/%l",
	"%d/.debug/%l",
	"/usr/lib/debug%d/%l",
	"%~/.debug/.build-id/%x/%y/elf",
	"%~/.debug/.build-id/%x/%y/vdso",
	"/usr/lib/debug%p.debug",
	"/usr/lib/debug%p",
	"/usr/lib/debug/.build-id/%x/%y.debug",
	"%p",
	NULL,
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The name in .gnu_debuglink of the mapped file; NULL: none. The caller frees. */
static char *debug_link(const struct dso_identity *dso)
{
	struct elf_file f;
	const char *name;
	char *copy = NULL;
	GElf_Word crc;

	if (dso->name[0] != '/' || elf_file_open(&f, dso->name, NULL))
		return NULL;
	name = dwelf_elf_gnu_debuglink(f.elf, &crc);
	if (name && !strchr(name, '/'))
		copy = xstrdup(name);
	elf_file_close(&f);
	return copy;
}

/* False where a part is not known: the place does not apply. */
static bool add_part(struct str *s, char part, const struct symbol_sources *from,
		     const struct dso_identity *dso, const char *link)
{
	const char *id = dso->build_id, *text = NULL;

	if (part == 'd') {
		str_add(s, dso->name, (size_t)(base_name(dso->name) - dso->name));
		return *dso->name == '/';
	}
	if (part == 'x') {
		str_add(s, id ? id : "", id ? 2 : 0);
		return id;
	}
	text = part == 'p'   ? (*dso->name == '/' ? dso->name : NULL)
	       : part == 'b' ? base_name(dso->name)
	       : part == 'i' ? id
	       : part == 'y' ? (id ? id + 2 : NULL)
	       : part == 'h' ? from->host_dir
	       : part == 's' ? from->symfs
	       : part == '~' ? getenv("HOME")
			     : link;
	if (text)
		str_puts(s, text);
	return text;
}

static char *expand(const char *pattern, const struct symbol_sources *from,
		    const struct dso_identity *dso, const char *link)
{
	struct str s = {0};

	for (; *pattern; pattern++) {
		if (*pattern != '%') {
			str_putc(&s, *pattern);
		} else if (!add_part(&s, *++pattern, from, dso, link)) {
			str_free(&s);
			return NULL;
		}
	}
	return str_take(&s);
}

static bool same_inode(const struct dso_identity *dso, const struct stat *st)
{
	return dso->inode && st->st_ino == dso->inode && major(st->st_dev) == dso->major &&
	       minor(st->st_dev) == dso->minor &&
	       (!dso->recorded_by_s || st->st_mtim.tv_sec <= dso->recorded_by_s);
}

/* Is this file the recorded object? `named`: the user vouches for files without a build-id. */
static bool belongs(struct finding *f, const struct elf_file *file, const struct stat *st,
		    const char *path, bool named)
{
	if (f->dso.build_id) {
		if (!strcmp(f->dso.build_id, file->build_id))
			return true;
		snprintf(f->why, f->why_size, "%s: build-id %s, recorded was %s", path,
			 *file->build_id ? file->build_id : "(none)", f->dso.build_id);
	} else if ((named && !f->dso.ambiguous) || same_inode(&f->dso, st)) {
		return true;
	} else if (f->dso.ambiguous) {
		snprintf(f->why, f->why_size,
			 "%s: several files of this name were recorded, and this is not provably "
			 "the one",
			 path);
	} else {
		snprintf(f->why, f->why_size,
			 "%s: not provably the recorded file (no build-id in the recording, and "
			 "inode or time differ)",
			 path);
	}
	f->stale = true;
	return false;
}

static void take(struct dso_files *f, struct elf_file *file)
{
	bool used = false;

	if (!f->have_syms && file->symtab) {
		f->syms = *file;
		f->have_syms = used = true;
	}
	if (!f->have_run && (file->dynsym || file->code)) {
		f->run = *file;
		f->have_run = true;
		if (used) /* one file for both: opened once, closed once */
			f->run.fd = -1;
		used = true;
	}
	if (!used)
		elf_file_close(file);
}

static void try_file(struct finding *f, const char *path, bool named)
{
	struct elf_file file;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || elf_file_open(&file, path, NULL))
		return;
	if (belongs(f, &file, &st, path, named))
		take(f->found, &file);
	else
		elf_file_close(&file);
}

static void try_places(struct finding *f, const char *const *places,
		       const struct symbol_sources *from, const char *link, bool named)
{
	char *path;

	for (; *places && !(f->found->have_syms && f->found->have_run); places++) {
		path = expand(*places, from, &f->dso, link);
		if (path)
			try_file(f, path, named);
		free(path);
	}
}

/* This process has the same vdso as every other of this kernel: its ELF image is in memory. */
static void try_own_vdso(struct finding *f, const struct symbol_sources *from)
{
	void *image = (void *)getauxval(AT_SYSINFO_EHDR);
	struct elf_file file;

	if (!image || strcmp(f->dso.name, "[vdso]") ||
	    elf_file_memory(&file, image, 8192, "[vdso]", NULL))
		return;
	if (f->dso.build_id ? !strcmp(file.build_id, f->dso.build_id) : from->this_kernel)
		take(f->found, &file);
	else
		elf_file_close(&file);
}

/* A file that is proven to be the recorded one lends its build-id to the search for others. */
static void adopt_build_id(struct finding *f, const char *path, bool named)
{
	struct elf_file file;
	struct stat st;

	if (f->dso.build_id || !path || stat(path, &st) || !S_ISREG(st.st_mode) ||
	    elf_file_open(&file, path, NULL))
		return;
	if (((named && !f->dso.ambiguous) || same_inode(&f->dso, &st)) && *file.build_id) {
		snprintf(f->adopted, sizeof(f->adopted), "%s", file.build_id);
		f->dso.build_id = f->adopted;
	}
	elf_file_close(&file);
}

static void find_in_symfs(struct finding *f, const struct symbol_sources *from)
{
	char *path = expand("%s%p", from, &f->dso, NULL);

	adopt_build_id(f, path, true);
	free(path);
	try_places(f, symfs_places, from, NULL, true);
}

static void find_on_this_host(struct finding *f, const struct symbol_sources *from)
{
	char *link = debug_link(&f->dso);

	adopt_build_id(f, f->dso.name, false);
	try_places(f, this_host_places, from, link, false);
	try_own_vdso(f, from);
	free(link);
}

static void find(struct finding *f, const struct symbol_sources *from)
{
	if (from->host_dir)
		try_places(f, host_places, from, NULL, false);
	if (from->symfs)
		find_in_symfs(f, from);
	if (from->this_host && !from->symfs)
		find_on_this_host(f, from);
}

int dso_files_find(struct dso_files *found, const struct symbol_sources *from,
		   const struct dso_identity *dso, char *why, size_t why_size)
{
	struct finding f = {.dso = *dso, .found = found, .why = why, .why_size = why_size};

	*found = (struct dso_files){0};
	*why = '\0';
	find(&f, from);
	if (found->have_syms || found->have_run)
		return 0;
	if (f.stale)
		return -ESTALE;
	snprintf(why, why_size, "%s: no file with its symbols", dso->name);
	return -ENOENT;
}

void dso_files_close(struct dso_files *f)
{
	if (f->have_run && !(f->have_syms && f->run.elf == f->syms.elf))
		elf_file_close(&f->run);
	if (f->have_syms)
		elf_file_close(&f->syms);
}

int dso_symbols_read(struct symtab *t, const struct symbol_sources *from,
		     const struct dso_identity *dso, char *why, size_t why_size)
{
	struct dso_files f;
	struct error err = {0};
	int ret = dso_files_find(&f, from, dso, why, why_size);

	if (ret)
		return ret;
	ret = elf_symbols_read(t, f.have_syms ? &f.syms : &f.run, f.have_run ? &f.run : &f.syms,
			       &err);
	if (ret)
		snprintf(why, why_size, "%s: %s", dso->name, err.text);
	dso_files_close(&f);
	return ret;
}
