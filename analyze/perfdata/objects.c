// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads look up millions of addresses. Most fall into known symbols and need no lock. The lock
 * protects what is new: an object to read, a symbol to add to the profile.
 */
#include "analyze/perfdata/objects.h"

#include "analyze/perfdata/fold.h"

#include <errno.h>
#include <stdio.h>

/* Threads hold the lock for less time than sleeping takes, so a waiter spins first. */
static void objects_init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

void objects_init(struct objects *ob, struct recording *r, struct kernel_symbols *kernel,
		  const struct perfdata_options *o)
{
	*ob = (struct objects){.r = r, .p = r->profile, .o = o, .kernel = kernel};
	ob->list = xcalloc(r->side.ndsos + 1, sizeof(*ob->list));
	for (size_t i = 0; i < r->side.ndsos; i++)
		ob->list[i].path = intern_get(r->side.strings, r->side.dsos[i].name);
	ob->programs = xcalloc(r->side.nksymbols + 1, sizeof(*ob->programs));
	if (o->inlines && kernel->vmlinux)
		ob->kernel_inlines = inlines_open(kernel->vmlinux, o->cache, &r->profile->unread);
	identities_init(&ob->identities, r);
	ob->p->kernel_base = r->side.ref_addr;
	objects_init_lock(&ob->lock);
	pthread_cond_init(&ob->ready, NULL);
}

/* Notes the files that were refused: their number, and the reason for the first of them. */
static void objects_note_refused(struct objects *ob)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < ob->r->side.ndsos; i++) {
		if (!ob->list[i].refused)
			continue;
		first = first ?: ob->list[i].refused;
		n++;
	}
	if (n && !ob->p->dso_note)
		ob->p->dso_note =
			n > 1 ? xasprintf("symbols of %zu files are not used: %s", n, first)
			      : xstrdup(first);
}

void objects_free(struct objects *ob)
{
	objects_note_refused(ob);
	array_free(e, ob->list, ob->r->side.ndsos, symtab_free(&e->table),
		   inlines_give_back(e->inlines, ob->o->cache), free(e->refused));
	free(ob->programs);
	identities_free(&ob->identities);
	inlines_give_back(ob->kernel_inlines, ob->o->cache);
	arena_free(&ob->inlined);
	pthread_mutex_destroy(&ob->lock);
	pthread_cond_destroy(&ob->ready);
}

/* --- symbols of the profile --- */

/*
 * Cuts names that are too long: a name of megabytes in a foreign file would fill every table. The
 * caller holds the lock.
 */
static uint32_t objects_intern_symbol(struct objects *ob, uint32_t dso, const char *name,
				      enum unresolved why)
{
	char cut[SYMBOL_NAME_MOST + 1];
	size_t n = strnlen(name, SYMBOL_NAME_MOST + 1);

	if (n <= SYMBOL_NAME_MOST)
		return profile_symbol(ob->p, dso, name, why);
	/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the name is longer. */
	for (n = SYMBOL_NAME_MOST - 3; n && (name[n] & 0xc0) == 0x80; n--)
		; /* a character of UTF-8 stays whole */
	snprintf(cut, sizeof(cut), "%.*s...", (int)n, name);
	return profile_symbol(ob->p, dso, cut, why);
}

static uint32_t objects_add_symbol(struct objects *ob, uint32_t dso, const char *name,
				   enum unresolved why)
{
	uint32_t symbol;

	pthread_mutex_lock(&ob->lock);
	symbol = objects_intern_symbol(ob, dso, name, why);
	pthread_mutex_unlock(&ob->lock);
	return symbol;
}

static uint32_t objects_add_dso(struct objects *ob, const char *name, enum dso_kind kind)
{
	uint32_t dso;

	pthread_mutex_lock(&ob->lock);
	dso = profile_dso(ob->p, name, NULL, kind);
	pthread_mutex_unlock(&ob->lock);
	return dso;
}

/* Returns whether the symbol has its number in the profile. Its context is then valid too. */
static bool symbol_is_known(const struct symtab_symbol *s)
{
	return __atomic_load_n(&s->id, __ATOMIC_ACQUIRE);
}

