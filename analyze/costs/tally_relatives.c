// SPDX-License-Identifier: GPL-2.0-only
/* The direct caller or callee of a function in each call chain. */
#include "analyze/costs/tally.h"

#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether each symbol is the function, or NULL if none is. */
static bool *tally_find_function(const struct profile *p, const char *function)
{
	bool *is = xcalloc(p->nsymbols + 1, sizeof(*is)), any = false;
	uint32_t i, glob;
	const char *name;

	for (glob = 0; glob < 2 && !any; glob++)
		for (i = 0; i < p->nsymbols; i++) {
			name = profile_symbol_name(p, i);
			is[i] = glob ? str_matches(function, name) : !strcmp(function, name);
			any |= is[i];
		}
	if (any)
		return is;
	free(is);
	return NULL;
}

/* Returns the symbol of a frame's samples, as tally_relatives. `above` is that of its parent. */
static uint32_t tally_caller(const struct profile *p, const bool *is, uint32_t frame,
			     uint32_t above)
{
	uint32_t parent = p->frames[frame].parent;

	if (above != PROFILE_NONE || !is[p->frames[frame].symbol])
		return above;
	return parent == PROFILE_NONE ? (uint32_t)p->nsymbols : p->frames[parent].symbol;
}

static uint32_t tally_callee(const struct profile *p, const bool *is, uint32_t frame,
			     uint32_t above)
{
	if (is[p->frames[frame].symbol])
		return (uint32_t)p->nsymbols;
	return above == p->nsymbols ? p->frames[frame].symbol : above;
}

uint32_t *tally_relatives(const struct tally_spec *spec, const struct profile *p)
{
	bool *is = spec->relation ? tally_find_function(p, spec->function) : NULL;
	uint32_t *relatives, i, above;

	if (!is)
		return NULL;
	relatives = xcalloc(p->nframes + 1, sizeof(*relatives));
	for (i = 0; i < p->nframes; i++) { /* parents precede their children */
		above = p->frames[i].parent;
		above = above == PROFILE_NONE ? PROFILE_NONE : relatives[above];
		relatives[i] = spec->relation == TALLY_CALLERS ? tally_caller(p, is, i, above)
							       : tally_callee(p, is, i, above);
	}
	free(is);
	return relatives;
}

enum context *tally_interrupts(const uint32_t *relatives, const struct profile *p)
{
	enum context *revealed = tally_symbol_contexts(p), own;
	enum context *inside = xcalloc(p->nframes + 1, sizeof(*inside));
	uint32_t i, above;

	for (i = 0; i < p->nframes; i++) {
		above = p->frames[i].parent;
		if (above == PROFILE_NONE || relatives[above] == PROFILE_NONE)
			continue;
		own = revealed[p->frames[i].symbol];
		inside[i] = own == CTX_SOFTIRQ || own == CTX_HARDIRQ ? own : inside[above];
	}
	free(revealed);
	return inside;
}

const char *tally_none_name(enum tally_relation relation)
{
	return relation == TALLY_CALLERS ? "[no caller]" : "[self]";
}

/* Returns how many characters two names begin with alike, after their first underscores. */
static size_t tally_name_likeness(const char *a, const char *b)
{
	size_t n = 0;

	a += strspn(a, "_");
	b += strspn(b, "_");
	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

int tally_no_function(const char *name, const struct profile *p, struct error *err)
{
	size_t best = strlen(name) / 2 + 1, n, shown = 0;
	struct str near = {0};
	uint32_t i, pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < p->nsymbols; i++) {
			n = tally_name_likeness(name, profile_symbol_name(p, i));
			if (!pass)
				best = n > best ? n : best;
			else if (n >= best && shown++ < 5)
				str_printf(&near, "%s%s", near.len ? ", " : "; similar names: ",
					   profile_symbol_name(p, i));
		}
	error_set(err, ENOENT, "no sample has a function '%s' in its call chain%s", name,
		  near.len ? near.buf : "; 'zcost report functions --all' lists the functions");
	str_free(&near);
	return -ENOENT;
}
