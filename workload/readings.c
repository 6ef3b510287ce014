// SPDX-License-Identifier: GPL-2.0-only
/* Work that collectors count, where the workload prints no account. */
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/hash.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <errno.h>

/*
 * --- nic ---
 *
 * nic:[NETNS/]IF[/rx|/tx]: bytes and packets of a network interface, from the readings of the
 * collector nic (analyze/probes/nic/parser.c describes nic.snap). Both directions, unless one is
 * named.
 */

struct nic_want {
	const char *netns, *name, *direction; /* netns, direction: NULL: not named */
	char found[64];			      /* the namespace of the interface */
	char columns[4096];		      /* the names of its counters */
	struct str others;		      /* names of other interfaces */
};

/* Parses "[NETNS/]IF[/rx|/tx]", which it cuts into its parts. */
static void nic_parse_want(char *arg, struct nic_want *w)
{
	char *slash = strrchr(arg, '/');

	w->name = arg;
	if (slash && str_matches_any("rx tx", slash + 1)) {
		*slash = '\0';
		w->direction = slash + 1;
	}
	slash = strchr(arg, '/');
	if (slash) {
		*slash = '\0';
		w->netns = arg;
		w->name = slash + 1;
	}
}

/* Adds the counters of the line that the plan asks for. Returns whether there are any. */
static bool nic_add_values(const struct nic_want *w, char *values, struct point *p)
{
	static const struct {
		const char *what;
		enum work work;
	} counters[] = {{"x_packets", WORK_PACKETS}, {"x_bytes", WORK_BYTES}};
	autofree char *copy = xstrdup(w->columns);
	char *rest = copy, *name, *value;
	bool any = false;

	while ((value = str_token(&values, '\t')) && (name = str_token(&rest, '\t')))
		for (size_t i = 0; i < array_size(counters); i++)
			if (*name && !strcmp(name + 1, counters[i].what) &&
			    (!w->direction || *name == *w->direction)) {
				p->n[counters[i].work] += strtod(value, NULL);
				any = true;
			}
	return any;
}

/* Returns 1 when the line has values of the interface, 0 when it has not, or -EINVAL. */
static int nic_parse_line(char *line, struct nic_want *w, struct point *p, struct error *err)
{
	const char *kind = str_token(&line, '\t'), *netns = str_token(&line, '\t');
	const char *index = str_token(&line, '\t'), *name = str_token(&line, '\t');
	const char *group = str_token(&line, '\t');

	(void)index;
	if (!group || !line || strcmp(group, "link"))
		return 0;
	if (strcmp(name, w->name) || (w->netns && strcmp(netns, w->netns))) {
		if (*kind == 'n')
			str_printf(&w->others, " %s/%s", netns, name);
		return 0;
	}
	if (*w->found && strcmp(w->found, netns))
		return error_set(
			err, EINVAL,
			"nic.snap: namespaces %s and %s both have an interface '%s': write units = nic:%s/%s",
			w->found, netns, name, netns, name);
	strncpy(w->found, netns, sizeof(w->found) - 1);
	if (*kind == 'v')
		return nic_add_values(w, line, p);
	strncpy(w->columns, line, sizeof(w->columns) - 1);
	return 0;
}

static int nic_read_snap(char *text, uint64_t t_ns, struct nic_want *w, struct point *first,
			 struct points *ps, struct error *err)
{
	struct point p = {.t_ns = t_ns};
	char *line;
	int any = 0, rc = 0;

	while (rc >= 0 && (line = str_token(&text, '\n'))) {
		rc = nic_parse_line(line, w, &p, err);
		any |= rc > 0;
	}
	if (rc < 0 || !any)
		return rc < 0 ? rc : 0;
	if (!ps->n)
		*first = p;
	for (int k = 0; k < WORK_N; k++)
		p.n[k] -= first->n[k];
	points_add(ps, &p);
	return 0;
}

static int nic_read_snaps(struct snaps *snaps, const char *arg, struct points *ps,
			  struct error *err)
{
	autofree char *copy = xstrdup(arg);
	struct nic_want w = {0};
	struct point first = {0};
	int rc = 0;

	nic_parse_want(copy, &w);
	for (size_t i = 0; i < snaps->n && !rc; i++)
		rc = nic_read_snap(snaps_text(snaps, i), snaps->snap[i].mono_ns, &w, &first, ps,
				   err);
	rc = rc ?: error_set(err, snaps->failed.code, "%s", snaps->failed.text);
	if (!rc && !ps->n)
		rc = error_set(err, ENODATA, "nic.snap: no interface '%s'; there are%s", arg,
			       w.others.len ? w.others.buf : " none");
	ps->has[WORK_BYTES] = ps->has[WORK_PACKETS] = !rc;
	str_free(&w.others);
	return rc;
}

