// SPDX-License-Identifier: GPL-2.0-only

#include "capture/undo.h"

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- hooks --- */

enum { TICK_MS = 100, GRACE_MS = 2000 };

static const char *hook_text(const struct hook *h)
{
	return h->shown ? h->shown : h->command;
}

/* Waits for the command, and ends it when a signal comes or its time is over. */
static int hook_await(pid_t pid, const struct hook *h, int *status)
{
	uint64_t began = clock_mono_ns(), most = (uint64_t)(h->timeout_s * 1e9);
	int rc;

	while ((rc = spawn_wait(pid, TICK_MS, status)) == -ETIMEDOUT) {
		bool late = most && clock_mono_ns() - began >= most;

		if (late || (h->intr && interrupt_came(h->intr))) {
			spawn_stop(pid, GRACE_MS, status);
			return late ? -ETIMEDOUT : -EINTR;
		}
	}
	return rc;
}

/*
 * Returns a mark for the processes of this hook, which no other hook has, and writes it to the
 * state folder, where the next capture finds it if this one is killed. NULL: `err` says why the
 * hook may not run.
 */
static char *hook_begin(const struct hook *h, struct error *err)
{
	struct error e = {0};
	autofree char *folder = state_folder(h->dir, true, &e);
	autofree char *path = xasprintf("%s/running", folder ? folder : "");
	char *mark = xasprintf("ZCOST_HOOK=%s.%llu", folder ? folder : h->dir,
			       (unsigned long long)clock_mono_ns());

	if (folder)
		file_write(path, mark, strlen(mark), &e);
	if (e.code && h->anyway) {
		warn("%s: running %s's '%s' anyway", e.text, h->owner, h->what);
	} else if (e.code) {
		error_set(err, e.code, "%s: %s's '%s' was not run: %s", e.text, h->owner, h->what,
			  hook_text(h));
		free(mark);
		mark = NULL;
	}
	return mark;
}

static void hook_end(const char *dir)
{
	autofree char *folder = state_folder(dir, false, NULL);
	autofree char *path = xasprintf("%s/running", folder ? folder : "");

	if (!folder)
		return;
	unlink(path);
	rmdir(folder); /* fails while the journal has entries */
}

void hook_recover(const char *dir)
{
	autofree char *folder = state_folder(dir, false, NULL), *mark = NULL;
	autofree char *path = xasprintf("%s/running", folder ? folder : "");
	autofree char *ours = xasprintf("ZCOST_HOOK=%s.", folder ? folder : "");

	if (!folder || file_read(path, &mark, NULL, NULL))
		return;
	if (str_starts(mark, ours))
		marked_end(mark, false, GRACE_MS);
	hook_end(dir);
}

static int hook_start(pid_t *pid, const char *command, const char *mark, int out, struct error *err)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)command, NULL};
	autoclose int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct spawn opts = {.in = in, .out = out, .mark = mark, .session = true};

	return spawn_start(pid, argv, &opts, err);
}

/* Turns the end of a hook into an error, or 0. */
static int hook_judge(const struct hook *h, int rc, int status, struct error *err)
{
	if (rc == -EINTR)
		return error_set(err, EINTR, "interrupted in %s's '%s'", h->owner, h->what);
	if (rc == -ETIMEDOUT)
		return error_set(err, ETIMEDOUT, "%s's '%s' took more than %g s (hook_timeout): %s",
				 h->owner, h->what, h->timeout_s, hook_text(h));
	if (rc)
		return error_sys(err, -rc, "cannot wait for %s's '%s'", h->owner, h->what);
	return status ? error_set(err, EIO, "%s's '%s' %s: %s", h->owner, h->what,
				  spawn_status_text(status), hook_text(h))
		      : 0;
}

static int hook_run_to(const struct hook *h, int out, struct error *err)
{
	autofree char *mark = hook_begin(h, err);
	int status = 0, rc;
	pid_t pid;

	if (!mark)
		return -EIO;
	rc = hook_start(&pid, h->command, mark, out, err);
	if (!rc) {
		rc = hook_await(pid, h, &status);
		if (rc == -EINTR || rc == -ETIMEDOUT)
			marked_end(mark, false, GRACE_MS);
		rc = hook_judge(h, rc, status, err);
	}
	hook_end(h->dir);
	return rc;
}

int hook_run(const struct hook *h, struct error *err)
{
	return hook_run_to(h, STDERR_FILENO, err);
}

/* Runs a hook and returns its standard output in *output, without newlines at the end. */
static int hook_read(const struct hook *h, char **output, struct error *err)
{
	autoclose int fd = memfd_create("zcost", MFD_CLOEXEC);
	char *text;
	ssize_t n;
	int rc;

	if (fd < 0)
		return error_sys(err, errno, "no memory for what %s's '%s' prints", h->owner,
				 h->what);
	rc = hook_run_to(h, fd, err);
	if (!rc) {
		*output = text = xmalloc(SCRIPT_MOST + 1);
		n = pread(fd, text, SCRIPT_MOST, 0); /* undo_write() refuses so much */
		text[n > 0 ? n : 0] = '\0';
		if (n > 0 && strlen(text) < (size_t)n)
			rc = error_set(err, EINVAL, "%s's 'save' printed a zero byte: %s", h->owner,
				       hook_text(h));
		while (str_ends(text, "\n"))
			text[strlen(text) - 1] = '\0';
	}
	return rc;
}

