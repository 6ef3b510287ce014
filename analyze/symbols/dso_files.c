// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/symbols/dso.h"

#include "lib/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/sysmacros.h>

struct dso_search {
	struct dso_identity dso;
	const struct symbol_sources *from;
	char adopted[129]; /* the build-id of a proven file or inode, if none was recorded */
	struct dso_files *found;
	bool stale;
	char *why;
	size_t why_size;
};

/*
 * %p is the mapped path, %b its base name, %k the path up to ".ko", %i the build-id,
 * %x its first two digits, %y its other digits, %h the capture's host folder, %s the symfs folder,
 * %c the build-id cache, %~ the home folder.
 */
static const char *const capture_places[] = {
	"%h/dso/%i/%b.debug", "%h/dso/%i/%b", "%h%k", "%h%k.xz", "%h%k.zst", "%h%k.gz", NULL,
};
static const char *const cache_places[] = {
	"%c/.build-id/%x/%y/elf",
	"%c/.build-id/%x/%y/vdso",
	"%c/.build-id/%x/%y/debug",
	"%c/.build-id/%x/%y.debug",
	"%c%p/%i/elf",
	"%c%p/%i/debug",
	"%c/%b/%i/vdso",
	"%c/%b/%i/elf",
	NULL,
};
static const char *const symfs_places[] = {
	"%s/usr/lib/debug/.build-id/%x/%y.debug",
	"%s/usr/lib/debug%p.debug",
	"%s/usr/lib/debug%p",
	"%s/usr/lib/debug%k.debug",
	"%s/usr/lib/debug/usr%p.debug",
	"%s%p",
	"%s/usr%p",
	"%s%k",
	"%s%k.xz",
	"%s%k.zst",
	"%s%k.gz",
	"%s/%b",
	NULL,
};
static const char *const this_host_places[] = {
	"%~/.debug/.build-id/%x/%y/elf",
	"%~/.debug/.build-id/%x/%y/vdso",
	"/usr/lib/debug%p.debug",
	"/usr/lib/debug%p",
	"/usr/lib/debug/.build-id/%x/%y.debug",
	"%p",
	NULL,
};

/*
 * Returns the end of ".../veth.ko" in "/lib/modules/.../veth.ko.xz", or NULL if the path is no
 * module.
 */
static const char *module_unpacked_end(const char *path)
{
	const char *ko = strstr(path_base_name(path), ".ko");

	return ko && (!ko[3] || ko[3] == '.') ? ko + 3 : NULL;
}

/* Returns false if the object has no such part; the place then does not apply. */
static bool place_add_part(struct str *s, char part, const struct dso_search *f)
{
	const char *id = f->dso.build_id, *path = *f->dso.name == '/' ? f->dso.name : NULL;
	const char *text = NULL, *end;

	switch (part) {
	case 'k':
		end = f->dso.module && path ? module_unpacked_end(path) : NULL;
		str_add(s, path ? path : "", end ? (size_t)(end - path) : 0);
		return end;
	case 'x':
		str_add(s, id ? id : "", id ? 2 : 0);
		return id;
	}
	text = part == 'p'   ? path
	       : part == 'b' ? path_base_name(f->dso.name)
	       : part == 'i' ? id
	       : part == 'y' ? (id ? id + 2 : NULL)
	       : part == 'h' ? f->from->host_dir
	       : part == 's' ? f->from->symfs
	       : part == 'c' ? f->from->buildid_dir
			     : getenv("HOME");
	if (text)
		str_puts(s, text);
	return text;
}

static char *place_expand(const char *pattern, const struct dso_search *f)
{
	struct str s = {0};

	for (; *pattern; pattern++) {
		if (*pattern != '%') {
			str_putc(&s, *pattern);
		} else if (!place_add_part(&s, *++pattern, f)) {
			str_free(&s);
			return NULL;
		}
	}
	return str_take(&s);
}

static int64_t timespec_to_ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* At its end, perf record links files into its cache. That changes the ctime of the inodes. */
enum { LINK_NS = 2000000000 };

