// SPDX-License-Identifier: GPL-2.0-only
/* Events that this host has: of a PMU, by its description in sysfs, and tracepoints. */
#include "collect/events/events.h"

#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- PMUs --- */

static const char devices[] = "bus/event_source/devices";

/* Returns the first line of PMU/FOLDER/NAME, or NULL. The caller frees it. */
static char *pmu_read_text(const char *pmu, const char *folder, const char *name)
{
	if (!name_is_part(pmu) || !name_is_part(name))
		return NULL;
	return host_fact("%s/%s/%s/%s/%s", sysfs_root(), devices, pmu, folder, name);
}

bool pmu_has_event(const char *pmu, const char *event)
{
	autofree char *text = pmu_read_text(pmu, "events", event);

	return text;
}

static void pmu_add_name(void *names, const char *dir, const char *name, struct error *err)
{
	(void)dir, (void)err;
	if (!str_ends(name, ".scale") && !str_ends(name, ".unit") && !str_ends(name, ".snapshot"))
		str_printf(names, " %s", name);
}

/* Returns the names in a folder of the PMU, each behind a blank. The caller frees them. */
static char *pmu_list_names(const char *pmu, const char *folder)
{
	autofree char *path = xasprintf("%s/%s/%s/%s", sysfs_root(), devices, pmu, folder);
	struct str names = {0};

	host_each(path, pmu_add_name, &names, NULL);
	return str_take(&names);
}

static int pmu_set_no_term(const char *pmu, const char *term, struct error *err)
{
	autofree char *events = pmu_list_names(pmu, "events"),
		      *terms = pmu_list_names(pmu, "format");

	return error_set(
		err, ENOENT,
		"PMU '%s' has neither an event nor a term '%s'; its events:%.400s; its terms:%.200s",
		pmu, term, events, terms);
}

/* --- terms --- */

static __u64 *pmu_word(struct event *e, const char *name, size_t len)
{
	static const char *const words[] = {"config", "config1", "config2"};
	__u64 *const at[] = {&e->attr.config, &e->attr.config1, &e->attr.config2};

	for (size_t i = 0; i < array_size(words); i++)
		if (strlen(words[i]) == len && !strncmp(words[i], name, len))
			return at[i];
	return NULL;
}

/*
 * Fills the bits that "config:0-7,32-35" names with the value's bits, from the lowest on. Returns
 * the bits of the value that do not fit, or -EBADMSG for a format that is none.
 */
static int pmu_fill_bits(struct event *e, const char *format, uint64_t *value)
{
	const char *at = strchr(format, ':');
	__u64 *word = at ? pmu_word(e, format, (size_t)(at - format)) : NULL;

	if (!word)
		return -EBADMSG;
	do {
		unsigned int lo, hi;
		int used, n = sscanf(at + 1, "%u%n-%u%n", &lo, &used, &hi, &used);

		if (n < 1)
			return -EBADMSG;
		hi = n < 2 ? lo : hi;
		for (; lo <= hi && lo < 64; lo++, *value >>= 1)
			*word = (*word & ~(1ULL << lo)) | (*value & 1) << lo;
		at += 1 + used;
	} while (*at == ',');
	return *at ? -EBADMSG : 0;
}

static int pmu_set_term(struct event *e, const char *pmu, const char *term, const char *text,
			struct error *err)
{
	__u64 *word = pmu_word(e, term, strlen(term));
	uint64_t value = 1, left;
	autofree char *format = NULL;
	char *end = "";
	int rc;

	errno = 0;
	if (text)
		value = strtoull(text, &end, 0);
	if (errno || *end || (text && !isdigit((unsigned char)*text)))
		return error_set(err, EINVAL, "PMU '%s': %s=%s is not a number", pmu, term, text);
	if (word) {
		*word = value;
		return 0;
	}
	format = pmu_read_text(pmu, "format", term);
	if (!format)
		return pmu_set_no_term(pmu, term, err);
	left = value;
	rc = pmu_fill_bits(e, format, &left);
	if (rc)
		error_set(err, -rc, "PMU '%s': its format of '%s' is '%.100s', which is unknown",
			  pmu, term, format);
	else if (left)
		rc = error_set(err, EINVAL, "PMU '%s': %s=0x%llx does not fit into %s", pmu, term,
			       (unsigned long long)value, format);
	return rc;
}

