// SPDX-License-Identifier: GPL-2.0-only
/* Connects to hosts: finds zcost there, checks its version, and learns about the host. */
#include "capture/remote.h"

#include "capture/capture.h"
#include "capture/undo.h"
#include "collect/host.h"
#include "collect/agent.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/names.h"
#include "lib/spawn.h"
#include "lib/str.h"
#include "workload/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SSH_FAILED = 255, NOT_EXECUTABLE = 126, NOT_FOUND = 127, NOISE_LINES = 100 };

static void ssh_add_option(struct words *argv, const char *text)
{
	words_add(argv, "-o");
	words_add(argv, text);
}

/* Adds the ssh command. The options of the user come first, because ssh uses the first of two. */
static void ssh_add_words(const struct remote *r, bool master, struct words *argv)
{
	size_t i;

	for (i = 0; i < r->ssh.n; i++)
		words_add(argv, r->ssh.word[i]);
	ssh_add_option(argv, "BatchMode=yes");
	ssh_add_option(argv, "RemoteCommand=none");
	ssh_add_option(argv, "RequestTTY=no");
	ssh_add_option(argv, "ClearAllForwardings=yes");
	ssh_add_option(argv, "ServerAliveInterval=10");
	ssh_add_option(argv, "ServerAliveCountMax=3");
	ssh_add_option(argv, "ControlPersist=no");
	ssh_add_option(argv, master ? "ControlMaster=yes" : "ControlMaster=no");
	words_add(argv, "-o");
	words_addf(argv, "ControlPath=%s/socket", r->dir);
	words_add(argv, "-o");
	words_addf(argv, "ConnectTimeout=%d", (int)r->start_timeout_s + 1);
	if (!master) /* no second connection without the control socket */
		ssh_add_option(argv, "ProxyCommand=false");
	words_add(argv, "--");
	words_add(argv, r->url);
}

void remote_command(const struct remote *r, const struct words *there, struct words *argv)
{
	autofree char *line = words_join(there->word);

	ssh_add_words(r, false, argv);
	words_addf(argv, "exec %s", line);
}

/* Adds the command of the agent. It runs in sh, whatever the login shell is. */
static void agent_add_words(const struct remote *r, struct words *argv)
{
	autofree char *zcost = words_join(r->zcost.word);
	autofree char *script =
		xasprintf("%s --version && exec %s collect --agent %s", zcost, zcost, r->key);
	char *sh[] = {"exec", "sh", "-c", script, NULL}, *line = words_join(sh);

	ssh_add_words(r, true, argv);
	words_add(argv, line);
	free(line);
}

static int remote_no_zcost(const struct remote *r, const char *answer, struct error *err)
{
	autofree char *zcost = words_join(r->zcost.word);

	error_set(
		err, ENOENT,
		"%s: there is no '%s' that could be run: install zcost %s there, or name it by 'zcost = /path/to/zcost' in [side %s] (%s)",
		r->url, zcost, zcost_version, r->side, answer);
	return -ENOENT;
}

/* Says why the agent was not reached, in the words of ssh, of the shell there, or of zcost. */
static int remote_not_reached(struct remote *r, const char *missing, struct error *err)
{
	autofree char *log = xasprintf("%s/log", r->dir), *ssh = words_join(r->ssh.word);
	char *line;
	int status = 0, code, rc;

	link_close(&r->link, r->stop_timeout_s, &status);
	line = line_of_file(log, false);
	code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (code == NOT_FOUND || code == NOT_EXECUTABLE)
		rc = remote_no_zcost(r, line ? line : spawn_status_text(status), err);
	else if (code == SSH_FAILED)
		rc = error_set(err, ENOTCONN,
			       "%s: cannot connect: %s (try it by hand: %s -o BatchMode=yes %s)",
			       r->url, line ? line : "ssh does not say why", ssh, r->url);
	else
		rc = error_set(err, EPROTO, "%s: zcost there %s: %s", r->url,
			       code == EXIT_FAILED ? "cannot begin" : missing,
			       line ? line : spawn_status_text(status));
	free(line);
	return rc;
}

