// SPDX-License-Identifier: GPL-2.0-only
/* Makes one run: starts its sides one after the other, measures with all, and ends them. */
#include "capture/capture.h"

#include "capture/child.h"
#include "capture/plan_read.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "workload/workload.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the command of a side --- */

/* Adds the keys of a side that are options of zcost collect: call_graph is --call-graph. */
static void command_add_keys(const struct side_plan *s, enum pass pass, struct words *argv)
{
	for (const struct plan_key *k = plan_keys; k->name; k++) {
		const char *value;
		autofree char *name = NULL;

		if (k->section != SECTION_SIDE || !(k->flags & (unsigned int)KEY_OPTION << pass))
			continue;
		value = *(char *const *)((const char *)s + k->offset);
		name = xasprintf("--%s", k->name);
		str_replace(name, '_', '-');
		if (*value)
			command_add(argv, name, "%s", value);
	}
}

/*
 * Adds a side's own rate of samples. CPUs that are sampled at one rate stay in step: a sample that
 * stops the sender for some us is then always followed by the same code of the receiver.
 */
static void command_add_freq(int side, struct words *argv)
{
	enum { HZ = 1999, APART = 30 };

	command_add(argv, "--freq", "%d", HZ + APART * side);
}

/* Adds `zcost collect` and its output folder. On another host it is in the folder of the agent. */
static void command_add_program(const struct capture *c, const struct remote *r, const char *name,
				const char *dir, struct words *argv)
{
	size_t i;

	for (i = 0; r && i < r->zcost.n; i++)
		words_add(argv, r->zcost.word[i]);
	if (!r)
		words_add(argv, c->collect);
	words_add(argv, "collect");
	words_add(argv, "--sync");
	if (r)
		command_add(argv, "--mark", "%s", r->folder);
	command_add(argv, "-o", "%s/%s", r ? r->folder : dir, r ? "run" : name);
}

/* The prefix stays root's: it may be `ip netns exec`. */
static int command_add_prefix_count(const struct side_plan *s, struct words *argv,
				    struct error *err)
{
	freed(words_free) struct words prefix = {0};
	int rc = words_split(&prefix, s->prefix, err);

	if (*s->user && prefix.n)
		command_add(argv, "--prefix", "%zu", prefix.n);
	return rc;
}

/* Returns the time to start that the workload must outlast. */
static double run_start_s(const struct capture *c)
{
	double most = c->plan->start_timeout_s;

	return c->start_s < most ? c->start_s : most;
}

/* Returns the time after the window. A run that starts fast leaves a workload its whole margin. */
static double run_grace_s(const struct capture *c, const struct run_id *id, double grace_s)
{
	bool ends = variant_has_seconds(c->plan, &c->plan->variants[id->variant]);

	return ends && c->plan->grace_s > 0 ? grace_s + run_start_s(c) : grace_s;
}

/*
 * Returns whether the frame of the first side measures the CPUs of all sides, which then get copies
 * of its files. Two frames on one host would both run at each change of context, on every CPU.
 */
static bool run_shares_frame(struct capture *c, const struct run_id *id)
{
	const struct side_plan *s = plan_sides(c->plan, &c->plan->variants[id->variant]);

	for (int i = 0; i < c->plan->nsides; i++)
		if (remote_of(c, i) || !*s[i].cpus)
			return false;
	return c->plan->nsides > 1 && id->pass != PASS_MEASURE;
}

static void command_add_frame(struct capture *c, const struct run_id *id, int side,
			      struct words *argv)
{
	const struct side_plan *s = plan_sides(c->plan, &c->plan->variants[id->variant]);
	freed(str_free) struct str cpus = {0};

	if (!run_shares_frame(c, id))
		return;
	for (int i = 0; i < c->plan->nsides; i++)
		str_printf(&cpus, "%s%s", i ? "," : "", s[i].cpus);
	if (side)
		command_add(argv, "--without", "frame");
	else
		command_add(argv, "--frame-cpus", "%s", cpus.buf);
}

static int run_command(struct capture *c, const struct run_id *id, int side, const char *dir,
		       struct words *argv, struct error *err)
{
	const struct variant *v = &c->plan->variants[id->variant];
	const struct side_plan *s = &plan_sides(c->plan, v)[side];
	autofree char *command = plan_command(c->plan, v, side, run_start_s(c));
	const struct remote *r = remote_of(c, side);
	struct utsname u;
	int rc;

