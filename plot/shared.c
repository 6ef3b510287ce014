// SPDX-License-Identifier: GPL-2.0-only
#include "plot/shared.h"

#include <stdbool.h>
#include <string.h>

/* Is it one of the parts behind the first '+'? */
static bool has_part(const char *name, const char *part, size_t len)
{
	const char *at = strchr(name, '+');

	while (at) {
		size_t n = strcspn(++at, "+");

		if (n == len && !memcmp(at, part, len))
			return true;
		at = strchr(at, '+');
	}
	return false;
}

static bool is_shared(const struct drawing *d, const char *part, size_t len)
{
	const char *v;
	int i;

	for (i = 0; (v = drawing_variant(d, i)); i++)
		if (!has_part(v, part, len))
			return false;
	return i > 1;
}

void shared_parts(const struct drawing *d, struct str *out)
{
	const char *at = strchr(drawing_variant(d, 0), '+'), *next;
	size_t before = out->len;

	for (; at; at = next) {
		size_t len = strcspn(++at, "+");

		next = strchr(at, '+');
		if (!is_shared(d, at, len))
			continue;
		str_puts(out, out->len > before ? ", " : "");
		str_add(out, at, len);
	}
}

void shared_label(const struct drawing *d, const char *name, struct str *out)
{
	const char *at = strchr(name, '+'), *next;

	str_add(out, name, at ? (size_t)(at - name) : strlen(name));
	for (; at; at = next) {
		size_t len = strcspn(++at, "+");

		next = strchr(at, '+');
		if (is_shared(d, at, len))
			continue;
		str_putc(out, '+');
		str_add(out, at, len);
	}
}

/* What stands before the settings. */
static size_t stem(const char *name)
{
	return strcspn(name, "+");
}

static bool is_base(const struct drawing *d, const char *name)
{
	return stem(name) == stem(d->base) && !memcmp(name, d->base, stem(name));
}

int shared_base(const struct drawing *d, int i)
{
	const char *name = drawing_variant(d, i), *v;
	int k;

	for (k = 0; (v = drawing_variant(d, k)); k++)
		if (k != i && is_base(d, v) && !strcmp(v + stem(v), name + stem(name)))
			return k;
	return 0;
}

int shared_bases(const struct drawing *d)
{
	const char *v;
	int k, n = 0;

	for (k = 0; (v = drawing_variant(d, k)); k++)
		n += is_base(d, v);
	return n;
}
