// SPDX-License-Identifier: GPL-2.0-only
#include "collect/events/events.h"

#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 16 };

static char *pmu_path(const char *pmu, const char *folder, const char *name)
{
	return xasprintf("%s/bus/event_source/devices/%s%s%s%s%s", sysfs_root(), pmu,
			 *folder ? "/" : "", folder, *name ? "/" : "", name);
}

/* Says whether the name may be part of a path. */
static bool pmu_is_plain(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

/* Returns the file's text, trimmed, or NULL. The caller frees it. */
static char *pmu_read_text(const char *pmu, const char *folder, const char *name)
{
	char *path = pmu_path(pmu, folder, name), *text = NULL, *copy;

	if (!pmu_is_plain(pmu) || !pmu_is_plain(name) || file_read(path, &text, NULL, NULL)) {
		free(path);
		return NULL;
	}
	copy = xstrdup(str_trim(text));
	free(text);
	free(path);
	return copy;
}

bool pmu_has_event(const char *pmu, const char *event)
{
	char *text = pmu_read_text(pmu, "events", event);

	free(text);
	return text;
}

/* --- what there is, for messages --- */

static int pmu_is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.' && !str_ends(d->d_name, ".scale") &&
	       !str_ends(d->d_name, ".unit") && !str_ends(d->d_name, ".snapshot");
}

static void pmu_list_names(struct str *s, const char *what, const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, pmu_is_visible, alphasort), i;

	if (n > 0)
		str_printf(s, "; %s:", what);
	for (i = 0; i < n; i++) {
		if (i < NAMES_SHOWN)
			str_printf(s, " %s", entries[i]->d_name);
		free(entries[i]);
	}
	if (n > NAMES_SHOWN)
		str_printf(s, " and %d more", n - NAMES_SHOWN);
	if (n >= 0)
		free(entries);
}

static int pmu_set_missing(const char *pmu, struct error *err)
{
	char *path = pmu_path("", "", "");
	struct str names = {0};
	int rc;

	pmu_list_names(&names, "this host has", path);
	rc = error_set(err, ENOENT, "no PMU '%s' on this host%s", pmu, names.len ? names.buf : "");
	str_free(&names);
	free(path);
	return rc;
}

static int pmu_set_no_term(const char *pmu, const char *term, struct error *err)
{
	char *events = pmu_path(pmu, "events", ""), *formats = pmu_path(pmu, "format", "");
	struct str names = {0};
	int rc;

	pmu_list_names(&names, "its events", events);
	pmu_list_names(&names, "its terms", formats);
	rc = error_set(err, ENOENT, "PMU '%s' has neither an event nor a term '%s'%s", pmu, term,
		       names.len ? names.buf : "");
	str_free(&names);
	free(events);
	free(formats);
	return rc;
}

/* --- terms --- */

static int pmu_word(const char *name, size_t len)
{
	static const char *const words[] = {"config", "config1", "config2", "config3"};
	size_t i;

	for (i = 0; i < array_size(words); i++)
		if (strlen(words[i]) == len && !strncmp(words[i], name, len))
			return (int)i;
	return -1;
}

static int pmu_set_damaged(const char *pmu, const char *term, const char *format, struct error *err)
{
	return error_set(err, EBADMSG, "PMU '%s': its format of '%s' is '%.100s', which is unknown",
			 pmu, term, format);
}

