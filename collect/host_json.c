// SPDX-License-Identifier: GPL-2.0-only
/* host.json. It lacks the facts that this host does not have. */
#include "collect/host.h"

#include "lib/alloc.h"
#include "lib/cpuset.h"
#include "lib/file.h"
#include "lib/json.h"

#include <stdio.h>
#include <sys/utsname.h>

static void host_set_text(json_t *o, const char *key, char *value)
{
	if (value)
		json_object_set_new(o, key, json_string(value));
	free(value);
}

/* Returns the value behind "key<space>: " in a file such as cpuinfo or meminfo. */
static char *host_value(const char *path, const char *key)
{
	autofree char *text = NULL;
	char *line;

	if (file_read(path, &text, NULL, NULL))
		return NULL;
	for (char *rest = text; (line = str_token(&rest, '\n'));) {
		char *colon = strchr(line, ':');

		if (!colon)
			continue;
		*colon = '\0';
		if (!strcmp(str_trim(line), key))
			return xstrdup(str_trim(colon + 1));
	}
	return NULL;
}

/* --- topology: where CPUs, caches and memory lie --- */

enum { CACHES = 16 }; /* the most of one CPU */

struct part {
	const char *key, *file;
};

static void host_set_parts(json_t *o, const char *dir, const struct part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		host_set_text(o, parts[i].key, host_fact("%s/%s", dir, parts[i].file));
}

static bool topology_is_node(const char *name, unsigned int *number)
{
	char end;

	return sscanf(name, "node%u%c", number, &end) == 1;
}

/* Sets the node of a CPU: the CPU's folder has a link to it. */
static void topology_set_node(void *cpu, const char *dir, const char *name, struct error *err)
{
	unsigned int number;

	(void)dir, (void)err;
	if (topology_is_node(name, &number))
		host_set_text(cpu, "node", xasprintf("%u", number));
}

/* Returns package, die, core, node and siblings of a CPU. */
static json_t *topology_cpu(unsigned int cpu, const char *dir)
{
	static const struct part parts[] = {{"package", "topology/physical_package_id"},
					    {"die", "topology/die_id"},
					    {"core", "topology/core_id"},
					    {"siblings", "topology/thread_siblings_list"}};
	json_t *o = json_pack("{s:i}", "cpu", (int)cpu);

	host_set_parts(o, dir, parts, array_size(parts));
	host_each(dir, topology_set_node, o, NULL);
	return o;
}

/* Each CPU that shares a cache has a folder for it. Only the folder of the first CPU is used. */
static void topology_add_caches(unsigned int cpu, const char *dir, json_t *list)
{
	static const struct part parts[] = {{"level", "level"},
					    {"type", "type"},
					    {"size", "size"},
					    {"cpus", "shared_cpu_list"}};
	bool more = true;

	for (int i = 0; i < CACHES && more; i++) {
		autofree char *cache = xasprintf("%s/cache/index%d", dir, i);
		json_auto_t *o = json_object();
		const char *cpus;

		host_set_parts(o, cache, parts, array_size(parts));
		cpus = json_str(o, "cpus");
		more = json_str(o, "level");
		if (more && (!cpus || strtoul(cpus, NULL, 10) == cpu))
			json_array_append(list, o);
	}
}

/* Adds CPUs, memory and distances of a node. */
static void topology_add_node(void *list, const char *dir, const char *name, struct error *err)
{
	static const struct part parts[] = {{"cpus", "cpulist"}, {"distances", "distance"}};
	autofree char *path = xasprintf("%s/%s", dir, name),
		      *meminfo = xasprintf("%s/meminfo", path);
	autofree char *key = NULL;
	unsigned int number;
	json_t *o;

	(void)err;
	if (topology_is_node(name, &number)) {
		key = xasprintf("Node %u MemTotal", number);
		o = json_pack("{s:i}", "node", (int)number);
		host_set_parts(o, path, parts, array_size(parts));
		host_set_text(o, "memory", host_value(meminfo, key));
		json_array_append_new(list, o);
	}
}

static void host_set_topology(json_t *o)
{
	char *online = host_fact("%s/devices/system/cpu/online", sysfs_root()), *dir;
	json_t *topology = json_array(), *caches = json_array(), *nodes = json_array();
	struct cpuset cpus = {0};

	if (!online || cpuset_parse(&cpus, online, NULL))
		cpus = (struct cpuset){0};
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++) {
		if (!cpuset_has(&cpus, cpu))
			continue;
		dir = xasprintf("%s/devices/system/cpu/cpu%u", sysfs_root(), cpu);
		json_array_append_new(topology, topology_cpu(cpu, dir));
		topology_add_caches(cpu, dir, caches);
		free(dir);
	}
	dir = xasprintf("%s/devices/system/node", sysfs_root());
	host_each(dir, topology_add_node, nodes, NULL);
	json_object_set_new(o, "topology", topology);
	json_object_set_new(o, "caches", caches);
	json_object_set_new(o, "nodes", nodes);
	host_set_text(o, "online_cpus", online);
	free(dir);
}

/* --- host.json --- */

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

const char *host_boot_id(void)
{
	static char id[64];
	autofree char *text = NULL;

	if (id[0])
		return id;
	text = host_fact("/proc/sys/kernel/random/boot_id");
	snprintf(id, sizeof(id), "%s", text ? text : "");
	return id;
}

