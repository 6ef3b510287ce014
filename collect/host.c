// SPDX-License-Identifier: GPL-2.0-only
/*
 * Facts of the host, saved once per capture and before the workload starts, outside every window.
 * Each file is written whole or not at all, because two sides on one host may save facts at the
 * same time.
 */
#include "collect/host.h"

#include "collect/collect.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

const char *sysfs_root(void)
{
	const char *root = getenv("ZCOST_SYSFS");

	return root && *root ? root : "/sys";
}

const char *proc_root(void)
{
	const char *root = getenv("ZCOST_PROC");

	return root && *root ? root : "/proc";
}

bool host_has_program(const char *name)
{
	char *dirs = xstrdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin"), *rest = dirs;
	char *dir;
	bool found = false;

	while (!found && (dir = str_token(&rest, ':'))) {
		char *path = xasprintf("%s/%s", *dir ? dir : ".", name);

		found = !access(path, X_OK);
		free(path);
	}
	free(dirs);
	return found;
}

/* --- settings --- */

enum { DEPTH = 6 };

static const char root[] = "/proc/sys/";

/* The settings in kernel/ that influence measurements. */
static const char *const kernel[] = {"perf_",	 "sched_",	  "nmi_watchdog", "watchdog",
				     "numa_",	 "kptr_restrict", "timer_",	  "pid_max",
				     "threads-", "unprivileged_", "ftrace",	  "soft_watchdog"};

/* Sets the error where the machine failed. A setting that refuses to be read is no error. */
static void sysctls_add_file(struct str *out, const char *path, struct error *err)
{
	const char *name = path + strlen(root);
	struct error why = {0};
	char *text, *line, *rest;
	size_t len;

	if (file_read(path, &text, &len, &why)) {
		if (error_of_machine(why.code) && why.code != EIO)
			error_set(err, why.code, "%s", why.text);
		return;
	}
	for (rest = text; (line = str_token(&rest, '\n'));) {
		if (!*line && out->len)
			continue;
		for (char *p = line; *p; p++)
			*p = *p == '\t' ? ' ' : *p;
		for (const char *p = name; *p; p++)
			str_putc(out, *p == '/' ? '.' : *p);
		str_printf(out, " = %s\n", str_trim(line));
	}
	free(text);
}

/* Skips secrets, and the settings of single interfaces: a host may have hundreds, all the same. */
static bool sysctls_skips(const char *dir, const char *name)
{
	bool per_interface = str_ends(dir, "/conf") || str_ends(dir, "/neigh");

	if (strstr(name, "key") || strstr(name, "secret"))
		return true;
	return name[0] == '.' || (per_interface && strcmp(name, "all") && strcmp(name, "default"));
}

static void sysctls_add_folder(struct str *out, const char *dir, int depth, struct error *err)
{
	struct dirent **entries;
	int i, n = depth ? scandir(dir, &entries, NULL, alphasort) : 0;

	if (n < 0 && error_of_machine(errno))
		error_sys(err, errno, "%s: cannot read", dir);

	for (i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, entries[i]->d_name);

		if (sysctls_skips(dir, entries[i]->d_name))
			;
		else if (path_is_dir(path))
			sysctls_add_folder(out, path, depth - 1, err);
		else
			sysctls_add_file(out, path, err);
		free(path);
		free(entries[i]);
	}
	if (depth && n >= 0)
		free(entries);
}

static void sysctls_add_kernel(struct str *out, struct error *err)
{
	struct dirent **entries;
	int i, n = scandir("/proc/sys/kernel", &entries, NULL, alphasort);
	size_t k;

	if (n < 0 && error_of_machine(errno))
		error_sys(err, errno, "/proc/sys/kernel: cannot read");

	for (i = 0; i < n; i++) {
		char *path = xasprintf("%skernel/%s", root, entries[i]->d_name);

		for (k = 0; k < array_size(kernel); k++)
			if (str_starts(entries[i]->d_name, kernel[k]) && !path_is_dir(path))
				sysctls_add_file(out, path, err);
		free(path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

void host_add_net_sysctls(struct str *out, struct error *err)
{
	sysctls_add_folder(out, "/proc/sys/net", DEPTH, err);
}

/* Writes `sysctls`: the network's settings, and those that influence measurements. */
static int host_write_sysctls(const char *dir, struct error *err)
{
	char *path = xasprintf("%s/sysctls", dir);
	struct error lost = {0};
	struct str out = {0};
	int rc;

	sysctls_add_kernel(&out, &lost);
	host_add_net_sysctls(&out, &lost);
	rc = file_write(path, out.buf ? out.buf : "", out.len, err);
	if (!rc && lost.code)
		rc = error_set(err, lost.code, "%s", lost.text);
	str_free(&out);
	free(path);
	return rc;
}

/* --- plain copies --- */

static const struct {
	const char *from, *to;
	bool must;
} copies[] = {
	{"/proc/kallsyms", "kallsyms", true},
	{"/proc/modules", "modules", false}, /* missing where the kernel has no modules */
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

		if (host_save_copy(copies[i].from, to, &err) &&
		    (copies[i].must || err.code != ENOENT))
			collect_degraded(c, "%s", err.text);
		free(to);
	}
}

/*
 * Says whether kallsyms holds addresses: for a process without the right to see them, all are 0.
 * One symbol at 0 proves nothing: before Linux 6.15 the per-CPU symbols, which come first on x86,
 * start at 0.
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

static int host_unpack_config(const char *to, struct error *err)
{
	char *argv[] = {"gzip", "-dc", "/proc/config.gz", NULL};
	char *tmp = remains_name(to);
	int fd = file_create(tmp, 0, 0600);
	struct spawn opts = {.out = fd};
	int rc = file_replace(fd, tmp, to, fd < 0 ? fd : spawn_run(argv, &opts, err));

	free(tmp);
	return rc ? error_sys(err, -rc, "%s: cannot write", to) : 0;
}

/* Saves the kernel's configuration where it can be found. Its absence is no loss. */
static void host_save_config(struct collect *c, const char *dir)
{
	static const char *const places[] = {"/boot/config-%s", "/lib/modules/%s/config",
					     "/usr/lib/modules/%s/config"};
	char *to = xasprintf("%s/config", dir), from[300];
	struct utsname u;
	struct error err = {0};
	bool done = !access("/proc/config.gz", R_OK) && !host_unpack_config(to, &err);
	size_t i;

	uname(&u);
	for (i = 0; i < array_size(places) && !done; i++) {
		snprintf(from, sizeof(from), places[i], u.release);
		done = !host_save_copy(from, to, &err);
	}
	if (!done && error_of_machine(err.code))
		collect_degraded(c, "%s", err.text);
	free(to);
}

/* --- the collector --- */

/* Says whether the facts are there. Facts without addresses of the kernel are saved again. */
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
		collect_degraded(
			c,
			"/proc/kallsyms holds no addresses, so kernel functions will have no names: run as root, and set kernel.kptr_restrict to 0 or 1");
	host_save_config(c, dir);
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
 * Opens the workload's network namespace, when it is another than ours, as under `ip netns exec`.
 * Its interfaces are read after the run.
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
	.passes = PASS_EVERY,
	.prepare = host_prepare,
	.start = host_start,
	.finish = host_finish,
};
