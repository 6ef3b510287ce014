// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of kallsyms does not name its kernel. Two things identify it: the build-id in the notes
 * beside it, and the address of the relocation symbol, which the recording has too. If neither
 * proves that both belong together, no symbols are used.
 */
#include "analyze/perfdata/objects.h"

#include "analyze/symbols/symtab.h"
#include "lib/file.h"

#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* A kallsyms file and what identifies it. */
struct kernel_candidate {
	const char *kallsyms, *notes; /* notes may be NULL */
	const char *whose;
	bool named; /* the user named it */
};

static const char *kernel_recorded_build_id(const struct recording *r)
{
	if (r->side.kernel_build_id != UINT32_MAX)
		return intern_get(r->side.strings, r->side.kernel_build_id);
	for (size_t i = 0; i < r->nbuild_ids; i++)
		if (r->build_ids[i].kernel && (!strncmp(r->build_ids[i].name, "[kernel", 7) ||
					       strstr(r->build_ids[i].name, "vmlinux")))
			return r->build_ids[i].hex;
	return NULL;
}

/* Sets the reason why the kernel has no symbols. Takes the text. */
static void kernel_explain(struct kernel_symbols *k, char *why)
{
	free(k->note);
	k->note = why;
}

/*
 * Computes the candidate's addresses minus the recorded ones. Returns false if they cannot be
 * compared.
 */
static bool kernel_find_delta(const struct recording *r, const char *kallsyms, uint64_t *delta)
{
	struct error err = {0};
	uint64_t addr = 0;
	bool found = r->side.ref_addr &&
		     kallsyms_address(kallsyms, r->side.ref_name, &addr, &err) && addr;

	unread_add(&r->profile->unread, &err);
	*delta = found ? addr - r->side.ref_addr : 0;
	return found;
}

static bool kernel_read_build_id(const struct recording *r, const char *notes, char id[65])
{
	struct error err = {0};
	bool found = notes_build_id(notes, id, &err);

	unread_add(&r->profile->unread, &err);
	return found;
}

/*
 * Returns whether the symbols belong to the recorded kernel. Otherwise the note explains why not.
 */
static bool kernel_candidate_belongs(struct kernel_symbols *k, const struct recording *r,
				     const struct kernel_candidate *c, uint64_t delta,
				     bool comparable)
{
	const char *recorded = kernel_recorded_build_id(r);
	char id[65] = "";
	bool have = c->notes && kernel_read_build_id(r, c->notes, id);

	if (c->named)
		return true;
	if (recorded && have) {
		if (!strcmp(recorded, id))
			return true;
		kernel_explain(
			k,
			xasprintf(
				"recorded on the kernel with build-id %s, %s has %s; give its kallsyms with --kallsyms",
				recorded, c->whose, id));
		k->mismatched = true;
		return false;
	}
	if (comparable && !delta)
		return true;
	kernel_explain(
		k,
		xasprintf(
			"nothing proves that the kernel of %s is the recorded one (no build-id, and %s lies elsewhere); give its kallsyms with --kallsyms",
			c->whose, r->side.ref_name[0] ? r->side.ref_name : "_text"));
	return false;
}

static bool kernel_load_kallsyms(struct kernel_symbols *k, const struct recording *r,
				 const struct kernel_candidate *c)
{
	struct error err = {0};
	uint64_t delta;
	bool comparable = kernel_find_delta(r, c->kallsyms, &delta);

	if (!kernel_candidate_belongs(k, r, c, delta, comparable))
		return false;
	if (symbol_cache_kallsyms(k->cache, &k->table, c->kallsyms, &err)) {
		unread_add(&r->profile->unread, &err);
		kernel_explain(k, xstrdup(err.text));
		symtab_free(&k->table);
		return false;
	}
	k->delta = delta;
	return true;
}

static bool kernel_build_id_differs(struct kernel_symbols *k, const struct recording *r,
				    const struct elf_file *f, const char *path)
{
	const char *recorded = kernel_recorded_build_id(r);

	if (!recorded || !strcmp(recorded, f->build_id))
		return false;
	kernel_explain(k, xasprintf("recorded on the kernel with build-id %s, %s has %s", recorded,
				    path, *f->build_id ? f->build_id : "none"));
	k->mismatched = true;
	return true;
}

/*
 * The symbols of an ELF kernel have linked addresses. The relocation symbol gives their distance.
 */
