// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wall time of the workload's threads as a profile, of the event "wall". Its weights are the
 * exact times of waits.tsv. Times on a CPU have no call chain: their function is a label,
 * "[syscall]". The stacks of waits_stacks.tsv divide the time of the waits that they were taken
 * from. What ended the wait is the function at their tip.
 */
#include "analyze/probes/waits/waits.h"

#include "analyze/symbols/dso.h"

/* A run has as many files at most (DSO_RUN_FILES). */
enum { WAIT_FILES = 4096 };

struct wait_stacks {
	const struct ingest *in;
	struct tsv t, paths;
	struct symtab kernel;
	struct intern files; /* the build-ids of the programs' files */
	struct wait_file {
		struct symtab table;
		uint32_t dso;
	} * file;
	size_t nfiles, files_cap;
	struct intern keys;
	struct wait_stack {
		uint32_t key, next; /* next: the next row with this key, + 1 */
		uint64_t samples, ns;
		uint32_t frame;
	} * row;
	struct wait_key {
		uint32_t first; /* a row + 1 */
		double ns;
	} * key;
};

static enum context wait_context(const char *state)
{
	autofree char *name = xstrdup(state);

	if (!strcmp(state, "waiting"))
		return CTX_RUN_QUEUE;
	str_replace(name, '_', ' ');
	if (context_of_name(name) == CTX_UNKNOWN)
		name[strcspn(name, " ")] = '\0'; /* "softirq in user" */
	return context_of_name(name);
}

/* Returns what the rows of a wait and its stacks have in common. The caller frees it. */
static char *wait_key_text(const struct tsv *t, size_t row)
{
	return xasprintf("%s %s %s %s %s", tsv_text(t, row, "tid"), tsv_text(t, row, "call"),
			 tsv_text(t, row, "kind"), tsv_text(t, row, "from"),
			 tsv_text(t, row, "by"));
}

static uint32_t wait_symbol(struct profile *p, const char *dso, const char *name,
			    enum unresolved unresolved)
{
	return profile_symbol(p, profile_dso(p, dso, NULL, *dso == '[' ? DSO_KERNEL : DSO_UNKNOWN),
			      name, unresolved);
}

#define KERNEL "[kernel.kallsyms]"

/* Adds the function that returns to the address. Without kallsyms it has no name. */
static uint32_t wait_add_address(struct wait_stacks *s, struct profile *p, uint32_t parent,
				 char *text)
{
	uint64_t address = strtoull(text, NULL, 16) - 1;
	const struct symtab_symbol *found = symtab_find(&s->kernel, address);
	autofree char *name = found ? NULL : xasprintf("0x%llx", (unsigned long long)address);
	const char *module = found ? symtab_module(&s->kernel, found) : NULL;

	return profile_frame(p, parent,
			     wait_symbol(p, module ?: KERNEL,
					 found ? symtab_name(&s->kernel, found) : name,
					 found ? RESOLVED : UNRESOLVED_NO_SYMBOLS));
}

/* --- the frames of programs --- */

/*
 * Returns the path of the file with the build-id, or "dso/93ac61ec5a8e". The caller frees it. The
 * kernel fills a short build-id with zeros. Sets *id to that of the file.
 */
static char *wait_file_path(const struct wait_stacks *s, const char **id)
{
	const char *known;
	size_t len;

	for (size_t i = 0; i < s->paths.rows && i < WAIT_FILES; i++) {
		known = tsv_text(&s->paths, i, "build_id");
		len = strlen(known);
		if (len && !strncmp(*id, known, len) && !(*id)[len + strspn(*id + len, "0")]) {
			*id = known;
			return xstrdup(tsv_text(&s->paths, i, "path"));
		}
	}
	return xasprintf("dso/%.12s", *id);
}

static void wait_file_read(const struct wait_stacks *s, struct profile *p, struct wait_file *f,
			   const char *id)
{
	const struct symbol_sources from = {.host_dir = s->in->host_dir, .unread = &p->unread};
	autofree char *name = wait_file_path(s, &id);
	autofree char *key = xasprintf("waits %s %s", from.host_dir ?: "", id);
	const struct dso_identity dso = {.name = name, .build_id = id};
	struct dso_files files;
	char why[512];

	f->dso = profile_dso(p, name, id, DSO_USER);
	if (symbol_cache_copy(s->in->how.symbols, &f->table, key) ||
	    dso_files_find(&files, &from, &dso, why, sizeof(why)))
		return;
	if (!dso_files_symbols(&f->table, &files, &dso, why, sizeof(why)))
		symbol_cache_keep(s->in->how.symbols, &f->table, key);
	dso_files_close(&files);
}

