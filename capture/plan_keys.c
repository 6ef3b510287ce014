// SPDX-License-Identifier: GPL-2.0-only
/* The keys of a plan. A new key is a member of its section's struct and a row here. */
#include "capture/plan_read.h"

#include "collect/events/events.h"
#include "collect/options.h"
#include "lib/alloc.h"
#include "workload/workload.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

enum { MAX_REPEATS = 999 };

static int words_check(const char *value, struct error *err)
{
	freed(words_free) struct words w = {0};

	return words_split(&w, value, err);
}

static int command_check(const char *value, struct error *err)
{
	return *value ? words_check(value, err) : error_set(err, EINVAL, "the command is missing");
}

static int cpus_check(const char *value, struct error *err)
{
	struct cpuset set;

	return cpuset_parse(&set, value, err);
}

static int number_check(const char *value, struct error *err)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end || !n || n > 1000000)
		return error_set(err, EINVAL, "'%s' is not a number from 1 to 1000000", value);
	return 0;
}

static int host_check(const char *url, struct error *err)
{
	const char *name = str_starts(url, "ssh://") ? url + strlen("ssh://") : "", *p;

	for (p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || strchr("/'\"\\", *p))
			break;
	if (!*name || *p || *name == '-' || strstr(name, "@-"))
		return error_set(err, EINVAL, "'%s' is not ssh://[user@]name[:port]", url);
	return 0;
}

static int power_command_check(const char *value, struct error *err)
{
	const char *kind, *command;

	return power_command_split(value, &kind, &command, err);
}

#define KEY(section, name, kind, type, member, check, flags)                        \
	{                                                                           \
		SECTION_##section, name, kind, offsetof(type, member), check, flags \
	}
#define PLAN_KEY(name, kind, member, check, flags) \
	KEY(PLAN, name, kind, struct plan, member, check, flags)
