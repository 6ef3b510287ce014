// SPDX-License-Identifier: GPL-2.0-only
#include "lib/names.h"

#include "lib/alloc.h"

#include <errno.h>

enum { MAX_PART = 255, MAX_NAME = 1024, MAX_DEPTH = 32 };

/* What is wrong with one part of a name, or NULL. */
static const char *part_fault(const char *part, size_t len)
{
	if (!len)
		return "an empty part";
	if (len > MAX_PART)
		return "a part of more than 255 bytes";
	if (len == 2 && !memcmp(part, "..", 2))
		return "'..'";
	return len == 1 && *part == '.' ? "'.'" : NULL;
}

static const char *name_fault(const char *name)
{
	const char *at = name, *fault = NULL;
	int depth = 0;

	if (*name == '/')
		return "an absolute name";
	if (strlen(name) > MAX_NAME)
		return "a name of more than 1024 bytes";
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return "a control character in the name";
	while (!fault) {
		const char *end = strchrnul(at, '/');

		fault = part_fault(at, (size_t)(end - at));
		if (++depth > MAX_DEPTH)
			return "more than 32 folders deep";
		if (!*end)
			break;
		at = end + 1;
	}
	return fault;
}

bool name_is_safe(const char *name)
{
	return !name_fault(name);
}

bool name_is_part(const char *name)
{
	return !strchr(name, '/') && !name_fault(name);
}

int name_clean(const char *raw, char **clean, struct error *err)
{
	const char *at = raw, *fault = NULL;
	char *name;
	size_t len;

	while (!strncmp(at, "./", 2))
		at += 2;
	if (!strcmp(at, "."))
		at++;
	name = xstrdup(at);
	len = strlen(name);
	if (len > 1 && name[len - 1] == '/')
		name[len - 1] = '\0';
	if (*name || !*raw)
		fault = *raw ? name_fault(name) : "an empty name";
	if (fault) {
		free(name);
		return error_set(err, EINVAL, "'%." NAME_SHOWN "s': refused: %s", raw, fault);
	}
	*clean = name;
	return 0;
}