static int remote_connect_failed(struct remote *r, int rc, const char *missing, struct error *err)
{
	if (rc == -EPIPE)
		return remote_not_reached(r, missing, err);
	link_close(&r->link, 0, NULL);
	return rc == -EINTR ? rc
			    : error_set(err, ETIMEDOUT, "%s: not reached in %g s (start_timeout)",
					r->url, r->start_timeout_s);
}

/* Reads a line behind lines that do not count: those of a login script, and those of --version. */
static int remote_read_greeting(struct remote *r, struct interrupt *intr, bool version,
				struct str *line)
{
	uint64_t deadline = link_deadline(r->start_timeout_s);
	int n, rc = 0;

	for (n = 0; !rc && n <= NOISE_LINES; n++) {
		rc = link_read_line(&r->link, intr, deadline, line);
		if (!rc && (version ? str_starts(line->buf, "zcost ") : *line->buf != ' '))
			return 0;
	}
	return rc ? rc : -EPIPE;
}

static int remote_check_version(struct remote *r, struct interrupt *intr, struct error *err)
{
	freed(str_free) struct str line = {0};
	int rc = remote_read_greeting(r, intr, true, &line);

	if (rc) {
		rc = remote_connect_failed(r, rc, "does not print its version", err);
	} else if (strcmp(line.buf + strlen("zcost "), zcost_version) != 0) {
		link_close(&r->link, 0, NULL);
		rc = error_set(
			err, EPROTO,
			"%s: has %.40s, and this is %s: install the same version there, or name another one by 'zcost = /path/to/zcost' in [side %s]",
			r->url, line.buf, zcost_version, r->side);
	}
	return rc;
}

/* Says whether a host name or a boot id may be part of the name of a folder here. */
static bool host_name_is_plain(const char *name)
{
	return name_is_part(name) && *name != '.';
}

static int hello_parse(struct remote *r, const char *line, struct error *err)
{
	json_auto_t *o = json_loads(line, 0, NULL);

	free(r->exe);
	free(r->host);
	free(r->boot_id);
	free(r->folder);
	r->exe = xstrdup(json_text(o, "exe"));
	r->host = xstrdup(json_text(o, "host"));
	r->boot_id = xstrdup(json_text(o, "boot_id"));
	r->folder = xstrdup(json_text(o, "folder"));
	r->rights.caps = strtoull(json_text(o, "caps"), NULL, 16);
	r->rights.paranoid = (int)json_integer_value(json_object_get(o, "paranoid"));
	if (*r->exe == '/' && *r->folder == '/' && host_name_is_plain(r->host) &&
	    host_name_is_plain(r->boot_id))
		return 0;
	link_close(&r->link, 0, NULL);
	return error_set(err, EPROTO,
			 "%s: unreadable answer of zcost there: install the same build there",
			 r->url);
}

static int hello_read(struct remote *r, struct interrupt *intr, struct error *err)
{
	freed(str_free) struct str line = {0};
	int rc = remote_read_greeting(r, intr, false, &line);

	if (rc)
		rc = remote_connect_failed(r, rc, "has the same version but is another build", err);
	else
		rc = hello_parse(r, line.buf, err);
	return rc;
}

int remote_connect(struct remote *r, struct interrupt *intr, struct error *err)
{
	autofree char *log = xasprintf("%s/log", r->dir);
	char *patience;
	freed(words_free) struct words argv = {0};
	int rc;

	agent_add_words(r, &argv);
	rc = link_start(&r->link, argv.word, log, err);
	if (!rc)
		rc = remote_check_version(r, intr, err);
	if (!rc)
		rc = hello_read(r, intr, err);
	if (rc)
		return rc;
	r->up = true;
	r->said_ns = clock_mono_ns();
	patience = xasprintf("patience %.9g", 4 + 2 * r->stop_timeout_s);
	link_write_line(&r->link, patience);
	free(patience);
	return 0;
}

/* --- all hosts of a capture --- */

enum { KEY_DIGITS = 16 };

struct remote *remote_of(struct capture *c, int side)
{
	return c->remote && c->remote[side].url ? &c->remote[side] : NULL;
}

/* --- the key: part of the name of our folder on other hosts, stored until it is removed --- */