/* --- settings --- */

/* Numbers of entries in the journal. */
enum { PLAN, FIRST_SETTING };

size_t stage_common(const struct plan *p, size_t a, size_t b)
{
	const struct combination *x = plan_combination(p, a), *y = plan_combination(p, b);
	size_t i;

	for (i = 0; i < x->n; i++) {
		const struct hooks *h = &x->set[i].hooks, *k = &y->set[i].hooks;

		if (strcmp(x->set[i].value, y->set[i].value) || strcmp(h->save, k->save) ||
		    strcmp(h->before, k->before) || strcmp(h->after, k->after))
			break;
	}
	return i;
}

static int stage_run_hooks(struct stage *s, const struct hooks *h, unsigned int n,
			   const char *owner, struct error *err)
{
	struct hook hook = {.dir = s->dir,
			    .owner = owner,
			    .intr = s->intr,
			    .timeout_s = s->plan->hook_timeout_s};
	autofree char *saved = NULL;
	int rc = hook_check_script(owner, h->before, err);

	hook.what = "save";
	hook.command = h->save;
	if (!rc && *h->save)
		rc = hook_read(&hook, &saved, err);
	if (!rc && saved && !*saved)
		rc = error_set(
			err, ENODATA,
			"%s's 'save' printed nothing, and $saved in its 'after' would be empty: %s",
			owner, h->save);
	if (!rc && *h->after)
		rc = undo_write(s->dir, n, &(struct undo){owner, saved, h->after, hook.timeout_s},
				err);
	hook.what = "before";
	hook.command = h->before;
	if (!rc && *h->before)
		rc = hook_run(&hook, err);
	return rc;
}

/* The folder of the capture between stage_open() and stage_close(), else NULL. */
static const char *stage_undo_folder;

/*
 * Runs when zcost exits in the middle of a capture because it is out of memory. So it allocates
 * none, and a shell takes this process's place: that frees the memory and the locks of the capture.
 */
static void stage_undo_at_exit(void)
{
	char self[PATH_MAX] = "";

	if (!stage_undo_folder || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return;
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	execl("/bin/sh", "sh", "-c", "\"$0\" capture --undo -o \"$1\"; exit 1", self,
	      stage_undo_folder, (char *)NULL);
}

int stage_open(struct stage *s, const struct plan *plan, const char *dir, struct interrupt *intr,
	       struct error *err)
{
	const struct hooks h = {(char *)"", plan->before, plan->after};

	*s = (struct stage){.plan = plan, .dir = dir, .intr = intr};
	stage_undo_folder = dir;
	atexit(stage_undo_at_exit);
	return stage_run_hooks(s, &h, PLAN, "the plan", err);
}

static int stage_undo_to(struct stage *s, size_t depth, struct error *err)
{
	int rc = 0;

	while (s->depth > depth && !rc) {
		unsigned int n = FIRST_SETTING + (unsigned int)s->depth - 1;

		rc = undo_run(s->dir, n, err);
		s->stuck = rc ? n : 0;
		s->depth -= !rc;
	}
	return rc;
}

/*
 * Undoes the setting at `depth` that could not be set up. Returns -ECANCELED when that succeeds.
 * When it fails, prints first why the setting could not be set up.
 */
static int stage_give_up(struct stage *s, const struct error *reason, struct error *err)
{
	int rc;

	s->why = xstrdup(reason->text);
	s->depth++;
	rc = stage_undo_to(s, s->depth - 1, err);
	if (rc)
		print_note("%s", reason->text);
	return rc ? rc : -ECANCELED;
}

static int stage_set_next(struct stage *s, struct error *err)
{
	const struct set_value *v = &plan_combination(s->plan, s->combination)->set[s->depth];
	unsigned int n = FIRST_SETTING + (unsigned int)s->depth;
	struct error e = {0};
	autofree char *owner = xasprintf("setting %s=%s", v->name, v->value);
	int rc = stage_run_hooks(s, &v->hooks, n, owner, &e);

	if (!rc)
		s->depth++;
	else if (rc == -EINTR)
		error_set(err, EINTR, "%s", e.text);
	else
		rc = stage_give_up(s, &e, err);
	return rc;
}

int stage_set(struct stage *s, size_t combination, struct error *err)
{
	size_t n = plan_combination(s->plan, combination)->n;
	size_t keep = stage_common(s->plan, s->combination, combination);
	int rc;

	if (s->combination == combination && s->why)
		return -ECANCELED;
	free(s->why);
	s->why = NULL;
	rc = stage_undo_to(s, keep, err);
	s->combination = combination;
	while (!rc && s->depth < n)
		rc = stage_set_next(s, err);
	return rc;
}

int stage_close(struct stage *s, struct error *err)
{
	struct error e;
	int rc = 0;

	/* One more than the depth, because a signal may have come in the middle of a `before`. */
	for (size_t i = s->depth + 2; i-- > 0;) {
		e = (struct error){0};
		if (i && i == s->stuck) /* it failed before, and its error was printed */
			continue;
		if (!undo_run(s->dir, (unsigned int)i, &e))
			continue;
		if (rc)
			warn("%s", e.text);
		else
			rc = error_set(err, e.code, "%s", e.text);
	}
	stage_undo_folder = NULL;
	free(s->why);
	s->why = NULL;
	s->depth = 0;
	return rc;
}
