// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wall time of the workload's threads as a profile, of the event "wall". Its weights are the
 * exact times of waits.tsv. Times on a CPU have no call chain: their function is a label,
 * "[syscall]". The stacks of waits_stacks.tsv divide the time of the waits that they were taken
 * from. What ended the wait is the function at their tip.
 */
#include "analyze/probes/waits/waits.h"

#include "analyze/symbols/symtab.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

struct wait_stacks {
	struct tsv t;
	struct symtab kernel;
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
static uint32_t wait_add_address(const struct wait_stacks *s, struct profile *p, uint32_t parent,
				 const char *text)
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

/* Adds the addresses, which begin with the innermost one. Returns the innermost frame. */
static uint32_t wait_add_stack(const struct wait_stacks *s, struct profile *p, const char *text)
{
	autofree char *copy = xstrdup(text);
	uint32_t frame = PROFILE_NONE;
	char *space;

	while ((space = strrchr(copy, ' '))) {
		frame = wait_add_address(s, p, frame, space + 1);
		*space = '\0';
	}
	return *copy ? wait_add_address(s, p, frame, copy) : frame;
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
		row->frame = wait_add_stack(s, p, tsv_text(&s->t, i, "stack"));
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
	struct wait_stacks s = {0};
	struct error unnamed = {0}, none = {0};
	uint32_t event;

	if (!in->profile) {
		in->profile = xcalloc(1, sizeof(*in->profile));
		profile_init(in->profile);
	}
	tsv_read(&s.t, stacks, '\t', &none);
	if (kallsyms && s.t.rows)
		symbol_cache_kallsyms(in->how.symbols, &s.kernel, kallsyms, &unnamed);
	wait_stacks_read(&s, in->profile);
	event = profile_event(in->profile, WALL_EVENT, true);
	for (size_t row = 0; row < t->rows; row++)
		wait_add_row(&s, t, row, in->profile, event);
	in->profile->events[event].weight2 = 1; /* exact times have no sampling error */
	profile_sort_own(in->profile);
	symtab_free(&s.kernel);
	intern_free(&s.keys);
	free(s.row);
	free(s.key);
	tsv_free(&s.t);
	if (error_of_machine(none.code))
		return error_set(err, none.code, "%s", none.text);
	return error_of_machine(unnamed.code) ? error_set(err, unnamed.code, "%s", unnamed.text)
					      : 0;
}
