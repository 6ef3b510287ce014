// SPDX-License-Identifier: GPL-2.0-only
#include "capture/remote.h"

#include "lib/clock.h"
#include "lib/file.h"
#include "lib/json.h"
#include "workload/workload.h"
#include "capture/capture.h"
#include "capture/undo.h"
#include "collect/host.h"
#include "lib/command.h"
#include "lib/names.h"
#include "lib/spawn.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* The name of a Unix socket has 108 bytes at most, and ssh adds a suffix while it makes one. */
enum { LONGEST_DIR = 64, NUDGE_NS = 1000000000, SWEEP_S = 20, HURRY_S = 1 };

/* Makes our private folder. Its name is always the same: what a killed capture left is removed. */
static int remote_make_dir(struct remote *r, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	struct stat st;

	if (!tmp || *tmp != '/' || strlen(tmp) > LONGEST_DIR)
		tmp = "/tmp";
	r->dir = xasprintf("%s/zcost-ssh-%s", tmp, r->key);
	if (caller_check_path(r->dir, err))
		return -err->code;
	if (!lstat(r->dir, &st) && (!S_ISDIR(st.st_mode) || st.st_uid != geteuid()))
		return error_set(err, EEXIST,
				 "%s: exists and is not a folder of this user: remove it", r->dir);
	if (dir_remove(r->dir, err))
		return -err->code;
	return mkdir(r->dir, 0700) ? error_sys(err, errno, "%s: cannot make the folder", r->dir)
				   : 0;
}

int remote_init(struct remote *r, const struct plan *p, int side, const char *key,
		struct error *err)
{
	const struct side_plan *s = &p->sides[side];
	int rc;

	*r = (struct remote){.side = s->name,
			     .url = s->host,
			     .owed = r->owed,
			     .start_timeout_s = p->start_timeout_s,
			     .stop_timeout_s = p->stop_timeout_s,
			     .most = {FETCH_BYTES, FETCH_FILES, FETCH_S}};
	r->link.to = r->link.from = -1;
	r->key = xstrdup(key);
	rc = words_split(&r->ssh, p->ssh, err);
	rc = rc ?: words_split(&r->zcost, *s->zcost ? s->zcost : "zcost", err);
	return rc ? rc : remote_make_dir(r, err);
}

/*
 * Ends the connection. The agent removes its files first, which takes as long as a run takes to
 * end. Returns true when it has removed all of them.
 */
static bool remote_disconnect(struct remote *r)
{
	uint64_t now = clock_mono_ns();
	double patience = SWEEP_S;
	int status = -1;

	if (r->hurry_ns)
		patience = r->hurry_ns > now ? (double)(r->hurry_ns - now) / 1e9 : 0;
	if (r->link.pid)
		link_close(&r->link, r->up ? patience : 0, &status);
	r->up = false;
	return !status;
}

void remote_free(struct remote *r)
{
	remote_disconnect(r);
	if (r->dir)
		dir_remove(r->dir, NULL);
	json_decref(r->hello);
	words_free(&r->ssh);
	words_free(&r->zcost);
	free(r->key);
	free(r->host_name);
	free(r->dir);
	*r = (struct remote){0};
}

int remote_lost(struct remote *r, int rc, struct error *err)
{
	autofree char *log = xasprintf("%s/log", r->dir), *line = NULL;

	if (rc == -EINTR) {
		r->hurry_ns = clock_deadline(HURRY_S);
		return rc;
	}
	r->up = false;
	remote_disconnect(r);
	if (rc == -ETIMEDOUT)
		return error_set(err, ETIMEDOUT, "%s: no answer for %g s (stop_timeout)", r->url,
				 r->stop_timeout_s);
	line = line_of_file(log, false);
	return error_set(err, EPIPE, "%s: the connection broke%s%s", r->url, line ? ": " : "",
			 line ? line : "");
}

int remote_refuse(struct remote *r, struct error *err, const char *why, ...)
{
	autofree char *text = xformat(why);

	r->up = false;
	remote_disconnect(r);
	return error_set(err, EPROTO, "%s: %s", r->url, text);
}

int remote_bad_answer(struct remote *r, const char *said, struct error *err)
{
	return remote_refuse(r, err, "unexpected answer of zcost there: '%.60s'", said);
}

