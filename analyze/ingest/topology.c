// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/topology.h"

#include "analyze/ingest/json.h"
#include "lib/alloc.h"
#include "lib/arena.h"
#include "lib/cpuset.h"
#include "lib/file.h"
#include "lib/str.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cpu {
	unsigned int number;
	int64_t package, node;
	const char *core; /* "die/core" */
};

struct reader {
	struct store *store;
	const char *host;
	struct cpu *cpus;
	size_t n, cap;
	struct arena arena;
};

static struct topology_row blank(const struct reader *r, const char *kind, const char *name)
{
	return (struct topology_row){.host = r->host,
				     .kind = kind,
				     .name = name,
				     .package = -1,
				     .node = -1,
				     .up = -1,
				     .size_kib = NAN,
				     .speed = NAN};
}

/* Numbers are text in host.json, as sysfs has them; "-1" is not told. */
static int64_t number(const json_t *o, const char *key)
{
	const char *text = json_str(o, key);
	char *end;
	long n = text ? strtol(text, &end, 10) : -1;

	return text && end != text && n >= 0 ? n : -1;
}

/* "32768K", "24684096 kB", "2M" in KiB. */
static double kib(const char *text)
{
	char *end;
	double x = text ? strtod(text, &end) : NAN;

	if (!text || end == text)
		return NAN;
	end += *end == ' ';
	return *end == 'M' ? x * 1024 : *end == 'G' ? x * 1048576 : x;
}

/* "CPUs of a node" of captures that have no more of it: {"0": "0-7"}. */
static int64_t old_node(const json_t *root, unsigned int cpu)
{
	const char *key;
	json_t *v;

	json_object_foreach (json_object_get(root, "numa_nodes"), key, v) {
		struct cpuset set;

		if (json_string_value(v) && !cpuset_parse(&set, json_string_value(v), NULL) &&
		    cpuset_has(&set, cpu))
			return atol(key);
	}
	return -1;
}

static void read_cpus(struct reader *r, const json_t *root)
{
	const json_t *o;
	size_t i;

	json_array_foreach (json_object_get(root, "topology"), i, o) {
		const json_t *at = json_object_get(o, "cpu");
		const char *die = json_str(o, "die"), *core = json_str(o, "core");
		struct cpu c = {.package = number(o, "package"), .node = number(o, "node")};
		char *text;

		if (!json_is_integer(at) || json_integer_value(at) < 0 ||
		    json_integer_value(at) >= CPUSET_MAX)
			continue;
		c.number = (unsigned int)json_integer_value(at);
		c.node = c.node < 0 ? old_node(root, c.number) : c.node;
		text = xasprintf("%lld/%s%s%s", (long long)c.package, die ? die : "",
				 die ? "/" : "", core ? core : "?");
		c.core = core ? arena_strdup(&r->arena, text) : NULL;
		free(text);
		array_grow(r->cpus, r->n, r->cap);
		r->cpus[r->n++] = c;
	}
}

static int put(struct reader *r, struct topology_row *row, const struct cpuset *set,
	       struct error *err)
{
	char *text = set ? cpuset_format(set) : NULL;
	int rc;

	if (text)
		row->cpus = text;
	rc = store_topology_add(r->store, row, err);
	free(text);
	return rc;
}

/* Packages: by the number that their CPUs have. */
static int put_packages(struct reader *r, struct error *err)
{
	int64_t most = -1, p;
	int rc = 0;
	size_t i;

	for (i = 0; i < r->n; i++)
		most = r->cpus[i].package > most ? r->cpus[i].package : most;
	for (p = 0; p <= most && p < CPUSET_MAX && !rc; p++) {
		struct cpuset set = {0};
		char name[24];
		struct topology_row row;

		snprintf(name, sizeof(name), "%lld", (long long)p);
		row = blank(r, "package", name);
		row.package = p;
		for (i = 0; i < r->n; i++)
			if (r->cpus[i].package == p)
				cpuset_add(&set, r->cpus[i].number);
		if (cpuset_count(&set))
			rc = put(r, &row, &set, err);
	}
	return rc;
}

/* Cores: CPUs whose package, die and core are one. */
static int put_cores(struct reader *r, struct error *err)
{
	struct cpuset done = {0};
	size_t i, k;
	int rc = 0;

	for (i = 0; i < r->n && !rc; i++) {
		const struct cpu *c = &r->cpus[i];
		struct topology_row row = blank(r, "core", c->core);
		struct cpuset set = {0};

		if (!c->core || cpuset_has(&done, c->number))
			continue;
		for (k = i; k < r->n; k++)
			if (r->cpus[k].core && !strcmp(r->cpus[k].core, c->core)) {
				cpuset_add(&set, r->cpus[k].number);
				cpuset_add(&done, r->cpus[k].number);
			}
		row.package = c->package;
		row.node = c->node;
		rc = put(r, &row, &set, err);
	}
	return rc;
}

