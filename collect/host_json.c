// SPDX-License-Identifier: GPL-2.0-only
/* host.json. It lacks the facts that this host does not have. */
#include "collect/host.h"

#include "collect/events/events.h"
#include "lib/alloc.h"
#include "lib/cpuset.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/str.h"

#include <dirent.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* --- topology --- */

/*
 * Where CPUs, caches and memory lie, from sysfs, for host.json (docs/reference/capture-folder.md).
 * `root` is /sys, or a copy of parts of it from another host.
 */

enum { NODES = 1024, CACHES = 16 }; /* caches of one CPU */

static void host_set_text(json_t *o, const char *key, char *value)
{
	if (value)
		json_object_set_new(o, key, json_string(value));
	free(value);
}

static void topology_online(const char *root, struct cpuset *cpus)
{
	char *text = host_fact("%s/devices/system/cpu/online", root);

	if (!text || cpuset_parse(cpus, text, NULL))
		*cpus = (struct cpuset){0};
	free(text);
}

/* Returns the node of a CPU: the CPU's folder has a link to it. */
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
		host_set_text(o, parts[i].key, host_fact("%s/topology/%s", dir, parts[i].file));
	host_set_text(o, "node", topology_node(dir));
	free(dir);
	return o;
}

/* Lists package, die, core, node and siblings of each online CPU. */
static json_t *topology_cpus(const char *root)
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

/* Each CPU that shares a cache has a folder for it. Only the folder of the first CPU is used. */
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
		char *level = host_fact("%s/level", dir);
		json_t *o = json_object();
		bool there = level != NULL;

		host_set_text(o, "level", level);
		host_set_text(o, "type", host_fact("%s/type", dir));
		host_set_text(o, "size", host_fact("%s/size", dir));
		host_set_text(o, "cpus", host_fact("%s/shared_cpu_list", dir));
		if (there && topology_is_first(o, cpu))
			json_array_append(list, o);
		json_decref(o);
		free(dir);
		if (!there)
			return;
	}
}

/* Lists level, type, size and CPUs of each cache once. */
static json_t *topology_caches(const char *root)
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

/* Lists CPUs, memory and distances of each node. */
static json_t *topology_nodes(const char *root)
{
	json_t *list = json_array();
	int i;

	for (i = 0; i < NODES; i++) {
		char *dir = xasprintf("%s/devices/system/node/node%d", root, i);
		json_t *o;

		if (path_is_dir(dir)) {
			o = json_pack("{s:i}", "node", i);
			host_set_text(o, "cpus", host_fact("%s/cpulist", dir));
			host_set_text(o, "memory", topology_memory(dir));
			host_set_text(o, "distances", host_fact("%s/distance", dir));
			json_array_append_new(list, o);
		}
		free(dir);
	}
	return list;
}

/* --- host.json --- */

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static const char cpu_dir[] = "/sys/devices/system/cpu";

static char *host_first_line(struct error *err, const char *fmt, va_list ap)
{
	char *path = xvasprintf(fmt, ap), *text = NULL, *rest, *line = NULL;

	if (!file_read(path, &text, NULL, err)) {
		rest = text;
		line = str_trim(str_token(&rest, '\n'));
		line = *line ? xstrdup(line) : NULL;
	}
	free(text);
	free(path);
	return line;
}

char *host_fact(const char *fmt, ...)
{
	char *line;
	va_list ap;

	va_start(ap, fmt);
	line = host_first_line(NULL, fmt, ap);
	va_end(ap);
	return line;
}

char *host_label(struct error *err, const char *fmt, ...)
{
	struct error why = {0};
	char *line;
	va_list ap;

	va_start(ap, fmt);
	line = host_first_line(&why, fmt, ap);
	va_end(ap);
	if (error_of_machine(why.code))
		error_set(err, why.code, "%s", why.text);
	return line;
}

const char *host_boot_id(void)
{
	static char id[64];
	char *text;

	if (id[0])
		return id;
	text = host_fact("/proc/sys/kernel/random/boot_id");
	snprintf(id, sizeof(id), "%s", text ? text : "");
	free(text);
	return id;
}

bool host_is_other(const char *dir, const char *boot_id)
{
	char *path = xasprintf("%s/host.json", dir);
	json_t *o = json_load_file(path, 0, NULL);
	const char *boot = json_string_value(json_object_get(o, "boot_id"));
	bool other = boot && strcmp(boot, boot_id);

	json_decref(o);
	free(path);
	return other;
}

char *host_folder(const char *wanted)
{
	return host_is_other(wanted, host_boot_id()) ? xasprintf("%s-%.8s", wanted, host_boot_id())
						     : xstrdup(wanted);
}

/* --- the facts --- */

/* Returns the value behind "key<space>: " in cpuinfo or meminfo. */
static char *host_value(const char *path, const char *key)
{
	char *text, *rest, *line, *found = NULL;

	if (file_read(path, &text, NULL, NULL))
		return NULL;
	for (rest = text; !found && (line = str_token(&rest, '\n'));) {
		char *colon = strchr(line, ':');

		if (!colon)
			continue;
		*colon = '\0';
		if (!strcmp(str_trim(line), key))
			found = xstrdup(str_trim(colon + 1));
	}
	free(text);
	return found;
}

static const struct {
	const char *key, *value;
} hypervisors[] = {
	{"KVMKVMKVM", "kvm"},	 {"VMwareVMware", "vmware"}, {"Microsoft Hv", "hyperv"},
	{"XenVMMXenVMM", "xen"}, {"TCGTCGTCGTCG", "qemu"},   {"bhyve bhyve ", "bhyve"},
	{"Linux KVM Hv", "kvm"},
};

