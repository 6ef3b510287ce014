// SPDX-License-Identifier: GPL-2.0-only
/*
 * host: the facts about the hosts, one row for each fact. A setting of a network namespace is that
 * of the workload's, where a run saved it, with a row for each side where sides differ.
 */
#include "analyze/scope/runs.h"

#include <math.h>

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

/* --- settings of the workload's network namespace --- */

/* The runs on a host that figures come from, and the sides of the capture. */
struct host_runs {
	struct store *s;
	struct table *t;
	const char *host, **sides;
	struct run *runs;
	int nsides, n;
};

static const struct {
	const char *title, *name; /* without a title, the name is the title */
} of_namespace[] = {
	{"congestion control", "net.ipv4.tcp_congestion_control"},
	{"default qdisc", "net.core.default_qdisc"},
	{NULL, "net.core.rmem_max"},
	{NULL, "net.core.wmem_max"},
	{NULL, "net.core.optmem_max"},
	{NULL, "net.core.netdev_budget"},
	{NULL, "net.core.netdev_budget_usecs"},
	{NULL, "net.core.netdev_max_backlog"},
	{NULL, "net.core.busy_poll"},
	{NULL, "net.core.busy_read"},
	{NULL, "net.core.somaxconn"},
	{NULL, "net.ipv4.tcp_rmem"},
	{NULL, "net.ipv4.tcp_wmem"},
	{NULL, "net.ipv4.tcp_limit_output_bytes"},
	{NULL, "net.ipv4.tcp_notsent_lowat"},
	{NULL, "net.ipv4.tcp_autocorking"},
	{NULL, "net.ipv4.tcp_timestamps"},
};

/*
 * Returns a fact of the side's runs: "bbr", or "bbr|cubic" of runs that differ. A run without the
 * fact has that of the host, `otherwise`. NULL: the side has no run here, or none knows it.
 */
static const char *host_value_of_side(const struct host_runs *h, const char *side, const char *name,
				      const char *otherwise)
{
	struct arena *a = &h->t->arena;
	const char *all = NULL, *value;

	for (int i = 0; i < h->n; i++) {
		value = store_run_fact(h->s, h->runs[i].id, name) ?: otherwise;
		if (!strcmp(h->runs[i].side, side))
			all = arena_add_word(a, all, "|", value);
	}
	return all;
}

/* Adds one row where all sides have the same value, else one for each side. */
static void host_add_of_sides(const struct host_runs *h, const char *title, const char *name,
			      const char *otherwise)
{
	const char *first = NULL, *value;
	bool same = true;

	for (int i = 0; i < h->nsides; i++) {
		value = host_value_of_side(h, h->sides[i], name, otherwise);
		same &= !value || !first || !strcmp(value, first);
		first = first ?: value;
	}
	if (same)
		host_add_row(h->t, h->host, title, first ?: otherwise);
	for (int i = 0; i < h->nsides && !same; i++)
		host_add_row(h->t, h->host,
			     arena_printf(&h->t->arena, "%s, %s", title, h->sides[i]),
			     host_value_of_side(h, h->sides[i], name, otherwise));
}

/* Adds "qdisc of eth0, sender" of the interface that moved the most bytes in the first run. */
static void host_add_qdisc(const struct host_runs *h, const char *side, struct error *err)
{
	struct arena *a = &h->t->arena;
	const char *card = NULL;

	for (int i = 0; i < h->n && !card; i++)
		if (!strcmp(h->runs[i].side, side))
			card = run_interface(h->s, &h->runs[i], a, err);
	if (card)
		host_add_row(
			h->t, h->host,
			arena_printf(a, "qdisc of %s, %s", strchr(card, '/') + 1, side),
			host_value_of_side(h, side, arena_printf(a, "nic:%s/qdisc", card), NULL));
}

static int host_add_namespaces(struct host_runs *h, const struct fact_row *facts, int nfacts,
			       struct error *err)
{
	const struct query every = {0};
	int all = scope_runs(h->s, &every, &(struct block){0}, FOR_FIGURES, &h->runs, err);

	h->nsides = all < 0 ? all : store_sides(h->s, &h->sides, err);
	for (int i = 0; i < all; i++)
		if (h->runs[i].host && !strcmp(h->runs[i].host, h->host))
			h->runs[h->n++] = h->runs[i];
	for (size_t k = 0; k < array_size(of_namespace) && h->nsides >= 0; k++) {
		const char *name = arena_printf(&h->t->arena, "sysctl:%s", of_namespace[k].name);

		host_add_of_sides(h, of_namespace[k].title ?: of_namespace[k].name, name,
				  host_fact_find(facts, nfacts, name));
	}
	for (int i = 0; i < h->nsides; i++)
		host_add_qdisc(h, h->sides[i], err);
	free(h->runs);
	free(h->sides);
	return h->nsides < 0 ? h->nsides : 0;
}

/* --- all settings --- */

static int host_add_settings(struct store *s, const char *host, struct table *t, struct error *err)
{
	static const struct {
		const char *title, *name;
	} shown[] = {
		{"CPU frequency driver", "cpufreq_driver"},
		{"CPU frequency governor", "governor"},
		{"CPU energy preference (EPP)", "epp"},
		{"CPU boost", "boost"},
		{"CPU turbo off (intel_pstate)", "turbo_off"},
		{"transparent huge pages", "transparent_hugepage"},
	};
	autofree struct fact_row *facts = NULL;
	int n = store_facts(s, host, NULL, &facts, err), rc;

	if (n < 0)
		return n;
	for (size_t i = 0; i < array_size(shown); i++)
		host_add_row(t, host, shown[i].title, host_fact_find(facts, n, shown[i].name));
	rc = host_add_namespaces(&(struct host_runs){.s = s, .t = t, .host = host}, facts, n, err);
	host_add_mitigations(t, host, facts, n);
	return rc;
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
		rc = rc ?: host_add_clock(s, h->name, t, err);
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