/* Returns the file with the build-id, or NULL for a text that is none. */
static struct wait_file *wait_file_of(struct wait_stacks *s, struct profile *p, const char *id)
{
	uint32_t at;

	if (!*id || id[strspn(id, "0123456789abcdef")] || s->nfiles == WAIT_FILES)
		return NULL;
	at = intern_str(&s->files, id);
	if (at == s->nfiles) {
		array_add(s->file, s->nfiles, s->files_cap, (struct wait_file){0});
		wait_file_read(s, p, &s->file[at], id);
	}
	return &s->file[at];
}

/* Adds frames in no file, as of code made at run time, as one. */
static uint32_t wait_add_unknown(struct profile *p, uint32_t parent)
{
	uint32_t symbol = profile_symbol(p, profile_dso(p, UNMAPPED, NULL, DSO_UNKNOWN), UNMAPPED,
					 UNRESOLVED_NO_MAPPING);

	if (parent != PROFILE_NONE && p->frames[parent].symbol == symbol)
		return parent;
	return profile_frame(p, parent, symbol);
}

/* Adds the function that returns to the offset in a file, "93ac61ec...+1f2a0". */
static uint32_t wait_add_offset(struct wait_stacks *s, struct profile *p, uint32_t parent,
				char *text)
{
	const char *id = strsep(&text, "+");
	struct wait_file *f = wait_file_of(s, p, id);
	uint64_t offset = text ? strtoull(text, NULL, 16) - 1 : 0;
	const struct symtab_symbol *found = f ? symtab_find(&f->table, offset) : NULL;
	autofree char *name = found ? symtab_demangled(&f->table, found)
				    : xasprintf("0x%llx", (unsigned long long)offset);

	if (!f)
		return wait_add_unknown(p, parent);
	return profile_frame(p, parent,
			     profile_symbol(p, f->dso, name ?: symtab_name(&f->table, found),
					    found	 ? RESOLVED
					    : f->table.n ? UNRESOLVED_GAP
							 : UNRESOLVED_NO_SYMBOLS));
}

typedef uint32_t wait_add_frame(struct wait_stacks *s, struct profile *p, uint32_t parent,
				char *text);

/* Adds the frames, which begin with the innermost one. Returns the innermost frame. */
static uint32_t wait_add_stack(struct wait_stacks *s, struct profile *p, uint32_t frame,
			       const char *text, wait_add_frame *add)
{
	autofree char *copy = xstrdup(text);
	char *end = copy + strlen(copy), *at;

	for (; end > copy; end = at > copy ? at - 1 : copy) {
		for (at = end; at > copy && at[-1] != ' '; at--)
			;
		*end = '\0';
		frame = add(s, p, frame, at);
	}
	return frame;
}

static void wait_stacks_read(struct wait_stacks *s, struct profile *p)
{
	s->row = xcalloc(s->t.rows + 1, sizeof(*s->row));
	s->key = xcalloc(s->t.rows + 1, sizeof(*s->key));
	for (size_t i = 0; i < s->t.rows; i++) {
		struct wait_stack *row = &s->row[i];
		autofree char *key = wait_key_text(&s->t, i);

		if (!parse_u64(tsv_text(&s->t, i, "samples"), &row->samples) ||
		    !wait_parse_ns(tsv_text(&s->t, i, "ns"), &row->ns) || !row->ns)
			continue;
		row->key = intern_str(&s->keys, key);
		row->frame = wait_add_stack(s, p, PROFILE_NONE, tsv_text(&s->t, i, "program"),
					    wait_add_offset);
		row->frame = wait_add_stack(s, p, row->frame, tsv_text(&s->t, i, "stack"),
					    wait_add_address);
		row->next = s->key[row->key].first;
		s->key[row->key].first = (uint32_t)i + 1;
		s->key[row->key].ns += (double)row->ns;
	}
}

/* Returns the function at the tip of a wait, below `parent`. */
static uint32_t wait_add_tip(const struct tsv *t, size_t row, struct profile *p, uint32_t parent)
{
	const char *from = tsv_text(t, row, "from"), *by = tsv_text(t, row, "by");
	bool blocked = !strcmp(tsv_text(t, row, "state"), "blocked");
	bool preempted = !strcmp(tsv_text(t, row, "kind"), "R");
	autofree char *waker = xasprintf("%s %s%s%.*s", blocked ? "woken by" : "preempted by", from,
					 *by ? " " : "", (int)strcspn(by, "/"), by);
	const char *name = blocked && !*from		     ? "not woken in the window"
			   : blocked || (preempted && *from) ? waker
							     : "waiting for a CPU";

	return profile_frame(p, parent, wait_symbol(p, "[waits]", name, RESOLVED));
}

