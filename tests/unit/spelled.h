/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The key of a metric as one text, "NAME[:OBJECT][:cpuN]", so that tests are short to read.
 * "NAME=VALUE" is a fact of the run.
 */
#ifndef ZC_TEST_SPELLED_H
#define ZC_TEST_SPELLED_H

#include "analyze/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The key points into `copy`, which has room for the text. */
static inline struct metric_key spelled_key(const char *text, char *copy)
{
	struct metric_key key = {strcpy(copy, text), NULL, NO_CPU};
	char *last = strrchr(copy, ':'), *colon;
	int end = 0;

	if (last && sscanf(last, ":cpu%d%n", &key.cpu, &end) == 1 && !last[end])
		*last = '\0';
	else
		key.cpu = NO_CPU;
	colon = strchr(copy, ':');
	if (colon) {
		*colon = '\0';
		key.object = colon + 1;
	}
	return key;
}

static inline int put_metric(struct store *s, int64_t run, const char *text, const char *unit,
			     double value)
{
	char copy[128];
	struct metric_row m = {spelled_key(text, copy), unit, value, NULL};
	const char *equals = strchr(text, '=');
	struct fact_row fact = {.run = run, .name = copy, .value = equals ? equals + 1 : NULL};

	if (!equals)
		return store_metric_put(s, run, &m, NULL);
	snprintf(copy, sizeof(copy), "%.*s", (int)(equals - text), text);
	return store_fact_add(s, &fact, NULL);
}

static inline bool is_metric(const struct metric_key *key, const char *text)
{
	char copy[128];
	struct metric_key k = spelled_key(text, copy);

	return !strcmp(k.name, key->name) && k.cpu == key->cpu &&
	       (k.object && key->object ? !strcmp(k.object, key->object) : k.object == key->object);
}

#endif
