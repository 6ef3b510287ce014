/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan says what to run, on which sides, and how often. It is read from an ini file (plan_read),
 * or made from the command line (plan_wrap). The plan owns all strings. None is NULL unless a
 * comment says so.
 *
 * plan_keys.c has the keys of its sections, and docs/reference/plan.md what they mean. Each variant
 * is measured under each combination of settings, as a separate variant: V+mtu9000+gro-off.
 */
#ifndef ZC_CAPTURE_PLAN_H
#define ZC_CAPTURE_PLAN_H

#include "lib/error.h"

#include <jansson.h>
#include <stddef.h>

struct rights; /* collect/agent.h */
struct words;
struct ini_entry; /* capture/plan_read.h */

enum pass { PASS_MEASURE, PASS_PROFILE, PASS_SYSCALLS, PASS_TRACE, PASS_COUNT };
/* What a side does with the data. The sides of a run start in this order. */
enum role { ROLE_RECEIVER, ROLE_PROXY, ROLE_SENDER, ROLE_NONE };

extern const char *const pass_names[PASS_COUNT];

struct side_plan {
	char *name;
	char *role;	   /* empty when the name is that of a role, or the side has none */
	char *cpus;	   /* kernel notation, "": all online */
	char *prefix;	   /* words before the command: ip netns exec ... */
	char *collect;	   /* collectors of the measure pass, "": the usual ones */
	char *units;	   /* adapter that reads the workload's output, "": collect's default */
	char *call_graph;  /* call chains of the profile pass: fp, dwarf,SIZE ...; empty: collect's
			      default */
	char *freq;	   /* profile pass: samples per second and CPU, "": collect's default */
	char *power_csv;   /* an external meter's log, "": none */
	char *host;	   /* ssh://user@name:port, "": this host */
	char *zcost;	   /* words that start zcost on that host, "": zcost */
	char *time_one_in; /* the syscalls pass times one call in so many; empty: all */
	char *events;	   /* what `counters` counts, "": the usual ones */
	char *power_command; /* prints watts, [KIND=]CMD; "": none */
	char *processes;     /* names of more processes of the workload, with globs; "": none */
	char *user;	     /* runs the commands, "": the user of zcost */
	char *work;	     /* names of the sides that count this side's work, "": see plan.md */
};

struct variant {
	char *name, *what;
	char **command; /* the command of each side, expanded, not split yet; the last is NULL */
	char *base;	/* its name in the plan; `name` where there is no matrix */
	size_t combination; /* index for plan_combination */
	bool earlier;	    /* the variant comes from --against */
};

/* Commands for /bin/sh that set something up and undo it. An empty command does nothing. */
struct hooks {
	char *save; /* its output is $saved in the other two */
	char *before, *after;
};

/* The value of one setting in one combination. */
struct set_value {
	char *name, *value, *label, *what;
	const struct ini_entry *section; /* [value S=V] while the plan is read, or NULL */
	struct hooks hooks;
};

/* Settings, in the order in which they are set up. They are undone in the reverse order. */
struct combination {
	struct set_value *set;
	size_t n;
	struct plan *plan; /* as read with these settings: has the sides; NULL: no settings */
};

struct plan {
	char *name, *estimator, *order;
	char *seed;			  /* orders the runs of a round, any text */
	char *before, *after;		  /* for /bin/sh; "": nothing */
	char *ssh;			  /* words that start ssh */
	unsigned int passes;		  /* bits 1 << enum pass */
	unsigned int repeats[PASS_COUNT]; /* as in the plan; see plan_repeats */
	double warmup_s, duration_s;	  /* duration 0: until the command ends */
	double grace_s; /* the time in which a workload may end by itself after the window */
	double start_timeout_s, stop_timeout_s;
	double hook_timeout_s;	 /* the limit of each save, before and after; 0: none */
	struct side_plan *sides; /* in the order of their roles, then of the plan */
	int nsides, sides_cap;
	struct variant *variants;
	size_t nvariants, variants_cap;
	struct combination *combinations; /* none where the plan has no settings */
	size_t ncombinations, combinations_cap;
	json_t *vars; /* [vars] as it is written: ${} is not replaced; NULL: it has none */
	char *sets;   /* a line for each --set, for a dry run */
	char *text;   /* the file after --set; NULL after plan_wrap */
};

/* Makes a plan with the defaults and no variant. */
void plan_init(struct plan *p);
void plan_free(struct plan *p);
void plan_free_variant(struct variant *v);
void plan_free_combination(struct combination *c);

/*
 * Reads a plan. Each of `sets` is NAME=VALUE, which replaces the value of a variable in [vars]. For
 * a mistake in the text it returns -EINVAL with file:line.
 */
int plan_read(struct plan *p, const char *path, const struct words *sets, const char *bindir,
	      struct error *err);
/* Reads a plan from `text`, the content of the file `path`. */
int plan_parse(struct plan *p, const char *path, const char *text, const char *bindir,
	       struct error *err);

/*
 * Puts the folder of zcost on a side's host in place of ${bindir} in its keys and commands. Until
 * then those of a side on another host have ${bindir} itself.
 */
