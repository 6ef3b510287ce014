// SPDX-License-Identifier: GPL-2.0-only
#include "collect/topology.h"

#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/cpuset.h"
#include "lib/file.h"
#include "lib/str.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 1024, CACHES = 16 }; /* caches of one CPU */

/* First line of a file, whose path is put together; NULL: none. The caller frees. */
__attribute__((format(printf, 1, 2))) static char *fact(const char *fmt, ...)
{
	char *path, *value;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&path, fmt, ap) < 0)
		path = NULL;
	va_end(ap);
	value = path ? host_fact(path) : NULL;
	free(path);
	return value;
}

static void topology_set(json_t *o, const char *key, char *value)
{
	if (value)
		json_object_set_new(o, key, json_string(value));
	free(value);
}

static void topology_online(const char *root, struct cpuset *cpus)
{
	char *text = fact("%s/devices/system/cpu/online", root);

	if (!text || cpuset_parse(cpus, text, NULL))
		*cpus = (struct cpuset){0};
	free(text);
}

/* The folder of a CPU has a link to its node. */
static char *topology_node(const char *dir)
{
	DIR *d = opendir(dir);
	char *node = NULL;
	struct dirent *e;

	while (d && !node && (e = readdir(d)))
		if (str_starts(e->d_name, "node") && strspn(e->d_name + 4, "0123456789") &&
		    !e->d_name[4 + strspn(e->d_name + 4, "0123456789")])
			node = xstrdup(e->d_name + 4);
	if (d)
		closedir(d);
	return node;
}

static json_t *topology_cpu(const char *root, unsigned int cpu)
{
	static const struct {
		const char *key, *file;
	} parts[] = {{"package", "physical_package_id"},
		     {"die", "die_id"},
		     {"core", "core_id"},
		     {"siblings", "thread_siblings_list"}};
	char *dir = xasprintf("%s/devices/system/cpu/cpu%u", root, cpu);
	json_t *o = json_pack("{s:i}", "cpu", (int)cpu);
	size_t i;

	for (i = 0; i < array_size(parts); i++)
		topology_set(o, parts[i].key, fact("%s/topology/%s", dir, parts[i].file));
	topology_set(o, "node", topology_node(dir));
	free(dir);
	return o;
}

json_t *topology_cpus(const char *root)
{
	json_t *list = json_array();
	struct cpuset cpus;
	unsigned int cpu;

	topology_online(root, &cpus);
	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&cpus, cpu))
			json_array_append_new(list, topology_cpu(root, cpu));
	return list;
}

/* Each CPU that shares a cache has a folder of it: the first one's counts. */
static bool topology_is_first(const json_t *cache, unsigned int cpu)
{
	const char *cpus = json_string_value(json_object_get(cache, "cpus"));

	return !cpus || strtoul(cpus, NULL, 10) == cpu;
}

static void topology_add_caches(const char *root, unsigned int cpu, json_t *list)
{
	int i;

	for (i = 0; i < CACHES; i++) {
		char *dir = xasprintf("%s/devices/system/cpu/cpu%u/cache/index%d", root, cpu, i);
		char *level = fact("%s/level", dir);
		json_t *o = json_object();
		bool there = level != NULL;

		topology_set(o, "level", level);
		topology_set(o, "type", fact("%s/type", dir));
		topology_set(o, "size", fact("%s/size", dir));
		topology_set(o, "cpus", fact("%s/shared_cpu_list", dir));
		if (there && topology_is_first(o, cpu))
			json_array_append(list, o);
		json_decref(o);
		free(dir);
		if (!there)
			return;
	}
}

json_t *topology_caches(const char *root)
{
	json_t *list = json_array();
	struct cpuset cpus;
	unsigned int cpu;

	topology_online(root, &cpus);
	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&cpus, cpu))
			topology_add_caches(root, cpu, list);
	return list;
}

/* "Node 0 MemTotal:  24684096 kB" gives "24684096 kB". */
static char *topology_memory(const char *dir)
{
	static const char key[] = "MemTotal:";
	char *path = xasprintf("%s/meminfo", dir), *text = NULL, *at, *value = NULL;

	if (!file_read(path, &text, NULL, NULL) && (at = strstr(text, key))) {
		at += sizeof(key) - 1;
		at[strcspn(at, "\n")] = '\0';
		value = xstrdup(str_trim(at));
	}
	free(text);
	free(path);
	return value;
}

json_t *topology_nodes(const char *root)
{
	json_t *list = json_array();
	int i;

	for (i = 0; i < NODES; i++) {
		char *dir = xasprintf("%s/devices/system/node/node%d", root, i);
		json_t *o;

		if (path_is_dir(dir)) {
			o = json_pack("{s:i}", "node", i);
			topology_set(o, "cpus", fact("%s/cpulist", dir));
			topology_set(o, "memory", topology_memory(dir));
			topology_set(o, "distances", fact("%s/distance", dir));
			json_array_append_new(list, o);
		}
		free(dir);
	}
	return list;
}
