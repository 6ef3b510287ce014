// SPDX-License-Identifier: GPL-2.0-only
#include "capture/undo.h"

#include "lib/words.h"
#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* --- the state folder --- */

/* Root ignores XDG_RUNTIME_DIR, because a login sets it and sudo does not. */
static char *state_base(void)
{
	const char *chosen = getenv("ZCOST_STATE"), *own = getenv("XDG_RUNTIME_DIR");

	if (chosen && *chosen == '/')
		return xstrdup(chosen);
	if (!geteuid())
		return xstrdup("/run");
	return own && *own == '/' ? xstrdup(own) : xasprintf("/run/user/%u", geteuid());
}

/*
 * A new folder may get the inode of a removed one. The time of birth distinguishes them. A state
 * folder stands for its capture folder, which may be gone.
 */
static char *state_key(const char *capture, struct error *err)
{
	autofree char *base = state_base(), *folder = xasprintf("%s/zcost/", base);
	struct statx st;
	struct stat dev;

	if (str_starts(capture, folder) && !strchr(capture + strlen(folder), '/'))
		return xstrdup(capture + strlen(folder));
	if (statx(AT_FDCWD, capture, 0, STATX_INO | STATX_BTIME, &st) || stat(capture, &dev)) {
		error_sys(err, errno, "%s: cannot be found", capture);
		return NULL;
	}
	return xasprintf(
		"%llu-%llu-%llu", (unsigned long long)dev.st_dev, (unsigned long long)st.stx_ino,
		st.stx_mask & STATX_BTIME ? (unsigned long long)st.stx_btime.tv_sec * 1000000000 +
						    st.stx_btime.tv_nsec
					  : 0);
}

/*
 * Opens a folder under `at`. `make` is its mode, whatever the umask is; 0: it must exist. -EPERM:
 * another user owns it or can write to it.
 */
static int state_enter(int at, const char *name, mode_t make)
{
	struct stat st;
	int fd, rc;

	if (make && mkdirat(at, name, make) && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) ? -errno : 0;
	if (!rc && (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)))
		rc = -EPERM;
	if (!rc && make && (st.st_mode & 07777) != make && fchmod(fd, make))
		rc = -errno;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/*
 * Walks down base/zcost/key. Only the base must exist. Others may search base/zcost, so that
 * state_of_root can answer.
 */
static int state_walk(const char *base, const char *key, bool make)
{
	const char *parts[] = {base, "zcost", key};
	const mode_t modes[] = {0, 0711, 0700};
	int next = 0;
	autoclose int fd = AT_FDCWD;

	for (size_t i = 0; i < 3 && next >= 0; i++) {
		next = state_enter(fd, parts[i], make ? modes[i] : 0);
		fd_close(&fd);
		fd = next;
	}
	return next < 0 ? next : 0;
}

char *state_folder(const char *capture, bool make, struct error *err)
{
	struct error why = {0};
	autofree char *key = state_key(capture, &why), *base = state_base();
	int rc;

	if (!key) {
		if (make || error_of_machine(why.code))
			error_set(err, why.code, "%s", why.text);
		return NULL;
	}
	rc = caller_check_path(base, NULL);
	rc = rc ?: state_walk(base, key, make);
	if (rc && (make || error_of_machine(-rc)))
		error_set(
			err, -rc,
			"%s/zcost: cannot hold what is to be undone: %s: set %s to a folder that only you can write to",
			base,
			rc == -EPERM ? "another user owns it or can write to it" : strerror(-rc),
			geteuid() ? "XDG_RUNTIME_DIR" : "ZCOST_STATE");
	return rc ? NULL : xasprintf("%s/zcost/%s", base, key);
}

bool state_of_root(const char *capture)
{
	autofree char *key = geteuid() ? state_key(capture, NULL) : NULL;
	autofree char *path = xasprintf("/run/zcost/%s", key ? key : "");

	return key && !access(path, F_OK);
}

void state_drop(const char *capture)
{
	autofree char *folder = state_folder(capture, false, NULL);

	if (folder)
		rmdir(folder);
}

/* --- the journal --- */

/* The lines before it are ours; the lines after it are the plan's. */
static const char undo_script_begins[] = "# undo:\n";

static char *undo_entry_path(const char *folder, unsigned int n)
{
	return xasprintf("%s/%03u", folder, n);
}

/* Adds `before` and the value, quoted for the shell. */
static void script_add_quoted(struct str *s, const char *before, const char *value)
{
	autofree char *quoted = shell_word(value);

	str_printf(s, "%s%s\n", before, quoted);
}

/* Writes a script that runs in our working directory, wherever it is started. */
static void script_compose(struct str *s, const char *dir, const struct undo *u)
{
	autofree char *cwd = getcwd(NULL, 0), *capture = realpath(dir, NULL);

	if (capture)
		str_replace(capture, '\n', '?');
	str_printf(s, "# %s\n# boot %s\n# timeout %.9g\n# capture %s\n", u->owner, host_boot_id(),
		   u->timeout_s, capture ? capture : dir);
	script_add_quoted(s, "cd ", cwd ? cwd : "/");
	if (u->saved)
		script_add_quoted(s, "saved=", u->saved);
	str_printf(s, "%s%s\n", undo_script_begins, u->after);
}

