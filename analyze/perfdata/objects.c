// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/objects.h"

#include "analyze/perfdata/context.h"
#include "analyze/perfdata/format.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_KNOWN_YET = 0xff };

void objects_init(struct objects *ob, struct recording *r, struct kernel_symbols *kernel,
		  const struct perfdata_options *o)
{
	*ob = (struct objects){
		.r = r, .p = r->profile, .o = o, .kernel = kernel, .module_dso = PROFILE_NONE};
	ob->list = xcalloc(r->side.ndsos + 1, sizeof(*ob->list));
	identities_init(&ob->identities, r);
	pthread_mutex_init(&ob->lock, NULL);
	pthread_cond_init(&ob->ready, NULL);
}

/* Why files were refused, in the order of the recording's objects. */
static void note_refused(struct objects *ob)
{
	struct str note = {0};
	size_t i;

	for (i = 0; i < ob->r->side.ndsos && note.len <= 2000; i++)
		if (ob->list[i].refused)
			str_printf(&note, "%s%s", note.len ? "; " : "", ob->list[i].refused);
	if (note.len && !ob->p->dso_note)
		ob->p->dso_note = str_take(&note);
	str_free(&note);
}

void objects_free(struct objects *ob)
{
	size_t i;

	note_refused(ob);
	for (i = 0; i < ob->r->side.ndsos; i++) {
		symtab_free(&ob->list[i].table);
		free(ob->list[i].refused);
	}
	free(ob->list);
	free(ob->contexts);
	identities_free(&ob->identities);
	pthread_mutex_destroy(&ob->lock);
	pthread_cond_destroy(&ob->ready);
}

static uint32_t address(struct objects *ob, uint32_t dso, uint64_t addr)
{
	char text[24], *at = text + sizeof(text);

	/* stripped programs have hundreds of thousands of them: not by printf */
	*--at = '\0';
	do
		*--at = "0123456789abcdef"[addr & 15];
	while (addr >>= 4);
	*--at = 'x';
	*--at = '0';
	return profile_symbol(ob->p, dso, at, true);
}

static uint32_t unknown(struct objects *ob, uint64_t addr)
{
	return address(ob, profile_dso(ob->p, "[unknown]", NULL, DSO_UNKNOWN), addr);
}

/* Only a recording with kernel addresses has to say that there are no names for them. */
static void use_kernel(struct objects *ob)
{
	if (ob->kernel_used)
		return;
	ob->kernel_used = true;
	if (ob->kernel->note && !ob->p->kernel_note)
		ob->p->kernel_note = xstrdup(ob->kernel->note);
	ob->kernel_dso = profile_dso(ob->p, "[kernel.kallsyms]", NULL, DSO_KERNEL);
}

/* Of a symbol in kallsyms: the kernel, a module, or a BPF program, which is its own object. */
static uint32_t dso_of_kallsym(struct objects *ob, const struct symtab_symbol *s)
{
	const char *module = symtab_module(&ob->kernel->table, s);

	if (!module)
		return ob->kernel_dso;
	if (!strcmp(module, "[bpf]"))
		return profile_dso(ob->p, symtab_name(&ob->kernel->table, s), NULL, DSO_BPF);
	if (ob->module_dso == PROFILE_NONE || ob->module != s->module) {
		ob->module = s->module;
		ob->module_dso = profile_dso(ob->p, module, NULL, DSO_MODULE);
	}
	return ob->module_dso;
}