/* Returns the hypervisor that the CPU reports, or "none" where the CPU can report that. */
static char *host_virtualization(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d, sign[4] = {0};
	size_t i;

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return NULL;
	if (!(c >> 31 & 1))
		return xstrdup("none");
	__cpuid(0x40000000, a, sign[0], sign[1], sign[2]);
	for (i = 0; i < array_size(hypervisors); i++)
		if (!strncmp((char *)sign, hypervisors[i].key, 12))
			return xstrdup(hypervisors[i].value);
	return xstrdup("unknown hypervisor");
#else
	return host_fact("/sys/hypervisor/type");
#endif
}

static json_t *host_idle_states(void)
{
	json_t *list = json_array();
	int i;

	for (i = 0;; i++) {
		char *dir = xasprintf("%s/cpu0/cpuidle/state%d", cpu_dir, i);
		char *name = host_fact("%s/name", dir);
		json_t *o = json_object();

		host_set_text(o, "name", name ? xstrdup(name) : NULL);
		host_set_text(o, "latency_us", host_fact("%s/latency", dir));
		if (name)
			json_array_append(list, o);
		json_decref(o);
		free(dir);
		if (!name)
			return list;
		free(name);
	}
}

/* Saves only the options of the boot line that influence speed. The rest may be private. */
static const char *const boot_known[] = {
	"mitigations",
	"isolcpus",
	"nohz",
	"rcu_nocb",
	"idle",
	"intel_idle",
	"processor.",
	"intel_pstate",
	"amd_pstate",
	"cpuidle",
	"iommu",
	"intel_iommu",
	"amd_iommu",
	"hugepage",
	"default_hugepagesz",
	"transparent_hugepage",
	"preempt",
	"nosmt",
	"threadirqs",
	"irqaffinity",
	"skew_tick",
	"tsc",
	"clocksource",
	"pcie_aspm",
	"numa",
	"nosoftlockup",
	"spec",
	"pti",
};

static char *host_boot_options(void)
{
	char *line = host_fact("/proc/cmdline"), *rest = line, *word;
	struct str found = {0};
	size_t i;

	while ((word = str_token(&rest, ' ')))
		for (i = 0; i < array_size(boot_known); i++) {
			if (!str_starts(word, boot_known[i]))
				continue;
			str_printf(&found, "%s%s", found.len ? " " : "", word);
			break;
		}
	free(line);
	return str_take(&found);
}

static void host_set_kernel(json_t *o)
{
	struct utsname u;

	uname(&u);
	json_object_set_new(o, "hostname", json_string(u.nodename));
	json_object_set_new(o, "release", json_string(u.release));
	json_object_set_new(o, "version", json_string(u.version));
	json_object_set_new(o, "arch", json_string(u.machine));
	json_object_set_new(o, "boot_id", json_string(host_boot_id()));
	host_set_text(o, "boot_options", host_boot_options());
	host_set_text(
		o, "clocksource",
		host_fact("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
}

/* Returns what the kernel does against each flaw of the CPU: {"meltdown": "Mitigation: PTI"}. */
static json_t *host_vulnerabilities(const char *root)
{
	char *dir = xasprintf("%s/devices/system/cpu/vulnerabilities", root);
	DIR *d = opendir(dir);
	json_t *o = json_object();
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			host_set_text(o, e->d_name, host_fact("%s/%s", dir, e->d_name));
	if (d)
		closedir(d);
	free(dir);
	return o;
}

static void host_set_cpus(json_t *o, const struct cpuset *online)
{
	host_set_text(o, "cpu_model", host_value("/proc/cpuinfo", "model name"));
	host_set_text(o, "online_cpus", cpuset_format(online));
	host_set_text(o, "smt", host_fact("/sys/devices/system/cpu/smt/control"));
	host_set_text(o, "governor",
		      host_fact("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
	host_set_text(o, "cpufreq_driver",
		      host_fact("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"));
	host_set_text(o, "turbo_off", host_fact("/sys/devices/system/cpu/intel_pstate/no_turbo"));
	host_set_text(o, "cpuidle_driver",
		      host_fact("/sys/devices/system/cpu/cpuidle/current_driver"));
	host_set_text(o, "cpuidle_governor",
		      host_fact("/sys/devices/system/cpu/cpuidle/current_governor_ro"));
	json_object_set_new(o, "cpuidle_states", host_idle_states());
	json_object_set_new(o, "vulnerabilities", host_vulnerabilities(sysfs_root()));
	json_object_set_new(o, "topology", topology_cpus(sysfs_root()));
	json_object_set_new(o, "caches", topology_caches(sysfs_root()));
	json_object_set_new(o, "nodes", topology_nodes(sysfs_root()));
}

int host_write_json(const char *dir, struct error *err)
{
	json_t *o = json_pack("{s:i}", "schema_version", 1);
	char *path = xasprintf("%s/host.json", dir);
	struct cpuset online = {0};
	int rc;

	cpuset_online(&online, NULL);
	host_set_kernel(o);
	host_set_cpus(o, &online);
	host_set_text(o, "memory", host_value("/proc/meminfo", "MemTotal"));
	host_set_text(o, "transparent_hugepage",
		      host_fact("%s/kernel/mm/transparent_hugepage/enabled", sysfs_root()));
	host_set_text(o, "virtualization", host_virtualization());
	rc = json_write(path, o, JSON_INDENT(2), err);
	free(path);
	json_decref(o);
	return rc;
}