/* Also compares ctime, because a program can set mtime to anything. */
static bool dso_is_recorded_inode(const struct dso_search *f, const struct stat *st)
{
	const struct dso_identity *dso = &f->dso;

	return f->from->same_host && dso->inode && st->st_ino == dso->inode &&
	       major(st->st_dev) == dso->major && minor(st->st_dev) == dso->minor &&
	       dso->recorded_by_ns && timespec_to_ns(st->st_mtim) <= dso->recorded_by_ns &&
	       timespec_to_ns(st->st_ctim) <= dso->recorded_by_ns + LINK_NS;
}

/*
 * Returns whether `file` is the recorded object. `named`: the user vouches for files without a
 * build-id.
 */
static bool dso_is_recorded_file(struct dso_search *f, const struct elf_file *file,
				 const struct stat *st, const char *path, bool named)
{
	if (f->dso.build_id) {
		if (!strcmp(f->dso.build_id, file->build_id))
			return true;
		snprintf(f->why, f->why_size, "%s: build-id %s, recorded was %s", path,
			 *file->build_id ? file->build_id : "(none)", f->dso.build_id);
	} else if ((named && !f->dso.ambiguous) || dso_is_recorded_inode(f, st)) {
		return true;
	} else {
		snprintf(
			f->why, f->why_size, "%s: %s", path,
			f->dso.ambiguous
				? "the recording has several files of this name, and nothing proves that this is the right one"
				: "nothing proves that it is the recorded file (the recording has no build-id, and inode or time differ)");
	}
	f->stale = true;
	return false;
}

static void dso_keep_file(struct dso_files *f, struct elf_file *file, const char *path)
{
	bool used = false;

	if (file->has_dwarf && path && !f->dwarf)
		f->dwarf = xstrdup(path);
	if (!f->have_syms && file->symtab) {
		f->syms = *file;
		f->have_syms = used = true;
	}
	if (!f->have_run && (file->dynsym || file->code)) {
		f->run = *file;
		f->have_run = used = true;
	}
	if (!used)
		elf_file_close(file);
}

/* Opens a file that may be missing. Returns false if there is none. */
static bool dso_open_file(const struct dso_search *f, const char *path, struct elf_file *file,
			  struct stat *st)
{
	struct error err = {0};

	if (stat(path, st))
		error_sys(&err, errno, "%s: cannot read", path);
	else if (S_ISREG(st->st_mode) && !elf_file_open(file, path, &err))
		return true;
	unread_add(f->from->unread, &err);
	return false;
}

static void dso_try_file(struct dso_search *f, const char *path, bool named)
{
	struct elf_file file;
	struct stat st;

	if (!dso_open_file(f, path, &file, &st))
		return;
	if (dso_is_recorded_file(f, &file, &st, path, named))
		dso_keep_file(f->found, &file, path);
	else
		elf_file_close(&file);
}

static bool dso_search_is_complete(const struct dso_search *f)
{
	return f->found->have_syms && f->found->have_run &&
	       (!f->from->want_dwarf || f->found->dwarf);
}

static void dso_try_places(struct dso_search *f, const char *const *places, bool named)
{
	for (; *places && !dso_search_is_complete(f); places++) {
		autofree char *path = place_expand(*places, f);

		if (path)
			dso_try_file(f, path, named);
	}
}

/* All processes of one kernel share one vdso. Its ELF image is in this process's memory. */
static void dso_try_own_vdso(struct dso_search *f)
{
	void *image = (void *)getauxval(AT_SYSINFO_EHDR);
	struct elf_file file;

	if (!image || strcmp(f->dso.name, "[vdso]") ||
	    elf_file_memory(&file, image, 8192, "[vdso]", NULL))
		return;
	if (f->dso.build_id ? !strcmp(file.build_id, f->dso.build_id) : f->from->this_kernel)
		dso_keep_file(f->found, &file, NULL);
	else
		elf_file_close(&file);
}

/* A file that provably is the recorded one provides the build-id for the rest of the search. */
static void dso_adopt_build_id(struct dso_search *f, const char *path, bool named)
{
	struct elf_file file;
	struct stat st;

	if (f->dso.build_id || !path || !dso_open_file(f, path, &file, &st))
		return;
	if (((named && !f->dso.ambiguous) || dso_is_recorded_inode(f, &st)) && *file.build_id) {
		snprintf(f->adopted, sizeof(f->adopted), "%s", file.build_id);
		f->dso.build_id = f->adopted;
	}
	elf_file_close(&file);
}

