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

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
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
	char path[PATH_MAX];

	return spawn_find_program(name, path);
}

void host_each(const char *dir, host_entry *each, void *arg, struct error *err)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, versionsort);

	if (n < 0 && error_of_machine(errno))
		error_sys(err, errno, "%s: cannot read", dir);
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.')
			each (arg, dir, entries[i]->d_name, err)
				;
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

char *host_label(struct error *err, const char *fmt, ...)
{
	autofree char *path = xformat(fmt), *text = NULL;
	char *rest, *line = NULL;
	struct error why = {0};

	if (!file_read(path, &text, NULL, &why)) {
		rest = text;
		line = str_trim(str_token(&rest, '\n'));
		line = *line ? xstrdup(line) : NULL;
	}
	if (error_of_machine(why.code))
		error_set(err, why.code, "%s", why.text);
	return line;
}

double host_sysctl_number(const char *name, int n)
{
	autofree char *path = xstrdup(name), *line = NULL;
	double value = -1;
	char *end;

	str_replace(path, '.', '/');
	line = host_fact("%s/sys/%s", proc_root(), path);
	for (char *p = line; p && n >= 0; n--, p = end) {
		value = strtod(p, &end);
		if (end == p)
			return -1;
	}
	return value;
}

/* --- settings --- */

static const char root[] = "/proc/sys/";

/* The settings in kernel/ that influence measurements. */
static const char kernel[] =
	"perf_* sched_* nmi_watchdog* watchdog* numa_* kptr_restrict* timer_* pid_max* threads-* "
	"unprivileged_* ftrace* soft_watchdog*";

/* Sets the error where the machine failed. A setting that refuses to be read is no error. */
static void sysctls_add_file(struct str *out, const char *path, struct error *err)
{
	autofree char *name = xstrdup(path + strlen(root)), *text = NULL;
	char *line;
	struct error why = {0};

	str_replace(name, '/', '.');
	if (file_read(path, &text, NULL, &why)) {
		if (error_of_machine(why.code) && why.code != EIO)
			error_set(err, why.code, "%s", why.text);
		return;
	}
	for (char *rest = text; (line = str_token(&rest, '\n'));) {
		str_replace(line, '\t', ' ');
		if (*line || !out->len)
			str_printf(out, "%s = %s\n", name, str_trim(line));
	}
}

/* Skips secrets, and the settings of single interfaces: a host may have hundreds, all the same. */
static bool sysctls_skips(const char *dir, const char *name)
{
	bool per_interface = str_ends(dir, "/conf") || str_ends(dir, "/neigh");

	return strstr(name, "key") || strstr(name, "secret") ||
	       (per_interface && strcmp(name, "all") && strcmp(name, "default")) ||
	       (str_ends(dir, "/kernel") && !str_matches_any(kernel, name));
}

static void sysctls_add(void *out, const char *dir, const char *name, struct error *err)
{
	autofree char *path = xasprintf("%s/%s", dir, name);

	if (sysctls_skips(dir, name))
		;
	else if (!path_is_dir(path))
		sysctls_add_file(out, path, err);
	else if (!str_ends(dir, "/kernel"))
		host_each(path, sysctls_add, out, err);
}

void host_add_net_sysctls(struct str *out, struct error *err)
{
	host_each("/proc/sys/net", sysctls_add, out, err);
}

/* Writes `sysctls`: the network's settings, and those that influence measurements. */
static int host_write_sysctls(const char *dir, struct error *err)
{
	autofree char *path = xasprintf("%s/sysctls", dir);
	struct error lost = {0};
	freed(str_free) struct str out = {0};
	int rc;

	host_each("/proc/sys/kernel", sysctls_add, &out, &lost);
	host_add_net_sysctls(&out, &lost);
	rc = file_write(path, out.buf ? out.buf : "", out.len, err);
	if (!rc && lost.code)
		rc = error_set(err, lost.code, "%s", lost.text);
	return rc;
}

/* --- plain copies --- */