/* "/lib/modules/.../net/veth.ko.xz" and "[veth]" are "[veth]". */
static uint32_t dso_of_module_map(struct objects *ob, const struct side_map *map)
{
	const char *path = intern_get(ob->r->side.strings, ob->r->side.dsos[map->dso].name);
	const char *base = strrchr(path, '/');
	char name[128], *at;

	if (*path == '[')
		return profile_dso(ob->p, path, NULL, DSO_MODULE);
	base = base ? base + 1 : path;
	snprintf(name, sizeof(name), "[%.*s]", (int)strcspn(base, "."), base);
	for (at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	return profile_dso(ob->p, name, NULL, DSO_MODULE);
}

static uint32_t find_kernel(struct objects *ob, uint64_t addr, const struct side_map *module)
{
	struct symtab_symbol *s = kernel_symbols_find(ob->kernel, addr);
	const struct sideband *side = &ob->r->side;

	if (s) {
		if (!s->id)
			s->id = 1 + profile_symbol(ob->p, dso_of_kallsym(ob, s),
						   symtab_name(&ob->kernel->table, s), false);
		return s->id - 1;
	}
	if (module)
		return address(ob, dso_of_module_map(ob, module), addr);
	if (addr >= side->kernel_start && addr < side->kernel_end)
		return address(ob, ob->kernel_dso, addr);
	return unknown(ob, addr);
}

static uint32_t program_symbol(struct objects *ob, const struct side_ksymbol *program)
{
	const char *name = intern_get(ob->r->side.strings, program->name);

	return profile_symbol(ob->p, profile_dso(ob->p, name, NULL, DSO_BPF), name, false);
}

static enum context context_of(struct objects *ob, uint32_t symbol)
{
	size_t old = ob->ncontexts;

	if (symbol >= old) {
		ob->ncontexts = ob->p->symbols_cap;
		ob->contexts = xrealloc(ob->contexts, ob->ncontexts);
		memset(ob->contexts + old, NOT_KNOWN_YET, ob->ncontexts - old);
	}
	if (ob->contexts[symbol] == NOT_KNOWN_YET)
		ob->contexts[symbol] =
			(uint8_t)context_of_function(profile_symbol_name(ob->p, symbol));
	return ob->contexts[symbol];
}

struct place objects_kernel(struct objects *ob, uint64_t addr, const struct side_ksymbol *program,
			    const struct side_map *module)
{
	struct place place;

	pthread_mutex_lock(&ob->lock);
	if (program) {
		place.symbol = program_symbol(ob, program);
	} else {
		use_kernel(ob);
		place.symbol = find_kernel(ob, addr, module);
	}
	place.context = context_of(ob, place.symbol);
	pthread_mutex_unlock(&ob->lock);
	return place;
}

/* The lock is not held meanwhile: other objects can be asked and read. */
static void read_symbols(struct objects *ob, struct object *obj, const struct dso_identity *id)
{
	struct symbol_sources from = identity_sources(ob->r, ob->o, id);
	char why[512];

	pthread_mutex_unlock(&ob->lock);
	if (dso_symbols_read(&obj->table, &from, id, why, sizeof(why)) == -ESTALE)
		obj->refused = xstrdup(why);
	pthread_mutex_lock(&ob->lock);
}

/* Sets up the object on its first address. */
static struct object *user_object(struct objects *ob, uint32_t index)
{
	struct object *obj = &ob->list[index];
	struct dso_identity id;

	while (obj->state == OBJECT_READING)
		pthread_cond_wait(&ob->ready, &ob->lock);
	if (obj->state == OBJECT_READY)
		return obj;
	obj->state = OBJECT_READING;
	id = identity_of(&ob->identities, index);
	obj->identity = identity_no_file(&id);
	obj->dso = profile_dso(ob->p, id.name, id.build_id, DSO_USER);
	if (!obj->identity)
		read_symbols(ob, obj, &id);
	obj->state = OBJECT_READY;
	pthread_cond_broadcast(&ob->ready);
	return obj;
}

/* Memory without a file that code runs in: of a JIT compiler. */
static uint32_t in_anonymous(struct objects *ob, uint32_t pid, uint64_t addr)
{
	char name[40];

	snprintf(name, sizeof(name), "[JIT] tid %d", (int)pid);
	return address(ob, profile_dso(ob->p, name, NULL, DSO_USER), addr);
}

static uint32_t find_user(struct objects *ob, uint32_t pid, uint64_t addr,
			  const struct side_map *map)
{
	struct symtab_symbol *s;
	struct object *obj;
	uint64_t at;

	if (!map)
		return unknown(ob, addr);
	obj = user_object(ob, map->dso);
	if (obj->identity)
		return in_anonymous(ob, pid, addr);
	at = addr - map->start + map->pgoff;
	s = symtab_find(&obj->table, at);
	if (!s)
		return address(ob, obj->dso, at);
	if (!s->id)
		s->id = 1 + profile_symbol(ob->p, obj->dso, symtab_name(&obj->table, s), false);
	return s->id - 1;
}

struct place objects_user(struct objects *ob, uint32_t pid, uint64_t addr,
			  const struct side_map *map)
{
	struct place place = {.context = CTX_UNKNOWN};

	pthread_mutex_lock(&ob->lock);
	place.symbol = find_user(ob, pid, addr, map);
	pthread_mutex_unlock(&ob->lock);
	return place;
}

struct place objects_other(struct objects *ob, uint32_t mode, uint64_t addr)
{
	struct place place = {.context = CTX_UNKNOWN};

	pthread_mutex_lock(&ob->lock);
	if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
		place.symbol = address(ob, profile_dso(ob->p, "[guest]", NULL, DSO_GUEST), addr);
	else
		place.symbol = unknown(ob, addr);
	pthread_mutex_unlock(&ob->lock);
	return place;
}
