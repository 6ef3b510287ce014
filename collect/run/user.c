// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/run.h"

#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static int user_find(const char *name, struct passwd **pw, struct error *err)
{
	errno = 0;
	*pw = getpwnam(name);
	if (*pw)
		return 0;
	return error_set(err, EINVAL, "--user %s: this host has no such user", name);
}

int user_check(const char *name, struct error *err)
{
	struct passwd *pw;
	int rc = user_find(name, &pw, err);

	if (rc || pw->pw_uid == geteuid())
		return rc;
	if (geteuid())
		return error_set(
			err, EPERM,
			"--user %s: only root can run a command as another user: use sudo, or leave --user out",
			name);
	if (!host_has_program("setpriv"))
		return error_set(err, ENOENT,
				 "--user %s: there is no setpriv, which drops the rights of root: "
				 "install util-linux",
				 name);
	return 0;
}

/* Returns "--groups=1000,27": the user's group and supplementary groups. The caller frees it. */
static char *user_groups(const struct passwd *pw)
{
	int n = 64, had = 0, i;
	autofree gid_t *list = NULL;
	struct str s = {0};

	do {
		had = n;
		list = xrealloc(list, (size_t)n * sizeof(*list));
	} while (getgrouplist(pw->pw_name, pw->pw_gid, list, &n) < 0 && n > had);
	str_puts(&s, "--groups=");
	for (i = 0; i < n; i++)
		str_printf(&s, "%s%u", i ? "," : "", list[i]);
	return str_take(&s);
}

/* Variables may hold secrets of root, so that only these pass, and zcost's mark of the run. */
static const char *const may_pass[] = {"PATH=", "LANG=", "LC_"};

struct words {
	char **word;
	size_t n, cap;
};

/* Adds a word and owns it. */
static void user_add_word(struct words *w, char *word)
{
	array_add(w->word, w->n, w->cap, word);
}

/* Ids are numbers: a prefix may lead to a container that does not know the name. */
static void user_add_change(struct words *w, const struct passwd *pw, const char *mark)
{
	char *const words[] = {
		xstrdup(mark),
		xasprintf("HOME=%s", pw->pw_dir),
		xasprintf("SHELL=%s", *pw->pw_shell ? pw->pw_shell : "/bin/sh"),
		xasprintf("USER=%s", pw->pw_name),
		xasprintf("LOGNAME=%s", pw->pw_name),
		xstrdup("setpriv"),
		xasprintf("--reuid=%u", pw->pw_uid),
		xasprintf("--regid=%u", pw->pw_gid),
		user_groups(pw),
		xstrdup("--inh-caps=-all"),
		xstrdup("--bounding-set=-all"),
		xstrdup("--no-new-privs"),
		xstrdup("--"),
	};
	size_t i, k;

	user_add_word(w, xstrdup("env"));
	user_add_word(w, xstrdup("-i"));
	for (i = 0; environ[i]; i++)
		for (k = 0; k < array_size(may_pass); k++)
			if (str_starts(environ[i], may_pass[k]))
				user_add_word(w, xstrdup(environ[i]));
	for (i = 0; i < array_size(words); i++)
		user_add_word(w, words[i]);
}

char **user_command(const char *name, size_t prefix, char *const argv[], const char *mark,
		    struct error *err)
{
	struct passwd *pw = NULL;
	struct words w = {0};
	size_t i;

	if (name && user_find(name, &pw, err))
		return NULL;
	for (i = 0; argv[i]; i++) {
		if (i == prefix && pw && pw->pw_uid != geteuid())
			user_add_change(&w, pw, mark);
		user_add_word(&w, xstrdup(argv[i]));
	}
	user_add_word(&w, NULL);
	return w.word;
}

void user_free(char **words)
{
	size_t i;

	for (i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
