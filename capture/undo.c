// SPDX-License-Identifier: GPL-2.0-only
#include "capture/undo.h"

#include "capture/hook.h"
#include "capture/words.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Above it are our own lines. */
static const char begins[] = "# undo:\n";

static char *entry_path(const char *dir, unsigned int n)
{
	return xasprintf("%s/.undo/%03u", dir, n);
}

/* The name of a new file is on disk only when its folder is. */
static int sync_folder(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return error_sys(err, errno, "%s: cannot open", path);
	if (fsync(fd) && errno != EINVAL)
		rc = error_sys(err, errno, "%s: cannot be written to the disk", path);
	close(fd);
	return rc;
}

static char *boot_id(void)
{
	char *id;

	if (file_read("/proc/sys/kernel/random/boot_id", &id, NULL, NULL))
		return xstrdup("");
	id[strcspn(id, "\n")] = '\0';
	return id;
}

/* `name`, and as the shell wants it. */
static void add_quoted(struct str *s, const char *before, const char *value)
{
	char *word[] = {(char *)value, NULL}, *quoted = words_join(word);

	str_printf(s, "%s%s\n", before, quoted);
	free(quoted);
}

/* Whoever runs this may be somewhere else by then. */
static void compose(struct str *s, const struct undo *u)
{
	char *cwd = getcwd(NULL, 0), *boot = boot_id();

	str_printf(s, "# %s\n# boot %s\n# timeout %.9g\n", u->owner, boot, u->timeout_s);
	add_quoted(s, "cd ", cwd ? cwd : "/");
	if (u->saved)
		add_quoted(s, "saved=", u->saved);
	str_printf(s, "%s%s\n", begins, u->after);
	free(boot);
	free(cwd);
}

int undo_write(const char *dir, unsigned int n, const struct undo *u, struct error *err)
{
	char *folder = xasprintf("%s/.undo", dir), *path = entry_path(dir, n);
	struct str s = {0};
	int rc = dir_make(folder, err);

	compose(&s, u);
	if (!rc)
		rc = file_write(path, s.buf, s.len, err);
	if (!rc)
		rc = sync_folder(folder, err);
	if (!rc)
		rc = sync_folder(dir, err);
	str_free(&s);
	free(path);
	free(folder);
	return rc;
}

/* The text behind "# " or "# boot " in a line; the caller frees. */
static char *header(const char *script, const char *mark, unsigned int line)
{
	while (line-- && script)
		script = strchr(script, '\n') ? strchr(script, '\n') + 1 : NULL;
	if (!script || !str_starts(script, mark))
		return xstrdup("");
	script += strlen(mark);
	return xstrndup(script, strcspn(script, "\n"));
}

/* A failure is told with the plan's command alone. Nothing stays set up for want of space. */
static int run_script(const char *dir, const char *script, struct error *err)
{
	char *owner = header(script, "# ", 0), *timeout = header(script, "# timeout ", 2);
	struct hook hook = {.dir = dir,
			    .owner = owner,
			    .what = "after",
			    .command = script,
			    .timeout_s = strtod(timeout, NULL),
			    .anyway = true};
	const char *plain = strstr(script, begins);
	struct error e = {0};
	int rc = hook_run(&hook, &e);
	char *ours = rc ? strstr(e.text, ": # ") : NULL;

	if (ours)
		*ours = '\0';
	if (rc)
		error_set(err, -rc, "%s: %s", e.text, plain ? plain + strlen(begins) : script);
	if (rc && err && str_ends(err->text, "\n"))
		err->text[strlen(err->text) - 1] = '\0';
	free(timeout);
	free(owner);
	return rc;
}

static int run_entry(const char *dir, const char *path, bool *same_boot, struct error *err)
{
	char *script, *then, *now;
	int rc = file_read(path, &script, NULL, err);

	if (rc)
		return rc;
	then = header(script, "# boot ", 1);
	now = boot_id();
	*same_boot = !strcmp(then, now);
	rc = run_script(dir, script, err);
	if (!rc)
		unlink(path);
	free(then);
	free(now);
	free(script);
	return rc;
}

static void drop_folder(const char *dir)
{
	char *folder = xasprintf("%s/.undo", dir);

	rmdir(folder); /* fails while there is something in it */
	free(folder);
}

int undo_run(const char *dir, unsigned int n, struct error *err)
{
	char *path = entry_path(dir, n);
	bool same;
	int rc = path_exists(path) ? run_entry(dir, path, &same, err) : 0;

	free(path);
	drop_folder(dir);
	return rc;
}

static int is_entry(const struct dirent *d)
{
	return strlen(d->d_name) == 3 && strspn(d->d_name, "0123456789") == 3;
}

static int last_first(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*b)->d_name, (*a)->d_name);
}

static int recover_entry(const char *dir, const char *path, bool forget, struct error *err)
{
	struct error e = {0};
	bool same_boot = true;
	int rc = run_entry(dir, path, &same_boot, &e);

	if (!rc)
		return 0;
	if (!same_boot || forget) {
		warn("%s; %s", e.text,
		     same_boot ? "forgotten" : "the host has started anew since: taken as undone");
		unlink(path);
		return 0;
	}
	if (err->code)
		warn("%s", e.text);
	return error_set(err, -rc, "%s", e.text);
}

static int entries(const char *folder, struct dirent ***list)
{
	*list = NULL;
	return scandir(folder, list, is_entry, last_first);
}

static void free_entries(struct dirent **list, int n)
{
	while (n > 0)
		free(list[--n]);
	free(list);
}

bool undo_due(const char *dir)
{
	char *folder = xasprintf("%s/.undo", dir);
	struct dirent **list;
	int n = entries(folder, &list);

	free_entries(list, n);
	free(folder);
	return n > 0;
}

int undo_recover(const char *dir, bool forget, struct error *err)
{
	char *folder = xasprintf("%s/.undo", dir);
	struct dirent **list;
	int n, i, rc = 0;

	n = entries(folder, &list);
	if (n > 0)
		note("an earlier capture here was killed, or an 'after' failed: undoing what "
		     "it had set up");
	for (i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", folder, list[i]->d_name);

		if (recover_entry(dir, path, forget, err))
			rc = -EIO;
		free(path);
	}
	free_entries(list, n);
	if (!rc)
		dir_remove(folder, NULL); /* a half-written one, never in force */
	free(folder);
	return rc;
}
