// SPDX-License-Identifier: GPL-2.0-only
#include "lib/json.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>

json_t *json_file(const char *path, struct error *err)
{
	json_error_t e;
	json_t *root;
	autofree char *text = NULL;
	size_t len;

	if (file_read(path, &text, &len, err))
		return NULL;
	errno = 0;
	root = json_loadb(text, len, JSON_DISABLE_EOF_CHECK, &e);
	if (root)
		return root;
	if (errno == ENOMEM)
		error_sys(err, ENOMEM, "%s: cannot read", path);
	else
		error_set(err, EBADMSG, "%s:%d: not JSON: %s", path, e.line, e.text);
	return NULL;
}

json_t *json_any_text(const char *s)
{
	json_t *j = json_string(s);
	autofree char *latin = NULL;
	char *to;

	if (j)
		return j;
	latin = to = xmalloc(2 * strlen(s) + 1);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= 0x80)
			*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
	}
	*to = '\0';
	return json_string(latin);
}

int json_write(const char *path, const json_t *value, size_t flags, struct error *err)
{
	autofree char *text = json_dumps(value, flags), *line = xasprintf("%s\n", text ? text : "");

	return text ? file_write(path, line, strlen(line), err)
		    : error_set(err, EINVAL, "%s: contains text that is not UTF-8", path);
}