static void objects_make_known(struct objects *ob, struct symtab_symbol *s, uint32_t dso,
			       const char *name, enum context context)
{
	pthread_mutex_lock(&ob->lock);
	if (!s->id) { /* no other thread was faster */
		s->context = (uint8_t)context;
		__atomic_store_n(&s->id, 1 + objects_intern_symbol(ob, dso, name, RESOLVED),
				 __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&ob->lock);
}

static struct place symbol_place(const struct symtab_symbol *s)
{
	return (struct place){.symbol = s->id - 1, .context = s->context};
}

static struct place objects_unresolved(struct objects *ob, uint32_t dso, uint64_t addr,
				       enum unresolved why)
{
	char text[24], *at = text + sizeof(text);

	/* not printf: stripped programs have hundreds of thousands of addresses */
	*--at = '\0';
	do
		*--at = "0123456789abcdef"[addr & 15];
	while (addr >>= 4);
	*--at = 'x';
	*--at = '0';
	return (struct place){.symbol = objects_add_symbol(ob, dso, at, why),
			      .context = CTX_UNKNOWN};
}

static struct place objects_unmapped(struct objects *ob, uint64_t addr)
{
	return objects_unresolved(ob, objects_add_dso(ob, UNMAPPED, DSO_UNKNOWN), addr,
				  UNRESOLVED_NO_MAPPING);
}

/* --- the kernel --- */

/* Reports missing kernel symbols only if the recording has kernel addresses. */
static void objects_use_kernel(struct objects *ob)
{
	if (ob->kernel_used)
		return;
	pthread_mutex_lock(&ob->lock);
	if (ob->kernel->note && !ob->p->kernel_note)
		ob->p->kernel_note =
			xasprintf("kernel addresses are not resolved: %s", ob->kernel->note);
	ob->kernel_dso = profile_dso(ob->p, "[kernel.kallsyms]", NULL, DSO_KERNEL);
	ob->kernel_used = true;
	pthread_mutex_unlock(&ob->lock);
}

/*
 * A kallsyms symbol belongs to the kernel, to a module, or to a BPF program, which is an object
 * too.
 */
static uint32_t kallsym_dso(struct objects *ob, const struct symtab_symbol *s)
{
	const char *module = symtab_module(&ob->kernel->table, s);

	if (!module)
		return ob->kernel_dso;
	if (!strcmp(module, "[bpf]"))
		return objects_add_dso(ob, symtab_name(&ob->kernel->table, s), DSO_BPF);
	return objects_add_dso(ob, module, DSO_MODULE);
}

static uint32_t module_dso(struct objects *ob, const char *path)
{
	char name[128];

	module_name(name, sizeof(name), path);
	return profile_dso(ob->p, name, NULL, DSO_MODULE);
}

/*
 * Returns whether the kallsyms symbol existed in the recording. kallsyms may come from another
 * boot, so the module must be recorded at that place. Recorded BPF programs replace those in
 * kallsyms.
 */
static bool kallsym_was_loaded(const struct objects *ob, const struct symtab_symbol *s,
			       const struct side_map *module)
{
	const char *its = symtab_module(&ob->kernel->table, s);
	char name[128];

	if (!its)
		return true;
	if (!strcmp(its, "[bpf]"))
		return !ob->r->side.nksymbols;
	if (!module)
		return !ob->r->side.nmodules;
	module_name(name, sizeof(name), ob->list[module->dso].path);
	return !strcmp(name, its);
}

static int object_read_files(struct objects *ob, struct object *obj, const struct dso_identity *id,
			     char *why, size_t why_size)
{
	struct symbol_sources from = identity_sources(ob->r, ob->o, id);
	struct dso_files files;
	int ret;

	from.want_dwarf = ob->o->inlines && !id->module;
	ret = dso_files_find(&files, &from, id, why, why_size);
	if (ret)
		return ret;
	ret = dso_files_symbols(&obj->table, &files, id, why, why_size);
	if (from.want_dwarf)
		obj->inlines = inlines_of_files(&files, ob->o->cache, from.unread);
	dso_files_close(&files);
	return ret;
}

/* Other recordings of the capture have the same symbols of an object with a build-id. */
static int object_read_cached(struct objects *ob, struct object *obj, const struct dso_identity *id,
			      char *why, size_t why_size)
{
	autofree char *key = xasprintf("%d %s %s %s", id->module, id->build_id,
				       ob->o->host_dir ? ob->o->host_dir : "", id->name);
	int ret;

	if (symbol_cache_copy(ob->o->cache, &obj->table, key))
		return 0;
	ret = object_read_files(ob, obj, id, why, why_size);
	if (!ret && !__atomic_load_n(&ob->p->unread.why, __ATOMIC_ACQUIRE))
		symbol_cache_keep(ob->o->cache, &obj->table, key);
	return ret;
}

/* Releases the lock while it reads, so that other threads can use other objects. */
static void object_read_symbols(struct objects *ob, struct object *obj,
				const struct dso_identity *id)
{
	char why[512];
	int ret;

	pthread_mutex_unlock(&ob->lock);
	ret = (id->build_id && !ob->o->inlines ? object_read_cached
					       : object_read_files)(ob, obj, id, why, sizeof(why));
	obj->missing = ret == -ESTALE ? UNRESOLVED_MISMATCH
		       : obj->table.n ? UNRESOLVED_GAP
				      : UNRESOLVED_NO_SYMBOLS;
	if (ret == -ESTALE)
		obj->refused = xstrdup(why);
	pthread_mutex_lock(&ob->lock);
}

/* The caller holds the lock. */
static void object_set_up(struct objects *ob, struct object *obj, uint32_t index, bool module)
{
	struct dso_identity id;

	while (obj->state == OBJECT_READING)
		pthread_cond_wait(&ob->ready, &ob->lock);
	if (obj->state == OBJECT_READY)
		return;
	obj->state = OBJECT_READING;
	id = module ? identity_of_module(&ob->identities, index)
		    : identity_of(&ob->identities, index);
	obj->identity = identity_has_no_file(&id);
	obj->dso = module ? module_dso(ob, id.name)
			  : profile_dso(ob->p, id.name, id.build_id, DSO_USER);
	if (!obj->identity)
		object_read_symbols(ob, obj, &id);
	obj->state = OBJECT_READY;
	pthread_cond_broadcast(&ob->ready);
}

/* Returns an object, and sets it up for its first address. */
static struct object *objects_get(struct objects *ob, uint32_t index, bool module)
{
	struct object *obj = &ob->list[index];

	if (obj->state == OBJECT_READY)
		return obj;
	pthread_mutex_lock(&ob->lock);
	object_set_up(ob, obj, index, module);
	pthread_mutex_unlock(&ob->lock);
	return obj;
}

/* Looks into the module's file, because kallsyms does not have the address. */
static struct place module_find_place(struct objects *ob, uint64_t addr, const struct side_map *map)
{
	struct object *obj = objects_get(ob, map->dso, true);
	struct symtab_symbol *s = symtab_find(&obj->table, addr - map->start);
	const char *name;

	if (!s)
		return objects_unresolved(ob, obj->dso, addr - map->start, obj->missing);
	name = symtab_name(&obj->table, s);
	if (!symbol_is_known(s))
		objects_make_known(ob, s, obj->dso, name, context_of_function(name));
	return symbol_place(s);
}

static struct place kallsym_place(struct objects *ob, struct symtab_symbol *s)
{
	const char *name = symtab_name(&ob->kernel->table, s);

	if (!symbol_is_known(s))
		objects_make_known(ob, s, kallsym_dso(ob, s), name, context_of_function(name));
	return symbol_place(s);
}

static struct place kernel_find_place(struct objects *ob, uint64_t addr,
				      const struct side_map *module)
{
	struct symtab_symbol *s = kernel_symbols_find(ob->kernel, addr);
	const struct sideband *side = &ob->r->side;

	if (s && kallsym_was_loaded(ob, s, module))
		return kallsym_place(ob, s);
	if (module)
		return module_find_place(ob, addr, module);
	if (addr >= side->kernel_start && addr < side->kernel_end)
		return objects_unresolved(ob, ob->kernel_dso,
					  addr >= side->ref_addr ? addr - side->ref_addr : addr,
					  ob->kernel->missing);
	return objects_unmapped(ob, addr);
}

static struct place program_place(struct objects *ob, const struct side_ksymbol *program)
{
	struct symtab_symbol *s = &ob->programs[program - ob->r->side.ksymbols];
	const char *name;

	if (symbol_is_known(s))
		return symbol_place(s);
	pthread_mutex_lock(&ob->lock);
	name = intern_get(ob->r->side.strings, program->name);
	pthread_mutex_unlock(&ob->lock);
	objects_make_known(ob, s, objects_add_dso(ob, name, DSO_BPF), name,
			   context_of_function(name));
	return symbol_place(s);
}

/* --- inlined functions --- */

/*
 * Returns the inlined functions at `at` inside the symbol, or at the call before a return address.
 * Adds them to the profile.
 */
static const struct place_inlined *objects_find_inlined(struct objects *ob, uint32_t dso,
							struct inlines *inlines, uint64_t at,
							bool ret, const struct symtab_symbol *s)
{
	struct place_inlined *p = NULL;
	const struct inlined *in;

	at -= ret;
	if (!inlines || !s || at < s->start || at >= s->end)
		return NULL;
	pthread_mutex_lock(&ob->lock);
	in = inlines_at(inlines, at);
	if (in) {
		p = arena_alloc(&ob->inlined, sizeof(*p) + in->n * sizeof(p->symbols[0]));
		p->n = in->n;
		for (size_t i = 0; i < in->n; i++)
			p->symbols[i] = objects_intern_symbol(ob, dso, in->names[i], RESOLVED);
	}
	pthread_mutex_unlock(&ob->lock);
	return p;
}

struct place objects_find_kernel(struct objects *ob, uint64_t addr, bool ret,
				 const struct side_ksymbol *program, const struct side_map *module)
{
	struct place place;

	if (program)
		return program_place(ob, program);
	objects_use_kernel(ob);
	place = kernel_find_place(ob, addr, module);
	place.inlined = objects_find_inlined(
		ob, ob->kernel_dso, ob->kernel_inlines, addr + ob->kernel->delta, ret,
		ob->kernel_inlines ? kernel_symbols_find(ob->kernel, addr) : NULL);
	return place;
}

/* --- user space --- */

/* Memory without a file has code that a compiler made at run time. perf names it like this. */
static struct place anonymous_place(struct objects *ob, uint32_t pid, uint64_t addr)
{
	char name[40];

	snprintf(name, sizeof(name), "[JIT] tid %d", (int)pid);
	return objects_unresolved(ob, objects_add_dso(ob, name, DSO_USER), addr,
				  UNRESOLVED_GENERATED);
}

static struct place object_place(struct objects *ob, struct object *obj, struct symtab_symbol *s)
{
	autofree char *nice = NULL;

	if (symbol_is_known(s))
		return symbol_place(s);
	nice = symtab_demangled(&obj->table, s);
	objects_make_known(ob, s, obj->dso, nice ? nice : symtab_name(&obj->table, s), CTX_UNKNOWN);
	return symbol_place(s);
}

static struct place user_find_place(struct objects *ob, uint32_t pid, uint64_t addr,
				    const struct side_map *map)
{
	struct symtab_symbol *s;
	struct object *obj;

	if (!map && ob->o->addresses)
		return objects_unmapped(ob, addr);
	if (!map) /* a library without frame pointers leaves its data where callers are searched */
		return (struct place){
			.symbol = objects_add_symbol(ob, objects_add_dso(ob, UNMAPPED, DSO_UNKNOWN),
						     UNMAPPED, UNRESOLVED_NO_MAPPING)};
	obj = objects_get(ob, map->dso, false);
	if (obj->identity)
		return anonymous_place(ob, pid, addr);
	s = symtab_find(&obj->table, addr - map->start + map->pgoff);
	if (!s || identity_is_compat(obj->path, map->start))
		return objects_unresolved(ob, obj->dso, addr - map->start + map->pgoff,
					  obj->missing);
	return object_place(ob, obj, s);
}

struct place objects_find_user(struct objects *ob, uint32_t pid, uint64_t addr, bool ret,
			       const struct side_map *map)
{
	struct place place = user_find_place(ob, pid, addr, map);
	const struct object *obj = map ? &ob->list[map->dso] : NULL;

	if (obj && obj->inlines) {
		addr += map->pgoff - map->start;
		place.inlined = objects_find_inlined(ob, obj->dso, obj->inlines, addr, ret,
						     symtab_find(&obj->table, addr));
	}
	return place;
}

/* Returns the name of what the CPU did. Such a sample has a name and no address (exact.c). */
static struct place objects_find_label(struct objects *ob, uint32_t mode, uint64_t label)
{
	const char *name = mode == MODE_LABEL ? ob->o->exact->labels[label].name : INTERRUPTS_OFF;

	objects_use_kernel(ob);
	return (struct place){.symbol = objects_add_symbol(ob, ob->kernel_dso, name, RESOLVED)};
}

struct place objects_find_other(struct objects *ob, uint32_t mode, uint64_t addr)
{
	if (mode >= MODE_LABEL)
		return objects_find_label(ob, mode, addr);
	if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
		return objects_unresolved(ob, objects_add_dso(ob, "[guest]", DSO_GUEST), addr,
					  UNRESOLVED_GUEST);
	return objects_unmapped(ob, addr);
}
