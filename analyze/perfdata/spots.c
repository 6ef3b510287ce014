// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/resolve.h"

#include "analyze/symbols/dso.h"
#include "lib/file.h"

enum { SHARE = 1000 }; /* a function below this fraction of an event's weight is dropped */

static const struct spot no_spot = {.symbol = PROFILE_NONE, .object = SPOT_NOWHERE};

/* Checks that the table's symbol is the one that the address got. A recorded name may have won. */
static struct spot spot_in_table(const struct symtab_symbol *s, uint32_t symbol, uint32_t object,
				 uint64_t at)
{
	if (!s || __atomic_load_n(&s->id, __ATOMIC_RELAXED) != symbol + 1)
		return no_spot;
	return (struct spot){symbol, object, s->start, s->end, at};
}

static struct spot spot_in_kernel(const struct addresses *a, uint64_t addr, uint32_t symbol)
{
	const struct side_ksymbol *program = history_find_program(a->history, addr, a->version);
	const struct side_map *map = history_find(a->history, KERNEL_PID, addr, a->version);
	const struct objects *ob = a->objects;
	struct spot spot;

	if (program)
		return (struct spot){symbol, SPOT_NOWHERE, program->start, program->end, addr};
	spot = spot_in_table(kernel_symbols_find(ob->kernel, addr), symbol, SPOT_KERNEL,
			     addr + ob->kernel->delta);
	if (spot.symbol != PROFILE_NONE || !map)
		return spot;
	return spot_in_table(symtab_find(&ob->list[map->dso].table, addr - map->start), symbol,
			     SPOT_NOWHERE, addr - map->start);
}

static struct spot spot_in_user(const struct addresses *a, uint64_t addr, uint32_t symbol)
{
	const struct side_map *map = history_find(a->history, a->pid, addr, a->version);
	uint64_t at;

	if (!map)
		return no_spot;
	at = addr - map->start + map->pgoff;
	return spot_in_table(symtab_find(&a->objects->list[map->dso].table, at), symbol, map->dso,
			     at);
}

struct spot spot_find(const struct addresses *a, uint32_t mode, uint64_t addr, uint32_t symbol)
{
	if (mode == PERF_RECORD_MISC_KERNEL)
		return spot_in_kernel(a, addr, symbol);
	return mode == PERF_RECORD_MISC_USER ? spot_in_user(a, addr, symbol) : no_spot;
}

/* --- code and lines --- */

enum { CODE_MAX = 1 << 18 }; /* a larger function is a symbol without an end */

/* A function with spots, and its place. */
struct function_place {
	uint32_t symbol, object;
	uint64_t start, end;
};

struct function_places {
	struct function_place *list; /* sorted by object */
	size_t n;
};

static int function_place_compare(const void *a, const void *b)
{
	const struct function_place *l = a, *r = b;

	return ascending(l->object, r->object) ?: ascending(l->symbol, r->symbol);
}

/* Returns the functions that have spots, each once. */
static struct function_places function_places_find(const struct profile *p,
						   const struct spot *spots, size_t n)
{
	struct function_places places = {.list = xcalloc(p->nspots + 1, sizeof(*places.list))};
	autofree bool *wanted = xcalloc(p->nsymbols + 1, sizeof(*wanted));

	for (size_t i = 0; i < p->nspots; i++)
		wanted[p->spots[i].symbol] = true;
	for (size_t i = 0; i < n; i++) {
		const struct spot *s = &spots[i];

		if (s->symbol == PROFILE_NONE || !wanted[s->symbol])
			continue;
		wanted[s->symbol] = false;
		places.list[places.n++] =
			(struct function_place){s->symbol, s->object, s->start, s->end};
	}
	array_sort(places.list, places.n, function_place_compare);
	return places;
}

static void spots_add_code(struct profile *p, const struct function_place *f, uint8_t *bytes)
{
	if (!bytes)
		return;
	array_add(p->codes, p->ncodes, p->codes_cap,
		  (struct profile_code){.symbol = f->symbol,
					.at = f->start,
					.bytes = bytes,
					.size = (size_t)(f->end - f->start)});
}

