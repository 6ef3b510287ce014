// SPDX-License-Identifier: GPL-2.0-only

#include "capture/undo.h"
#include "lib/alloc.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	size_t i;

	/* One more than the depth, because a signal may have come in the middle of a `before`. */
	for (i = s->depth + 2; i-- > 0;) {
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
