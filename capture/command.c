// SPDX-License-Identifier: GPL-2.0-only
/* How a side is started. */
#include "capture/capture.h"
#include "capture/remotes.h"
#include "capture/words.h"

#include <string.h>
#include <sys/utsname.h>

static void command_add_option(struct words *argv, const char *name, const char *value)
{
	if (!*value)
		return;
	words_add(argv, name);
	words_add(argv, value);
}

static void command_add_identity(const struct capture *c, const struct run_id *id, enum side side,
		     struct words *argv)
{
	command_add_option(argv, "--variant", c->plan->variants[id->variant].name);
	command_add_option(argv, "--pass", pass_names[id->pass]);
	words_add(argv, "--repeat");
	words_addf(argv, "%u", id->repeat);
	command_add_option(argv, "--side", side_names[side]);
}

static void command_add_host_dir(const struct capture *c, const struct remote *r, struct words *argv)
{
	struct utsname u;

	uname(&u);
	words_add(argv, "--host-dir");
	words_addf(argv, "%s/hosts/%s", r ? r->folder : c->dir, r ? r->host_name : u.nodename);
}

/* `zcost collect`, and where to; on another host in its agent's folder. */
static void command_add_program(const struct capture *c, const struct remote *r, enum side side,
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
		command_add_option(argv, "--hold", r->folder);
	words_add(argv, "-o");
	words_addf(argv, "%s/%s", r ? r->folder : dir, r ? "run" : side_names[side]);
}

int run_command(struct capture *c, const struct run_id *id, enum side side, const char *dir,
		struct words *argv, struct error *err)
{
	const struct variant *v = &c->plan->variants[id->variant];
	const struct side_plan *s = &plan_sides(c->plan, v)[side];
	const struct remote *r = remote_of(c, side);
	int rc;

	command_add_program(c, r, side, dir, argv);
	command_add_identity(c, id, side, argv);
	command_add_host_dir(c, r, argv);
	words_add(argv, "--warmup");
	words_addf(argv, "%.9g", c->plan->warmup_s);
	words_add(argv, "--duration");
	words_addf(argv, "%.9g", c->plan->duration_s);
	words_add(argv, "--grace");
	words_addf(argv, "%.9g", plan_grace(c->plan, side));
	command_add_option(argv, "--cpus", s->cpus);
	command_add_option(argv, "--units", s->units);
	command_add_option(argv, "--power-csv", s->power_csv);
	command_add_option(argv, "--power-command", s->power_command);
	if (id->pass == PASS_PROFILE)
		command_add_option(argv, "--call-graph", s->call_graph);
	if (id->pass == PASS_SYSCALLS)
		command_add_option(argv, "--time-one-in", s->time_one_in);
	if (id->pass == PASS_MEASURE) {
		command_add_option(argv, "--collect", s->collect);
		command_add_option(argv, "--events", s->events);
	}
	words_add(argv, "--");
	rc = words_split(argv, s->prefix, err);
	return rc ? rc : words_split(argv, v->command[side], err);
}