#define SIDE_KEY(member, check, flags) \
	KEY(SIDE, #member, KIND_TEXT, struct side_plan, member, check, flags)

enum {
	THERE = KEY_OF_SIDE | KEY_RECORDED,
	THERE_OR_EMPTY = THERE | KEY_MAY_BE_EMPTY,
	MEASURE = KEY_OPTION << PASS_MEASURE,
	PROFILE = KEY_OPTION << PASS_PROFILE,
	SYSCALLS = KEY_OPTION << PASS_SYSCALLS,
	TRACE = KEY_OPTION << PASS_TRACE,
	ALWAYS = MEASURE | PROFILE | SYSCALLS | TRACE,
};

const struct plan_key plan_keys[] = {
	PLAN_KEY("name", KIND_TEXT, name, NULL, 0),
	PLAN_KEY("passes", KIND_PASSES, passes, NULL, 0),
	PLAN_KEY("repeats", KIND_COUNT, repeats[PASS_MEASURE], NULL, 0),
	PLAN_KEY("profile_repeats", KIND_COUNT, repeats[PASS_PROFILE], NULL, 0),
	PLAN_KEY("syscalls_repeats", KIND_COUNT, repeats[PASS_SYSCALLS], NULL, 0),
	PLAN_KEY("trace_repeats", KIND_COUNT, repeats[PASS_TRACE], NULL, 0),
	PLAN_KEY("before", KIND_TEXT, before, NULL, KEY_RECORDED),
	PLAN_KEY("after", KIND_TEXT, after, NULL, KEY_RECORDED),
	PLAN_KEY("warmup", KIND_SECONDS, warmup_s, NULL, KEY_RECORDED),
	PLAN_KEY("duration", KIND_SECONDS, duration_s, NULL, KEY_RECORDED),
	PLAN_KEY("estimator", KIND_TEXT, estimator, NULL, 0),
	PLAN_KEY("order", KIND_TEXT, order, NULL, 0),
	PLAN_KEY("seed", KIND_TEXT, seed, NULL, 0),
	PLAN_KEY("grace", KIND_SECONDS, grace_s, NULL, 0),
	PLAN_KEY("start_timeout", KIND_SECONDS, start_timeout_s, NULL, 0),
	PLAN_KEY("stop_timeout", KIND_SECONDS, stop_timeout_s, NULL, 0),
	PLAN_KEY("hook_timeout", KIND_SECONDS, hook_timeout_s, NULL, 0),
	PLAN_KEY("ssh", KIND_TEXT, ssh, command_check, 0),

	SIDE_KEY(role, NULL, KEY_RECORDED),
	SIDE_KEY(prefix, words_check, THERE),
	SIDE_KEY(cpus, cpus_check, THERE | ALWAYS),
	SIDE_KEY(collect, NULL, THERE | MEASURE),
	SIDE_KEY(units, units_check, THERE_OR_EMPTY | ALWAYS),
	SIDE_KEY(call_graph, call_graph_check, THERE_OR_EMPTY | PROFILE),
	SIDE_KEY(freq, number_check, THERE_OR_EMPTY | PROFILE),
	SIDE_KEY(power_csv, NULL, THERE | ALWAYS),
	SIDE_KEY(time_one_in, number_check, THERE_OR_EMPTY | SYSCALLS),
	SIDE_KEY(events, event_list_check, THERE_OR_EMPTY | MEASURE),
	SIDE_KEY(power_command, power_command_check, THERE_OR_EMPTY | ALWAYS),
	SIDE_KEY(work, NULL, THERE_OR_EMPTY),
	SIDE_KEY(processes, NULL, THERE_OR_EMPTY | ALWAYS),
	SIDE_KEY(user, NULL, KEY_RECORDED | KEY_MAY_BE_EMPTY | ALWAYS),
	SIDE_KEY(host, host_check, KEY_RECORDED | KEY_MAY_BE_EMPTY | KEY_OF_ALL_RUNS),
	SIDE_KEY(zcost, words_check, KEY_OF_ALL_RUNS),

	KEY(VARIANT, "what", KIND_TEXT, struct variant, what, NULL, 0),

	KEY(HOOKS, "save", KIND_TEXT, struct hooks, save, NULL, KEY_RECORDED),
	KEY(HOOKS, "before", KIND_TEXT, struct hooks, before, NULL, KEY_RECORDED),
	KEY(HOOKS, "after", KIND_TEXT, struct hooks, after, NULL, KEY_RECORDED),
	{.name = NULL},
};

const struct plan_key plan_command_key = {SECTION_VARIANT, "a side",   KIND_TEXT, 0,
					  command_check,   KEY_OF_SIDE};

const struct plan_key *plan_key_find(enum plan_section section, const char *name)
{
	for (const struct plan_key *k = plan_keys; k->name; k++)
		if (k->section == section && !strcmp(k->name, name))
			return k;
	return NULL;
}

/* The values of a key that has only these. */
static const struct {
	const char *key, *values;
} plan_choices[] = {
	{"role", "receiver sender proxy"},
	{"estimator", "median middle mean"},
	{"order", "interleaved blocks"},
};

static int plan_key_check(const struct plan_key *k, const char *value, struct error *err)
{
	for (size_t i = 0; i < array_size(plan_choices); i++)
		if (!strcmp(plan_choices[i].key, k->name) &&
		    !str_matches_any(plan_choices[i].values, value))
			return error_set(err, EINVAL, "unknown %s '%s'; there are %s", k->name,
					 value, plan_choices[i].values);
	return k->check && (*value || !(k->flags & KEY_MAY_BE_EMPTY)) ? k->check(value, err) : 0;
}

static int key_parse_passes(const char *text, unsigned int *bits, struct error *err)
{
	autofree char *copy = xstrdup(text);
	char *save;
	int pass;

	*bits = 0;
	for (char *word = strtok_r(copy, ", \t\n", &save); word;
	     word = strtok_r(NULL, ", \t\n", &save)) {
		for (pass = 0; pass < PASS_COUNT && strcmp(word, pass_names[pass]) != 0; pass++)
			;
		if (pass == PASS_COUNT)
			return error_set(
				err, EINVAL,
				"unknown pass '%s'; there are measure, profile, syscalls, trace",
				word);
		*bits |= 1u << pass;
	}
	return *bits ? 0
		     : error_set(err, EINVAL,
				 "no pass given; there are measure, profile, syscalls, trace");
}

static int key_parse_seconds(const char *text, double *seconds, struct error *err)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "s")) || !isfinite(v) || v < 0 || v > 86400)
		return error_set(err, EINVAL, "'%s' is not a time in seconds (0 to 86400)", text);
	*seconds = v;
	return 0;
}

static int key_parse_count(const char *text, unsigned int *count, struct error *err)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || !v || v > MAX_REPEATS)
		return error_set(err, EINVAL, "'%s' is not a number of repeats (1 to %d)", text,
				 MAX_REPEATS);
	*count = (unsigned int)v;
	return 0;
}

int plan_key_set(const struct plan_key *k, void *base, const char *value, struct error *err)
{
	void *to = (char *)base + k->offset;
	int rc;

	if (k->kind == KIND_SECONDS)
		return key_parse_seconds(value, to, err);
	if (k->kind == KIND_COUNT)
		return key_parse_count(value, to, err);
	if (k->kind == KIND_PASSES)
		return key_parse_passes(value, to, err);
	rc = plan_key_check(k, value, err);
	if (rc)
		return rc;
	free(*(char **)to);
	*(char **)to = xstrdup(value);
	return 0;
}

char *plan_key_text(const struct plan_key *k, const void *base)
{
	const void *from = (const char *)base + k->offset;

	if (k->kind == KIND_TEXT)
		return xstrdup(*(char *const *)from);
	if (k->kind == KIND_SECONDS)
		return xasprintf("%.9g", *(const double *)from);
	return xasprintf("%u", *(const unsigned int *)from);
}

void plan_keys_init(enum plan_section section, void *base)
{
	for (const struct plan_key *k = plan_keys; k->name; k++)
		if (k->section == section && k->kind == KIND_TEXT)
			*(char **)((char *)base + k->offset) = xstrdup("");
}

void plan_keys_free(enum plan_section section, void *base)
{
	for (const struct plan_key *k = plan_keys; k->name; k++)
		if (k->section == section && k->kind == KIND_TEXT)
			free(*(char **)((char *)base + k->offset));
}