static int put_nodes(struct reader *r, const json_t *root, struct error *err)
{
	const char *key;
	const json_t *o;
	json_t *v;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(root, "nodes"), i, o) {
		char name[24];
		struct topology_row row;

		snprintf(name, sizeof(name), "%lld", (long long)json_u64(o, "node"));
		row = blank(r, "node", name);
		row.node = (int64_t)json_u64(o, "node");
		row.cpus = json_str(o, "cpus");
		row.distances = json_str(o, "distances");
		row.size_kib = kib(json_str(o, "memory"));
		rc = rc ? rc : put(r, &row, NULL, err);
	}
	json_object_foreach (json_object_get(root, "numa_nodes"), key, v) {
		struct topology_row row = blank(r, "node", key);

		row.node = atol(key);
		row.cpus = json_string_value(v);
		rc = rc ? rc : put(r, &row, NULL, err);
	}
	return rc;
}

/* "L1 data", "L3" */
static void cache_name(char name[32], const json_t *o)
{
	const char *level = json_str(o, "level"), *type = json_str(o, "type");

	snprintf(name, 32, "L%s%s", level ? level : "?",
		 !type				? ""
		 : !strcmp(type, "Data")	? " data"
		 : !strcmp(type, "Instruction") ? " code"
						: "");
}

static int put_caches(struct reader *r, const json_t *root, struct error *err)
{
	const json_t *o;
	size_t i;
	int rc = 0;

	json_array_foreach (json_object_get(root, "caches"), i, o) {
		struct topology_row row;
		char name[32];

		cache_name(name, o);
		row = blank(r, "cache", name);
		row.cpus = json_str(o, "cpus");
		row.size_kib = kib(json_str(o, "size"));
		rc = rc ? rc : put(r, &row, NULL, err);
	}
	return rc;
}

/* --- network cards: "name = value" of nic/<if>/sysfs --- */

static const char *fact(struct reader *r, const char *text, const char *key)
{
	size_t len = strlen(key);
	const char *at = text;
	char *value;

	for (; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, key, len) && !strncmp(at + len, " = ", 3)) {
			at += len + 3;
			value = arena_dup(&r->arena, at, strcspn(at, "\n") + 1);
			value[strcspn(at, "\n")] = '\0';
			return value;
		}
	}
	return NULL;
}

/* Only what has a device behind it lies anywhere. */
static int put_nic(struct reader *r, const char *name, const char *text, struct error *err)
{
	struct topology_row row = blank(r, "nic", name);
	const char *node = fact(r, text, "device/numa_node"), *speed = fact(r, text, "speed"),
		   *state = fact(r, text, "operstate");

	if (!node && !fact(r, text, "device/vendor"))
		return 0;
	row.node = node ? atol(node) : -1;
	row.node = row.node < 0 ? -1 : row.node;
	row.cpus = row.node < 0 ? NULL : fact(r, text, "device/local_cpulist");
	row.speed = speed && atol(speed) > 0 ? (double)atol(speed) : NAN;
	row.up = state ? !strcmp(state, "up") : -1;
	return put(r, &row, NULL, err);
}

static int put_nics(struct reader *r, const char *dir, struct error *err)
{
	char *nics = xasprintf("%s/nic", dir), *path, *text;
	struct dirent **list;
	int n = scandir(nics, &list, NULL, versionsort), i, rc = 0;

	for (i = 0; i < n; i++) {
		path = xasprintf("%s/%s/sysfs", nics, list[i]->d_name);
		text = NULL;
		if (!rc && list[i]->d_name[0] != '.' && !file_read(path, &text, NULL, NULL))
			rc = put_nic(r, list[i]->d_name, text, err);
		free(text);
		free(path);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	free(nics);
	return rc;
}

int ingest_topology(struct store *store, const char *host, const json_t *root, const char *dir,
		    struct error *err)
{
	struct reader r = {.store = store, .host = host};
	int rc;

	read_cpus(&r, root);
	rc = put_packages(&r, err);
	if (!rc)
		rc = put_nodes(&r, root, err);
	if (!rc)
		rc = put_cores(&r, err);
	if (!rc)
		rc = put_caches(&r, root, err);
	if (!rc)
		rc = put_nics(&r, dir, err);
	free(r.cpus);
	arena_free(&r.arena);
	return rc;
}