int undo_write(const char *dir, unsigned int n, const struct undo *u, struct error *err)
{
	autofree char *folder = state_folder(dir, true, err);
	autofree char *path = undo_entry_path(folder ? folder : "", n);
	freed(str_free) struct str s = {0};

	if (!folder)
		return -EIO;
	script_compose(&s, dir, u);
	if (s.len >= SCRIPT_MOST)
		return error_set(
			err, E2BIG,
			"%s's 'after' would be larger than 128 KiB with what 'save' printed: have 'save' write a file",
			u->owner);
	return file_write(path, s.buf, s.len, err);
}

/* An entry that was read. `header` has its first lines, which the other members point into. */
struct undo_entry {
	char *script, *header;
	const char *owner, *boot, *timeout;
	const char *plain; /* the plan's command, in `header` */
};

static const char *header_read(char **rest, const char *mark)
{
	const char *line = str_token(rest, '\n');

	return line && str_starts(line, mark) ? line + strlen(mark) : "";
}

static int entry_read(struct undo_entry *e, const char *path, struct error *err)
{
	char *rest, *plain;
	int rc;

	*e = (struct undo_entry){0};
	rc = file_read(path, &e->script, NULL, err);
	if (rc)
		return rc;
	rest = e->header = xstrdup(e->script);
	e->owner = header_read(&rest, "# ");
	e->boot = header_read(&rest, "# boot ");
	e->timeout = header_read(&rest, "# timeout ");
	plain = rest ? strstr(rest, undo_script_begins) : NULL;
	e->plain = plain ? str_trim(plain + strlen(undo_script_begins)) : e->script;
	return 0;
}

static void entry_free(struct undo_entry *e)
{
	free(e->script);
	free(e->header);
}

/* Runs an entry, also on a full disk, and removes it when that succeeds. */
static int entry_run(const char *dir, const char *path, const struct undo_entry *e,
		     struct error *err)
{
	struct hook hook = {.dir = dir,
			    .owner = e->owner,
			    .what = "after",
			    .command = e->script,
			    .shown = e->plain,
			    .timeout_s = strtod(e->timeout, NULL),
			    .anyway = true};
	int rc = hook_run(&hook, err);

	if (!rc)
		unlink(path);
	return rc;
}

int undo_run(const char *dir, unsigned int n, struct error *err)
{
	struct error why = {0};
	autofree char *folder = state_folder(dir, false, &why);
	autofree char *path = undo_entry_path(folder ? folder : "", n);
	freed(entry_free) struct undo_entry e = {0};
	int rc = 0;

	if (!folder)
		return why.code ? error_set(err, why.code, "%s", why.text) : 0;
	if (path_exists(path)) {
		rc = entry_read(&e, path, err);
		rc = rc ?: entry_run(dir, path, &e, err);
	}
	state_drop(dir);
	return rc;
}

static int undo_is_entry(const struct dirent *d)
{
	return strlen(d->d_name) == 3 && strspn(d->d_name, "0123456789") == 3;
}

static int undo_last_first(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*b)->d_name, (*a)->d_name);
}

/*
 * Runs an entry. Drops it from before the last boot: the boot has undone it, and to undo it again
 * could break what is set up now.
 */
static int undo_recover_entry(const char *dir, const char *path, struct error *err)
{
	struct error why = {0};
	freed(entry_free) struct undo_entry e;
	int rc = entry_read(&e, path, &why);

	if (!rc && strcmp(e.boot, host_boot_id()) != 0) {
		warn("%s's 'after' is dropped, because this host has booted since and that undid what it undoes: %.*s",
		     e.owner, (int)strcspn(e.plain, "\n"), e.plain);
		unlink(path);
	} else if (!rc) {
		rc = entry_run(dir, path, &e, &why);
	}
	if (rc && err->code)
		warn("%s", why.text);
	return rc ? error_set(err, -rc, "%s", why.text) : 0;
}

static int undo_list_entries(const char *folder, struct dirent ***list)
{
	*list = NULL;
	return scandir(folder, list, undo_is_entry, undo_last_first);
}

static void undo_free_entries(struct dirent **list, int n)
{
	while (n > 0)
		free(list[--n]);
	free(list);
}

bool undo_due(const char *dir)
{
	struct error why = {0};
	autofree char *folder = state_folder(dir, false, &why);
	struct dirent **list;
	int n;

	if (!folder)
		return why.code != 0;
	n = undo_list_entries(folder, &list);
	undo_free_entries(list, n);
	return n != 0;
}

/* Drops temporary files of file_write. What they would undo was never begun. */
static void undo_drop_halves(const char *folder)
{
	struct dirent *e;

	each_entry (e, folder) {
		autofree char *path = xasprintf("%s/%s", folder, e->d_name);

		if (strstr(e->d_name, ".tmp."))
			unlink(path);
	}
}

static int undo_recover_all(const char *dir, const char *folder, struct error *err)
{
	struct dirent **list;
	int n = undo_list_entries(folder, &list), rc = 0;

	if (n < 0)
		return error_sys(err, errno, "%s: cannot read", folder);
	if (n > 0)
		print_note(
			"an earlier capture here was killed, or an 'after' failed: undoing what it set up");
	for (int i = 0; i < n; i++) {
		autofree char *path = xasprintf("%s/%s", folder, list[i]->d_name);

		if (undo_recover_entry(dir, path, err))
			rc = -EIO;
	}
	undo_free_entries(list, n);
	return rc;
}

int undo_recover(const char *dir, struct error *err)
{
	struct error why = {0};
	autofree char *folder = state_folder(dir, false, &why);
	int rc = folder ? undo_recover_all(dir, folder, err) : -why.code;

	if (why.code)
		error_set(err, why.code, "%s", why.text);
	if (folder)
		undo_drop_halves(folder);
	state_drop(dir);
	return rc;
}