/* Fills the bits that "config:0-7,32-35" names with the value's bits, from the lowest on. */
static int pmu_fill_bits(struct pmu_event *e, const char *pmu, const char *term, const char *format,
			 uint64_t value, struct error *err)
{
	const char *at = strchr(format, ':');
	int word = at ? pmu_word(format, (size_t)(at - format)) : -1;
	uint64_t left = value;

	if (word < 0)
		return pmu_set_damaged(pmu, term, format, err);
	do {
		unsigned int lo, hi;
		int used, n = sscanf(at + 1, "%u%n-%u%n", &lo, &used, &hi, &used);

		if (n < 1)
			return pmu_set_damaged(pmu, term, format, err);
		hi = n < 2 ? lo : hi;
		for (; lo <= hi && lo < 64; lo++, left >>= 1)
			e->config[word] = (e->config[word] & ~(1ULL << lo)) | (left & 1) << lo;
		at += 1 + used;
	} while (*at == ',');
	if (*at)
		return pmu_set_damaged(pmu, term, format, err);
	return left ? error_set(err, EINVAL, "PMU '%s': %s=0x%llx does not fit into %s", pmu, term,
				(unsigned long long)value, format)
		    : 0;
}

static int pmu_set_term(struct pmu_event *e, const char *pmu, const char *term, const char *text,
			struct error *err)
{
	int word = pmu_word(term, strlen(term)), rc;
	uint64_t value = 1;
	char *end = "", *format;

	errno = 0;
	if (text)
		value = strtoull(text, &end, 0);
	if (errno || *end || (text && !isdigit((unsigned char)*text)))
		return error_set(err, EINVAL, "PMU '%s': %s=%s is not a number", pmu, term, text);
	if (word >= 0) {
		e->config[word] = value;
		return 0;
	}
	format = pmu_read_text(pmu, "format", term);
	if (!format)
		return pmu_set_no_term(pmu, term, err);
	rc = pmu_fill_bits(e, pmu, term, format, value, err);
	free(format);
	return rc;
}

static void pmu_read_scale(struct pmu_event *e, const char *pmu, const char *event)
{
	char *name = xasprintf("%s.scale", event), *text = pmu_read_text(pmu, "events", name);
	char *unit_name = xasprintf("%s.unit", event),
	     *unit = pmu_read_text(pmu, "events", unit_name);

	if (text)
		e->scale = strtod(text, NULL);
	if (unit)
		snprintf(e->unit, sizeof(e->unit), "%s", unit);
	free(unit);
	free(unit_name);
	free(text);
	free(name);
}

static int pmu_set_terms(struct pmu_event *e, const char *pmu, char *terms, bool named,
			 struct error *err)
{
	char *term, *value, *event;
	int rc = 0;

	while (!rc && (term = str_token(&terms, ','))) {
		term = str_trim(term);
		value = strchr(term, '=');
		if (value)
			*value++ = '\0';
		event = named && !value ? pmu_read_text(pmu, "events", term) : NULL;
		if (event) {
			rc = pmu_set_terms(e, pmu, event, false, err);
			pmu_read_scale(e, pmu, term);
		} else if (strcmp(term, "name")) { /* perf's label for the output; zcost has its own
						      name for the event */
			rc = pmu_set_term(e, pmu, term, value, err);
		}
		free(event);
	}
	return rc;
}

/* --- where it can be counted --- */

static int pmu_read_cpus(struct pmu_event *e, const char *pmu, struct error *err)
{
	static const char *const files[] = {"cpumask", "cpus"};
	size_t i;
	int rc = 0;

	for (i = 0; i < array_size(files) && !e->some_cpus && !rc; i++) {
		char *text = pmu_read_text(pmu, "", files[i]);

		if (text && *text) {
			rc = cpuset_parse(&e->cpus, text, err);
			e->some_cpus = true;
			e->per_socket = !i;
		}
		free(text);
	}
	return rc;
}

int pmu_event_read(struct pmu_event *e, const char *pmu, const char *terms, struct error *err)
{
	char *type = pmu_read_text(pmu, "", "type"), *copy;
	int rc;

	*e = (struct pmu_event){.scale = 1};
	if (!type)
		return pmu_set_missing(pmu, err);
	e->type = (uint32_t)strtoul(type, NULL, 10);
	free(type);
	copy = xstrdup(terms);
	rc = pmu_set_terms(e, pmu, copy, true, err);
	free(copy);
	return rc ? rc : pmu_read_cpus(e, pmu, err);
}
