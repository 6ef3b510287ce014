// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/nic_names.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

void nic_names_put(struct nic_names *n, const char *netns, const char *index, const char *name)
{
	char *key = xasprintf("%s %s", netns, index);
	size_t before = n->ports.n;
	uint32_t port = intern_str(&n->ports, key), text = intern_str(&n->texts, name);

	free(key);
	if (n->ports.n > before) {
		array_grow(n->of, port, n->cap);
		n->of[port].first = text;
	}
	n->of[port].last = text;
}

const char *nic_names_last(const struct nic_names *n, const char *netns, const char *index,
			   const char *name)
{
	char *key = xasprintf("%s %s", netns, index);
	uint32_t port = intern_find(&n->ports, key, strlen(key));

	free(key);
	return port == INTERN_NONE ? name : intern_get(&n->texts, n->of[port].last);
}

void nic_names_say(const struct nic_names *n, struct ingest *in)
{
	size_t i;

	for (i = 0; i < n->ports.n; i++) {
		char *netns;

		if (n->of[i].first == n->of[i].last)
			continue;
		netns = xstrdup(intern_get(&n->ports, (uint32_t)i));
		netns[strcspn(netns, " ")] = '\0';
		note_add(&in->notes, nic_renamed, intern_get(&n->texts, n->of[i].first), netns,
			 intern_get(&n->texts, n->of[i].last));
		free(netns);
	}
}

void nic_names_free(struct nic_names *n)
{
	intern_free(&n->ports);
	intern_free(&n->texts);
	free(n->of);
}