static void pmu_read_scale(struct event *e, const char *pmu, const char *event)
{
	autofree char *name = xasprintf("%s.scale", event),
		      *text = pmu_read_text(pmu, "events", name);
	autofree char *unit_name = xasprintf("%s.unit", event),
		      *unit = pmu_read_text(pmu, "events", unit_name);

	if (text)
		e->scale = strtod(text, NULL);
	if (unit)
		snprintf(e->unit, sizeof(e->unit), "%s", unit);
}

static int pmu_set_terms(struct event *e, const char *pmu, char *terms, bool named,
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
		} else if (strcmp(term, "name")) { /* perf's label for its output */
			rc = pmu_set_term(e, pmu, term, value, err);
		}
		free(event);
	}
	return rc;
}

static int pmu_read_cpus(struct event *e, const char *pmu, struct error *err)
{
	static const char *const files[] = {"cpumask", "cpus"};
	int rc = 0;

	for (size_t i = 0; i < array_size(files) && !e->some_cpus && !rc; i++) {
		autofree char *text = pmu_read_text(pmu, "", files[i]);

		if (text) {
			rc = cpuset_parse(&e->cpus, text, err);
			e->some_cpus = true;
			e->per_socket = !i;
		}
	}
	return rc;
}

int pmu_event_read(struct event *e, const char *pmu, const char *terms, struct error *err)
{
	autofree char *type = pmu_read_text(pmu, "", "type"), *copy = xstrdup(terms);
	autofree char *names = type ? NULL : pmu_list_names("", "");
	int rc;

	if (!type)
		return error_set(err, ENOENT, "no PMU '%s' on this host; this host has:%.400s", pmu,
				 names);
	e->attr.type = (uint32_t)strtoul(type, NULL, 10);
	rc = pmu_set_terms(e, pmu, copy, true, err);
	return rc ? rc : pmu_read_cpus(e, pmu, err);
}

/* --- tracepoints --- */

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

static int tracefs_read_ids(const char *root, const char *const *names, int *ids, size_t n)
{
	struct error err = {0};

	for (size_t i = 0; i < n && !err.code; i++) {
		autofree char *path = xasprintf("%s/events/%s/id", root, names[i]), *text = NULL;

		if (!file_read(path, &text, NULL, &err)) {
			ids[i] = atoi(text);
			if (ids[i] <= 0)
				err.code = EBADMSG;
		}
	}
	return -err.code;
}

/*
 * Mounts tracefs in a child with its own mount namespace, which ends with the child, so no other
 * process sees the mount.
 */
static int tracefs_ask_child(const char *const *names, int *ids, size_t n)
{
	size_t len = (n + 1) * sizeof(int);
	int *answer = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int rc;

	if (answer == MAP_FAILED)
		return -errno;
	*answer = -EIO;
	pid = fork();
	if (!pid) {
		*answer = host_mount_alone("tracefs", places[0], -1);
		if (!*answer)
			*answer = tracefs_read_ids(places[0], names, answer + 1, n);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	rc = *answer;
	memcpy(ids, answer + 1, n * sizeof(*ids));
	munmap(answer, len);
	return rc;
}

int tracefs_ids(const char *const *names, int *ids, size_t n, struct error *err)
{
	int rc = -ENOENT;

	for (size_t i = 0; i < array_size(places) && rc; i++)
		rc = tracefs_read_ids(places[i], names, ids, n);
	if (rc == -ENOENT)
		rc = tracefs_ask_child(names, ids, n);
	if (rc == -EBUSY) /* tracefs is mounted and does not have the tracepoints */
		rc = -ENOENT;
	if (rc == -EACCES || rc == -EPERM)
		return error_set(
			err, EACCES,
			"tracepoints are not permitted: run as root, or mount tracefs readable: mount -t tracefs nodev %s",
			places[0]);
	if (rc)
		return error_sys(err, -rc, "no tracepoint %s on this kernel", names[0]);
	return 0;
}
