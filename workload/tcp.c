// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp: bytes that the workload's TCP sockets received, and those that their peers acknowledged,
 * from the readings of the collector tcp (collect/tcp.c describes tcp.snap). A socket that is new
 * in a reading counts from 0. What a socket did after it was last seen is not known.
 */
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/hash.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Places in inet_diag_msg and tcp_info, which the kernel never changes. */
enum { COOKIE = 44, BYTES_ACKED = 120, BYTES_RECEIVED = 128 };

struct tcp_sockets {
	struct map at; /* cookie: place + 1 */
	double *bytes; /* the bytes of each socket when it was last seen */
	size_t n, cap;
	double total;
	bool little, first;
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
	struct snaps snaps;
	char *line, *rest;
	size_t i;
	int rc = workload_snaps(run, is->file, &snaps, err);

	(void)arg;
	for (i = 0; !rc && i < snaps.n; i++) {
		struct point p = {.t_ns = snaps.snap[i].mono_ns};

		for (rest = snaps_text(&snaps, i); (line = str_token(&rest, '\n'));)
			tcp_parse_line(line, &all);
		p.n[WORK_BYTES] = all.total;
		points_add(&a->points, &p);
		all.first = false;
	}
	if (!rc)
		rc = error_set(err, snaps.failed.code, "%s", snaps.failed.text);
	if (!rc && !all.n)
		rc = error_set(err, ENODATA, "tcp.snap: the workload had no TCP socket");
	a->points.has[WORK_BYTES] = !rc;
	map_free(&all.at);
	free(all.bytes);
	snaps_free(&snaps);
	return rc;
}

const struct adapter adapter_tcp = {
	.name = "tcp", .file = "tcp.snap", .collector = "tcp", .read = tcp_read};