int remote_ask(struct remote *r, struct interrupt *intr, const char *what, struct str *answer,
	       struct error *err)
{
	double patience = r->stop_timeout_s + (strcmp(what, "sweep") ? 0 : SWEEP_S);
	int rc = r->up ? link_write_line(&r->link, what) : -EPIPE;

	r->said_ns = clock_mono_ns();
	rc = rc ?: link_read_line(&r->link, intr, clock_deadline(patience), answer);
	return rc ? remote_lost(r, rc, err) : 0;
}

void remote_nudge(struct remote *r)
{
	uint64_t now = clock_mono_ns();

	if (!r->up || now - r->said_ns < NUDGE_NS)
		return;
	link_write_line(&r->link, "alive");
	r->said_ns = now;
}

int remote_sweep(struct remote *r, struct interrupt *intr, struct error *err)
{
	freed(str_free) struct str answer = {0};
	int rc = remote_ask(r, intr, "clock", &answer, err); /* does the agent answer? */

	rc = rc ?: remote_ask(r, intr, "sweep", &answer, err);
	if (!rc && strcmp(answer.buf, "swept 0") != 0)
		rc = error_set(err, EBUSY, "%s: processes of the run cannot be ended", r->url);
	return rc;
}

/*
 * How far CLOCK_MONOTONIC of another host is ahead of ours. We send a question at s and receive the
 * answer at h, by our clock. The agent receives the question at H and answers at S, by its clock.
 * No message arrives before it was sent, so that the offset is at most H - s and at least S - h.
 * The smallest H - s and the largest S - h of all trips are the bounds, however different the two
 * ways are. A host that answers slowly makes fewer trips in stop_timeout.
 */

enum { TRIPS = 20 };

struct clock_bounds {
	int64_t low, high, rtt;
};

static int clock_trip(struct remote *r, struct interrupt *intr, struct clock_bounds *b,
		      struct error *err)
{
	freed(str_free) struct str answer = {0};
	uint64_t sent = clock_mono_ns(), got, heard, said, took;
	int rc = remote_ask(r, intr, "clock", &answer, err);
	char end;

	got = clock_mono_ns();
	took = got - sent;
	/* A clock that is slewed may run faster by some percent. */
	if (!rc &&
	    (sscanf(answer.buf, "clock %" SCNu64 " %" SCNu64 "%c", &heard, &said, &end) != 2 ||
	     said - heard > took + took / 8))
		rc = remote_bad_answer(r, answer.buf, err);
	if (!rc)
		*b = (struct clock_bounds){
			.low = (int64_t)(said - got),
			.high = (int64_t)(heard - sent),
			.rtt = (int64_t)(said - heard < took ? took - (said - heard) : 0)};
	return rc;
}

int remote_offset(struct remote *r, struct interrupt *intr, struct offset *o, struct error *err)
{
	struct clock_bounds all = {0}, best = {0}, one;
	uint64_t deadline = clock_deadline(r->stop_timeout_s);
	int i, rc = 0;

	*o = (struct offset){.error_ns = -1};
	for (i = 0; i < TRIPS && (!i || clock_mono_ns() < deadline); i++) {
		rc = clock_trip(r, intr, &one, err);
		if (rc)
			return rc;
		if (!i || one.rtt < best.rtt)
			best = one;
		if (!i || one.low > all.low)
			all.low = one.low;
		if (!i || one.high < all.high)
			all.high = one.high;
	}
	if (all.low > all.high) /* a clock was slewed meanwhile: use the shortest trip alone */
		all = best;
	o->at_ns = clock_mono_ns();
	o->offset_ns = all.low + (all.high - all.low) / 2;
	o->error_ns = (all.high - all.low + 1) / 2;
	o->rtt_ns = best.rtt;
	o->trips = i;
	return 0;
}

static json_t *offset_json(const struct offset *o)
{
	if (o->error_ns < 0)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:i}", "at_ns", (json_int_t)o->at_ns, "offset_ns",
			 (json_int_t)o->offset_ns, "error_ns", (json_int_t)o->error_ns, "rtt_ns",
			 (json_int_t)o->rtt_ns, "trips", o->trips);
}

int remote_write_clock(const struct remote *r, const char *dir, struct error *err)
{
	json_auto_t *o =
		json_pack("{s:i, s:s, s:o, s:o}", "schema_version", 1, "clock", "CLOCK_MONOTONIC",
			  "before", offset_json(&r->before), "after", offset_json(&r->after));
	autofree char *path = xasprintf("%s/clock.json", dir);

	return json_write(path, o, JSON_INDENT(2), err);
}