/* `collect` wrote which build-id the mapped inode has. Nobody vouches for what the file says. */
static void dso_adopt_inode(struct dso_search *f)
{
	const struct dso_identity *dso = &f->dso;
	autofree char *path = xasprintf("%s/dso/inodes/%u-%u-%" PRIu64, f->from->host_dir,
					dso->major, dso->minor, dso->inode);
	autofree char *id = NULL;
	struct error err = {0};
	size_t len;

	if (dso->build_id || !dso->inode)
		return;
	if (file_read(path, &id, &len, &err)) {
		unread_add(f->from->unread, &err);
	} else if (len > 2 && len < sizeof(f->adopted) && strspn(id, "0123456789abcdef") == len) {
		strcpy(f->adopted, id);
		f->dso.build_id = f->adopted;
	}
}

static void dso_search_symfs(struct dso_search *f)
{
	autofree char *path = place_expand("%s%p", f);

	dso_adopt_build_id(f, path, true);
	dso_try_places(f, symfs_places, true);
}

static void dso_search_this_host(struct dso_search *f)
{
	dso_adopt_build_id(f, f->dso.name, false);
	dso_try_places(f, this_host_places, false);
	dso_try_own_vdso(f);
}

/* Distributions pack symbols into stripped files. Uses them if no file has better ones. */
static void dso_unpack_mini(struct dso_files *f, struct unread *unread)
{
	struct error err = {0};

	if (f->have_syms || !f->have_run)
		return;
	if (elf_file_mini(&f->syms, &f->run, &err)) {
		unread_add(unread, &err);
		return;
	}
	f->have_syms = f->syms.symtab;
	if (!f->have_syms)
		elf_file_close(&f->syms);
}

static void dso_search_all(struct dso_search *f)
{
	const struct symbol_sources *from = f->from;

	if (from->host_dir) {
		dso_adopt_inode(f);
		dso_try_places(f, capture_places, false);
	}
	if (from->buildid_dir)
		dso_try_places(f, cache_places, false);
	if (from->symfs)
		dso_search_symfs(f);
	if (from->this_host && !from->symfs)
		dso_search_this_host(f);
	if (from->buildid_dir && *f->adopted) /* a file has provided its build-id since */
		dso_try_places(f, cache_places, false);
	dso_unpack_mini(f->found, from->unread);
}

int dso_files_find(struct dso_files *found, const struct symbol_sources *from,
		   const struct dso_identity *dso, char *why, size_t why_size)
{
	struct dso_search f = {
		.dso = *dso, .from = from, .found = found, .why = why, .why_size = why_size};

	*found = (struct dso_files){0};
	*why = '\0';
	dso_search_all(&f);
	if (found->have_run || (found->have_syms && (dso->module || elf_has_layout(&found->syms))))
		return 0;
	if (found->have_syms) {
		snprintf(why, why_size,
			 "%s: only its debug file was found, which lacks the program's layout",
			 dso->name);
		f.stale = true;
	}
	dso_files_close(found);
	*found = (struct dso_files){0};
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
	free(f->dwarf);
	f->dwarf = NULL;
}

int dso_files_symbols(struct symtab *t, struct dso_files *f, const struct dso_identity *dso,
		      char *why, size_t why_size)
{
	struct error err = {0};
	int ret = elf_symbols_read(t, f->have_syms ? &f->syms : &f->run,
				   f->have_run ? &f->run : &f->syms,
				   dso->module ? PLACE_MODULE : PLACE_OFFSET, &err);

	if (ret)
		snprintf(why, why_size, "%s: %s", dso->name, err.text);
	return ret;
}

void module_name(char *name, size_t size, const char *path)
{
	const char *base = path_base_name(path);

	if (*path == '[')
		snprintf(name, size, "%s", path);
	else
		snprintf(name, size, "[%.*s]", (int)strcspn(base, "."), base);
	for (char *at = name; *at; at++)
		if (*at == '-')
			*at = '_';
}