	uname(&u);
	command_add_program(c, r, s->name, dir, argv);
	command_add(argv, "--variant", "%s", v->name);
	command_add(argv, "--pass", "%s", pass_names[id->pass]);
	command_add(argv, "--repeat", "%u", id->repeat);
	command_add(argv, "--side", "%s", s->name);
	command_add(argv, "--host-dir", "%s/hosts/%s", r ? r->folder : c->dir,
		    r ? r->host_name : u.nodename);
	command_add(argv, "--warmup", "%.9g", c->plan->warmup_s);
	command_add(argv, "--duration", "%.9g", c->plan->duration_s);
	command_add(argv, "--grace", "%.9g", run_grace_s(c, id, plan_grace(c->plan, side)));
	command_add_keys(s, id->pass, argv);
	if (id->pass == PASS_PROFILE && !*s->freq)
		command_add_freq(side, argv);
	command_add_frame(c, id, side, argv);
	rc = command_add_prefix_count(s, argv, err);
	words_add(argv, "--");
	rc = rc ?: words_split(argv, s->prefix, err);
	return rc ? rc : words_split(argv, command, err);
}

/* --- a run --- */

enum {
	TICK_MS = 500,
	GRACE_MS = 2000,
	WAY_NS = 20000000,
	LONG_NS = 2000000000,
	SSH_FAILED = 255,
	SENDERS_AT_A_TIME = 8,
};

#define NS 1e9

struct live_run {
	struct capture *c;
	const struct run_id *id;
	const char *dir;
	struct side_proc *sides;
	int n; /* sides */
	struct pollfd *fds;
	uint64_t begun;
	bool vain; /* start_timeout passed without a sign of data */
};

/* Fills what a run waits for: a line or the end of each side, and a signal. */
static void run_fill_pollfds(const struct live_run *r)
{
	struct pollfd *fds = r->fds;

	for (int i = 0; i < r->n; i++) {
		const struct side_proc *s = &r->sides[i];
		bool on = s->state == SIDE_STARTING || s->state == SIDE_READY;

		fds[2 * i] = (struct pollfd){.fd = on ? s->from : -1, .events = POLLIN};
		fds[2 * i + 1] = (struct pollfd){.fd = on ? s->pidfd : -1, .events = POLLIN};
	}
	fds[2 * r->n] = (struct pollfd){.fd = r->c->intr.fd, .events = POLLIN};
}

/* Waits until `deadline` (0: no limit) for one event. -ETIMEDOUT, or -EINTR after a signal. */
static int run_await(struct live_run *r, uint64_t deadline)
{
	struct pollfd *fds = r->fds;
	uint64_t now = clock_mono_ns();
	int ms = TICK_MS;

	if (deadline && now >= deadline)
		return -ETIMEDOUT;
	if (deadline && (deadline - now) / 1000000 < TICK_MS)
		ms = (int)((deadline - now) / 1000000) + 1;
	run_fill_pollfds(r);
	poll(fds, 2 * (nfds_t)r->n + 1, ms);
	for (int i = 0; i < r->n; i++) {
		if (fds[2 * i].fd >= 0 && fds[2 * i].revents)
			side_on_output(&r->sides[i]);
		if (fds[2 * i + 1].fd >= 0 && fds[2 * i + 1].revents)
			side_on_exit(&r->sides[i]);
	}
	for (int i = 0; i < r->n; i++)
		if (remote_of(r->c, i))
			remote_nudge(remote_of(r->c, i));
	progress_tick(&r->c->progress);
	return interrupt_came(&r->c->intr) ? -EINTR : 0;
}

static bool run_has_side(const struct live_run *r, enum side_state state)
{
	return array_find(s, r->sides, r->n, s->state == state);
}

/* Says whether a side has ended, and neither ok nor lossy. */
static bool run_went_wrong(const struct live_run *r)
{
	int status;

	for (int i = 0; i < r->n; i++) {
		status = r->sides[i].status;
		if (r->sides[i].state == SIDE_DONE &&
		    (!WIFEXITED(status) ||
		     (WEXITSTATUS(status) != EXIT_OK && WEXITSTATUS(status) != EXIT_LOSSY)))
			return true;
	}
	return false;
}

static int run_start_side(struct live_run *r, int side, struct error *err)
{
	const struct remote *remote = remote_of(r->c, side);
	freed(words_free) struct words argv = {0}, here = {0};
	autofree char *log = xasprintf("%s/%s.log", r->dir, r->c->plan->sides[side].name);
	int rc = run_command(r->c, r->id, side, r->dir, &argv, err);

	if (!rc && remote)
		remote_command(remote, &argv, &here);
	return rc ? rc
		  : side_start(&r->sides[side], remote ? here.word : argv.word, log, r->c->mark,
			       remote != NULL, err);
}