static void spots_add_lines(struct profile *p, const struct function_place *f, struct inlines *in)
{
	const char *line;

	for (size_t i = 0; in && i < p->nspots; i++) {
		if (p->spots[i].symbol != f->symbol)
			continue;
		line = inlines_line_at(in, f->start + p->spots[i].offset);
		if (line)
			p->spots[i].line = intern_str(&p->strings, line);
	}
}

/* --- the kernel --- */

static uint8_t *kernel_read_file(const struct objects *ob, const char *path, uint64_t addr,
				 size_t size)
{
	struct error err = {0};
	uint8_t *bytes = code_at_address(path, addr, size, &err);

	unread_add(&ob->p->unread, &err);
	return bytes;
}

/* Copies of kernel memory have the recorded addresses. */
static uint8_t *kernel_read_memory(const struct objects *ob, uint64_t addr, size_t size)
{
	const struct perfdata_options *o = ob->o;
	autofree char *symbols = xasprintf("%s/kallsyms", o->run_dir ? o->run_dir : "");
	const bool own = o->run_dir && path_exists(symbols);
	char *paths[] = {
		path_is_dir(ob->r->path) ? xasprintf("%s/kcore_dir/kcore", ob->r->path) : NULL,
		/* It is of the first run, whose modules may lie elsewhere. */
		o->host_dir && !own ? xasprintf("%s/kcore", o->host_dir) : NULL,
		o->use_this_host && kernel_is_this(ob->r) ? xstrdup("/proc/kcore") : NULL,
	};
	uint8_t *bytes = NULL;

	for (size_t i = 0; i < array_size(paths); i++) {
		if (paths[i] && !bytes)
			bytes = kernel_read_file(ob, paths[i], addr, size);
		free(paths[i]);
	}
	return bytes;
}

static uint8_t *kernel_read_code(const struct objects *ob, const struct function_place *f)
{
	size_t size = (size_t)(f->end - f->start);

	if (ob->kernel->vmlinux)
		return kernel_read_file(ob, ob->kernel->vmlinux, f->start, size);
	return kernel_read_memory(ob, f->start - ob->kernel->delta, size);
}

/* --- functions --- */

/* Adds code and lines of functions in one file. Without `code`, the kernel has the code. */
static void spots_explain(struct objects *ob, const struct function_place *f, size_t n,
			  struct inlines *in, const struct elf_file *code)
{
	for (size_t i = 0; i < n; i++, f++) {
		size_t size = (size_t)(f->end - f->start);

		if (f->end > f->start && size <= CODE_MAX)
			spots_add_code(ob->p, f,
				       code ? code_at_offset(code, f->start, size)
				       : f->object == SPOT_KERNEL ? kernel_read_code(ob, f)
								  : NULL);
		spots_add_lines(ob->p, f, in);
	}
	inlines_give_back(in, ob->o->cache);
}

static void spots_explain_file(struct objects *ob, const struct function_place *f, size_t n)
{
	struct dso_identity id = identity_of(&ob->identities, f->object);
	struct symbol_sources from = identity_sources(ob->r, ob->o, &id);
	struct dso_files files;
	char why[512];

	from.want_dwarf = true;
	if (identity_has_no_file(&id) || dso_files_find(&files, &from, &id, why, sizeof(why)))
		return;
	spots_explain(ob, f, n, inlines_of_files(&files, ob->o->cache, from.unread),
		      files.have_run && files.run.code ? &files.run : NULL);
	dso_files_close(&files);
}

static void spots_add_codes(struct objects *ob, const struct spot *spots, size_t n)
{
	struct function_places places = function_places_find(ob->p, spots, n);
	size_t to;

	for (size_t from = 0; from < places.n; from = to) {
		const struct function_place *f = &places.list[from];

		for (to = from + 1; to < places.n && places.list[to].object == f->object; to++)
			;
		if (f->object == SPOT_KERNEL)
			spots_explain(ob, f, to - from,
				      ob->kernel->vmlinux
					      ? inlines_open(ob->kernel->vmlinux, ob->o->cache,
							     &ob->p->unread)
					      : NULL,
				      NULL);
		else if (f->object != SPOT_NOWHERE)
			spots_explain_file(ob, f, to - from);
	}
	free(places.list);
}

