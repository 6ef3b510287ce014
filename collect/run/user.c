// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/user.h"

#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
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
	gid_t *list = NULL;
	struct str s = {0};

	do {
		had = n;
		list = xrealloc(list, (size_t)n * sizeof(*list));
	} while (getgrouplist(pw->pw_name, pw->pw_gid, list, &n) < 0 && n > had);
	str_puts(&s, "--groups=");
	for (i = 0; i < n; i++)
		str_printf(&s, "%s%u", i ? "," : "", list[i]);
	free(list);
	return str_take(&s);
}

/* Variables may hold secrets of root, so that only these pass, and zcost's mark of the run. */
static const char *const may_pass[] = {"PATH=", "LANG=", "LC_"};

static size_t user_add_env(char **words, const struct passwd *pw, const char *mark)
{
	size_t n = 0, i, k;

	words[n++] = xstrdup("env");
	words[n++] = xstrdup("-i");
	for (i = 0; environ[i]; i++)
		for (k = 0; k < array_size(may_pass); k++)
			if (str_starts(environ[i], may_pass[k]))
				words[n++] = xstrdup(environ[i]);
	words[n++] = xstrdup(mark);
	words[n++] = xasprintf("HOME=%s", pw->pw_dir);
	words[n++] = xasprintf("SHELL=%s", *pw->pw_shell ? pw->pw_shell : "/bin/sh");
	words[n++] = xasprintf("USER=%s", pw->pw_name);
	words[n++] = xasprintf("LOGNAME=%s", pw->pw_name);
	return n;
}

/* Ids are numbers: a prefix may lead to a container that does not know the name. */
static size_t user_add_setpriv(char **words, const struct passwd *pw)
{
	size_t n = 0;

	words[n++] = xstrdup("setpriv");
	words[n++] = xasprintf("--reuid=%u", pw->pw_uid);
	words[n++] = xasprintf("--regid=%u", pw->pw_gid);
	words[n++] = user_groups(pw);
	words[n++] = xstrdup("--inh-caps=-all");
	words[n++] = xstrdup("--bounding-set=-all");
	words[n++] = xstrdup("--no-new-privs");
	words[n++] = xstrdup("--");
	return n;
}

/* More than the words between the prefix and the command, but for those of the environment. */
enum { USER_WORDS = 20 };

char **user_command(const char *name, size_t prefix, char *const argv[], const char *mark,
		    struct error *err)
{
	struct passwd *pw = NULL;
	size_t n = 0, i, len, variables;
	char **words;

	if (name && user_find(name, &pw, err))
		return NULL;
	for (len = 0; argv[len]; len++)
		;
	for (variables = 0; environ[variables]; variables++)
		;
	words = xcalloc(len + variables + USER_WORDS, sizeof(*words));
	for (i = 0; i < len; i++) {
		if (i == prefix && pw && pw->pw_uid != geteuid()) {
			n += user_add_env(words + n, pw, mark);
			n += user_add_setpriv(words + n, pw);
		}
		words[n++] = xstrdup(argv[i]);
	}
	return words;
}

void user_free(char **words)
{
	size_t i;

	for (i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}