static const struct {
	const char *from, *to;
	bool must, symbols;
} copies[] = {
	/* A module that is loaded meanwhile is not in the list, so it counts as new later. */
	{"/proc/modules", "modules", false, false}, /* missing where the kernel has no modules */
	{"/proc/kallsyms", "kallsyms", true, true},
	{"/sys/kernel/notes", "notes", true, true},
	{"/proc/cpuinfo", "cpuinfo", true, false},
};

/* Saves all of them, or those with the kernel's symbols alone. */
static void host_save_copies(struct collect *c, const char *dir, bool symbols_alone)
{
	for (size_t i = 0; i < array_size(copies); i++) {
		autofree char *to = xasprintf("%s/%s", dir, copies[i].to);
		struct error err = {0};

		if (symbols_alone && !copies[i].symbols)
			continue;
		if (file_copy(copies[i].from, to, &err) && (copies[i].must || err.code != ENOENT))
			collect_degraded(c, "%s", err.text);
	}
}

bool host_has_addresses(const char *dir)
{
	autofree char *path = xasprintf("%s/kallsyms", dir);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char some[4096], *rest = some, *line;
	ssize_t n = fd >= 0 ? read(fd, some, sizeof(some) - 1) : 0;
	bool there = false;

	some[n > 0 ? n : 0] = '\0';
	while (!there && (line = str_token(&rest, '\n')))
		there = strspn(line, "0") < strspn(line, "0123456789abcdef");
	return there;
}

/* --- modules that come later --- */

struct module_place {
	char name[64];
	unsigned long long size, address;
};

/* Parses a line of /proc/modules. What it counts in between changes all the time. */
static bool module_parse(const char *line, struct module_place *m)
{
	return sscanf(line, "%63s %llu %*s %*s %*s %llx", m->name, &m->size, &m->address) == 3;
}

/* Returns whether each module of a list is in the other one, at the same place. */
static bool modules_contain(const char *all, const char *list)
{
	struct module_place m, of;
	bool found = true;

	for (; found && list; list = strchr(list, '\n'), list += list ? 1 : 0) {
		if (!module_parse(list, &m))
			continue;
		found = false;
		for (const char *at = all; at && !found; at = strchr(at, '\n'), at += at ? 1 : 0)
			found = module_parse(at, &of) && !strcmp(of.name, m.name) &&
				of.size == m.size && of.address == m.address;
	}
	return found;
}

/*
 * The workload, a setting or a collector may load modules. If all earlier ones are where they were,
 * the symbols of now serve the earlier runs, too, and else this run alone.
 */
static void host_follow_modules(struct collect *c)
{
	autofree char *then = xasprintf("%s/modules", c->run->hosts), *saved = NULL;
	autofree char *path = xasprintf("%s/modules", proc_root()), *now = NULL;

	file_read(then, &saved, NULL, NULL);
	if (file_read(path, &now, NULL, NULL) || modules_contain(saved ?: "", now))
		return;
	if (modules_contain(now, saved ?: ""))
		host_save_copies(c, c->run->hosts, false);
	else
		host_save_copies(c, c->run->dir, true);
}

/* --- the kernel's configuration --- */

static int host_unpack_config(const char *to, struct error *err)
{
	char *argv[] = {"gzip", "-dc", "/proc/config.gz", NULL};
	autofree char *tmp = remains_name(to);
	int fd = file_create(tmp, 0, 0600);
	struct spawn opts = {.out = fd};
	int rc = file_replace(fd, tmp, to, fd < 0 ? fd : spawn_run(argv, &opts, err));

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

	uname(&u);
	for (size_t i = 0; i < array_size(places) && !done; i++) {
		snprintf(from, sizeof(from), places[i], u.release);
		done = !file_copy(from, to, &err);
	}
	if (!done && error_of_machine(err.code))
		collect_degraded(c, "%s", err.text);
	free(to);
}

/* --- interfaces --- */

