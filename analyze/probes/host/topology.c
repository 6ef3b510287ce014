// SPDX-License-Identifier: GPL-2.0-only
/*
 * topology: processor packages, NUMA nodes, caches and network cards of the hosts, and the place
 * of the sides' CPUs among them. The equal caches of a level share one row; --all shows each cache
 * and each core.
 */
#include "analyze/scope/placement.h"

#include <math.h>

static const struct column topology_columns[] = {
	{"host", .type = V_STR},
	{"kind", .type = V_STR, .what = "package, node, core, cache, nic, or side of a variant"},
	{"name", .type = V_STR},
	{"cpus", .type = V_STR,
	 .what = "CPUs in the part, CPUs that share the cache, or CPUs near the card"},
	{"packages", .type = V_STR},
	{"nodes", .type = V_STR, .what = "NUMA nodes"},
	{"cores", .type = V_INT},
	{"count", .type = V_INT, .what = "number of identical parts"},
	{"size_kib", "KiB", V_REAL, .what = "size of the cache or of the node's memory"},
	{"distances", .type = V_STR,
	 .what = "distances from the node to all nodes, from the firmware"},
	{"speed_gbps", "Gbit/s", V_REAL, .digits = 1},
	{"detail", .type = V_STR},
};

static struct value *topology_new_row(struct table *t, const char *host, const char *kind,
				      const char *name, const char *cpus)
{
	struct value *row = table_row(t);

	table_set(t, row, "host", value_str(t, host));
	table_set(t, row, "kind", value_str(t, kind));
	table_set(t, row, "name", value_str(t, name));
	table_set(t, row, "cpus", value_str(t, cpus));
	return row;
}

static void topology_set_number(struct table *t, struct value *row, const char *column, int64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	if (n >= 0)
		table_set(t, row, column, value_str(t, text));
}

static void topology_set_cpus(struct table *t, struct value *row, const char *column,
			      const struct cpuset *set)
{
	autofree char *text = cpuset_format(set);

	if (*text)
		table_set(t, row, column, value_str(t, text));
}

/* --- the host's parts --- */

static void topology_put_part(struct table *t, const struct machine *m,
			      const struct topology_row *r)
{
	struct value *row = topology_new_row(t, r->host, r->kind, r->name, r->cpus);
	struct placement p;

	topology_set_number(t, row, "packages", r->package);
	topology_set_number(t, row, "nodes", r->node);
	table_set(t, row, "size_kib", value_real(r->size_kib));
	table_set(t, row, "distances", value_str(t, r->distances));
	table_set(t, row, "speed_gbps", value_real(r->speed / 1000));
	if (!strcmp(r->kind, "nic")) {
		table_set(t, row, "detail",
			  value_str(t, r->node < 0 ? "node unknown"
				       : r->up < 0 ? NULL
				       : r->up	   ? "up"
						   : "down"));
		return;
	}
	if (r->cpus && placement_of(&p, m, r->cpus)) {
		table_set(t, row, "cores", value_int(p.cores));
		if (r->node < 0)
			topology_set_cpus(t, row, "nodes", &p.nodes);
		if (r->package < 0)
			topology_set_cpus(t, row, "packages", &p.packages);
	}
}

/* Returns the number of identical caches, or 0 if an earlier row covers this cache. */
static int topology_alike(const struct machine *m, int at)
{
	const struct topology_row *r = &m->rows[at], *x;
	int n = 0;

	for (int i = 0; i < m->n; i++) {
		x = &m->rows[i];
		if (strcmp(x->kind, "cache") || strcmp(x->name, r->name) ||
		    (x->size_kib != r->size_kib && !(isnan(x->size_kib) && isnan(r->size_kib))))
			continue;
		if (i < at)
			return 0;
		n++;
	}
	return n;
}

static void topology_put_caches(struct table *t, const struct machine *m, int at)
{
	const struct topology_row *r = &m->rows[at];
	int n = topology_alike(m, at);
	struct cpuset set;
	struct value *row;
	char text[48];

	if (!n)
		return;
	row = topology_new_row(t, r->host, r->kind, r->name, n == 1 ? r->cpus : NULL);
	table_set(t, row, "count", value_int(n));
	table_set(t, row, "size_kib", value_real(r->size_kib));
	if (n == 1 || !r->cpus || cpuset_parse(&set, r->cpus, NULL))
		return;
	snprintf(text, sizeof(text), "each of %u CPU%s", cpuset_count(&set),
		 cpuset_count(&set) == 1 ? "" : "s");
	table_set(t, row, "detail", value_str(t, text));
}

static void topology_put_host(struct table *t, const struct machine *m, bool all)
{
	for (int i = 0; i < m->n; i++) {
		const char *kind = m->rows[i].kind;

		if (!strcmp(kind, "cache") && !all)
			topology_put_caches(t, m, i);
		else if (all || strcmp(kind, "core"))
			topology_put_part(t, m, &m->rows[i]);
	}
}

