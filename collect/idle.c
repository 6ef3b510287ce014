// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which idle states the side's CPUs were in, how often and how long. The collector cpu has idle and
 * iowait time.
 */
#include "collect/host.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * Idle states are devices/system/cpu/cpu<n>/cpuidle/state<m>/ below /sys. The folder vanishes when
 * its CPU goes offline, so a file may have to be opened again.
 */

struct idle_state {
	unsigned int cpu, number;
	char *dir, *name; /* "C1"; a name may hold blanks */
	int usage, time;  /* open files; -1: not open */
};

struct idle_states {
	struct idle_state *s;
	size_t n, cap;
	struct error failed; /* a state's name that the machine could not read */
};

enum { STATES = 32 }; /* the most of one CPU; the kernel has at most 10 */

static bool idle_add_state(struct idle_states *list, unsigned int cpu, unsigned int number)
{
	char *dir =
		xasprintf("%s/devices/system/cpu/cpu%u/cpuidle/state%u", sysfs_root(), cpu, number);
	char *name;

	if (!path_is_dir(dir)) {
		free(dir);
		return false;
	}
	name = host_label(&list->failed, "%s/name", dir) ?: xasprintf("state%u", number);
	str_replace(name, '\t', ' ');
	array_add(list->s, list->n, list->cap, (struct idle_state){cpu, number, dir, name, -1, -1});
	return true;
}

/* Adds a tab and the number in the file, which it opens. Returns false when it cannot be read. */
static bool idle_add_number(struct str *rows, int *fd, const char *dir, const char *name)
{
	autofree char *path = xasprintf("%s/%s", dir, name);
	char text[32];
	ssize_t n;

	if (*fd < 0)
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	n = *fd < 0 ? -1 : pread(*fd, text, sizeof(text) - 1, 0);
	if (n > 0) {
		text[n] = '\0';
		str_printf(rows, "\t%.*s", (int)strcspn(text, "\n"), text);
		return true;
	}
	fd_close(fd);
	return false;
}

/*
 * Adds a row "cpu<tab>number<tab>name<tab>entries<tab>us" for every state that can be read, and
 * opens files that are not open. Returns how many states could not be read.
 */
static size_t idle_add_rows(struct idle_states *list, struct str *rows)
{
	size_t before, missing = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct idle_state *s = &list->s[i];

		before = rows->len;
		str_printf(rows, "%u\t%u\t%s", s->cpu, s->number, s->name);
		if (idle_add_number(rows, &s->usage, s->dir, "usage") &&
		    idle_add_number(rows, &s->time, s->dir, "time")) {
			str_putc(rows, '\n');
		} else {
			rows->buf[rows->len = before] = '\0';
			missing++;
		}
	}
	return missing;
}

/* --- the collector --- */

static int idle_set_none(struct error *err)
{
	autofree char *driver =
		host_fact("%s/devices/system/cpu/cpuidle/current_driver", sysfs_root());

	return error_set(
		err, ENODEV,
		"the cpuidle driver %s reports no states of these CPUs: in a virtual machine the host has them; on hardware, cpuidle.off=1, idle=poll or idle=halt on the kernel's command line turn them off. /proc/stat still has idle and iowait time",
		driver ? driver : "none");
}

static int idle_probe(struct collect *c)
{
	struct idle_states states = {0};

	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		for (unsigned int number = 0; cpuset_has(&c->run->cpus, cpu) && number < STATES;
		     number++)
			if (!idle_add_state(&states, cpu, number))
				break;
	if (!states.n)
		return idle_set_none(&c->err);
	if (states.failed.code)
		collect_degraded(c, "%s", states.failed.text);
	c->data = xmemdup(&states, sizeof(states));
	return 0;
}

static int idle_before(struct collect *c)
{
	idle_add_rows(c->data, &c->reading.text);
	return 0;
}

static int idle_read(struct collect *c)
{
	struct idle_states *states = c->data;

	if (idle_add_rows(states, &c->reading.text) == states->n)
		return error_set(&c->err, EIO, "no CPU's idle states can be read any more");
	return 0;
}

static void idle_finish(struct collect *c)
{
	autofree struct idle_states *list = c->data;

	array_free(e, list->s, list->n, fd_close(&e->usage), fd_close(&e->time), free(e->dir),
		   free(e->name));
}

const struct collector collector_idle = {
	.name = "idle",
	.what = "idle states of the side's CPUs: entries and time",
	.files = {"idle.snap"},
	.when = DATED,
	.passes = PASS_MEASURE,
	.probe = idle_probe,
	.before = idle_before,
	.read = idle_read,
	.finish = idle_finish,
};