bool host_is_other(const char *dir, const char *boot_id)
{
	autofree char *path = xasprintf("%s/host.json", dir);
	json_auto_t *o = json_load_file(path, 0, NULL);
	const char *boot = json_string_value(json_object_get(o, "boot_id"));

	return boot && strcmp(boot, boot_id);
}

char *host_folder(const char *wanted)
{
	return host_is_other(wanted, host_boot_id()) ? xasprintf("%s-%.8s", wanted, host_boot_id())
						     : xstrdup(wanted);
}

/* --- the facts --- */

static const struct {
	const char *key, *value;
} hypervisors[] = {
	{"KVMKVMKVM", "kvm"},	 {"VMwareVMware", "vmware"}, {"Microsoft Hv", "hyperv"},
	{"XenVMMXenVMM", "xen"}, {"TCGTCGTCGTCG", "qemu"},   {"bhyve bhyve ", "bhyve"},
	{"Linux KVM Hv", "kvm"},
};

char *host_virtualization(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d, sign[4] = {0};

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return NULL;
	if (!(c >> 31 & 1))
		return xstrdup("none");
	__cpuid(0x40000000, a, sign[0], sign[1], sign[2]);
	for (size_t i = 0; i < array_size(hypervisors); i++)
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

	for (int i = 0;; i++) {
		autofree char *dir =
			xasprintf("%s/devices/system/cpu/cpu0/cpuidle/state%d", sysfs_root(), i);
		char *name = host_fact("%s/name", dir);
		json_t *o;

		if (!name)
			return list;
		o = json_object();
		host_set_text(o, "name", name);
		host_set_text(o, "latency_us", host_fact("%s/latency", dir));
		json_array_append_new(list, o);
	}
}

/* Saves only the options of the boot line that influence speed. The rest may be private. */
static const char boot_known[] =
	"mitigations* isolcpus* nohz* rcu_nocb* idle* intel_idle* processor.* intel_pstate* "
	"amd_pstate* cpuidle* iommu* intel_iommu* amd_iommu* hugepage* default_hugepagesz* "
	"transparent_hugepage* preempt* nosmt* threadirqs* irqaffinity* skew_tick* tsc* "
	"clocksource* pcie_aspm* numa* nosoftlockup* spec* pti*";

static void host_set_kernel(json_t *o)
{
	autofree char *line = host_fact("/proc/cmdline");
	char *rest = line, *word;
	struct str found = {0};
	struct utsname u;

	uname(&u);
	json_object_set_new(o, "hostname", json_string(u.nodename));
	json_object_set_new(o, "release", json_string(u.release));
	json_object_set_new(o, "version", json_string(u.version));
	json_object_set_new(o, "arch", json_string(u.machine));
	json_object_set_new(o, "boot_id", json_string(host_boot_id()));
	while ((word = str_token(&rest, ' ')))
		if (str_matches_any(boot_known, word))
			str_printf(&found, "%s%s", found.len ? " " : "", word);
	host_set_text(o, "boot_options", str_take(&found));
}

/* Adds what the kernel does against a flaw of the CPU: {"meltdown": "Mitigation: PTI"}. */
static void host_add_vulnerability(void *o, const char *dir, const char *name, struct error *err)
{
	(void)err;
	host_set_text(o, name, host_fact("%s/%s", dir, name));
}

/* First lines of files below /sys. */
static const struct part facts[] = {
	{"clocksource", "devices/system/clocksource/clocksource0/current_clocksource"},
	{"smt", "devices/system/cpu/smt/control"},
	{"governor", "devices/system/cpu/cpu0/cpufreq/scaling_governor"},
	{"cpufreq_driver", "devices/system/cpu/cpu0/cpufreq/scaling_driver"},
	{"boost", "devices/system/cpu/cpufreq/boost"},
	{"epp", "devices/system/cpu/cpu0/cpufreq/energy_performance_preference"},
	{"turbo_off", "devices/system/cpu/intel_pstate/no_turbo"},
	{"cpuidle_driver", "devices/system/cpu/cpuidle/current_driver"},
	{"cpuidle_governor", "devices/system/cpu/cpuidle/current_governor_ro"},
	{"transparent_hugepage", "kernel/mm/transparent_hugepage/enabled"},
};

int host_write_json(const char *dir, struct error *err)
{
	json_auto_t *o = json_pack("{s:i}", "schema_version", 1);
	autofree char *flaws = xasprintf("%s/devices/system/cpu/vulnerabilities", sysfs_root());
	autofree char *path = xasprintf("%s/host.json", dir);
	json_t *vulnerabilities = json_object();

	host_set_kernel(o);
	host_set_text(o, "cpu_model", host_value("/proc/cpuinfo", "model name"));
	host_set_parts(o, sysfs_root(), facts, array_size(facts));
	host_set_text(o, "memory", host_value("/proc/meminfo", "MemTotal"));
	host_set_text(o, "virtualization", host_virtualization());
	json_object_set_new(o, "cpuidle_states", host_idle_states());
	host_each(flaws, host_add_vulnerability, vulnerabilities, NULL);
	json_object_set_new(o, "vulnerabilities", vulnerabilities);
	host_set_topology(o);
	return json_write(path, o, JSON_INDENT(2), err);
}
