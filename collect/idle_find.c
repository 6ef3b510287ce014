// SPDX-License-Identifier: GPL-2.0-only
#include "collect/idle_find.h"

#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATES = 32 }; /* of one CPU; the kernel has 10 */

static bool idle_add_state(struct idle_states *list, const char *root, unsigned int cpu,
			   unsigned int number)
{
	char *dir = xasprintf("%s/devices/system/cpu/cpu%u/cpuidle/state%u", root, cpu, number);
	char *path = xasprintf("%s/name", dir), *name = NULL;

	if (path_is_dir(dir))
		name = host_fact(path);
	free(path);
	if (!path_is_dir(dir)) {
		free(dir);
		return false;
	}
	for (path = name ? name : (name = xasprintf("state%u", number)); *path; path++)
		if (*path == '\t')
			*path = ' ';
	array_grow(list->s, list->n, list->cap);
	list->s[list->n++] = (struct idle_state){cpu, number, dir, name, -1, -1};
	return true;
}

void idle_find(struct idle_states *list, const char *root, const struct cpuset *cpus)
{
	unsigned int cpu, number;

	for (cpu = 0; cpu < CPUSET_MAX; cpu++) {
		if (!cpuset_has(cpus, cpu))
			continue;
		for (number = 0; number < STATES; number++)
			if (!idle_add_state(list, root, cpu, number))
				break;
	}
}

static void idle_close_state(struct idle_state *s)
{
	if (s->usage >= 0)
		close(s->usage);
	if (s->time >= 0)
		close(s->time);
	s->usage = s->time = -1;
}

void idle_free(struct idle_states *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		idle_close_state(&list->s[i]);
		free(list->s[i].dir);
		free(list->s[i].name);
	}
	free(list->s);
	*list = (struct idle_states){0};
}

static int idle_open_file(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	return fd;
}

/* The number in the file, without its newline; NULL: it cannot be read. */
static const char *idle_read_number(int *fd, const char *dir, const char *name, char text[32])
{
	ssize_t n;

	if (*fd < 0)
		*fd = idle_open_file(dir, name);
	n = *fd < 0 ? -1 : pread(*fd, text, 31, 0);
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

size_t idle_read(struct idle_states *list, struct str *rows)
{
	char usage[32], time[32];
	size_t i, missing = 0;

	for (i = 0; i < list->n; i++) {
		struct idle_state *s = &list->s[i];

		if (idle_read_number(&s->usage, s->dir, "usage", usage) &&
		    idle_read_number(&s->time, s->dir, "time", time)) {
			str_printf(rows, "%u\t%u\t%s\t%s\t%s\n", s->cpu, s->number, s->name, usage,
				   time);
		} else {
			idle_close_state(s);
			missing++;
		}
	}
	return missing;
}

char *idle_why(const char *root)
{
	char *path = xasprintf("%s/devices/system/cpu/cpuidle/current_driver", root);
	char *driver = host_fact(path), *why;

	if (!driver || !strcmp(driver, "none"))
		why = xasprintf(
			"the kernel has no cpuidle driver in use: in a virtual machine the "
			"host has the idle states; on hardware, cpuidle.off=1, idle=poll or "
			"idle=halt on the kernel's command line turn it off. Idle and iowait "
			"are known from /proc/stat all the same");
	else
		why = xasprintf("the cpuidle driver %s tells no states of these CPUs (no "
				"cpu<n>/cpuidle in sysfs)",
				driver);
	free(driver);
	free(path);
	return why;
}
