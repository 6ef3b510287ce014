// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/dso_names.h"

#include "lib/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum dso_naming { BY_BASE_NAME, BY_PATH, BY_BUILD_ID };

const char *dso_base_name(const char *name)
{
	const char *slash = *name == '/' ? strrchr(name, '/') : NULL;

	return slash && slash[1] ? slash + 1 : name;
}

static bool *with_samples(const struct profile *p)
{
	bool *used = xcalloc(p->ndsos + 1, sizeof(*used));
	size_t i;

	for (i = 0; i < p->nframes; i++)
		used[p->symbols[p->frames[i].symbol].dso] = true;
	return used;
}

/* Two of one text are named by more than it. */
static void dso_meet(struct dso_names *n, struct map *first, uint32_t text, uint32_t dso,
		     enum dso_naming more)
{
	uint64_t *at = map_at(first, text);

	if (!*at) {
		*at = dso + 1;
		return;
	}
	n->how[*at - 1] = n->how[*at - 1] > more ? n->how[*at - 1] : more;
	n->how[dso] = n->how[dso] > more ? n->how[dso] : more;
}

void dso_names_init(struct dso_names *n, const struct profile *p)
{
	bool *used = with_samples(p);
	struct map bases = {0}, paths = {0};
	const char *name;
	uint32_t i;

	*n = (struct dso_names){.p = p, .how = xcalloc(p->ndsos + 1, 1)};
	for (i = 0; i < p->ndsos; i++) {
		name = intern_get(&p->strings, p->dsos[i].name);
		if (!used[i] || *name != '/')
			continue;
		dso_meet(n, &bases, intern_str(&n->strings, dso_base_name(name)), i, BY_PATH);
		dso_meet(n, &paths, p->dsos[i].name, i, BY_BUILD_ID);
	}
	map_free(&bases);
	map_free(&paths);
	free(used);
}

const char *dso_name(struct dso_names *n, uint32_t dso)
{
	const struct profile_dso *d = &n->p->dsos[dso];
	const char *name = intern_get(&n->p->strings, d->name), *id;
	char *text;

	if (n->how[dso] == BY_BASE_NAME)
		return dso_base_name(name);
	if (n->how[dso] == BY_PATH || d->build_id == PROFILE_NONE)
		return name;
	text = xasprintf("%s (%.8s)", name, intern_get(&n->p->strings, d->build_id));
	id = intern_get(&n->strings, intern_str(&n->strings, text));
	free(text);
	return id;
}

void dso_names_free(struct dso_names *n)
{
	free(n->how);
	intern_free(&n->strings);
}
