// SPDX-License-Identifier: GPL-2.0-only
/* The folder of a capture: whether it may be written to, and what a killed capture left in it. */
#include "capture/capture.h"

#include "capture/undo.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- which folders a capture is written to --- */

/* The level of DIR/runs/VARIANT/RUN. Nothing writes into a finished run. */
enum { RUN_LEVEL = 3 };

/* Refuses a folder that has files and no manifest. */
static int folder_check_contents(const char *dir, struct error *err)
{
	char *manifest = xasprintf("%s/manifest.json", dir);
	struct dirent *e;
	int rc = 0;
	DIR *d;

	d = path_exists(manifest) ? NULL : opendir(dir);
	free(manifest);
	while (d && !rc && (e = readdir(d)))
		if (e->d_name[0] != '.')
			rc = error_set(
				err, EEXIST,
				"%s: the folder has files but no manifest.json, so it is not a capture: give another -o",
				dir);
	if (d)
		closedir(d);
	return rc;
}

static int folder_check_kind(void *arg, const struct walked *e, struct error *err)
{
	mode_t kind = e->st.st_mode & S_IFMT;

	(void)arg;
	if (e->code)
		return error_of_machine(e->code)
			       ? error_sys(err, e->code, "%s: cannot read", e->path)
			       : 0;
	if (kind == S_IFDIR)
		return e->level == RUN_LEVEL && str_starts(e->name, "runs/") ? WALK_SKIP : 0;
	if (kind == S_IFREG)
		return 0;
	if (kind != S_IFLNK)
		return error_set(err, EEXIST,
				 "%s: neither a file nor a folder: remove it, or give another -o",
				 e->path);
	return error_set(
		err, ELOOP,
		"%s: a symbolic link, which zcost would follow: remove it, or give another -o",
		e->path);
}

int capture_folder_check(const char *dir, struct error *err)
{
	int rc = caller_check_folder(dir, err);

	if (!rc)
		rc = folder_check_contents(dir, err);
	return rc ? rc : dir_walk(dir, folder_check_kind, NULL, err);
}

/* --- half runs --- */

/* Recognizes names such as "measure-01". Other files are the user's. */
static bool is_run_name(const char *name)
{
	size_t i, n;

	for (i = 0; i < PASS_COUNT; i++) {
		n = strlen(pass_names[i]);
		if (!strncmp(name, pass_names[i], n) && name[n] == '-')
			return !name[n + 1 + strspn(name + n + 1, "0123456789")];
	}
	return false;
}

/* Removes temporary files of the capture, and in its folder runs/ runs that do not count. */
static int leftovers_visit(void *arg, const struct walked *e, struct error *err)
{
	const struct capture *c = arg;
	const char *last = path_base_name(e->name);
	bool drop;
	int rc;

	if (e->code)
		return error_of_machine(e->code)
			       ? error_sys(err, e->code, "%s: cannot read", e->path)
			       : 0;
	if (!strcmp(e->name, "runs") || (e->level < RUN_LEVEL && str_starts(e->name, "runs/")))
		return 0;
	if (e->level == RUN_LEVEL)
		drop = (*last == '.' && str_ends(last, ".tmp")) ||
		       (is_run_name(last) &&
			!manifest_has_run(&c->manifest, e->name + strlen("runs/")));
	else
		drop = str_starts(last, "manifest.json.tmp.") ||
		       str_starts(last, "plan.ini.tmp.") || !strcmp(last, ".incoming");
	rc = drop ? dir_remove(e->path, err) : 0;
	return rc ? rc : WALK_SKIP;
}

int leftovers_remove(struct capture *c, struct error *err)
{
	return dir_walk(c->dir, leftovers_visit, c, err);
}

/* --- processes and settings --- */

enum { GRACE_MS = 2000 };

int recover_lock(const char *dir, struct error *err)
{
	int fd, rc;

	if (state_of_root(dir)) /* before open(): the folder may be root's, and private */
		return error_set(
			err, EPERM,
			"%s: root has something to undo here: sudo zcost capture --undo -o %s", dir,
			dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, errno, "%s: cannot open", dir);
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	rc = errno == EWOULDBLOCK
		     ? error_set(
			       err, EBUSY,
			       "%s: another zcost capture is at work here; wait for it, or give another -o",
			       dir)
		     : error_sys(err, errno, "%s: cannot lock", dir);
	close(fd);
	return rc;
}

int recover_earlier(struct capture *c, struct error *err)
{
	char *dir = realpath(c->dir, NULL);
	int n;

	if (!dir)
		return error_sys(err, errno, "%s: cannot be found", c->dir);
	c->mark = xasprintf("ZCOST_RUN=%s/runs/", dir);
	free(dir);
	hook_recover(c->dir);
	n = marked_end(c->mark, true, GRACE_MS);
	if (n)
		print_note("ended %d processes of a capture that was killed", n);
	return undo_recover(c->dir, err);
}

void recover_sweep(const struct capture *c, const struct run_id *id)
{
	autofree char *mark =
		xasprintf("%s%s/.%s-%02u.tmp/", c->mark, c->plan->variants[id->variant].name,
			  pass_names[id->pass], id->repeat);

	marked_end(mark, true, GRACE_MS);
}

int capture_undo(const char *dir, struct error *err)
{
	struct capture c = {.dir = dir, .intr.fd = -1};
	int fd = recover_lock(dir, err), rc;

	if (fd < 0)
		return fd;
	rc = interrupt_open(&c.intr, err); /* an `after` runs to its end */
	if (!rc)
		rc = recover_earlier(&c, err);
	interrupt_close(&c.intr);
	free(c.mark);
	close(fd);
	return rc;
}
