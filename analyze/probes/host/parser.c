// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/ingest.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/str.h"

#include <errno.h>
#include <stdio.h>

struct cpu {
	unsigned int number;
	int64_t package, node;
	const char *core; /* "die/core" */
};

struct topology {
	struct host *host;
	struct cpu *cpus;
	size_t n, cap;
};

static struct topology_row topology_blank(const struct topology *t, const char *kind,
					  const char *name)
{
	return (struct topology_row){.host = t->host->row.name,
				     .kind = kind,
				     .name = name,
				     .package = -1,
				     .node = -1,
				     .up = -1,
				     .size_kib = NAN,
				     .speed = NAN};
}

static struct topology_row topology_numbered(const struct topology *t, const char *kind, int64_t n)
{
	return topology_blank(t, kind, arena_printf(&t->host->arena, "%lld", (long long)n));
}

/* Returns a number that host.json holds as text, as sysfs prints it, or -1: not known. */
static int64_t json_decimal(const json_t *o, const char *key)
{
	const char *text = json_str(o, key);
	char *end;
	long n = text ? strtol(text, &end, 10) : -1;

	return text && end != text && n >= 0 ? n : -1;
}

/* Returns "32768K", "24684096 kB" or "2M" in KiB, or NAN. */
static double size_in_kib(const char *text)
{
	char *end;
	double x = text ? strtod(text, &end) : NAN;

	if (!text || end == text)
		return NAN;
	end += *end == ' ';
	return *end == 'M' ? x * 1024 : *end == 'G' ? x * 1048576 : x;
}

static void topology_read_cpus(struct topology *t, const json_t *root)
{
	const json_t *o;
	size_t i;

	json_array_foreach (json_object_get(root, "topology"), i, o) {
		const json_t *at = json_object_get(o, "cpu");
		const char *die = json_str(o, "die"), *core = json_str(o, "core");
		struct cpu c = {.package = json_decimal(o, "package"),
				.node = json_decimal(o, "node")};

		if (!json_is_integer(at) || json_integer_value(at) < 0 ||
		    json_integer_value(at) >= CPUSET_MAX)
			continue;
		c.number = (unsigned int)json_integer_value(at);
		if (core)
			c.core = arena_printf(&t->host->arena, "%lld/%s%s%s", (long long)c.package,
					      die ? die : "", die ? "/" : "", core);
		array_add(t->cpus, t->n, t->cap, c);
	}
}

/* Adds a place with copies of its cpus and distances. `set` replaces the cpus unless it is NULL. */
static void topology_add(struct topology *t, struct topology_row *row, const struct cpuset *set)
{
	struct host *h = t->host;
	autofree char *text = set ? cpuset_format(set) : NULL;

	row->cpus = arena_strdup(&h->arena, text ? text : row->cpus);
	row->distances = arena_strdup(&h->arena, row->distances);
	array_add(h->places, h->nplaces, h->places_cap, *row);
}

/* Adds a package for every package number that a CPU has. */
static void topology_add_packages(struct topology *t)
{
	int64_t most = -1;

	for (size_t i = 0; i < t->n; i++)
		most = t->cpus[i].package > most ? t->cpus[i].package : most;
	for (int64_t p = 0; p <= most && p < CPUSET_MAX; p++) {
		struct topology_row row = topology_numbered(t, "package", p);
		struct cpuset set = {0};

		row.package = p;
		for (size_t i = 0; i < t->n; i++)
			if (t->cpus[i].package == p)
				cpuset_add(&set, t->cpus[i].number);
		if (cpuset_count(&set))
			topology_add(t, &row, &set);
	}
}

/* Adds a core for every set of CPUs with the same package, die and core. */
static void topology_add_cores(struct topology *t)
{
	struct cpuset done = {0};

	for (size_t i = 0; i < t->n; i++) {
		const struct cpu *c = &t->cpus[i];
		struct topology_row row = topology_blank(t, "core", c->core);
		struct cpuset set = {0};

		if (!c->core || cpuset_has(&done, c->number))
			continue;
		for (size_t k = i; k < t->n; k++)
			if (t->cpus[k].core && !strcmp(t->cpus[k].core, c->core)) {
				cpuset_add(&set, t->cpus[k].number);
				cpuset_add(&done, t->cpus[k].number);
			}
		row.package = c->package;
		row.node = c->node;
		topology_add(t, &row, &set);
	}
}

static void topology_add_nodes(struct topology *t, const json_t *root)
{
	const json_t *o;
	size_t i;

	json_array_foreach (json_object_get(root, "nodes"), i, o) {
		int64_t node = (int64_t)json_u64(o, "node");
		struct topology_row row = topology_numbered(t, "node", node);

		row.node = node;
		row.cpus = json_str(o, "cpus");
		row.distances = json_str(o, "distances");
		row.size_kib = size_in_kib(json_str(o, "memory"));
		topology_add(t, &row, NULL);
	}
}

/* Returns "L1 data", "L3" and so on. */
static const char *cache_name(struct topology *t, const json_t *o)
{
	const char *level = json_str(o, "level"), *type = json_str(o, "type");

	return arena_printf(&t->host->arena, "L%s%s", level ? level : "?",
			    !type			   ? ""
			    : !strcmp(type, "Data")	   ? " data"
			    : !strcmp(type, "Instruction") ? " code"
							   : "");
}

static void topology_add_caches(struct topology *t, const json_t *root)
{
	const json_t *o;
	size_t i;

	json_array_foreach (json_object_get(root, "caches"), i, o) {
		struct topology_row row = topology_blank(t, "cache", cache_name(t, o));

		row.cpus = json_str(o, "cpus");
		row.size_kib = size_in_kib(json_str(o, "size"));
		topology_add(t, &row, NULL);
	}
}