/* Notes why the run ends a side that takes too long, with what the side was doing. */
static void run_set_late(struct live_run *r, int side, const char *what, double s, const char *key)
{
	const char *step = r->sides[side].step;

	r->sides[side].late =
		xasprintf("%s %g s%s%s%s", what, s, key, step ? ", while " : "", step ? step : "");
}

/* Returns how many sides start together from this one on: senders do not wait for each other. */
static int run_count_together(const struct live_run *r, int first)
{
	const struct side_plan *s = r->c->plan->sides;
	int n = 1;

	while (first + n < r->n && n < SENDERS_AT_A_TIME && plan_role(&s[first]) == ROLE_SENDER &&
	       plan_role(&s[first + n]) == ROLE_SENDER)
		n++;
	return n;
}

static bool run_has_settled(const struct live_run *r, int first, int end)
{
	for (int i = first; i < end; i++)
		if (!r->sides[i].settled)
			return false;
	return true;
}

/*
 * Starts the sides from `first` to before `end` and waits for their "ready", and until they listen
 * if another side comes after them. -ECANCELED: the run failed; the sides report why.
 */
static int run_start_until_ready(struct live_run *r, int first, int end, struct error *err)
{
	double patience = r->c->plan->start_timeout_s;
	uint64_t deadline = clock_deadline(patience);
	int rc = 0;

	for (int i = first; i < end && !rc; i++)
		rc = run_start_side(r, i, err);
	while (!rc && run_has_side(r, SIDE_STARTING) && !run_has_side(r, SIDE_DONE))
		rc = run_await(r, deadline);
	for (int i = first; i < end && rc == -ETIMEDOUT; i++)
		if (r->sides[i].state == SIDE_STARTING)
			run_set_late(r, i, "not ready after", patience, " (start_timeout)");
	while (!rc && end < r->n && !run_has_settled(r, first, end) && !run_has_side(r, SIDE_DONE))
		rc = run_await(r, deadline);
	if (rc == -ETIMEDOUT && !run_has_side(r, SIDE_STARTING))
		rc = 0; /* they may settle later */
	if (rc == -ETIMEDOUT || (!rc && run_has_side(r, SIDE_DONE)))
		return -ECANCELED;
	return rc;
}

static bool run_is_moving(const struct live_run *r)
{
	return !array_find(s, r->sides, r->n, !s->moving);
}

/*
 * Waits until all sides move data. Later runs do not wait when a run shows that there is no sign:
 * it is ok after a wait in vain, or its workload ended by itself in a long wait. A workload that
 * ended after ${seconds} lasts longer in the next try instead.
 */
static int run_await_data(struct live_run *r)
{
	struct capture *c = r->c;
	uint64_t begun = clock_mono_ns(),
		 deadline = begun + (uint64_t)(c->plan->start_timeout_s * NS);
	int rc = 0;

	while (!rc && !c->no_sign && !run_is_moving(r) && !run_has_side(r, SIDE_DONE))
		rc = run_await(r, deadline);
	r->vain = rc == -ETIMEDOUT;
	c->no_sign |= !rc && !run_is_moving(r) && clock_mono_ns() - begun > LONG_NS &&
		      !variant_has_seconds(c->plan, &c->plan->variants[r->id->variant]);
	return rc == -ETIMEDOUT ? 0 : rc;
}

/* Measures the clocks of other hosts. *way_ns is how long `go` takes to arrive, at most. */
static int run_compare_clocks(struct live_run *r, uint64_t *way_ns)
{
	struct error err = {0};
	int rc = 0;

	*way_ns = 0;
	for (int i = 0; i < r->n && !rc; i++) {
		struct remote *remote = remote_of(r->c, i);

		if (!remote)
			continue;
		rc = remote_offset(remote, &r->c->intr, &remote->before, &err);
		if (rc && rc != -EINTR) {
			r->sides[i].late = xstrdup(err.text);
			rc = -ECANCELED;
		}
		if (!rc && *way_ns < 2 * (uint64_t)remote->before.rtt_ns + WAY_NS)
			*way_ns = 2 * (uint64_t)remote->before.rtt_ns + WAY_NS;
	}
	return rc;
}

/* Notes that the warm-up begins now: the workload of the next try, or run, lasts as much longer. */
static void run_note_start_s(const struct live_run *r, uint64_t now)
{
	r->c->start_s = fmax(r->c->start_s, (double)(now - r->begun) / NS);
}

