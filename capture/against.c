// SPDX-License-Identifier: GPL-2.0-only
/*
 * zcost capture --against: the variants of an earlier capture become variants of the plan, so that
 * their runs take turns with those of the plan. Their commands are those of the earlier manifest,
 * in which no variable but ${seconds} is left. The sides, the hooks and the times are the plan's.
 */
#include "capture/manifest.h"

#include "collect/options.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "old-";

/* Fills the commands of the earlier variant, "" for a side without one. */
static void against_fill(const struct plan *p, struct variant *v, const char *name,
			 const json_t *old)
{
	const json_t *settings = json_object_get(old, "settings");
	char *key;
	int i;

	*v = (struct variant){.name = xasprintf("%s%s", prefix, name),
			      .base = xasprintf("%s%s", prefix, name),
			      .what = xasprintf("%s (earlier)", json_text(old, "what")),
			      .command = xcalloc((size_t)p->nsides + 1, sizeof(*v->command)),
			      .earlier = true};
	for (i = 0; i < p->nsides; i++) {
		key = xasprintf("%s.command", p->sides[i].name);
		v->command[i] = xstrdup(json_text(settings, key));
		free(key);
	}
}

static bool against_is_same(const struct variant *a, const struct variant *b)
{
	int i;

	for (i = 0; a->command[i]; i++)
		if (strcmp(a->command[i], b->command[i]) != 0)
			return false;
	return true;
}

/* Refuses other settings of the sides: a capture measures all variants under the same. */
static int against_check_settings(const struct plan *p, const struct variant *v, const json_t *old,
				  struct error *err)
{
	static const char *const of_plan[] = {"before", "after", "warmup", "duration"};
	json_auto_t *now = settings_of(p, v), *then = json_copy(json_object_get(old, "settings"));
	size_t i;
	int rc;

	for (i = 0; i < array_size(of_plan); i++) {
		json_object_del(now, of_plan[i]);
		json_object_del(then, of_plan[i]);
	}
	rc = settings_same(then, now, json_text(old, "name"), err);
	return rc ? -EINVAL : 0;
}

/* Adds one earlier variant. Leaves out one with the commands of the plan's variant of its name. */
static int against_add(struct plan *p, const json_t *old, struct str *same, struct error *err)
{
	const char *name = json_text(old, "name");
	const struct variant *now = plan_find_variant(p, name);
	struct variant v;
	int rc;

	against_fill(p, &v, name, old);
	if (now && against_is_same(&v, now)) {
		str_printf(same, "%s%s", same->len ? ", " : "", name);
		plan_free_variant(&v);
		return 0;
	}
	rc = plan_check_name(v.name, err);
	if (!rc && plan_find_variant(p, v.name))
		rc = error_set(err, EINVAL, "the plan has a variant '%s', too", v.name);
	if (!rc)
		rc = against_check_settings(p, &v, old, err);
	if (rc) {
		plan_free_variant(&v);
		return rc;
	}
	array_add(p->variants, p->nvariants, p->variants_cap, v);
	return 0;
}

static int against_add_all(struct plan *p, const json_t *variants, struct error *err)
{
	size_t before = p->nvariants, i;
	freed(str_free) struct str same = {0};
	json_t *old;
	int rc = 0;

	if (p->ncombinations)
		rc = error_set(err, EINVAL, "the plan has settings; measure one value of each");
	json_array_foreach (variants, i, old)
		if (!rc)
			rc = against_add(p, old, &same, err);
	if (!rc && p->nvariants == before)
		rc = error_set(
			err, EINVAL,
			"%s: the same commands in the plan; keep the earlier programs under another path",
			same.len ? same.buf : "no variant");
	else if (!rc && same.len)
		print_note("%s: the same commands in the plan, so not measured twice", same.buf);
	return rc;
}

int plan_add_capture(struct plan *p, const char *dir, struct error *err)
{
	autofree char *path = xasprintf("%s/manifest.json", dir);
	struct manifest m = {0};
	struct error e = {0};
	int rc;

	if (!path_exists(path))
		rc = error_set(&e, EINVAL, "there is no %s; an archive needs 'zcost unpack'", path);
	else
		rc = manifest_open(&m, dir, &e);
	if (!rc)
		rc = against_add_all(p, json_object_get(m.root, "variants"), &e);
	if (rc)
		rc = error_set(err, -rc, "--against %s: %s", dir, e.text);
	manifest_close(&m);
	return rc;
}
