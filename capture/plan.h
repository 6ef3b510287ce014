/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan: what to run, on which sides, how often. Read from an ini file (plan_read), or made from
 * the command line (plan_wrap). All strings are owned by the plan and never NULL unless said so.
 *
 *     [plan]      name passes repeats profile_repeats syscalls_repeats warmup duration estimator
 *                 before after grace start_timeout stop_timeout hook_timeout ssh order
 *     [vars]      any name; ${name} in any later value; ${bindir} is the folder of zcost,
 *                 ${plandir} that of the plan; $${ is a plain ${
 *     [side S]    S: receiver or sender. cpus prefix collect units call_graph time_one_in
 *                 power_csv host zcost power_command events
 *     [variant V] what, and the command of each side under the side's name
 *     [setting S], [value S=V], [matrix]: see capture/matrix.h. Each variant is measured under each
 *                 combination of settings, and is a variant of its own then: V+mtu9000+gro-off.
 */
#ifndef ZC_CAPTURE_PLAN_H
#define ZC_CAPTURE_PLAN_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

struct rights; /* collect/rights.h */

enum pass { PASS_MEASURE, PASS_PROFILE, PASS_SYSCALLS, PASS_COUNT };
/* In the order in which the sides of a run start. */
enum side { SIDE_RECEIVER, SIDE_SENDER, SIDE_LOCAL, SIDE_COUNT };

extern const char *const pass_names[PASS_COUNT];
extern const char *const side_names[SIDE_COUNT];

struct side_plan {
	bool used;
	char *cpus;	     /* kernel notation, "": all online */
	char *prefix;	     /* words before the command: ip netns exec ... */
	char *collect;	     /* collectors of the measure pass, "": the usual ones */
	char *units;	     /* adapter that reads the workload's output, "": collect's default */
	char *call_graph;    /* of the profile pass: fp, dwarf,SIZE ...; "": collect's default */
	char *power_csv;     /* an external meter's log, "": none */
	char *host;	     /* ssh://user@name:port, "": this host */
	char *zcost;	     /* words that start zcost on that host, "": zcost */
	char *time_one_in;   /* of the syscalls pass: one call in so many is timed; "": all */
	char *events;	     /* what `counters` counts, "": the usual ones */
	char *power_command; /* prints watts, [KIND=]CMD; "": none */
};

struct variant {
	char *name, *what;
	char *command[SIDE_COUNT]; /* expanded, not split yet; "" where the side is not used */
	char *base;		   /* its name in the plan; `name` where there is no matrix */
	size_t combination;	   /* that it is measured under: see plan_combination */
};

/* Set up by /bin/sh, and undone: "" where there is nothing to do. */
struct hooks {
	char *save; /* what it prints is $saved in the other two */
	char *before, *after;
};

/* One setting as it is in one combination. */
struct set_value {
	char *name, *value, *label, *what;
	struct hooks hooks;
};

/* Settings in the order in which they are set up; undone in the reverse. */
struct combination {
	struct set_value *set;
	size_t n;
	struct plan *plan; /* as read with these: its sides are those of the variants; NULL: ours */
};

enum plan_order { ORDER_INTERLEAVED, ORDER_BLOCKS };

struct plan {
	char *name, *estimator;
	char *before, *after; /* for /bin/sh; "": nothing */
	char *ssh;	      /* words that start ssh */
	unsigned int passes;  /* bits 1 << enum pass */
	unsigned int repeats[PASS_COUNT];
	double warmup_s, duration_s; /* duration 0: until the command ends */
	double grace_s;		     /* for a workload to end by itself after the window */
	double start_timeout_s, stop_timeout_s;
	double hook_timeout_s; /* of each save, before and after; 0: none */
	struct side_plan sides[SIDE_COUNT];
	enum plan_order order;
	struct variant *variants;
	size_t nvariants, variants_cap;
	struct combination *combinations; /* none where the plan has no settings */
	size_t ncombinations, combinations_cap;
	char *path, *text; /* the file and its content; NULL for a plan of plan_wrap */
	char *plandir, *bindir;
};

/* A plan with the defaults and no variant. */
void plan_init(struct plan *p);
void plan_free(struct plan *p);
void plan_free_variant(struct variant *v);
void plan_free_combination(struct combination *c);

/* -EINVAL with file:line for anything wrong in the text. */
int plan_read(struct plan *p, const char *path, const char *bindir, struct error *err);
/* As plan_read; `text` is the file's contents. */
int plan_parse(struct plan *p, const char *path, const char *text, const char *bindir,
	       struct error *err);

/*
 * Reads the keys and commands of a side on another host again, with the folder of zcost there as
 * ${bindir}. Until then they have the folder of zcost here. Does nothing for a side on this host.
 */
int plan_set_bindir(struct plan *p, enum side side, const char *bindir, struct error *err);

/* One variant on the side "local" that runs argv. */
int plan_wrap(struct plan *p, const char *variant, char *const argv[], struct error *err);

/* What a variant is measured under: settings, and its sides, SIDE_COUNT of them. */
const struct combination *plan_combination(const struct plan *p, size_t combination);
/*
 * Seconds that a side's workload has to end by itself. The sender ends first, by itself or because
 * it is told to; then the receiver sees the end of the connection. The other way round the sender
 * would fail, and the run with it.
 */
double plan_grace(const struct plan *p, enum side side);

const struct side_plan *plan_sides(const struct plan *p, const struct variant *v);

/* Shared with the command line: a list of passes into bits; a name good for a folder. */
int plan_parse_passes(const char *text, unsigned int *bits, struct error *err);
int plan_parse_seconds(const char *text, double *seconds, struct error *err);
int plan_parse_count(const char *text, unsigned int *count, struct error *err);
int plan_check_name(const char *name, struct error *err);

/*
 * -EPERM with what is missing and how to get it. `where` begins the message: "" of this host,
 * "sender (ssh://x): " of another.
 */
int plan_check_rights(const struct plan *p, const struct rights *r, const char *where,
		      struct error *err);

/* Are the CPUs of all sides that run here online? -EINVAL names those that are not. */
int plan_check_cpus(const struct plan *p, struct error *err);

/*
 * Says, a line each, on which CPUs the sides of which variants are together on one host: what is
 * measured by CPU is then of both.
 */
void plan_note_shared_cpus(const struct plan *p);

#endif
