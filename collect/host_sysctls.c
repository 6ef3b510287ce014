// SPDX-License-Identifier: GPL-2.0-only
#include "collect/host.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH = 6 };

static const char root[] = "/proc/sys/";

/* Whole folders, and what in kernel/ bears on measuring. */
static const char *const folders[] = {"net"};
static const char *const kernel[] = {"perf_",	 "sched_",	  "nmi_watchdog", "watchdog",
				     "numa_",	 "kptr_restrict", "timer_",	  "pid_max",
				     "threads-", "unprivileged_", "ftrace",	  "soft_watchdog"};

static void sysctls_add_file(struct str *out, const char *path)
{
	const char *name = path + strlen(root);
	char *text, *line, *rest;
	size_t len;

	if (file_read(path, &text, &len, NULL))
		return;
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

/* Hundreds of interfaces have the same settings: of these only the common ones. And no secrets. */
static bool sysctls_skips(const char *dir, const char *name)
{
	bool per_interface = str_ends(dir, "/conf") || str_ends(dir, "/neigh");

	if (strstr(name, "key") || strstr(name, "secret"))
		return true;
	return name[0] == '.' || (per_interface && strcmp(name, "all") && strcmp(name, "default"));
}

static void sysctls_add_folder(struct str *out, const char *dir, int depth)
{
	struct dirent **entries;
	int i, n = depth ? scandir(dir, &entries, NULL, alphasort) : 0;

	for (i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, entries[i]->d_name);

		if (sysctls_skips(dir, entries[i]->d_name))
			;
		else if (path_is_dir(path))
			sysctls_add_folder(out, path, depth - 1);
		else
			sysctls_add_file(out, path);
		free(path);
		free(entries[i]);
	}
	if (depth && n >= 0)
		free(entries);
}

static void sysctls_add_kernel(struct str *out)
{
	struct dirent **entries;
	int i, n = scandir("/proc/sys/kernel", &entries, NULL, alphasort);
	size_t k;

	for (i = 0; i < n; i++) {
		char *path = xasprintf("%skernel/%s", root, entries[i]->d_name);

		for (k = 0; k < array_size(kernel); k++)
			if (str_starts(entries[i]->d_name, kernel[k]) && !path_is_dir(path))
				sysctls_add_file(out, path);
		free(path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

int host_write_sysctls(const char *dir, struct error *err)
{
	char *path = xasprintf("%s/sysctls", dir);
	struct str out = {0};
	size_t i;
	int rc;

	sysctls_add_kernel(&out);
	for (i = 0; i < array_size(folders); i++) {
		char *from = xasprintf("%s%s", root, folders[i]);

		sysctls_add_folder(&out, from, DEPTH);
		free(from);
	}
	rc = file_write(path, out.buf ? out.buf : "", out.len, err);
	str_free(&out);
	free(path);
	return rc;
}