/*
 * Files with numbers and words only: no network address is saved. Rings, channels and offloads are
 * in the nic_state.tsv of each run.
 */
// clang-format off
static const char *const nic_facts[] = {
	"mtu", "operstate", "speed", "duplex", "tx_queue_len", "gro_flush_timeout", "threaded",
	"napi_defer_hard_irqs", "type", "device/numa_node", "device/local_cpulist",
	"device/current_link_speed", "device/current_link_width", "device/vendor",
	"device/device"};
// clang-format on

/* Adds the number of queues/rx-* or queues/tx-*, where it can be read. */
static void host_nics_add_queues(struct str *s, const char *class, const char *name,
				 const char *kind)
{
	autofree char *path = xasprintf("%s/%s/queues", class, name);
	DIR *dir = opendir(path);
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)))
		n += str_starts(e->d_name, kind);
	if (dir && !closedir(dir))
		str_printf(s, "%.2s_queues = %d\n", kind, n);
}

/* Writes nic/<if>/sysfs, unless it is there. */
static void host_nics_save(void *hosts, const char *class, const char *name, struct error *err)
{
	autofree char *dir = xasprintf("%s/nic/%s", (const char *)hosts, name);
	autofree char *to = xasprintf("%s/sysfs", dir);
	freed(str_free) struct str s = {0};

	if (!err->code && strcmp(name, "bonding_masters") != 0 && !path_exists(to) &&
	    !dir_make(dir, err)) {
		for (size_t i = 0; i < array_size(nic_facts); i++) {
			autofree char *v = host_fact("%s/%s/%s", class, name, nic_facts[i]);

			if (v)
				str_printf(&s, "%s = %s\n", nic_facts[i], v);
		}
		host_nics_add_queues(&s, class, name, "rx-");
		host_nics_add_queues(&s, class, name, "tx-");
		file_write(to, s.buf ? s.buf : "", s.len, err);
	}
}

int host_mount_alone(const char *type, const char *where, int netns)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    (netns >= 0 && setns(netns, CLONE_NEWNET)) || mount("nodev", where, type, 0, NULL))
		return -errno;
	return 0;
}

/* Does the same for another network namespace, an open file of /proc/PID/ns/net. */
static void host_save_nics_of(const char *hosts, int netns)
{
	struct error err = {0};
	pid_t pid = fork();

	if (!pid) {
		if (!host_mount_alone("sysfs", "/sys", netns))
			host_each("/sys/class/net", host_nics_save, (void *)hosts, &err);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* --- the collector --- */

static void host_save_facts(struct collect *c)
{
	const char *dir = c->run->hosts;
	struct error err = {0};

	host_save_copies(c, dir, false);
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
	autofree char *json = xasprintf("%s/host.json", c->run->hosts);
	struct error err = {0};
	bool there = path_exists(json);

	if (dir_make(c->run->hosts, &c->err))
		return -c->err.code;
	/* Facts without addresses of the kernel are saved again. */
	if (!there || !host_has_addresses(c->run->hosts))
		host_save_facts(c);
	host_each("/sys/class/net", host_nics_save, c->run->hosts, &err);
	if (err.code)
		collect_degraded(c, "%s", err.text);
	return 0;
}

/*
 * Opens the workload's network namespace, when it is another than ours, as under `ip netns exec`.
 * Its interfaces are read after the run.
 */
static int host_start(struct collect *c)
{
	autofree char *path = xasprintf("/proc/%d/ns/net", (int)c->run->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat its, ours;

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
	host_follow_modules(c);
	if (!c->data)
		return;
	host_save_nics_of(c->run->hosts, *(int *)c->data);
	close(*(int *)c->data);
	free(c->data);
}

const struct collector collector_host = {
	.name = "host",
	.what = "kernel symbols, configuration, topology, sysctls, NICs: once per capture",
	.files = {"kallsyms", "notes"},
	.when = APART,
	.passes = PASS_EVERY,
	.prepare = host_prepare,
	.start = host_start,
	.finish = host_finish,
};
