// SPDX-License-Identifier: GPL-2.0-only
#include "collect/host.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INTERFACES = 64 }; /* enough for a host full of containers */

static const char class[] = "/sys/class/net";

/* Files with numbers and words only: no network address is saved. */
static const char *const facts[] = {"mtu",
				    "operstate",
				    "speed",
				    "duplex",
				    "tx_queue_len",
				    "gro_flush_timeout",
				    "threaded",
				    "napi_defer_hard_irqs",
				    "type",
				    "device/numa_node",
				    "device/local_cpulist",
				    "device/current_link_speed",
				    "device/current_link_width",
				    "device/vendor",
				    "device/device"};

static const char *const ethtool_options[] = {"-i", "-k", "-g", "-c", "-l"};

/* Adds the number of queues/rx-* or queues/tx-*, where it can be read. */
static void host_nics_add_queues(struct str *s, const char *name, const char *kind)
{
	char *path = xasprintf("%s/%s/queues", class, name);
	DIR *dir = opendir(path);
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)))
		n += str_starts(e->d_name, kind);
	if (dir && !closedir(dir))
		str_printf(s, "%.2s_queues = %d\n", kind, n);
	free(path);
}

static int host_nics_save_facts(const char *name, const char *dir, struct error *err)
{
	char *to = xasprintf("%s/sysfs", dir);
	struct str s = {0};
	size_t i;
	int rc;

	for (i = 0; i < array_size(facts); i++) {
		char *v = host_fact("%s/%s/%s", class, name, facts[i]);

		if (v)
			str_printf(&s, "%s = %s\n", facts[i], v);
		free(v);
	}
	host_nics_add_queues(&s, name, "rx-");
	host_nics_add_queues(&s, name, "tx-");
	rc = file_write(to, s.buf ? s.buf : "", s.len, err);
	str_free(&s);
	free(to);
	return rc;
}

/* Returns 0 also without ethtool, and where the driver has no answer: then there is no file. */
static int host_nics_run_ethtool(char *const argv[], const char *to, struct error *err)
{
	int fd = file_create(to, 0, 0600), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct spawn opts = {.out = fd, .err = null};
	struct error why = {0};
	int rc = fd < 0 || null < 0 ? error_sys(err, errno, "%s: cannot write", to) : 0;

	if (!rc && spawn_run(argv, &opts, &why)) {
		if (unlink(to))
			rc = error_sys(err, errno, "%s: cannot remove", to);
		else if (why.code != ENOENT && why.code != EIO) /* EIO: it exited with an error */
			rc = error_set(err, why.code, "%s: %s", to, why.text);
	}
	if (fd >= 0)
		close(fd);
	if (null >= 0)
		close(null);
	return rc;
}

static int host_nics_save_ethtool(const char *name, const char *dir, struct error *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < array_size(ethtool_options) && !rc; i++) {
		char *argv[] = {"ethtool", (char *)ethtool_options[i], (char *)name, NULL};
		char *to = xasprintf("%s/ethtool%s", dir, ethtool_options[i]);

		rc = host_nics_run_ethtool(argv, to, err);
		free(to);
	}
	return rc;
}

/* A folder with a part of the facts would pass for all of them. */
static int host_nics_save_one(const char *hosts, const char *name, struct error *err)
{
	char *dir = xasprintf("%s/nic/%s", hosts, name);
	int rc = 0;

	if (!path_exists(dir)) {
		rc = dir_make(dir, err);
		if (!rc)
			rc = host_nics_save_ethtool(name, dir, err);
		if (!rc)
			rc = host_nics_save_facts(name, dir, err);
		if (rc)
			dir_remove(dir, NULL);
	}
	free(dir);
	return rc;
}

int host_write_nics(const char *hosts, struct error *err)
{
	struct dirent **entries;
	int i, n = scandir(class, &entries, NULL, versionsort);
	int rc = n < 0 && errno != ENOENT ? error_sys(err, errno, "%s: cannot read", class) : 0;

	for (i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (!rc && i < INTERFACES && name[0] != '.' && strcmp(name, "bonding_masters"))
			rc = host_nics_save_one(hosts, name, err);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return rc;
}

/* Runs in a child, which has its own mounts: enters the namespace and mounts its sysfs. */
static void host_nics_child(const char *hosts, int netns)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    setns(netns, CLONE_NEWNET) || mount("sysfs", "/sys", "sysfs", 0, NULL))
		_exit(1);
	_exit(host_write_nics(hosts, NULL) ? 1 : 0);
}

void host_write_nics_of(const char *hosts, int netns)
{
	pid_t pid = fork();

	if (!pid)
		host_nics_child(hosts, netns);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}