/* Has all sides measure from the same instant on, after the warm-up, and waits for their ends. */
static int run_measure(struct live_run *r)
{
	const struct plan *p = r->c->plan;
	double grace_s = 0;
	uint64_t length = (uint64_t)(p->duration_s * NS), deadline = 0, way = 0, at;
	int rc = run_compare_clocks(r, &way);

	if (rc)
		return rc;
	at = (uint64_t)(p->warmup_s * NS);
	at = clock_mono_ns() + (at > way ? at : way);
	run_note_start_s(r, at - (uint64_t)(p->warmup_s * NS));
	for (int i = 0; i < r->n; i++) {
		const struct remote *remote = remote_of(r->c, i);

		grace_s = fmax(grace_s, run_grace_s(r->c, r->id, plan_grace(p, i)));
		if (r->sides[i].state == SIDE_READY)
			side_go(&r->sides[i],
				at + (remote ? (uint64_t)remote->before.offset_ns : 0), length);
	}
	if (length)
		deadline = at + length + (uint64_t)((grace_s + p->stop_timeout_s) * NS);
	while (!rc && run_has_side(r, SIDE_READY) && !run_went_wrong(r))
		rc = run_await(r, deadline);
	for (int i = 0; rc == -ETIMEDOUT && i < r->n; i++)
		if (r->sides[i].state == SIDE_READY)
			run_set_late(r, i, "still not done", grace_s + p->stop_timeout_s,
				     " after the window (grace and stop_timeout)");
	return rc == -ETIMEDOUT || (!rc && run_went_wrong(r)) ? -ECANCELED : rc;
}

/* Says whether a side still runs that has time until `deadline`, or less on a host in a hurry. */
static bool run_has_time(const struct live_run *r, uint64_t deadline)
{
	uint64_t now = clock_mono_ns();

	for (int i = 0; i < r->n; i++) {
		const struct remote *remote = remote_of(r->c, i);
		bool runs = r->sides[i].state == SIDE_STARTING || r->sides[i].state == SIDE_READY;

		if (runs && now < deadline &&
		    !(remote && remote->hurry_ns && now >= remote->hurry_ns))
			return true;
	}
	return false;
}

/* Ends the sides that still run. Asks them first, because a collector has files to finish. */
static void run_end_sides(struct live_run *r)
{
	uint64_t deadline = clock_deadline(r->c->plan->stop_timeout_s);

	for (int i = 0; i < r->n; i++)
		side_abort(&r->sides[i]);
	while (run_has_time(r, deadline))
		run_await(r, deadline);
	for (int i = 0; i < r->n; i++)
		side_close(&r->sides[i], GRACE_MS);
}

/* Says whether a side ended with the status of ssh itself, as when its command was killed. */
static bool side_was_cut_off(const struct side_proc *s)
{
	return s->state == SIDE_DONE && WIFEXITED(s->status) &&
	       WEXITSTATUS(s->status) == SSH_FAILED;
}

/* Fetches all files of a side from its host, if the connection is still up. */
static int run_fetch_side(struct live_run *r, int side, struct error *err)
{
	struct remote *remote = remote_of(r->c, side);
	struct interrupt *intr = &r->c->intr;
	autofree char *dir = xasprintf("%s/%s", r->dir, r->c->plan->sides[side].name);
	autofree char *hosts = xasprintf("%s/hosts", r->c->dir);
	autofree char *staging = xasprintf("%s/.incoming", r->c->dir);
	bool left = r->sides[side].late || side_was_cut_off(&r->sides[side]);
	int rc = left ? remote_sweep(remote, intr, err) : 0;

	rc = rc ?: remote_offset(remote, intr, &remote->after, err);
	rc = rc ?: remote_fetch(remote, intr, dir, hosts, staging, err);
	rc = rc ?: dir_make(dir, err);
	return rc ?: remote_write_clock(remote, dir, err);
}

static int run_fetch_sides(struct live_run *r)
{
	int rc = 0;

	for (int i = 0; i < r->n && rc != -EINTR; i++) {
		struct error err = {0};

		if (!remote_of(r->c, i) || r->sides[i].state == SIDE_UNUSED)
			continue;
		rc = run_fetch_side(r, i, &err);
		if (rc && rc != -EINTR && !r->sides[i].late)
			r->sides[i].late = xstrdup(err.text);
	}
	return rc == -EINTR ? rc : 0;
}

/* Returns -EINVAL when `zcost collect` refused its options: then every run would fail. */
static int side_refused_options(const struct live_run *r, int side, struct error *err)
{
	const struct side_proc *s = &r->sides[side];
	autofree char *log = NULL, *line = NULL;

	if (s->state != SIDE_DONE || !WIFEXITED(s->status) || WEXITSTATUS(s->status) != EXIT_USAGE)
		return 0;
	log = xasprintf("%s/%s.log", r->dir, r->c->plan->sides[side].name);
	line = line_of_file(log, true);
	return error_set(err, EINVAL, "%s: zcost collect does not accept what the plan says: %s",
			 r->c->plan->sides[side].name, line ? line : "(it does not say why)");
}