static bool kernel_read_vmlinux(struct kernel_symbols *k, const struct recording *r,
				struct elf_file *f, const char *path)
{
	struct error err = {0};
	uint64_t linked;

	if (elf_symbols_read(&k->table, f, f, PLACE_LINKED, &err)) {
		kernel_explain(k, xasprintf("%s: %s", path, err.text));
	} else if (!*r->side.ref_name || !r->side.ref_addr ||
		   !elf_symbol_address(f, r->side.ref_name, &linked)) {
		kernel_explain(k, xasprintf("%s or the recording lacks the address of %s", path,
					    *r->side.ref_name ? r->side.ref_name : "_text"));
	} else {
		k->delta = linked - r->side.ref_addr;
		return true;
	}
	symtab_free(&k->table);
	return false;
}

/* `named`: the user named it, which is enough if the recording has no build-id. */
static bool kernel_load_vmlinux(struct kernel_symbols *k, const struct recording *r,
				const char *path, bool named)
{
	struct error err = {0};
	struct elf_file f;
	bool ok;

	if (!named && !kernel_recorded_build_id(r))
		return false;
	if (elf_file_open(&f, path, &err)) {
		unread_add(&r->profile->unread, &err);
		kernel_explain(k, xstrdup(err.text));
		return false;
	}
	ok = !kernel_build_id_differs(k, r, &f, path) && kernel_read_vmlinux(k, r, &f, path);
	elf_file_close(&f);
	if (ok)
		k->vmlinux = xstrdup(path);
	return ok;
}

/* perf's build-id cache has the kernel or its kallsyms under the build-id. */
static bool kernel_try_cache(struct kernel_symbols *k, const struct recording *r, const char *dir)
{
	const char *id = kernel_recorded_build_id(r);
	struct kernel_candidate c = {.whose = dir, .named = true};
	autofree char *elf = NULL, *kallsyms = NULL;

	if (!id)
		return false;
	elf = xasprintf("%s/.build-id/%.2s/%s/elf", dir, id, id + 2);
	c.kallsyms = kallsyms = xasprintf("%s/[kernel.kallsyms]/%s/kallsyms", dir, id);
	return (path_exists(elf) && kernel_load_vmlinux(k, r, elf, false)) ||
	       (path_exists(kallsyms) && kernel_load_kallsyms(k, r, &c));
}

/*
 * perf record keeps a copy of kallsyms, which takes the kernel longer to print than zcost needs for
 * a small file. A copy of this boot has the right names of the kernel itself. Modules and BPF
 * programs may have come and gone since.
 */
