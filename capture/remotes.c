// SPDX-License-Identifier: GPL-2.0-only
#include "capture/remotes.h"

#include "capture/permit.h"
#include "capture/state.h"
#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { KEY_DIGITS = 16 };

struct remote *remote_of(struct capture *c, enum side side)
{
	return c->remote[side].url ? &c->remote[side] : NULL;
}

static bool plan_has_remotes(const struct plan *p)
{
	int i;

	for (i = 0; i < SIDE_COUNT; i++)
		if (p->sides[i].used && *p->sides[i].host)
			return true;
	return false;
}

/* --- the key: what a capture that was killed has left elsewhere is found by it --- */

static char *remote_key_path(const struct capture *c, bool make, struct error *err)
{
	char *folder = state_folder(c->dir, make, err);
	char *path = folder ? xasprintf("%s/remote", folder) : NULL;

	free(folder);
	return path;
}

static bool is_remote_key(const char *text)
{
	return strlen(text) == KEY_DIGITS && strspn(text, "0123456789abcdef") == KEY_DIGITS;
}

/* One that is there already was left by a capture that could not clear up. */
static char *remote_key_make(struct capture *c, struct error *err)
{
	char *path = remote_key_path(c, true, err), *text = NULL, *key = NULL;
	uint64_t number = 0;

	if (!path)
		return NULL;
	if (!file_read(path, &text, NULL, NULL) && is_remote_key(str_trim(text))) {
		key = xstrdup(str_trim(text));
		memset(c->owed, true, sizeof(c->owed));
	} else if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
		error_sys(err, errno, "no random number");
	} else {
		key = xasprintf("%0*" PRIx64, KEY_DIGITS, number);
		if (file_write(path, key, strlen(key), err)) {
			free(key);
			key = NULL;
		}
	}
	free(text);
	free(path);
	return key;
}

/* --- which folder under hosts/ is a host's --- */

/* Does the capture know another machine, or another boot, by that name? */
static bool host_name_is_taken(struct capture *c, const char *name, const struct remote *r)
{
	char *dir = xasprintf("%s/hosts/%s", c->dir, name);
	bool other = host_is_other(dir, r->boot_id);
	struct utsname u;
	int i;

	free(dir);
	uname(&u);
	for (i = 0; i < SIDE_COUNT && !other; i++) {
		const struct remote *also = remote_of(c, (enum side)i);

		if (also && also != r)
			other = also->host_name && !strcmp(also->host_name, name) &&
				strcmp(also->boot_id, r->boot_id) != 0;
		else if (!also && c->plan->sides[i].used)
			other = !strcmp(u.nodename, name) &&
				strcmp(host_boot_id(), r->boot_id) != 0;
	}
	return other;
}

static void remote_name_host(struct capture *c, struct remote *r)
{
	free(r->host_name);
	r->host_name = NULL;
	if (host_name_is_taken(c, r->host, r))
		r->host_name = xasprintf("%s-%.8s", r->host, r->boot_id);
	else
		r->host_name = xstrdup(r->host);
}

/* --- all of them --- */

static int remote_connect_checked(struct capture *c, struct remote *r, struct error *err)
{
	char *where = xasprintf("%s: ", r->url), *exe;
	int rc = remote_connect(r, &c->intr, err);

	c->owed[r->side] |= !rc;
	if (!rc)
		rc = plan_check_rights(c->plan, &r->rights, where, err);
	if (!rc) {
		exe = xstrdup(r->exe);
		rc = plan_set_bindir(c->plan, r->side, dirname(exe), err);
		free(exe);
	}
	if (!rc)
		remote_name_host(c, r);
	free(where);
	return rc;
}

static int remotes_open_side(struct capture *c, enum side side, const char *key, struct error *err)
{
	char *own = xasprintf("%s%c", key, *side_names[side]);
	int rc = remote_init(&c->remote[side], c->plan, side, own, err);

	free(own);
	return rc ? rc : remote_connect_checked(c, &c->remote[side], err);
}

int remotes_open(struct capture *c, struct error *err)
{
	char *key;
	int i, rc = 0;

	if (!plan_has_remotes(c->plan))
		return 0;
	key = remote_key_make(c, err);
	if (!key)
		return -err->code;
	for (i = 0; i < SIDE_COUNT && !rc; i++)
		if (c->plan->sides[i].used && *c->plan->sides[i].host)
			rc = remotes_open_side(c, (enum side)i, key, err);
	free(key);
	return rc;
}

int remotes_reconnect(struct capture *c, struct error *err)
{
	int i, rc = 0;

	for (i = 0; i < SIDE_COUNT && !rc; i++) {
		struct remote *r = remote_of(c, (enum side)i);

		if (!r || remote_alive(r))
			continue;
		remote_disconnect(r);
		progress_clear(&c->progress);
		note("%s: connecting anew", r->url);
		rc = remote_connect_checked(c, r, err);
	}
	return rc;
}

void remotes_close(struct capture *c)
{
	bool owing = false;
	char *path;
	int i;

	if (!plan_has_remotes(c->plan))
		return;
	for (i = 0; i < SIDE_COUNT; i++) {
		if (remote_of(c, (enum side)i) && remote_disconnect(&c->remote[i]))
			c->owed[i] = false;
		owing |= c->owed[i] && *c->plan->sides[i].host;
		remote_free(&c->remote[i]);
	}
	path = owing ? NULL : remote_key_path(c, false, NULL);
	if (path)
		unlink(path);
	free(path);
	state_drop(c->dir);
}