/* --- sides --- */

static void topology_add(struct str *s, const char *text)
{
	str_printf(s, "%s%s", s->len ? "; " : "", text);
}

/* Describes each card's distance from the CPUs. */
static void topology_detail_nics(struct str *s, const struct machine *m, const struct placement *p)
{
	char text[96];

	for (int i = 0; i < m->n; i++) {
		const struct topology_row *r = &m->rows[i];

		if (strcmp(r->kind, "nic") || r->node < 0 || !r->up)
			continue;
		if (cpuset_has(&p->nodes, (unsigned int)r->node))
			snprintf(text, sizeof(text), "%s near", r->name);
		else
			snprintf(text, sizeof(text), "%s on node %lld", r->name,
				 (long long)r->node);
		topology_add(s, text);
	}
}

static void topology_put_side(struct table *t, const struct machine *m, const struct block *b,
			      const struct run *r)
{
	char *name = arena_printf(&t->arena, "%s %s", b->variant, b->side);
	struct value *row = topology_new_row(t, r->host, "side", name, r->cpus);
	struct placement p;
	freed(str_free) struct str detail = {0};

	if (!placement_of(&p, m, r->cpus)) {
		table_set(t, row, "detail", value_str(t, "the host's topology is not known"));
		return;
	}
	if (!r->cpus)
		topology_set_cpus(t, row, "cpus", &p.cpus);
	topology_set_cpus(t, row, "packages", &p.packages);
	topology_set_cpus(t, row, "nodes", &p.nodes);
	table_set(t, row, "cores", value_int(p.cores));
	if (p.all)
		topology_add(&detail, "all CPUs");
	if (p.doubled)
		topology_add(&detail, arena_printf(&t->arena, "both threads of %u core%s",
						   p.doubled, p.doubled == 1 ? "" : "s"));
	if (cpuset_count(&p.siblings)) {
		autofree char *set = cpuset_format(&p.siblings);

		topology_add(&detail,
			     arena_printf(&t->arena, "SMT siblings %s are not the side's", set));
	}
	topology_detail_nics(&detail, m, &p);
	table_set(t, row, "detail", value_str(t, detail.buf));
}

static bool topology_on_host(const struct run *r, const char *host)
{
	return r->host && !strcmp(r->host, host);
}

/* Adds one row for all runs of a block with the same placement. */
static void topology_put_block(struct table *t, const struct machine *m, const struct block_runs *b,
			       const char *host)
{
	int k;

	for (int i = 0; i < b->n; i++) {
		const char *cpus = b->runs[i].cpus;

		if (!topology_on_host(&b->runs[i], host))
			continue;
		for (k = 0; k < i; k++)
			if (topology_on_host(&b->runs[k], host) &&
			    (cpus && b->runs[k].cpus ? !strcmp(cpus, b->runs[k].cpus)
						     : cpus == b->runs[k].cpus))
				break;
		if (k == i)
			topology_put_side(t, m, &b->block, &b->runs[i]);
	}
}

/* Adds the notes on the sides' placement, including severity info. */
static void topology_add_notes(struct store *s, const struct block_runs *b, struct table *t)
{
	freed(notes_free) struct notes stored = {0};
	const char *concerns;

	for (int i = 0; i < b->n; i++)
		store_notes(s, b->runs[i].id, &stored, NULL);
	for (size_t k = 0; k < stored.n; k++) {
		concerns = note_collector(&stored.note[k]);
		if (concerns && !strcmp(concerns, t->name))
			notes_copy(&t->notes, &stored.note[k]);
	}
}

static int topology_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	autofree struct host_row *hosts = NULL;
	freed(block_list_free) struct block_list list = {0};
	struct machine m;
	int n = store_hosts(s, &hosts, err), rc = n < 0 ? n : 0;

	rc = rc ?: block_list_read(&list, s, q, FOR_FIGURES, err);
	for (int h = 0; h < n && !rc; h++) {
		rc = machine_read(&m, s, hosts[h].name, err);
		if (!rc && !m.n)
			note_add(&t->notes, topology_unknown, hosts[h].name);
		topology_put_host(t, &m, q->all);
		for (int i = 0; i < list.n; i++)
			topology_put_block(t, &m, &list.blocks[i], hosts[h].name);
		machine_free(&m);
	}
	for (int i = 0; i < list.n && !rc; i++)
		topology_add_notes(s, &list.blocks[i], t);
	if (!rc && !q->all)
		note_add(&t->notes, table_how, "--all shows every core and cache");
	return rc;
}

const struct measure measure_topology = {
	.name = "topology",
	.what = "packages, NUMA nodes, caches, network cards and the sides' CPUs",
	MEASURE_COLUMNS(topology_columns),
	.options = {[SOURCE_CAPTURE] = "variant side run all"},
	.whole = WHOLE_FACTS,
	.flags = MEASURE_FACTS,
	.run = topology_run,
};