/* --- connecting --- */

enum {
	SSH_FAILED = 255,
	NOT_EXECUTABLE = 126,
	NOT_FOUND = 127,
	NOISE_LINES = 100,
	CONNECT_S = 30, /* the longest wait of ssh for a host that does not answer */
	AT_A_TIME = 8,	/* connections that are being made; sshd begins to refuse the eleventh */
	RETRY_MS = 1000,
};

/* Adds the ssh command. The options of the user come first, because ssh uses the first of two. */
static void ssh_add_words(const struct remote *r, bool master, struct words *argv)
{
	for (size_t i = 0; i < r->ssh.n; i++)
		words_add(argv, r->ssh.word[i]);
	command_add(argv, "-o", "BatchMode=yes");
	command_add(argv, "-o", "RemoteCommand=none");
	command_add(argv, "-o", "RequestTTY=no");
	command_add(argv, "-o", "ClearAllForwardings=yes");
	command_add(argv, "-o", "ServerAliveInterval=10");
	command_add(argv, "-o", "ServerAliveCountMax=3");
	command_add(argv, "-o", "ControlPersist=no");
	command_add(argv, "-o", "ControlMaster=%s", master ? "yes" : "no");
	command_add(argv, "-o", "ControlPath=%s/socket", r->dir);
	command_add(argv, "-o", "ConnectTimeout=%d",
		    r->start_timeout_s < CONNECT_S ? (int)r->start_timeout_s + 1 : CONNECT_S);
	if (!master) /* no second connection without the control socket */
		command_add(argv, "-o", "ProxyCommand=false");
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
	char *sh[] = {"exec", "sh", "-c", script, NULL};
	autofree char *line = words_join(sh);

	ssh_add_words(r, true, argv);
	words_add(argv, line);
}

