// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel symbols come as the text of kallsyms, which does not say what kernel it is of. What does:
 * the build-id in the notes beside it, and the address of the relocation symbol, which the
 * recording holds too. Where neither proves that they belong together, no symbols are used.
 */
#include "analyze/perfdata/kernel.h"

#include "analyze/symbols/kallsyms.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A kallsyms and what vouches for it. */
struct candidate {
	const char *kallsyms, *notes; /* notes NULL: none */
	const char *whose;
	bool named; /* the user did */
};

static const char *recorded_build_id(const struct recording *r)
{
	size_t i;

	if (r->side.kernel_build_id != UINT32_MAX)
		return intern_get(r->side.strings, r->side.kernel_build_id);
	for (i = 0; i < r->nbuild_ids; i++)
		if (r->build_ids[i].kernel && (!strncmp(r->build_ids[i].name, "[kernel", 7) ||
					       strstr(r->build_ids[i].name, "vmlinux")))
			return r->build_ids[i].hex;
	return NULL;
}

static void set_note(struct kernel_symbols *k, char *text)
{
	free(k->note);
	k->note = text;
}

/* Kernel symbol addresses of the candidate less those of the recording. False: not comparable. */
static bool find_delta(const struct recording *r, const char *kallsyms, uint64_t *delta)
{
	uint64_t addr;

	if (!r->side.ref_name[0] || !r->side.ref_addr ||
	    !kallsyms_address(kallsyms, r->side.ref_name, &addr) || !addr)
		return false;
	*delta = addr - r->side.ref_addr;
	return true;
}

/* Do the symbols belong to the recorded kernel? If not, the note says why. */
static bool belongs(struct kernel_symbols *k, const struct recording *r, const struct candidate *c,
		    uint64_t delta, bool comparable)
{
	const char *recorded = recorded_build_id(r);
	char id[65] = "";
	bool have = c->notes && notes_build_id(c->notes, id);

	if (c->named)
		return true;
	if (recorded && have) {
		if (!strcmp(recorded, id))
			return true;
		set_note(k, xasprintf("kernel addresses are not resolved: recorded on the kernel "
				      "with build-id %s, %s has %s; give its kallsyms with "
				      "--kallsyms",
				      recorded, c->whose, id));
		return false;
	}
	if (comparable && !delta)
		return true;
	set_note(k,
		 xasprintf("kernel addresses are not resolved: nothing proves that the kernel "
			   "of %s is the recorded one (no build-id, and %s lies elsewhere); give "
			   "its kallsyms with --kallsyms",
			   c->whose, r->side.ref_name[0] ? r->side.ref_name : "_text"));
	return false;
}

static bool load(struct kernel_symbols *k, const struct recording *r, const struct candidate *c)
{
	struct error err = {0};
	uint64_t delta = 0;
	bool comparable = find_delta(r, c->kallsyms, &delta);

	if (!belongs(k, r, c, delta, comparable))
		return false;
	if (kallsyms_read(&k->table, c->kallsyms, &err)) {
		set_note(k, xasprintf("kernel addresses are not resolved: %s", err.text));
		symtab_free(&k->table);
		return false;
	}
	k->delta = delta;
	return true;
}

/* Without a build-id in the recording: the same host, release and place of the kernel. */
static bool recorded_here(const struct recording *r)
{
	struct utsname u;

	if (uname(&u))
		return false;
	return r->hostname && r->osrelease && r->arch && !strcmp(r->hostname, u.nodename) &&
	       !strcmp(r->osrelease, u.release) && !strcmp(r->arch, u.machine);
}

bool kernel_is_this(const struct recording *r)
{
	const char *recorded = recorded_build_id(r);
	uint64_t delta;
	char id[65];

	if (recorded)
		return notes_build_id("/sys/kernel/notes", id) && !strcmp(id, recorded);
	return recorded_here(r) && find_delta(r, "/proc/kallsyms", &delta) && !delta;
}

static bool try_this_host(struct kernel_symbols *k, const struct recording *r)
{
	struct candidate c = {
		.kallsyms = "/proc/kallsyms", .notes = "/sys/kernel/notes", .whose = "this host"};

	if (!recorded_build_id(r) && !recorded_here(r)) {
		set_note(k, xasprintf("kernel addresses are not resolved: the recording has no "
				      "kernel build-id and is not of this host; give its kallsyms "
				      "with --kallsyms"));
		return false;
	}
	return load(k, r, &c);
}

/* `perf record --kcore` and a capture keep kallsyms in a folder. */
static bool try_folder(struct kernel_symbols *k, const struct recording *r, const char *folder,
		       const char *whose)
{
	char *kallsyms = xasprintf("%s/kallsyms", folder), *notes = xasprintf("%s/notes", folder);
	struct candidate c = {.kallsyms = kallsyms, .notes = notes, .whose = whose};
	bool ok = path_exists(kallsyms) && load(k, r, &c);

	free(kallsyms);
	free(notes);
	return ok;
}

static bool try_kcore(struct kernel_symbols *k, const struct recording *r)
{
	char *folder;
	bool ok;

	if (!path_is_dir(r->path))
		return false;
	folder = xasprintf("%s/kcore_dir", r->path);
	ok = try_folder(k, r, folder, "its kcore_dir");
	free(folder);
	return ok;
}

void kernel_symbols_load(struct kernel_symbols *k, const struct recording *r,
			 const struct perfdata_options *o)
{
	struct candidate named = {.kallsyms = o->kallsyms, .whose = o->kallsyms, .named = true};

	*k = (struct kernel_symbols){0};
	if (o->kallsyms) {
		load(k, r, &named);
		return;
	}
	if (try_kcore(k, r) || (o->host_dir && try_folder(k, r, o->host_dir, "the capture")))
		return;
	if (o->use_this_host && try_this_host(k, r)) {
		set_note(k, NULL);
		return;
	}
	if (!k->note)
		set_note(k, xasprintf("kernel addresses are not resolved: no kallsyms of the "
				      "recorded host; give it with --kallsyms"));
}

void kernel_symbols_free(struct kernel_symbols *k)
{
	symtab_free(&k->table);
	free(k->note);
}

struct symtab_symbol *kernel_symbols_find(const struct kernel_symbols *k, uint64_t addr)
{
	struct symtab_symbol *s = symtab_find(&k->table, addr + k->delta);

	if (!k->delta)
		return s;
	return s && !s->module ? s : NULL;
}
