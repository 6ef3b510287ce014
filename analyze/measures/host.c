// SPDX-License-Identifier: GPL-2.0-only
/* host: what is known of the hosts, a row for each fact. */
#include "analyze/measures/tables.h"

#include "lib/alloc.h"

#include <stdio.h>
#include <stdlib.h>

const struct column host_columns[3] = {
	{"host", NULL, V_STR, 0, NULL},
	{"fact", NULL, V_STR, 0, NULL},
	{"value", NULL, V_STR, 0, NULL},
};

static void put(struct table *t, const char *host, const char *fact, const char *value)
{
	struct value *row;

	if (!value)
		return;
	row = table_row(t);
	row[0] = value_str(t, host);
	row[1] = value_str(t, fact);
	row[2] = value_str(t, value);
}

int host_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct host_row *hosts;
	int n = store_hosts(s, &hosts, err), i;
	char cpus[24];

	(void)q;
	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		const struct host_row *h = &hosts[i];

		snprintf(cpus, sizeof(cpus), "%lld", (long long)h->cpus);
		put(t, h->name, "kernel", h->release);
		put(t, h->name, "architecture", h->arch);
		put(t, h->name, "CPU", h->cpu_model);
		put(t, h->name, "CPUs online", h->cpus ? cpus : NULL);
		put(t, h->name, "virtualization", h->virtualization);
	}
	free(hosts);
	return 0;
}
