// SPDX-License-Identifier: GPL-2.0-only
/* host: the facts about the hosts, one row for each fact. */
#include "analyze/scope/runs.h"

#include "lib/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column host_columns[] = {
	{"host", .type = V_STR},
	{"fact", .type = V_STR},
	{"value", .type = V_STR},
};

static void host_add_row(struct table *t, const char *host, const char *fact, const char *value)
{
	struct value *row;

	if (!value)
		return;
	row = table_row(t);
	row[0] = value_str(t, host);
	row[1] = value_str(t, fact);
	row[2] = value_str(t, value);
}

/* --- facts that decide about speed --- */

static const char *host_fact_find(const struct fact_row *facts, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(facts[i].name, name))
			return facts[i].value;
	return NULL;
}

/* Adds the names of the flaws whose state begins with `begin`: "vulnerable: mds, tsa". */
static void host_list_flaws(struct str *s, const struct fact_row *facts, int n, const char *begin,
			    const char *title)
{
	static const char prefix[] = "vulnerability:";
	bool first = true;

	for (int i = 0; i < n; i++) {
		if (!str_starts(facts[i].name, prefix) || !facts[i].value ||
		    !str_starts(facts[i].value, begin))
			continue;
		if (first)
			str_printf(s, "%s%s: ", s->len ? "; " : "", title);
		str_printf(s, "%s%s", first ? "" : ", ", facts[i].name + sizeof(prefix) - 1);
		first = false;
	}
}

static void host_add_mitigations(struct table *t, const char *host, const struct fact_row *facts,
				 int n)
{
	freed(str_free) struct str s = {0};

	host_list_flaws(&s, facts, n, "Vulnerable", "vulnerable");
	host_list_flaws(&s, facts, n, "Mitigation", "mitigated");
	host_list_flaws(&s, facts, n, "Unknown", "unknown");
	host_list_flaws(&s, facts, n, "Not affected", "not affected");
	host_add_row(t, host, "CPU mitigations", s.len ? s.buf : NULL);
}

static int host_add_settings(struct store *s, const char *host, struct table *t, struct error *err)
{
	static const struct {
		const char *title, *name;
	} shown[] = {
		{"CPU frequency driver", "cpufreq_driver"},
		{"CPU frequency governor", "governor"},
		{"transparent huge pages", "transparent_hugepage"},
		{"congestion control", "sysctl:net.ipv4.tcp_congestion_control"},
		{"default qdisc", "sysctl:net.core.default_qdisc"},
	};
	struct fact_row *facts;
	int n = store_facts(s, host, NULL, &facts, err);

	if (n < 0)
		return n;
	for (size_t i = 0; i < array_size(shown); i++)
		host_add_row(t, host, shown[i].title, host_fact_find(facts, n, shown[i].name));
	host_add_mitigations(t, host, facts, n);
	free(facts);
	return 0;
}

/* Adds the clock offset of a host, unless the host ran the capture. */
static int host_add_clock(struct store *s, const char *host, struct table *t, struct error *err)
{
	struct clock_facts f;
	autofree char *offset = NULL, *error = NULL;
	int rc = clocks_of_host(s, host, &f, err);

	if (rc || !f.known)
		return rc;
	offset = clocks_text(f.offset);
	error = clocks_text(f.error);
	host_add_row(t, host, "clock ahead of the capturing host's",
		     arena_printf(&t->arena, "%s +-%s", offset, error));
	return 0;
}

static int host_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	autofree struct host_row *hosts = NULL;
	int n = store_hosts(s, &hosts, err), rc = 0;
	char cpus[24];

	(void)q;
	if (n < 0)
		return n;
	for (int i = 0; i < n && !rc; i++) {
		const struct host_row *h = &hosts[i];

		snprintf(cpus, sizeof(cpus), "%lld", (long long)h->cpus);
		host_add_row(t, h->name, "kernel", h->release);
		host_add_row(t, h->name, "architecture", h->arch);
		host_add_row(t, h->name, "CPU", h->cpu_model);
		host_add_row(t, h->name, "CPUs online", h->cpus ? cpus : NULL);
		host_add_row(t, h->name, "virtualization", h->virtualization);
		rc = host_add_settings(s, h->name, t, err);
		if (!rc)
			rc = host_add_clock(s, h->name, t, err);
	}
	return rc;
}

const struct measure measure_host = {
	.name = "host",
	.what = "the hosts that were measured",
	MEASURE_COLUMNS(host_columns),
	.options = {[SOURCE_CAPTURE] = ""},
	.whole = WHOLE_FACTS,
	.flags = MEASURE_FACTS,
	.run = host_run,
};