static void wait_add_cost(struct profile *p, struct profile_cost *c, double ns, uint64_t samples)
{
	c->weight = (uint64_t)(ns + 0.5);
	c->samples = samples;
	if (!c->weight)
		return;
	profile_add(p, c);
	p->events[c->event].weight += c->weight;
	p->events[c->event].samples += samples;
}

/* Adds a time on a CPU: a label such as "[softirq NET_RX]". */
static void wait_add_label(const struct tsv *t, size_t row, struct profile *p,
			   struct profile_cost *c, double ns)
{
	const char *state = tsv_text(t, row, "state"), *vector = tsv_text(t, row, "vector");
	autofree char *label = xasprintf("[%.*s%s%s]", (int)strcspn(state, "_"), state,
					 *vector ? " " : "", vector);

	c->frame = profile_frame(p, PROFILE_NONE, wait_symbol(p, KERNEL, label, RESOLVED));
	wait_add_cost(p, c, ns, 1);
}

/* Adds a wait, divided among its stacks. Without a stack, its caller is the system call. */
static void wait_add_wait(const struct wait_stacks *s, const struct tsv *t, size_t row,
			  struct profile *p, struct profile_cost *c, double ns)
{
	autofree char *key = wait_key_text(t, row), *call = NULL;
	uint32_t known = intern_find(&s->keys, key, strlen(key)), at;

	at = known == INTERN_NONE ? 0 : s->key[known].first;
	for (uint32_t i = at; i; i = s->row[i - 1].next) {
		c->frame = wait_add_tip(t, row, p, s->row[i - 1].frame);
		wait_add_cost(p, c, ns * (double)s->row[i - 1].ns / s->key[known].ns,
			      s->row[i - 1].samples);
	}
	if (at)
		return;
	call = xasprintf("[%s]", *tsv_text(t, row, "call") ? tsv_text(t, row, "call") : "user");
	c->frame = profile_frame(p, PROFILE_NONE, wait_symbol(p, KERNEL, call, RESOLVED));
	c->frame = wait_add_tip(t, row, p, c->frame);
	wait_add_cost(p, c, ns, 1);
}

static void wait_add_row(const struct wait_stacks *s, const struct tsv *t, size_t row,
			 struct profile *p, uint32_t event)
{
	uint64_t pid, tid, ns;
	struct profile_cost c = {
		.event = event,
		.cpu = PROFILE_NONE,
		.comm = intern_str(&p->strings, tsv_text(t, row, "comm")),
		.context = wait_context(tsv_text(t, row, "state")),
	};

	if (!parse_u64(tsv_text(t, row, "pid"), &pid) ||
	    !parse_u64(tsv_text(t, row, "tid"), &tid) ||
	    !wait_parse_ns(tsv_text(t, row, "ns"), &ns) || c.context == CTX_UNKNOWN)
		return;
	c.pid = (uint32_t)pid;
	c.tid = (uint32_t)tid;
	profile_add_own(p, c.pid);
	if (c.context == CTX_BLOCKED || c.context == CTX_RUN_QUEUE)
		wait_add_wait(s, t, row, p, &c, (double)ns);
	else
		wait_add_label(t, row, p, &c, (double)ns);
}

int waits_add_profile(struct ingest *in, const struct tsv *t, const char *stacks, struct error *err)
{
	autofree char *kallsyms = ingest_kallsyms(in);
	autofree char *paths = xasprintf("%s/waits_files.tsv", in->dir);
	struct wait_stacks s = {.in = in};
	struct error unnamed = {0}, none = {0};
	uint32_t event;

	if (!in->profile) {
		in->profile = xcalloc(1, sizeof(*in->profile));
		profile_init(in->profile);
	}
	tsv_read(&s.t, stacks, '\t', &none);
	if (!error_of_machine(none.code))
		tsv_read(&s.paths, paths, '\t', &none);
	if (kallsyms && s.t.rows)
		symbol_cache_kallsyms(in->how.symbols, &s.kernel, kallsyms, &unnamed);
	wait_stacks_read(&s, in->profile);
	event = profile_event(in->profile, WALL_EVENT, true);
	for (size_t row = 0; row < t->rows; row++)
		wait_add_row(&s, t, row, in->profile, event);
	in->profile->events[event].weight2 = 1; /* exact times have no sampling error */
	profile_sort_own(in->profile);
	array_free(e, s.file, s.nfiles, symtab_free(&e->table));
	intern_free(&s.files);
	symtab_free(&s.kernel);
	intern_free(&s.keys);
	free(s.row);
	free(s.key);
	tsv_free(&s.t);
	tsv_free(&s.paths);
	if (error_of_machine(none.code))
		return error_set(err, none.code, "%s", none.text);
	return error_of_machine(unnamed.code) ? error_set(err, unnamed.code, "%s", unnamed.text)
					      : 0;
}