/* --- network cards: "name = value" of nic/<if>/sysfs --- */

static const char *nic_find_fact(struct topology *t, const char *text, const char *key)
{
	size_t len = strlen(key);
	const char *at = text;
	char *value;

	for (; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, key, len) && !strncmp(at + len, " = ", 3)) {
			at += len + 3;
			value = arena_dup(&t->host->arena, at, strcspn(at, "\n") + 1);
			value[strcspn(at, "\n")] = '\0';
			return value;
		}
	}
	return NULL;
}

/* Adds a network card. An interface without a device has no place in the machine. */
static void topology_add_nic(struct topology *t, const char *name, const char *text)
{
	struct topology_row row = topology_blank(t, "nic", arena_strdup(&t->host->arena, name));
	const char *node = nic_find_fact(t, text, "device/numa_node"),
		   *speed = nic_find_fact(t, text, "speed"),
		   *state = nic_find_fact(t, text, "operstate");

	if (!node && !nic_find_fact(t, text, "device/vendor"))
		return;
	row.node = node ? atol(node) : -1;
	row.node = row.node < 0 ? -1 : row.node;
	row.cpus = row.node < 0 ? NULL : nic_find_fact(t, text, "device/local_cpulist");
	row.speed = speed && atol(speed) > 0 ? (double)atol(speed) : NAN;
	row.up = state ? !strcmp(state, "up") : -1;
	topology_add(t, &row, NULL);
}

static void topology_add_nics(struct topology *t, const char *dir, struct error *err)
{
	autofree char *nics = xasprintf("%s/nic", dir);
	autofree struct dirent **list = NULL;
	int n = scandir(nics, &list, NULL, versionsort);

	if (n < 0)
		error_sys(err, errno, "%s: cannot read", nics);
	for (int i = 0; i < n; i++) {
		autofree char *path = xasprintf("%s/%s/sysfs", nics, list[i]->d_name);
		autofree char *text = NULL;

		if (list[i]->d_name[0] != '.' && !file_read(path, &text, NULL, err))
			topology_add_nic(t, list[i]->d_name, text);
		free(list[i]);
	}
}

static void host_read_topology(struct host *h, const json_t *root, const char *dir,
			       struct error *err)
{
	struct topology t = {.host = h};

	topology_read_cpus(&t, root);
	topology_add_packages(&t);
	topology_add_nodes(&t, root);
	topology_add_cores(&t);
	topology_add_caches(&t, root);
	topology_add_nics(&t, dir, err);
	free(t.cpus);
}

/* --- settings --- */

static void host_add_fact(struct host *h, const char *prefix, const char *name, const char *value)
{
	array_add(h->facts, h->nfacts, h->facts_cap,
		  (struct fact_row){.host = h->row.name,
				    .name = arena_printf(&h->arena, "%s%s", prefix, name),
				    .value = arena_strdup(&h->arena, value)});
}

/* Adds the texts of an object. A boot has another id each time, and it is no setting. */
static void host_add_texts(struct host *h, const char *prefix, const json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)object, key, value)
		if (json_is_string(value) && strcmp(key, "boot_id") != 0)
			host_add_fact(h, prefix, key, json_string_value(value));
}

/*
 * Adds lines "name = value", or "name=value". A line without a value, such as a comment, is none.
 * Sets `err` unless it holds an error of this machine.
 */
static void host_add_lines(struct host *h, const char *dir, const char *file, const char *prefix,
			   struct error *err)
{
	struct error e = {0};
	autofree char *path = xasprintf("%s/%s", dir, file), *text = NULL;
	char *line, *equals;

	if (!file_read(path, &text, NULL, &e)) {
		for (char *rest = text; (line = str_token(&rest, '\n'));) {
			equals = *line == '#' ? NULL : strchr(line, '=');
			if (!equals)
				continue;
			*equals = '\0';
			host_add_fact(h, prefix, str_trim(line), str_trim(equals + 1));
		}
	} else if (!error_of_machine(err->code)) {
		*err = e;
	}
}

int host_read(struct host *h, const char *hosts_dir, const char *name, struct error *err)
{
	autofree char *dir = xasprintf("%s/%s", hosts_dir, name),
		      *path = xasprintf("%s/host.json", dir);
	struct error json = {0}, nics = {0}, *first;
	json_auto_t *root = json_file(path, &json);
	const char *online = json_str(root, "online_cpus");
	struct cpuset set;

	*h = (struct host){0};
	h->row.name = arena_strdup(&h->arena, name);
	h->row.release = arena_strdup(&h->arena, json_str(root, "release"));
	h->row.arch = arena_strdup(&h->arena, json_str(root, "arch"));
	h->row.cpu_model = arena_strdup(&h->arena, json_str(root, "cpu_model"));
	h->row.virtualization = arena_strdup(&h->arena, json_str(root, "virtualization"));
	h->row.cpus = online && !cpuset_parse(&set, online, NULL) ? cpuset_count(&set) : 0;
	host_read_topology(h, root, dir, &nics);
	host_add_texts(h, "", root);
	host_add_texts(h, "vulnerability:", json_object_get(root, "vulnerabilities"));
	host_add_lines(h, dir, "sysctls", "sysctl:", &nics);
	host_add_lines(h, dir, "config", "", &nics);
	first = error_of_machine(json.code) ? &json : &nics;
	return error_of_machine(first->code) ? error_set(err, first->code, "%s", first->text) : 0;
}

void host_free(struct host *h)
{
	free(h->places);
	free(h->facts);
	arena_free(&h->arena);
}