void plan_set_bindir(struct plan *p, int side, const char *bindir);
void plan_put_bindir(char **text, const char *bindir);

/* Adds one variant that runs argv on the side "local". */
int plan_wrap(struct plan *p, const char *variant, char *const argv[], struct error *err);

/*
 * Adds the variants of the capture in the folder `dir` as old-NAME, with the commands of its
 * manifest. Returns -EINVAL for a variant that cannot be measured together with those of the plan.
 */
int plan_add_capture(struct plan *p, const char *dir, struct error *err);

/* Returns the runs of each variant in a pass. The profile pass has those of the measure pass,
 * unless the plan says otherwise. */
unsigned int plan_repeats(const struct plan *p, enum pass pass);

/* Returns the settings of a combination. A plan without settings has an empty one. */
const struct combination *plan_combination(const struct plan *p, size_t combination);

/* Adds a side. Its keys are empty. */
struct side_plan *plan_add_side(struct plan *p, const char *name);

/* Returns the variant with this name, or NULL. */
struct variant *plan_find_variant(const struct plan *p, const char *name);

/* Returns the index of the side with this name, or -1. */
int plan_find_side(const struct plan *p, const char *name);

/* Says whether a side runs on another host. */
bool plan_has_remotes(const struct plan *p);

/* Returns the role with this name, or ROLE_NONE. */
enum role plan_parse_role(const char *name);
enum role plan_role(const struct side_plan *s);

/*
 * Returns the seconds in which the workload of a side may end by itself. A receiver and a proxy
 * have more: the senders must end first, then the proxies, so that each side sees the end of its
 * connections. If a receiver ended first, the sender and the run would fail.
 */
double plan_grace(const struct plan *p, int side);

/*
 * The variable that stays in the commands until their run starts. A plan can define its own
 * `seconds` in [vars], which then has that value.
 */
#define PLAN_SECONDS "${seconds}"
#define PLAN_BINDIR  "${bindir}"

/* Says whether ${seconds} ends a workload of the variant. */
bool variant_has_seconds(const struct plan *p, const struct variant *v);

/*
 * Returns the command of a side with the value of ${seconds}: the whole seconds of the warm-up, the
 * window and a margin, in which a run starts that takes start_s from its first process to the
 * warm-up. The caller frees.
 */
char *plan_command(const struct plan *p, const struct variant *v, int side, double start_s);

/* Returns the sides of a variant. */
const struct side_plan *plan_sides(const struct plan *p, const struct variant *v);

/* Says whether a variant may have the name: it names a folder. */
int plan_check_name(const char *name, struct error *err);

/*
 * Returns -EPERM when a process with these rights cannot do the passes of the plan, and says how to
 * get the rights. The message begins with `where`: "" for this host, "ssh://x: " for another one.
 */
int plan_check_rights(const struct plan *p, const struct rights *r, const char *where,
		      struct error *err);

/* Makes this user run the commands of all sides, whatever the plan says. */
void plan_set_user(struct plan *p, const char *user);

/* Checks the users of sides that run on this host, as user_check() does. */
int plan_check_users(const struct plan *p, struct error *err);

/* Returns -EINVAL when a CPU of a side that runs on this host is not online. */
int plan_check_cpus(const struct plan *p, struct error *err);

/*
 * Returns -EINVAL when this host lacks the program of a side that runs here, or the script of the
 * plan's `before`. A program that a `before` may make is a note.
 */
int plan_check_programs(const struct plan *p, struct error *err);
/* Returns -EINVAL when this host lacks the program of one variant. */
int variant_check_programs(const struct plan *p, const struct variant *v, struct error *err);
/*
 * Returns -EINVAL when a `before` is one simple command and its script is missing: then nothing is
 * set up, and nothing is to be undone. A longer command may make its script first.
 */
int hook_check_script(const char *owner, const char *before, struct error *err);

/*
 * Prints what a user should know before the runs: whether perf is missing for the profile pass, and
 * which sides share CPUs on one host. A figure by CPU then adds up these sides.
 */
void plan_note_start(const struct plan *p);

/* --- the order of the runs --- */

/*
 * The order of the runs of a plan. Round n has the repeat n of each variant in each pass, in random
 * order. Each second round is the one before in reverse. So a linear drift over the hour affects
 * all variants and all passes alike, and a periodic one favours none of them for long. Settings
 * change within a round, the first one of the matrix least often. Their values are in random order,
 * too.
 *
 * With the order "blocks" all rounds of one combination of settings come before those of the next.
 * Each combination is set up once, but a drift over the hour looks like an effect of the settings.
 *
 * A run's place depends on the seed and on the names in the plan alone. So a capture that goes on
 * with more repeats, passes or variants keeps the order of the others.
 */
struct run_id {
	size_t variant; /* index into the plan's variants */
	enum pass pass;
	unsigned int repeat; /* from 1 */
};

struct order {
	struct run_id *run;
	size_t n;
};

void order_make(struct order *o, const struct plan *p);
void order_free(struct order *o);

/* Returns the folder of a run under runs/, such as "mmap/measure-01". The caller frees. */
char *run_name(const struct plan *p, const struct run_id *id);

#endif
