// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/run.h"

#include "collect/host.h"
#include "lib/alloc.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
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
	int n = 64, had = 0;
	autofree gid_t *list = NULL;
	struct str s = {0};

	do {
		had = n;
		list = xrealloc(list, (size_t)n * sizeof(*list));
	} while (getgrouplist(pw->pw_name, pw->pw_gid, list, &n) < 0 && n > had);
	str_puts(&s, "--groups=");
	for (int i = 0; i < n; i++)
		str_printf(&s, "%s%u", i ? "," : "", list[i]);
	return str_take(&s);
}

/* Variables may hold secrets of root, so that only these pass, and zcost's mark of the run. */
static const char *const may_pass[] = {"PATH=", "LANG=", "LC_"};

/* Ids are numbers: a prefix may lead to a container that does not know the name. */
static void user_add_change(struct words *w, const struct passwd *pw, const char *mark)
{
	static const char *const rights[] = {"--inh-caps=-all", "--bounding-set=-all",
					     "--no-new-privs", "--"};
	autofree char *groups = user_groups(pw);

	words_add(w, "env");
	words_add(w, "-i");
	for (size_t i = 0; environ[i]; i++)
		for (size_t k = 0; k < array_size(may_pass); k++)
			if (str_starts(environ[i], may_pass[k]))
				words_add(w, environ[i]);
	words_add(w, mark);
	words_addf(w, "HOME=%s", pw->pw_dir);
	words_addf(w, "SHELL=%s", *pw->pw_shell ? pw->pw_shell : "/bin/sh");
	words_addf(w, "USER=%s", pw->pw_name);
	words_addf(w, "LOGNAME=%s", pw->pw_name);
	words_add(w, "setpriv");
	words_addf(w, "--reuid=%u", pw->pw_uid);
	words_addf(w, "--regid=%u", pw->pw_gid);
	words_add(w, groups);
	for (size_t i = 0; i < array_size(rights); i++)
		words_add(w, rights[i]);
}

int user_command(struct words *w, const char *name, size_t prefix, char *const argv[],
		 const char *mark, struct error *err)
{
	struct passwd *pw = NULL;

	if (name && user_find(name, &pw, err))
		return -err->code;
	for (size_t i = 0; argv[i]; i++) {
		if (i == prefix && pw && pw->pw_uid != geteuid())
			user_add_change(w, pw, mark);
		words_add(w, argv[i]);
	}
	return 0;
}