static int nic_check(const char *arg, struct error *err)
{
	autofree char *copy = xstrdup(arg);
	struct nic_want w = {0};

	nic_parse_want(copy, &w);
	if (!*w.name || strchr(w.name, '/') || (w.netns && !*w.netns))
		return error_set(err, EINVAL, "nic:%s: no interface in nic:[NETNS/]IF[/rx|/tx]",
				 arg);
	return 0;
}

static int nic_read(const struct adapter *is, const struct workload_run *run, const char *arg,
		    struct account *a, struct error *err)
{
	freed(snaps_free) struct snaps snaps = {0};

	return workload_snaps(run, is->file, &snaps, err)
		       ?: nic_read_snaps(&snaps, arg, &a->points, err);
}

const struct adapter adapter_nic = {.name = "nic",
				    .argument = "IF",
				    .file = "nic.snap",
				    .collector = "nic",
				    .check = nic_check,
				    .read = nic_read};

/*
 * --- tcp ---
 *
 * tcp: bytes that the workload's TCP sockets received, and those that their peers acknowledged,
 * from the readings of the collector tcp (collect/tcp.c describes tcp.snap). A socket that is new
 * in a reading counts from 0. What a socket did after it was last seen is not known, so the
 * readings behind the last socket are left out.
 */

/* Places in inet_diag_msg and tcp_info, which the kernel never changes. */
enum { COOKIE = 44, BYTES_ACKED = 120, BYTES_RECEIVED = 128 };

struct tcp_sockets {
	struct map at; /* cookie: place + 1 */
	double *bytes; /* the bytes of each socket when it was last seen */
	size_t n, cap;
	double total;
	bool little, first, connected;
};

/* Reads 8 bytes at `offset` of hexadecimal digits. Returns false where the text is shorter. */
static bool tcp_hex_u64(const char *text, size_t offset, bool little, uint64_t *v)
{
	char digits[3] = "";
	size_t i, at;

	if (!text || strlen(text) < 2 * (offset + 8))
		return false;
	for (*v = 0, i = 0; i < 8; i++) {
		at = 2 * (offset + (little ? 7 - i : i));
		memcpy(digits, text + at, 2);
		*v = *v << 8 | strtoul(digits, NULL, 16);
	}
	return true;
}

static void tcp_parse_line(char *line, struct tcp_sockets *all)
{
	uint64_t cookie, acked, received, *at;
	const char *msg, *info;
	double bytes;

	if (!strcmp(line, "little") || !strcmp(line, "big")) {
		all->little = *line == 'l';
		return;
	}
	str_token(&line, ' ');
	msg = str_token(&line, ' ');
	info = str_token(&line, ' ');
	if (!tcp_hex_u64(msg, COOKIE, all->little, &cookie) ||
	    !tcp_hex_u64(info, BYTES_ACKED, all->little, &acked) ||
	    !tcp_hex_u64(info, BYTES_RECEIVED, all->little, &received))
		return;
	all->connected = true;
	bytes = (double)acked + (double)received;
	at = map_at(&all->at, cookie);
	if (!*at) {
		array_add(all->bytes, all->n, all->cap, all->first ? bytes : 0);
		*at = all->n;
	}
	all->total += bytes - all->bytes[*at - 1];
	all->bytes[*at - 1] = bytes;
}

static int tcp_read(const struct adapter *is, const struct workload_run *run, const char *arg,
		    struct account *a, struct error *err)
{
	struct tcp_sockets all = {.first = true};
	freed(snaps_free) struct snaps snaps;
	char *line;
	int rc = workload_snaps(run, is->file, &snaps, err);
	size_t last = 0;

	(void)arg;
	for (size_t i = 0; !rc && i < snaps.n; i++) {
		struct point p = {.t_ns = snaps.snap[i].mono_ns};

		all.connected = false;
		for (char *rest = snaps_text(&snaps, i); (line = str_token(&rest, '\n'));)
			tcp_parse_line(line, &all);
		p.n[WORK_BYTES] = all.total;
		points_add(&a->points, &p);
		all.first = false;
		last = all.connected || !all.n ? a->points.n : last;
	}
	a->points.n = last;
	rc = rc ?: error_set(err, snaps.failed.code, "%s", snaps.failed.text);
	if (!rc && !all.n)
		rc = error_set(
			err, ENODATA,
			"tcp.snap: no reading saw a connected TCP socket of the workload: it had none, or each closed between two readings");
	a->points.has[WORK_BYTES] = !rc;
	map_free(&all.at);
	free(all.bytes);
	return rc;
}

const struct adapter adapter_tcp = {
	.name = "tcp", .file = "tcp.snap", .collector = "tcp", .read = tcp_read};