/* Adds why a side failed. A side that the run ended because of another one is left out. */
static void run_judge_side(struct live_run *r, int side, struct str *all, struct run_outcome *out)
{
	struct side_proc *s = &r->sides[side];
	const char *name = r->c->plan->sides[side].name, *between = all->len ? "; " : "";
	bool cut_off = remote_of(r->c, side) && side_was_cut_off(s);
	autofree char *ended = xasprintf(
		"zcost collect %s", cut_off ? "was killed there" : spawn_status_text(s->status));
	autofree char *why = NULL;

	report_side(r->c, r->dir, side, s->error ? s->error : ended, &why, &out->cut_off);
	if (s->late)
		str_printf(all, "%s%s: %s", between, name, s->late);
	else if (why && !s->aborted)
		str_printf(all, "%s%s", between, why);
	out->lossy |= WIFEXITED(s->status) && WEXITSTATUS(s->status) == EXIT_LOSSY;
}

static void run_judge(struct live_run *r, struct run_outcome *out)
{
	struct str all = {0};
	autofree char *missed = NULL;

	for (int i = 0; i < r->n; i++)
		if (r->sides[i].state != SIDE_UNUSED)
			run_judge_side(r, i, &all, out);
	if (!all.len)
		missed = overlap_missing(r->c, r->dir);
	str_puts(&all, missed ? missed : "");
	out->why = str_take(&all);
}

static void run_drop_empty_logs(const struct live_run *r)
{
	struct stat st;

	for (int i = 0; i < r->n; i++) {
		autofree char *log = xasprintf("%s/%s.log", r->dir, r->c->plan->sides[i].name);

		if (!stat(log, &st) && !st.st_size)
			unlink(log);
	}
}

/* Copies the frame's files of the first side to the others. */
static int run_copy_frame(struct live_run *r, struct error *err)
{
	static const char *const files[] = {"frame.tsv", "due.tsv"};
	const struct side_plan *s = r->c->plan->sides;
	int rc = 0;

	for (int i = 1; i < r->n && run_shares_frame(r->c, r->id); i++)
		for (size_t k = 0; k < array_size(files) && !rc; k++) {
			autofree char *from = xasprintf("%s/%s/%s", r->dir, s[0].name, files[k]);
			autofree char *to = xasprintf("%s/%s/%s", r->dir, s[i].name, files[k]);

			if (path_exists(from))
				rc = file_copy(from, to, err);
		}
	return rc;
}

int run_execute_sides(struct capture *c, const struct run_id *id, const char *dir,
		      struct run_outcome *out, struct error *err)
{
	struct live_run r = {.c = c, .id = id, .dir = dir, .n = c->plan->nsides};
	int rc = remotes_reconnect(c, err);

	if (rc)
		return rc;
	r.begun = clock_mono_ns();
	r.sides = xcalloc((size_t)r.n, sizeof(*r.sides));
	r.fds = xcalloc(2 * (size_t)r.n + 1, sizeof(*r.fds));
	for (int i = 0, end; i < r.n && !rc; i = end) {
		end = i + run_count_together(&r, i);
		rc = run_start_until_ready(&r, i, end, err);
	}
	rc = rc ?: run_await_data(&r);
	run_note_start_s(&r, clock_mono_ns());
	rc = rc ?: run_measure(&r);
	run_end_sides(&r);
	if ((!rc || rc == -ECANCELED) && run_fetch_sides(&r))
		rc = -EINTR;
	rc = rc ?: run_copy_frame(&r, err);
	for (int i = 0; i < r.n && (!rc || rc == -ECANCELED); i++)
		if (side_refused_options(&r, i, err))
			rc = -EINVAL;
	if (rc != -EINTR)
		run_judge(&r, out);
	if (r.vain && rc != -EINTR && !*out->why) {
		c->no_sign = true;
		c->start_s = 0; /* later runs do not wait */
	}
	if (rc == -ECANCELED && !*out->why) { /* no side failed, but one ended too soon */
		free(out->why);
		out->why = xstrdup("ended before its window was over");
	}
	run_drop_empty_logs(&r);
	for (int i = 0; i < r.n; i++)
		side_free(&r.sides[i]);
	free(r.sides);
	free(r.fds);
	return rc == -ECANCELED ? 0 : rc;
}