/* Says why the agent was not reached, in the words of ssh, of the shell there, or of zcost. */
static int remote_not_reached(struct remote *r, const char *missing, struct error *err)
{
	autofree char *log = xasprintf("%s/log", r->dir), *ssh = words_join(r->ssh.word);
	autofree char *zcost = words_join(r->zcost.word), *line = NULL;
	int status = 0, code;

	link_close(&r->link, r->stop_timeout_s, &status);
	line = line_of_file(log, false);
	code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (code == NOT_FOUND || code == NOT_EXECUTABLE)
		return error_set(
			err, ENOENT,
			"%s: there is no '%s' that could be run: install zcost %s there, or name it by 'zcost = /path/to/zcost' in [side %s] (%s)",
			r->url, zcost, zcost_version, r->side,
			line ? line : spawn_status_text(status));
	if (code == SSH_FAILED)
		return error_set(err, ENOTCONN,
				 "%s: cannot connect: %s (try it by hand: %s -o BatchMode=yes %s)",
				 r->url, line ? line : "ssh does not say why", ssh, r->url);
	return error_set(err, EPROTO, "%s: zcost there %s: %s", r->url,
			 code == EXIT_FAILED ? "cannot begin" : missing,
			 line ? line : spawn_status_text(status));
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
	uint64_t deadline = clock_deadline(r->start_timeout_s);
	int rc = 0;

	for (int n = 0; !rc && n <= NOISE_LINES; n++) {
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
	json_t *o = json_loads(line, 0, NULL);

	json_decref(r->hello);
	r->hello = o;
	r->exe = json_text(o, "exe");
	r->host = json_text(o, "host");
	r->boot_id = json_text(o, "boot_id");
	r->folder = json_text(o, "folder");
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

/* Starts ssh and the agent, and does not wait. remote_connect() does what is left. */
static int remote_begin(struct remote *r, struct error *err)
{
	autofree char *log = xasprintf("%s/log", r->dir);
	freed(words_free) struct words argv = {0};

	agent_add_words(r, &argv);
	return link_start(&r->link, argv.word, log, err);
}

int remote_connect(struct remote *r, struct interrupt *intr, struct error *err)
{
	autofree char *patience = NULL;
	int rc = r->link.pid ? 0 : remote_begin(r, err);

	rc = rc ?: remote_check_version(r, intr, err);
	rc = rc ?: hello_read(r, intr, err);
	if (rc)
		return rc;
	r->up = true;
	r->said_ns = clock_mono_ns();
	patience = xasprintf("patience %.9g", 4 + 2 * r->stop_timeout_s);
	link_write_line(&r->link, patience);
	return 0;
}

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

	if (!path)
		return NULL;
	if (!file_read(path, &text, NULL, NULL) && strlen(text) == KEY_DIGITS &&
	    strspn(text, "0123456789abcdef") == KEY_DIGITS) {
		key = xstrdup(text);
		for (int i = 0; i < c->plan->nsides; i++)
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

	uname(&u);
	for (int i = 0; i < c->plan->nsides && !other; i++) {
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

static int remote_connect_checked(struct capture *c, struct remote *r, struct error *err)
{
	autofree char *where = xasprintf("%s: ", r->url), *exe = NULL;
	autofree char *boot_id = r->boot_id ? xstrdup(r->boot_id) : NULL;
	int rc = remote_connect(r, &c->intr, err);

	r->owed |= !rc;
	rc = rc ?: plan_check_rights(c->plan, &r->rights, where, err);
	if (rc)
		return rc;
	if (boot_id && strcmp(boot_id, r->boot_id) != 0)
		capture_note(
			c,
			"%s: the host has booted: what an earlier 'before' set there may be gone",
			r->url);
	exe = xstrdup(r->exe);
	plan_set_bindir(c->plan, (int)(r - c->remote), dirname(exe));
	free(r->host_name);
	r->host_name = host_name_is_taken(c, r->host, r) ? xasprintf("%s-%.8s", r->host, r->boot_id)
							 : xstrdup(r->host);
	return 0;
}

/* Tries to connect until the host can be reached, or start_timeout has passed. */
static int remote_connect_again(struct capture *c, struct remote *r, struct error *err)
{
	uint64_t deadline = clock_deadline(r->start_timeout_s);
	struct pollfd signal = {.fd = c->intr.fd, .events = POLLIN};
	struct error e;
	int rc;

	for (;;) {
		e = (struct error){0};
		rc = remote_connect_checked(c, r, &e);
		if ((rc != -ENOTCONN && rc != -ETIMEDOUT) || clock_mono_ns() >= deadline)
			break;
		for (int i = 0; i < c->plan->nsides; i++)
			if (remote_of(c, i))
				remote_nudge(remote_of(c, i));
		poll(&signal, 1, RETRY_MS);
		if (interrupt_came(&c->intr))
			return -EINTR;
	}
	return rc ? error_set(err, e.code, "%s", e.text) : 0;
}

/* Connects to all hosts, and begins with the next ones while one answers. */
static int remotes_connect(struct capture *c, struct error *err)
{
	int n = c->plan->nsides, begun = 0, rc = 0;

	for (int i = 0; i < n && !rc; i++) {
		for (; begun < n && begun < i + AT_A_TIME && !rc; begun++)
			if (remote_of(c, begun))
				rc = remote_begin(remote_of(c, begun), err);
		if (!rc && remote_of(c, i))
			rc = remote_connect_checked(c, remote_of(c, i), err);
	}
	return rc;
}

int remotes_open(struct capture *c, struct error *err)
{
	autofree char *key = NULL;
	int rc = 0;

	if (!plan_has_remotes(c->plan))
		return 0;
	c->remote = xcalloc((size_t)c->plan->nsides, sizeof(*c->remote));
	key = remote_key_make(c, err);
	if (!key)
		return -err->code;
	for (int i = 0; i < c->plan->nsides && !rc; i++) {
		autofree char *own = xasprintf("%s-%d", key, i);

		if (!*c->plan->sides[i].host)
			continue;
		rc = remote_init(&c->remote[i], c->plan, i, own, err);
	}
	return rc ? rc : remotes_connect(c, err);
}

int remotes_reconnect(struct capture *c, struct error *err)
{
	int rc = 0;

	for (int i = 0; i < c->plan->nsides && !rc; i++) {
		struct remote *r = remote_of(c, i);

		if (!r || (r->up && !link_ended(&r->link)))
			continue;
		r->up = false;
		remote_disconnect(r);
		capture_note(c, "%s: connecting again", r->url);
		rc = remote_connect_again(c, r, err);
	}
	return rc;
}

void remotes_close(struct capture *c)
{
	autofree char *path = NULL;
	bool owing = false;

	if (!c->remote)
		return;
	for (int i = 0; i < c->plan->nsides; i++) {
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
	state_drop(c->dir);
}
