// SPDX-License-Identifier: GPL-2.0-only
/*
 * What slowed the side's CPUs: the processors' own heat counters, and the quotas of the workload's
 * cgroup and of the groups above it. A reading has one line for each, "cpu1 core_throttle_count 12"
 * or "/a/b nr_throttled 3". It is taken at both ends of the window, from files that stay open.
 */
#include "collect/collect.h"

#include "collect/host.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <fcntl.h>
#include <unistd.h>

struct source {
	char *label; /* the CPU and counter, or the cgroup */
	int fd;
};

struct throttle {
	struct source *s;
	size_t n, cap;
	uint64_t last; /* hash of the groups that the process before is in */
};

static const char *const heat[] = {"core_throttle_count", "core_throttle_total_time_ms",
				   "package_throttle_count", "package_throttle_total_time_ms"};

static void throttle_add(struct throttle *t, const char *path, const char *label)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		array_add(t->s, t->n, t->cap, (struct source){xstrdup(label), fd});
}

static void throttle_find_heat(struct throttle *t, const struct run *r)
{
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		for (size_t i = 0; cpuset_has(&r->cpus, cpu) && i < array_size(heat); i++) {
			autofree char *label = xasprintf("cpu%u %s", cpu, heat[i]);
			autofree char *path =
				xasprintf("%s/devices/system/cpu/cpu%u/thermal_throttle/%s",
					  sysfs_root(), cpu, heat[i]);

			throttle_add(t, path, label);
		}
}

static bool throttle_has(const struct throttle *t, const char *label)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->s[i].label, label))
			return true;
	return false;
}

/*
 * Adds the group and all groups above it that count periods of a quota. A container sees its own
 * group as "/". `group` is cut on the way up.
 */
static void throttle_add_groups(struct throttle *t, const char *hierarchy, char *group)
{
	char *slash;

	while (*group && !throttle_has(t, group)) {
		autofree char *text = NULL, *path = xasprintf("%s/fs/cgroup%s%s/cpu.stat",
							      sysfs_root(), hierarchy, group);

		if (!file_read(path, &text, NULL, NULL) && strstr(text, "nr_throttled"))
			throttle_add(t, path, group);
		slash = strrchr(group, '/');
		slash[slash == group && group[1]] = 0;
	}
}

static bool throttle_has_cpu(const char *controllers)
{
	autofree char *words = xstrdup(controllers);

	str_replace(words, ',', ' ');
	return str_matches_any(words, "cpu");
}

/*
 * Lines of /proc/PID/cgroup: "0::/a/b" is the unified hierarchy, "4:cpu,cpuacct:/a/b" the older
 * one, mounted by its controllers' names.
 */
static void throttle_find_quota(struct throttle *t, pid_t pid)
{
	autofree char *path =
		pid ? xasprintf("/proc/%d/cgroup", (int)pid) : xstrdup("/proc/self/cgroup");
	autofree char *text = NULL;
	char *rest, *line, *controllers;

	if (!file_read(path, &text, NULL, NULL) && t->last != hash_bytes(text, strlen(text), 1)) {
		t->last = hash_bytes(text, strlen(text), 1);
		rest = text;
		while ((line = str_token(&rest, '\n'))) {
			autofree char *hierarchy = NULL;

			str_token(&line, ':');
			controllers = line ? str_token(&line, ':') : NULL;
			if (!line || (*controllers && !throttle_has_cpu(controllers)))
				continue;
			hierarchy = xasprintf("%s%s", *controllers ? "/" : "", controllers);
			throttle_add_groups(t, hierarchy, line);
		}
	}
}

static int throttle_prepare(struct collect *c)
{
	struct throttle *t = c->data = xcalloc(1, sizeof(*t));

	throttle_find_heat(t, c->run);
	throttle_find_quota(t, 0);
	return 0;
}

static int throttle_read(struct collect *c)
{
	struct throttle *t = c->data;
	char content[1024], *line;

	for (size_t i = 0; i < t->n; i++) {
		ssize_t len = pread(t->s[i].fd, content, sizeof(content) - 1, 0);

		if (len < 0) /* the CPU went offline, the group was removed */
			continue;
		content[len] = '\0';
		for (char *rest = content; (line = str_token(&rest, '\n'));)
			if (*line)
				str_printf(&c->reading.text, "%s %s\n", t->s[i].label, line);
	}
	return 0;
}

/* The workload may have entered other groups since `prepare`. */
static int throttle_before(struct collect *c)
{
	const struct tree *tree = tree_of(c->run);

	for (size_t i = 0; i < tree->nprocesses; i++)
		throttle_find_quota(c->data, tree->processes[i].pid);
	return 0;
}

static void throttle_finish(struct collect *c)
{
	autofree struct throttle *t = c->data;

	if (!t->n) {
		c->state = COLLECT_UNSUPPORTED;
		collect_why(
			c,
			"the CPUs count no thermal throttling (no thermal_throttle in sysfs), and the workload was in no cgroup with a CPU quota");
	}
	array_free(e, t->s, t->n, close(e->fd), free(e->label));
}

const struct collector collector_throttle = {
	.name = "throttle",
	.what = "CPU throttling: by heat, by a cgroup's quota",
	.files = {"throttle.snap"},
	.passes = PASS_EVERY,
	.always_due = true,
	.prepare = throttle_prepare,
	.before = throttle_before,
	.read = throttle_read,
	.finish = throttle_finish,
};
