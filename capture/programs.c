// SPDX-License-Identifier: GPL-2.0-only
/* Looks for the programs and scripts that the commands of a plan name on this host. */
#include "capture/plan.h"
#include "capture/stage.h"

#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/program.h"
#include "lib/str.h"
#include "lib/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int program_check(const char *program, struct error *err)
{
	if (!strchr(program, '/'))
		return host_has_program(program) ? 0
						 : error_set(err, EINVAL,
							     "there is no program '%s' in PATH: "
							     "install it, or write its path",
							     program);
	if (!path_exists(program))
		return error_set(err, EINVAL,
				 "there is no %s: build or install it, or write another path",
				 program);
	return access(program, X_OK)
		       ? error_set(err, EINVAL, "%s: not executable: chmod +x", program)
		       : 0;
}

/* Says whether the program at `next` is looked up in another PATH, as behind env PATH=... */
static bool program_has_own_path(char *const word[], size_t at, size_t next)
{
	for (; at < next; at++)
		if (str_starts(word[at], "PATH="))
			return true;
	return false;
}

/*
 * Checks the program of a side, and the programs before it that run it. The program behind a prefix
 * that lib/program.c does not know may lie in a container.
 */
static int side_check_program(const struct side_plan *s, const struct variant *v,
			      const char *command, struct error *err)
{
	struct words w = {0};
	struct error e = {0};
	size_t at = 0, next, prefix;
	int rc = words_split(&w, s->prefix, err);

	prefix = w.n;
	if (!rc)
		rc = words_split(&w, command, err);
	while (!rc && at < w.n) {
		next = program_next(w.word, at);
		if (at >= prefix && program_check(w.word[at], &e))
			rc = error_set(err, EINVAL, "variant %s, %s: %s", v->name, s->name, e.text);
		if (next == at || program_has_own_path(w.word, at, next))
			break;
		at = next;
	}
	words_free(&w);
	return rc;
}

/* Says whether the next word of a shell command names a file to run. */
static bool word_runs_next(const char *word)
{
	static const char *const runners[] = {".",    "bash",	 "env", "exec",
					      "perl", "python3", "sh",	"sudo"};
	size_t i;

	for (i = 0; i < array_size(runners); i++)
		if (!strcmp(word, runners[i]))
			return true;
	return false;
}

char *command_missing_file(const char *command)
{
	char *copy = xstrdup(command), *rest = copy, *word, *missing = NULL;
	bool runs = true;

	str_replace(copy, '\n', ' ');
	while (!missing && (word = str_token(&rest, ' '))) {
		if (!*word)
			continue;
		if (runs && *word == '/' && !strpbrk(word, "$*?'\"`\\;&|<>()") &&
		    !path_exists(word))
			missing = xstrdup(word);
		runs = word_runs_next(word);
	}
	free(copy);
	return missing;
}

int hook_check_script(const char *owner, const char *what, const char *command, struct error *err)
{
	char *missing = strpbrk(command, ";&|<>()`\n") ? NULL : command_missing_file(command);
	int rc = 0;

	if (missing)
		rc = error_set(
			err, EINVAL,
			"%s's '%s': there is no %s: copy it there, or change its path in the plan (${plandir} is the folder of the plan)",
			owner, what, missing);
	free(missing);
	return rc;
}

int variant_check_programs(const struct plan *p, const struct variant *v, struct error *err)
{
	const struct side_plan *s = plan_sides(p, v);
	int side, rc = 0;

	for (side = 0; side < p->nsides && !rc; side++)
		if (!*s[side].host)
			rc = side_check_program(&s[side], v, v->command[side], err);
	return rc;
}

/* Adds a reason to fail, or prints it once as a note if a `before` that runs earlier may help. */
static int check_found(struct error *found, bool made, struct str *said, struct error *err)
{
	if (!made)
		return error_set(err, EINVAL, "%s", found->text);
	if (!said->buf || !strstr(said->buf, found->text)) {
		print_note("%s, unless 'before' makes it", found->text);
		str_printf(said, "%s\n", found->text);
	}
	*found = (struct error){0};
	return 0;
}

static int variant_check_all(const struct plan *p, const struct variant *v, struct str *said,
			     struct error *err)
{
	const struct combination *c = plan_combination(p, v->combination);
	bool made = *p->before;
	struct error e = {0};
	size_t i;
	int rc = 0;

	for (i = 0; i < c->n && !rc; i++) {
		const struct hooks *h = &c->set[i].hooks;
		char *owner = set_value_owner(&c->set[i]);

		rc = hook_check_script(owner, "save", h->save, err);
		if (!rc)
			rc = hook_check_script(owner, "before", h->before, err);
		made |= *h->before;
		if (!rc && hook_check_script(owner, "after", h->after, &e))
			rc = check_found(&e, made, said, err);
		free(owner);
	}
	if (!rc && variant_check_programs(p, v, &e))
		rc = check_found(&e, made, said, err);
	return rc;
}

int plan_check_programs(const struct plan *p, struct error *err)
{
	int rc = hook_check_script("the plan", "before", p->before, err);
	struct str said = {0};
	struct error e = {0};
	size_t i;

	for (i = 0; i < p->nvariants && !rc; i++)
		rc = variant_check_all(p, &p->variants[i], &said, err);
	if (!rc && hook_check_script("the plan", "after", p->after, &e))
		rc = check_found(&e, *p->before, &said, err);
	str_free(&said);
	return rc;
}
