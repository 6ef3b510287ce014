// SPDX-License-Identifier: GPL-2.0-only
/* Makes all runs that are left, one after the other, and saves the manifest after each. */
#include "capture/capture.h"

#include "capture/undo.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/* --- which folders a capture is written to --- */

/* The level of DIR/runs/VARIANT/RUN. Nothing writes into a finished run. */
enum { RUN_LEVEL = 3 };

/* Refuses a folder that has files and no manifest. */
static int folder_check_contents(const char *dir, struct error *err)
{
	autofree char *manifest = xasprintf("%s/manifest.json", dir);
	bool is_capture = path_exists(manifest);
	struct dirent *e;

	each_entry (e, dir)
		if (!is_capture && !str_matches_any(". ..", e->d_name))
			return error_set(
				err, EEXIST,
				"%s: the folder has files but no manifest.json, so it is not a capture: give another -o",
				dir);
	return 0;
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

/*
 * Refuses a folder that has files and is not a capture, a folder that other users can change while
 * root writes to it, and a folder with symbolic links, FIFOs or devices.
 */
static int capture_folder_check(const char *dir, struct error *err)
{
	int rc = caller_check_folder(dir, err);

	rc = rc ?: folder_check_contents(dir, err);
	return rc ? rc : dir_walk(dir, folder_check_kind, NULL, err);
}

/* --- half runs --- */

/* Recognizes names such as "measure-01". Other files are the user's. */
static bool is_run_name(const char *name)
{
	size_t n;

	for (size_t i = 0; i < PASS_COUNT; i++) {
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

/* --- processes and settings --- */

enum { GRACE_MS = 2000 };

int recover_lock(const char *dir, struct error *err)
{
	autofree char *word = shell_word(dir);
	int fd, rc;

	if (state_of_root(dir)) /* before open(): the folder may be root's, and private */
		return error_set(
			err, EPERM,
			"%s: root has something to undo here: sudo zcost capture --undo -o %s", dir,
			word);
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

/*
 * Ends the processes and undoes the settings of an earlier capture that was killed. Call it when
 * the plan is known to be the plan of the capture. Sets c->mark.
 */
static int recover_earlier(struct capture *c, struct error *err)
{
	autofree char *dir = realpath(c->dir, NULL);
	int n;

	if (!dir)
		return error_sys(err, errno, "%s: cannot be found", c->dir);
	c->mark = xasprintf("ZCOST_RUN=%s/runs/", dir);
	hook_recover(c->dir);
	n = marked_end(c->mark, true, GRACE_MS);
	if (n)
		print_note("ended %d processes of a capture that was killed", n);
	return undo_recover(c->dir, err);
}

int capture_undo(const char *dir, struct error *err)
{
	struct capture c = {.dir = dir, .intr.fd = -1};
	int fd = recover_lock(dir, err), rc;

	if (fd < 0)
		return fd;
	rc = interrupt_open(&c.intr, err); /* an `after` runs to its end */
	rc = rc ?: recover_earlier(&c, err);
	interrupt_close(&c.intr);
	free(c.mark);
	close(fd);
	return rc;
}

/* --- the runs --- */

/*
 * Any failure may come from other load on the hosts, and so may an account that is incomplete. So
 * such a run is made again. After a run that has the fault in all its tries, the others of its
 * variant and pass get one try until one succeeds.
 */
enum { TRIES = 3 };

/* Returns why a run is to be tried again, or NULL. */
static const char *outcome_fault(const struct run_outcome *out)
{
	return *out->why ? out->why : out->cut_off;
}

static void outcome_free(struct run_outcome *out)
{
	free(out->why);
	free(out->cut_off);
	*out = (struct run_outcome){0};
}

/* Returns runs/mmap/.measure-01.tmp for the run "mmap/measure-01". The caller frees. */
static char *run_temporary_path(const struct capture *c, const struct run_id *id)
{
	return xasprintf("%s/runs/%s/.%s-%02u.tmp", c->dir, c->plan->variants[id->variant].name,
			 pass_names[id->pass], id->repeat);
}

/*
 * Moves a run to its final place, where it replaces a failed run, and saves the manifest. `earlier`
 * has why its earlier tries failed.
 */
static int run_store(struct capture *c, const struct run_id *id, const char *tmp, const char *why,
		     const json_t *earlier, struct error *err)
{
	autofree char *name = run_name(c->plan, id), *path = xasprintf("%s/runs/%s", c->dir, name);
	json_auto_t *sums = manifest_sums(tmp, err);
	int rc = sums ? dir_remove(path, err) : -EIO;

	if (!rc && rename(tmp, path))
		rc = error_sys(err, errno, "%s: cannot be renamed to %s", tmp, path);
	if (!rc) {
		manifest_add_run(&c->manifest, c->plan, id, why, earlier, json_incref(sums));
		rc = manifest_save(&c->manifest, err);
	}
	return rc;
}

void capture_note(struct capture *c, const char *fmt, ...)
{
	autofree char *text = xformat(fmt);

	progress_clear(&c->progress);
	print_note("%s", text);
}

static void run_count_outcome(struct capture *c, const struct run_id *id,
			      const struct run_outcome *out, size_t retried)
{
	autofree char *name = run_name(c->plan, id);

	progress_end(&c->progress, !*out->why);
	c->given_up[id->variant][id->pass] = outcome_fault(out);
	if (*out->why) {
		c->failed++;
		if (retried)
			warn("%s failed %zu times: %s", name, retried + 1, out->why);
		else
			warn("%s failed: %s", name, out->why);
	} else {
		c->ok++;
		c->lossy += out->lossy;
		if (out->cut_off && retried)
			print_note("%s: kept after %zu tries: %s", name, retried + 1, out->cut_off);
	}
}

static int try_run(struct capture *c, const struct run_id *id, const char *tmp,
		   struct run_outcome *out, struct error *err)
{
	autofree char *mark =
		xasprintf("%s%s/.%s-%02u.tmp/", c->mark, c->plan->variants[id->variant].name,
			  pass_names[id->pass], id->repeat);
	int rc = dir_make(tmp, err);

	rc = rc ?: run_execute_sides(c, id, tmp, out, err);
	if (rc || *out->why) /* until its processes end, a killed side writes into the run */
		marked_end(mark, true, GRACE_MS);
	return rc;
}

/* Removes a run for its next try. Returns false when no new try is due. */
static bool run_try_again(struct capture *c, const struct run_id *id, const char *tmp,
			  struct run_outcome *out, json_t *earlier)
{
	size_t most = c->given_up[id->variant][id->pass] ? 1 : TRIES;
	autofree char *name = NULL;

	if (!outcome_fault(out) || json_array_size(earlier) + 1 >= most ||
	    interrupt_came(&c->intr) || dir_remove(tmp, NULL))
		return false;
	name = run_name(c->plan, id);
	capture_note(c, "%s: trying again: %s", name, outcome_fault(out));
	json_array_append_new(earlier, json_any_text(outcome_fault(out)));
	outcome_free(out);
	return true;
}

static int run_one(struct capture *c, const struct run_id *id, struct error *err)
{
	autofree char *tmp = run_temporary_path(c, id);
	json_auto_t *earlier = json_array();
	freed(outcome_free) struct run_outcome out = {0};
	int rc = try_run(c, id, tmp, &out, err);

	while (!rc && run_try_again(c, id, tmp, &out, earlier))
		rc = try_run(c, id, tmp, &out, err);
	if (rc)
		dir_remove(tmp, NULL);
	else
		rc = run_store(c, id, tmp, out.why, earlier, err);
	if (rc)
		progress_clear(&c->progress);
	else
		run_count_outcome(c, id, &out, json_array_size(earlier));
	return rc;
}

/* Stores a failed run because its settings could not be set up. Other runs may still succeed. */
static int run_fail_unset(struct capture *c, const struct run_id *id, const char *why,
			  struct error *err)
{
	autofree char *tmp = run_temporary_path(c, id);
	struct run_outcome out = {.why = (char *)why};
	int rc = dir_make(tmp, err);

	rc = rc ?: run_store(c, id, tmp, why, NULL, err);
	if (!rc)
		run_count_outcome(c, id, &out, 0);
	return rc;
}

/* When every variant failed, and three runs or more, more runs would fail in the same way. */
static int run_all(struct capture *c, struct stage *stage, const struct order *todo,
		   struct error *err)
{
	const struct run_id *id;
	int rc = 0;

	for (size_t i = 0; i < todo->n && !rc; i++) {
		if (!c->ok && c->failed >= 3 && c->failed >= c->plan->nvariants)
			return 0;
		if (interrupt_came(&c->intr))
			return -EINTR;
		id = &todo->run[i];
		progress_begin(&c->progress, todo, i);
		rc = stage_set(stage, c->plan->variants[id->variant].combination, err);
		if (rc == -ECANCELED)
			rc = run_fail_unset(c, id, stage->why, err);
		else if (!rc)
			rc = run_one(c, id, err);
	}
	return rc;
}

/* Checks the programs of the runs. `before` of the plan may have built them. */
static int todo_check_programs(const struct plan *p, const struct order *todo, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < todo->n && !rc; i++) {
		const struct variant *v = &p->variants[todo->run[i].variant];
		const struct combination *c = plan_combination(p, v->combination);

		if (!c->n) /* a setting may build programs, too */
			rc = variant_check_programs(p, v, err);
	}
	return rc;
}

/* Runs `after` whatever happened before. Its failure does not hide an earlier one. */
static int run_all_on_stage(struct capture *c, const struct order *todo, struct error *err)
{
	struct error late = {0};
	struct stage stage;
	int rc = stage_open(&stage, c->plan, c->dir, &c->intr, err);

	rc = rc ?: todo_check_programs(c->plan, todo, err);
	rc = rc ?: run_all(c, &stage, todo, err);
	progress_clear(&c->progress);
	if (stage_close(&stage, &late)) {
		if (!rc)
			rc = error_set(err, late.code, "%s", late.text);
		else if (strcmp(late.text, err->text))
			warn("%s", late.text);
	}
	return rc;
}

static int plan_write(const struct capture *c, struct error *err)
{
	autofree char *path = xasprintf("%s/plan.ini", c->dir);

	return c->plan->text ? file_write(path, c->plan->text, strlen(c->plan->text), err) : 0;
}

void capture_note_existing(const char *dir, size_t all, size_t left)
{
	autofree char *word = shell_word(dir);

	if (left && left < all)
		print_note("%s: %zu of %zu runs exist already", dir, all - left, all);
	else if (!left)
		print_note(
			"%s: %zu of %zu runs exist already; another -o makes them again; next: zcost analyze %s",
			dir, all, all, word);
}

static int run_todo(struct capture *c, struct error *err)
{
	freed(order_free) struct order todo;
	struct error late = {0};
	int rc = dir_walk(c->dir, leftovers_visit, c, err);

	manifest_runs_left(&c->manifest, c->plan, &c->order, &todo);
	capture_note_existing(c->dir, c->order.n, todo.n);
	if (!rc && interrupt_came(&c->intr))
		rc = -EINTR;
	if (todo.n && !rc)
		plan_note_start(c->plan);
	if (todo.n && !rc)
		rc = run_all_on_stage(c, &todo, err);
	if (manifest_finish(&c->manifest, &late) && !rc)
		rc = error_set(err, late.code, "%s", late.text);
	return rc;
}

static int capture_prepare(struct capture *c, struct error *err)
{
	int rc = capture_folder_check(c->dir, err);

	rc = rc ?: manifest_open(&c->manifest, c->dir, err);
	rc = rc ?: interrupt_open(&c->intr, err);
	rc = rc ?: remotes_open(c, err);
	rc = rc ?: manifest_adopt(&c->manifest, c->plan, c->whole, err);
	rc = rc ?: recover_earlier(c, err);
	rc = rc ?: plan_write(c, err);
	return rc ? rc : manifest_save(&c->manifest, err);
}

/* Checks the rights for sides that run here. remotes_open checks those of other hosts. */
static int capture_check_rights(const struct capture *c, struct error *err)
{
	struct rights r = rights_of_this_process();

	for (int i = 0; i < c->plan->nsides; i++)
		if (!*c->plan->sides[i].host)
			return plan_check_rights(c->plan, &r, "", err);
	return 0;
}

int capture_all(struct capture *c, struct error *err)
{
	int fd, rc;

	c->intr.fd = -1;
	spawn_raise_files();
	rc = capture_check_rights(c, err);
	rc = rc ?: plan_check_users(c->plan, err);
	rc = rc ?: plan_check_cpus(c->plan, err);
	rc = rc ?: dir_make(c->dir, err);
	if (rc)
		return rc;
	fd = recover_lock(c->dir, err);
	if (fd < 0)
		return fd;
	progress_init(&c->progress, c->plan, c->verbose);
	order_make(&c->order, c->plan);
	c->given_up = xcalloc(c->plan->nvariants, sizeof(*c->given_up));
	rc = capture_prepare(c, err);
	rc = rc ?: run_todo(c, err);
	progress_clear(&c->progress);
	remotes_close(c);
	interrupt_close(&c->intr);
	manifest_close(&c->manifest);
	order_free(&c->order);
	intern_free(&c->remarks);
	free(c->given_up);
	free(c->mark);
	close(fd);
	return rc;
}