static char *remote_key_path(const struct capture *c, bool make, struct error *err)
{
	autofree char *folder = state_folder(c->dir, make, err);

	return folder ? xasprintf("%s/remote", folder) : NULL;
}

/* Returns the key of a capture that could not remove its folders, or makes a new one. */
static char *remote_key_make(struct capture *c, struct error *err)
{
	autofree char *path = remote_key_path(c, true, err), *text = NULL;
	char *key = NULL;
	uint64_t number = 0;
	int i;

	if (!path)
		return NULL;
	if (!file_read(path, &text, NULL, NULL) && strlen(text) == KEY_DIGITS &&
	    strspn(text, "0123456789abcdef") == KEY_DIGITS) {
		key = xstrdup(text);
		for (i = 0; i < c->plan->nsides; i++)
			c->remote[i].owed = true;
	} else if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
		error_sys(err, errno, "no random number");
	} else {
		key = xasprintf("%0*" PRIx64, KEY_DIGITS, number);
		if (file_write(path, key, strlen(key), err)) {
			free(key);
			key = NULL;
		}
	}
	return key;
}

/* --- the folder of a host under hosts/ --- */

/* Says whether the name is used for another machine, or for another boot, in the capture. */
static bool host_name_is_taken(struct capture *c, const char *name, const struct remote *r)
{
	autofree char *dir = xasprintf("%s/hosts/%s", c->dir, name);
	bool other = host_is_other(dir, r->boot_id);
	struct utsname u;
	int i;

	uname(&u);
	for (i = 0; i < c->plan->nsides && !other; i++) {
		const struct remote *also = remote_of(c, i);

		if (also && also != r)
			other = also->host_name && !strcmp(also->host_name, name) &&
				strcmp(also->boot_id, r->boot_id) != 0;
		else if (!also)
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

static int remote_connect_checked(struct capture *c, struct remote *r, struct error *err)
{
	char *where = xasprintf("%s: ", r->url), *exe;
	int rc = remote_connect(r, &c->intr, err);

	r->owed |= !rc;
	if (!rc)
		rc = plan_check_rights(c->plan, &r->rights, where, err);
	if (!rc) {
		exe = xstrdup(r->exe);
		plan_set_bindir(c->plan, (int)(r - c->remote), dirname(exe));
		free(exe);
	}
	if (!rc)
		remote_name_host(c, r);
	free(where);
	return rc;
}

static int remotes_open_side(struct capture *c, int side, const char *key, struct error *err)
{
	autofree char *own = xasprintf("%s-%d", key, side);
	int rc = remote_init(&c->remote[side], c->plan, side, own, err);

	return rc ? rc : remote_connect_checked(c, &c->remote[side], err);
}

int remotes_open(struct capture *c, struct error *err)
{
	char *key;
	int i, rc = 0;

	if (!plan_has_remotes(c->plan))
		return 0;
	c->remote = xcalloc((size_t)c->plan->nsides, sizeof(*c->remote));
	key = remote_key_make(c, err);
	if (!key)
		return -err->code;
	for (i = 0; i < c->plan->nsides && !rc; i++)
		if (*c->plan->sides[i].host)
			rc = remotes_open_side(c, i, key, err);
	free(key);
	return rc;
}

int remotes_reconnect(struct capture *c, struct error *err)
{
	int i, rc = 0;

	for (i = 0; i < c->plan->nsides && !rc; i++) {
		struct remote *r = remote_of(c, i);

		if (!r || remote_alive(r))
			continue;
		remote_disconnect(r);
		capture_note(c, "%s: connecting again", r->url);
		rc = remote_connect_checked(c, r, err);
	}
	return rc;
}

void remotes_close(struct capture *c)
{
	bool owing = false;
	char *path;
	int i;

	if (!c->remote)
		return;
	for (i = 0; i < c->plan->nsides; i++) {
		if (remote_of(c, i) && remote_disconnect(&c->remote[i]))
			c->remote[i].owed = false;
		owing |= c->remote[i].owed && *c->plan->sides[i].host;
		remote_free(&c->remote[i]);
	}
	free(c->remote);
	c->remote = NULL;
	path = owing ? NULL : remote_key_path(c, false, NULL);
	if (path)
		unlink(path);
	free(path);
	state_drop(c->dir);
}