/* --- adding up --- */

static int spot_compare(const void *a, const void *b)
{
	const struct profile_spot *l = a, *r = b;

	return ascending(l->event, r->event)
		       ?: ascending(l->symbol, r->symbol) ?: ascending(l->offset, r->offset);
}

static void spots_add_fold(struct profile *p, const struct fold *f, const struct spot *spots)
{
	for (size_t i = 0; i < f->costs.n; i++) {
		const struct fold_cost *c = &f->costs.list[i];
		const struct spot *s = &spots[c->stack];

		if (s->symbol == PROFILE_NONE)
			continue;
		array_add(p->spots, p->nspots, p->spots_cap,
			  (struct profile_spot){.event = c->event,
						.symbol = s->symbol,
						.line = PROFILE_NONE,
						.offset = s->at - s->start,
						.samples = c->samples,
						.weight = c->weight});
	}
}

static void spots_sum(struct profile *p)
{
	size_t n = 0;

	array_sort(p->spots, p->nspots, spot_compare);
	for (size_t i = 0; i < p->nspots; i++) {
		if (n && !spot_compare(&p->spots[n - 1], &p->spots[i])) {
			p->spots[n - 1].samples += p->spots[i].samples;
			p->spots[n - 1].weight += p->spots[i].weight;
		} else {
			p->spots[n++] = p->spots[i];
		}
	}
	p->nspots = n;
}

/* Returns the weight of an event, by the recording's number. */
static uint64_t folds_event_weight(const struct folds *f, uint32_t event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->n; i++)
		sum += f->list[i].events[event].weight;
	return sum;
}

/*
 * Keeps the spots of one function, rows [from, to), if it costs enough. Returns the new number of
 * rows.
 */
static size_t spots_keep_function(struct profile *p, const struct folds *f, size_t from, size_t to,
				  size_t n)
{
	uint64_t sum = 0;

	for (size_t i = from; i < to; i++)
		sum += p->spots[i].weight;
	if (sum < folds_event_weight(f, p->spots[from].event) / SHARE)
		return n;
	memmove(&p->spots[n], &p->spots[from], (to - from) * sizeof(*p->spots));
	return n + to - from;
}

static void spots_keep_costly(struct profile *p, const struct folds *f)
{
	size_t to, n = 0;

	for (size_t from = 0; from < p->nspots; from = to) {
		for (to = from + 1; to < p->nspots; to++)
			if (p->spots[to].symbol != p->spots[from].symbol ||
			    p->spots[to].event != p->spots[from].event)
				break;
		n = spots_keep_function(p, f, from, to, n);
	}
	p->nspots = n;
}

void spots_add(struct objects *ob, const struct folds *f, const struct spot *spots)
{
	struct profile *p = ob->p;
	const struct spot *at = spots;

	for (size_t i = 0; i < f->n; at += f->list[i++].nstacks)
		spots_add_fold(p, &f->list[i], at);
	spots_sum(p);
	spots_keep_costly(p, f);
	if (ob->r->arch)
		p->arch = intern_str(&p->strings, ob->r->arch);
	spots_add_codes(ob, spots, (size_t)(at - spots));
}

void spots_number_symbols(struct profile *p, const uint32_t *ids)
{
	for (size_t i = 0; i < p->nspots; i++)
		p->spots[i].symbol = ids[p->spots[i].symbol];
	for (size_t i = 0; i < p->ncodes; i++)
		p->codes[i].symbol = ids[p->codes[i].symbol];
}

void spots_number_events(const struct recording *r)
{
	struct profile *p = r->profile;

	for (size_t i = 0; i < p->nspots; i++) {
		const struct event *e = &r->events.list[p->spots[i].event];

		p->spots[i].event = profile_event(p, e->name, false);
	}
	array_sort(p->spots, p->nspots, spot_compare);
}