static bool kernel_try_saved(struct kernel_symbols *k, const struct recording *r, const char *dir)
{
	const char *id = kernel_recorded_build_id(r) ?: "";
	autofree char *kallsyms = xasprintf("%s/[kernel.kallsyms]/%s/kallsyms", dir, id);
	struct kernel_candidate c = {.kallsyms = kallsyms, .whose = dir};
	struct timespec up;
	struct stat st;

	clock_gettime(CLOCK_BOOTTIME, &up);
	if (!*id || stat(kallsyms, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_mtime <= time(NULL) - up.tv_sec || !kernel_load_kallsyms(k, r, &c))
		return false;
	k->core_start = r->side.ref_addr;
	for (size_t i = 0; i < k->table.n && !(k->core_end && k->table.symbols[i].module); i++)
		if (k->table.symbols[i].start >= k->core_start)
			k->core_end = k->table.symbols[i].start;
	return true;
}

bool kernel_symbols_suffice(const struct kernel_symbols *k, uint64_t addr)
{
	return !k->core_end || addr - k->core_start < k->core_end - k->core_start;
}

/* Distributions put an ELF kernel at these places. It must have the recorded build-id. */
static bool kernel_try_symfs(struct kernel_symbols *k, const struct recording *r, const char *symfs)
{
	static const char *const places[][2] = {{"/usr/lib/debug/boot/vmlinux-", ""},
						{"/boot/vmlinux-", ""},
						{"/usr/lib/debug/lib/modules/", "/vmlinux"},
						{"/lib/modules/", "/build/vmlinux"}};

	for (size_t i = 0; r->osrelease && i < array_size(places); i++) {
		autofree char *path =
			xasprintf("%s%s%s%s", symfs, places[i][0], r->osrelease, places[i][1]);

		if (path_exists(path) && kernel_load_vmlinux(k, r, path, false))
			return true;
	}
	return false;
}

/* Without a recorded build-id: same host and same release. The caller compares addresses. */
static bool kernel_recorded_here(const struct recording *r)
{
	struct utsname u;

	return identity_is_this_host(r) && r->osrelease && !uname(&u) &&
	       !strcmp(r->osrelease, u.release);
}

bool kernel_is_this(const struct recording *r)
{
	const char *recorded = kernel_recorded_build_id(r);
	uint64_t delta;
	char id[65];

	if (recorded)
		return kernel_read_build_id(r, "/sys/kernel/notes", id) && !strcmp(id, recorded);
	return kernel_recorded_here(r) && kernel_find_delta(r, "/proc/kallsyms", &delta) && !delta;
}

static bool kernel_try_this_host(struct kernel_symbols *k, const struct recording *r)
{
	struct kernel_candidate c = {
		.kallsyms = "/proc/kallsyms", .notes = "/sys/kernel/notes", .whose = "this host"};

	if (!kernel_recorded_build_id(r) && !kernel_recorded_here(r)) {
		kernel_explain(
			k,
			xasprintf(
				"the recording has no kernel build-id, and another host made it; give its kallsyms with --kallsyms"));
		return false;
	}
	return kernel_load_kallsyms(k, r, &c);
}

/* `perf record --kcore` and a capture store kallsyms in a folder: "DIR/NAME", where DIR may be
 * NULL. */
static bool kernel_try_folder(struct kernel_symbols *k, const struct recording *r, const char *dir,
			      const char *name, const char *whose)
{
	autofree char *kallsyms = dir ? xasprintf("%s/%skallsyms", dir, name) : NULL;
	autofree char *notes = dir ? xasprintf("%s/%snotes", dir, name) : NULL;
	struct kernel_candidate c = {.kallsyms = kallsyms, .notes = notes, .whose = whose};

	return dir && path_exists(kallsyms) && kernel_load_kallsyms(k, r, &c);
}

static void kernel_try_all(struct kernel_symbols *k, const struct recording *r,
			   const struct perfdata_options *o, bool saved)
{
	struct kernel_candidate named = {
		.kallsyms = o->kallsyms, .whose = o->kallsyms, .named = true};
	char own[PATH_MAX]; /* perf record caches the kernels that ran here before */

	if (o->kallsyms) {
		kernel_load_kallsyms(k, r, &named);
		return;
	}
	if (o->vmlinux) {
		kernel_load_vmlinux(k, r, o->vmlinux, true);
		return;
	}
	snprintf(own, sizeof(own), "%s/.debug", getenv("HOME") ?: "");
	if (kernel_try_folder(k, r, r->path, "kcore_dir/", "its kcore_dir") ||
	    kernel_try_folder(k, r, o->run_dir, "", "the run") ||
	    kernel_try_folder(k, r, o->host_dir, "", "the capture") ||
	    (o->buildid_dir && kernel_try_cache(k, r, o->buildid_dir)) ||
	    (o->symfs && kernel_try_symfs(k, r, o->symfs)) ||
	    (o->use_this_host && ((saved && kernel_try_saved(k, r, own)) ||
				  kernel_try_this_host(k, r) || kernel_try_cache(k, r, own)))) {
		kernel_explain(k, NULL);
		return;
	}
	if (!k->note)
		kernel_explain(
			k, xasprintf("no kallsyms of the recorded host; give it with --kallsyms"));
}

void kernel_symbols_load(struct kernel_symbols *k, const struct recording *r,
			 const struct perfdata_options *o, bool saved)
{
	*k = (struct kernel_symbols){.cache = o->cache};
	kernel_try_all(k, r, o, saved);
	k->missing = k->table.n	     ? UNRESOLVED_GAP
		     : k->mismatched ? UNRESOLVED_MISMATCH
				     : UNRESOLVED_NO_SYMBOLS;
}

void kernel_symbols_free(struct kernel_symbols *k)
{
	symtab_free(&k->table);
	free(k->note);
	free(k->vmlinux);
}

struct symtab_symbol *kernel_symbols_find(const struct kernel_symbols *k, uint64_t addr)
{
	struct symtab_symbol *s = symtab_find(&k->table, addr + k->delta);

	if (!k->delta)
		return s;
	return s && !s->module ? s : NULL;
}
