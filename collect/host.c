// SPDX-License-Identifier: GPL-2.0-only
/*
 * Facts of the host, once per capture and before the workload starts, so that nothing of it falls
 * into a window. Each file is written whole or not at all: two sides on one host may do this at
 * the same time.
 */
#include "collect/host.h"

#include "collect/collect.h"
#include "collect/run.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* --- plain copies --- */

static const struct {
	const char *from, *to;
	bool must;
} copies[] = {
	{"/proc/kallsyms", "kallsyms", true},
	{"/proc/modules", "modules", false}, /* none where the kernel has no modules */
	{"/sys/kernel/notes", "notes", true},
	{"/proc/cpuinfo", "cpuinfo", true},
};

static int host_save_copy(const char *from, const char *to, struct error *err)
{
	char *data;
	size_t len;
	int rc = file_read(from, &data, &len, err);

	if (rc)
		return rc;
	rc = file_write(to, data, len, err);
	free(data);
	return rc;
}

static void host_save_copies(struct collect *c)
{
	size_t i;

	for (i = 0; i < array_size(copies); i++) {
		char *to = xasprintf("%s/%s", c->run->hosts, copies[i].to);
		struct error err = {0};

		if (host_save_copy(copies[i].from, to, &err) && copies[i].must)
			collect_degraded(c, "%s", err.text);
		free(to);
	}
}

/*
 * Without addresses, as for whom the kernel does not trust, it names nothing. A symbol at 0 says
 * nothing: before 6.15 the first on x86 are those of the CPUs' own data, which start there.
 */
static bool host_has_addresses(const char *dir)
{
	char *path = xasprintf("%s/kallsyms", dir), some[4096], *rest = some, *line;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, some, sizeof(some) - 1) : 0;
	bool there = false;

	some[n > 0 ? n : 0] = '\0';
	while (!there && (line = str_token(&rest, '\n')))
		there = strspn(line, "0") < strspn(line, "0123456789abcdef");
	if (fd >= 0)
		close(fd);
	free(path);
	return there;
}

/* --- the kernel's configuration --- */

static bool host_unpack_config(const char *to)
{
	char *argv[] = {"gzip", "-dc", "/proc/config.gz", NULL};
	char *tmp = xasprintf("%s.tmp.%d", to, (int)getpid());
	int fd = file_create(tmp, 0, 0600);
	struct spawn opts = {.out = fd};
	bool done = fd >= 0 && !spawn_run(argv, &opts, NULL) && !rename(tmp, to);

	if (fd >= 0)
		close(fd);
	if (!done)
		unlink(tmp);
	free(tmp);
	return done;
}

/* A configuration is good to have, no more: its absence is no loss. */
static void host_save_config(const char *dir)
{
	static const char *const places[] = {"/boot/config-%s", "/lib/modules/%s/config",
					     "/usr/lib/modules/%s/config"};
	char *to = xasprintf("%s/config", dir), from[300];
	struct utsname u;
	bool done = path_exists("/proc/config.gz") && host_unpack_config(to);
	size_t i;

	uname(&u);
	for (i = 0; i < array_size(places) && !done; i++) {
		snprintf(from, sizeof(from), places[i], u.release);
		done = !host_save_copy(from, to, NULL);
	}
	free(to);
}

/* --- the collector --- */

/* Facts saved without the right to see addresses are worth saving again. */
static bool host_is_complete(const char *dir)
{
	char *path = xasprintf("%s/host.json", dir);
	bool there = path_exists(path) && host_has_addresses(dir);

	free(path);
	return there;
}

static void host_save_facts(struct collect *c)
{
	const char *dir = c->run->hosts;
	struct error err = {0};

	host_save_copies(c);
	if (!host_has_addresses(dir))
		collect_degraded(c, "/proc/kallsyms holds no addresses, so kernel functions will "
				    "have no names: run as root, and set kernel.kptr_restrict to 0 "
				    "or 1");
	host_save_config(dir);
	if (host_write_sysctls(dir, &err) || host_write_json(dir, &err))
		collect_degraded(c, "%s", err.text);
}

static int host_prepare(struct collect *c)
{
	struct error err = {0};

	if (dir_make(c->run->hosts, &c->err))
		return -c->err.code;
	if (!host_is_complete(c->run->hosts))
		host_save_facts(c);
	if (host_write_nics(c->run->hosts, &err))
		collect_degraded(c, "%s", err.text);
	return 0;
}

/*
 * The workload may live in a network namespace of its own, as under `ip netns exec`: remember it
 * while it is there, to look at its interfaces when all is over.
 */
static int host_start(struct collect *c)
{
	char *path = xasprintf("/proc/%d/ns/net", (int)c->run->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat its, ours;

	free(path);
	if (fd < 0)
		return 0;
	if (fstat(fd, &its) || stat("/proc/self/ns/net", &ours) || its.st_ino == ours.st_ino)
		close(fd);
	else
		c->data = xmemdup(&fd, sizeof(fd));
	return 0;
}

static void host_finish(struct collect *c)
{
	if (!c->data)
		return;
	host_write_nics_of(c->run->hosts, *(int *)c->data);
	close(*(int *)c->data);
	free(c->data);
}

const struct collector collector_host = {
	.name = "host",
	.what = "kernel symbols, configuration, topology, sysctls, NICs: once per capture",
	.when = APART,
	.prepare = host_prepare,
	.start = host_start,
	.finish = host_finish,
};
