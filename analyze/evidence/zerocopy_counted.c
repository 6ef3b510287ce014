// SPDX-License-Identifier: GPL-2.0-only
/* Evidence of zero copy without the program's word, from the runs with system calls counted. */
#include "analyze/evidence/zerocopy.h"

#include <math.h>

enum moved { SENT_COPY, SENT_SHARED, SENT_ASKED, READ_COPY, READ_DROPPED, MOVED };

/*
 * System calls by what they do to the data of a socket. `any`: the call takes files, too. splice is
 * not in the list: it moves data in both directions. tee and vmsplice only fill the pipe that
 * splice then empties.
 */
static const struct {
	const char *name;
	enum moved how;
	bool any;
} calls[] = {
	{"sendto", SENT_COPY, false},
	{"sendmsg", SENT_COPY, false},
	{"write", SENT_COPY, true},
	{"writev", SENT_COPY, true},
	{"sendfile", SENT_SHARED, true},
	{"sendfile64", SENT_SHARED, true},
	{"sendto (MSG_ZEROCOPY)", SENT_ASKED, false},
	{"sendmsg (MSG_ZEROCOPY)", SENT_ASKED, false},
	{"recvfrom", READ_COPY, false},
	{"recvmsg", READ_COPY, false},
	{"read", READ_COPY, true},
	{"readv", READ_COPY, true},
	{"recvfrom (MSG_TRUNC)", READ_DROPPED, false},
	{"recvmsg (MSG_TRUNC)", READ_DROPPED, false},
};

/* What was counted on a side. NAN: not known. */
struct counted {
	double moved[MOVED], spliced;  /* bytes by system calls */
	double on_sockets[DIRECTIONS]; /* bytes by calls that take sockets alone */
	double reads;		       /* calls that read */
	double uring_enters, maps;     /* calls that move bytes and do not return their number */
	double tcp[DIRECTIONS];	       /* bytes by tcp_info */
	double copied;		       /* received bytes by the kernel's count */
	double work;		       /* bytes by the workload's own account, in any direction */
	double sockets;		       /* TCP sockets, and calls that make or use a socket */
	bool udp, by_tcp;	       /* by_tcp: tcp_info has a fair part of the bytes */
	bool moves[DIRECTIONS];
};

static void counted_add_call(struct counted *c, const struct syscall_row *r)
{
	c->sockets += str_matches_any("accept* connect socket sendto* sendm* recv*", r->name);
	for (size_t i = 0; i < array_size(calls); i++) {
		if (strcmp(calls[i].name, r->name))
			continue;
		c->moved[calls[i].how] += (double)r->bytes;
		c->on_sockets[calls[i].how < READ_COPY] += calls[i].any ? 0 : (double)r->bytes;
		c->reads += calls[i].how >= READ_COPY ? (double)r->calls : 0;
	}
	if (!strcmp(r->name, "splice"))
		c->spliced += (double)r->bytes;
	if (!strcmp(r->name, "io_uring_enter"))
		c->uring_enters += (double)r->calls;
	if (!strcmp(r->name, "getsockopt")) /* TCP_ZEROCOPY_RECEIVE */
		c->maps += (double)r->calls;
}

/* A workload such as `dd | cat`. Where a socket's life is not known, it may have had one. */
static bool counted_no_network(const struct counted *c)
{
	return c->sockets == 0 && c->uring_enters == 0 && !(c->copied > 0) && !c->udp;
}

/* Returns the bytes of calls that name their direction. */
static double counted_by_calls(const struct counted *c, enum direction way)
{
	const double *m = c->moved;

	return way == SENT ? m[SENT_COPY] + m[SENT_SHARED] + m[SENT_ASKED]
			   : m[READ_COPY] + m[READ_DROPPED];
}

/*
 * Finds the directions in which the side moves data, from what was counted on its sockets. The name
 * of a side says nothing: the "receiver" of iperf3 -R sends. Where tcp_info does not see the
 * sockets, because they carry datagrams or live for less than a second, the calls that take files,
 * too, count as well. But a `read` that the kernel's count of copied bytes does not see was of a
 * file, or of small datagrams. A direction with less than 1 % of the bytes is control traffic.
 */
static void counted_find_directions(struct counted *c)
{
	double by_calls[DIRECTIONS] = {counted_by_calls(c, RECEIVED), counted_by_calls(c, SENT)};
	double bytes[DIRECTIONS], most = c->work > 0 ? c->work : 0;

	if (counted_no_network(c))
		return;
	c->by_tcp = fmax(c->tcp[RECEIVED], c->tcp[SENT]) >
		    0.25 * fmax(most, fmax(by_calls[RECEIVED], by_calls[SENT]));
	for (int way = 0; way < DIRECTIONS; way++)
		bytes[way] = fmax(c->on_sockets[way], c->by_tcp ? c->tcp[way] : by_calls[way]);
	if (!c->by_tcp && !c->udp && c->copied < 0.01 * by_calls[RECEIVED])
		bytes[RECEIVED] = c->on_sockets[RECEIVED];
	bytes[RECEIVED] = fmax(bytes[RECEIVED], c->copied);
	most = fmax(most, fmax(bytes[RECEIVED], bytes[SENT]));
	for (int way = 0; way < DIRECTIONS; way++)
		c->moves[way] = bytes[way] > 0 && bytes[way] >= 0.01 * most;
}

/*
 * Returns the bytes that splice moved in one direction. A side that moves data both ways splices
 * what the sockets count and no other call moved. Readings of the sockets lie some ms beside the
 * window, so 1 % is no difference.
 */
static double counted_spliced(const struct counted *c, enum direction way)
{
	double rest = c->tcp[way] - counted_by_calls(c, way);

	if (!(c->spliced > 0) || !c->moves[!way])
		return c->spliced;
	if (isnan(rest))
		return NAN;
	return rest < 0.01 * c->tcp[way] ? 0 : fmin(c->spliced, rest);
}

/*
 * Returns the bytes that the side received. Where nothing but reading calls can have moved them,
 * and the kernel copied as many, their sum is exact. Programs also read files, and points of a
 * workload may be coarse, so the sockets' own count comes next. *counted receives whether the bytes
 * were counted as they were received: a workload does not say in which direction it counts.
 */
static double counted_received(const struct counted *c, bool *counted)
{
	double read = counted_by_calls(c, RECEIVED) + counted_spliced(c, RECEIVED);
	bool as_copied = fabs(c->moved[READ_COPY] - c->copied) <= 0.01 * read;

	*counted = true;
	if (c->uring_enters + c->maps < 0.01 * c->reads && as_copied)
		return read;
	if (c->by_tcp && c->tcp[RECEIVED] > 0)
		return c->tcp[RECEIVED];
	*counted = !(c->work > read) || c->moves[SENT];
	return *counted ? read : c->work;
}

static int counted_read(struct store *s, const struct query *q, const struct block *b,
			enum purpose of, struct counted *c, struct error *err)
{
	const struct query run = {.repeat = q->repeat};
	struct syscall_row *rows;
	autofree struct run *runs = NULL;
	int n = scope_runs(s, &run, b, of, &runs, err), nrows;

	*c = (struct counted){0};
	for (int i = 0; i < n; i++) {
		nrows = store_syscalls(s, runs[i].id, &rows, err);
		for (int k = 0; k < nrows; k++)
			counted_add_call(c, &rows[k]);
		free(rows);
		c->copied += figure_metric(s, &runs[i], "rx_kernel_copied_bytes");
		c->work += figure_metric(s, &runs[i], "bytes");
		c->sockets += figure_metric(s, &runs[i], "tcp_sockets");
		c->tcp[RECEIVED] += figure_metric(s, &runs[i], "tcp_socket_bytes_received");
		c->tcp[SENT] += figure_metric(s, &runs[i], "tcp_socket_bytes_acked");
		c->udp |= sent_datagrams(s, &runs[i]);
	}
	counted_find_directions(c);
	return n;
}

int zero_copy_find_directions(struct store *s, const struct block *b, bool moves[DIRECTIONS],
			      struct error *err)
{
	struct counted c;
	int n = counted_read(s, &(struct query){0}, b, FOR_FIGURES, &c, err);

	memcpy(moves, c.moves, sizeof(c.moves));
	return n < 0 ? n : 0;
}

bool zero_copy_no_network(struct store *s, const struct block *b)
{
	struct counted c;

	return counted_read(s, &(struct query){0}, b, FOR_SYSCALLS, &c, NULL) > 0 &&
	       counted_no_network(&c);
}

/* Returns a name for the evidence of system calls that sent. */
static const char *counted_sent_name(const struct counted *c)
{
	if (c->moved[SENT_ASKED] > c->moved[SENT_COPY])
		return "bytes sent, by system calls (MSG_ZEROCOPY)";
	if (c->moved[SENT_SHARED] > c->moved[SENT_COPY])
		return "bytes sent, by system calls (sendfile)";
	if (c->spliced > c->moved[SENT_COPY])
		return "bytes sent, by system calls (splice)";
	return "bytes sent, by system calls";
}

/*
 * Only io_uring sends without a call that counts bytes. MSG_ZEROCOPY asks; the kernel may have
 * copied all the same.
 */
static struct evidence counted_sent(const struct counted *c)
{
	double shared = c->moved[SENT_SHARED] + counted_spliced(c, SENT);
	double copied = c->moved[SENT_COPY], total = shared + copied + c->moved[SENT_ASKED];
	double work = c->by_tcp ? c->tcp[SENT] : c->moves[RECEIVED] ? NAN : c->work;

	if (total < 0.5 * work)
		return (struct evidence){
			.what = c->uring_enters > 0 ? "bytes sent, by io_uring"
				: total > 0 ? "bytes sent, most by no call seen in the window"
					    : "bytes sent, by no call seen in the window",
			.lends = c->uring_enters > 0,
			.total = work,
			.zero_copy = NAN,
			.copied = NAN};
	if (c->moved[SENT_ASKED] > 0.01 * total)
		shared = copied = NAN;
	return (struct evidence){.what = counted_sent_name(c),
				 .lends = isnan(copied),
				 .asked = c->moved[SENT_ASKED] > c->moved[SENT_COPY]
						  ? ASKED_ZERO_COPY
						  : ASKED_UNKNOWN,
				 .total = total,
				 .zero_copy = shared,
				 .copied = copied};
}

/*
 * Bytes that no call read were mapped, or io_uring moved them. So only a receiver that read
 * everything has a share.
 */
static struct evidence counted_read_bytes(const struct counted *c)
{
	double read = c->moved[READ_COPY], dropped = c->moved[READ_DROPPED];
	double spliced = counted_spliced(c, RECEIVED), seen = read + dropped + spliced, total;
	bool counted;

	total = fmax(seen, counted_received(c, &counted));
	return (struct evidence){
		.what = dropped > read	 ? "bytes received, by system calls (MSG_TRUNC)"
			: spliced > read ? "bytes received, by system calls (splice)"
					 : "bytes received, by system calls",
		.total = total,
		.zero_copy = seen >= 0.95 * total && !(dropped > 0) ? spliced : NAN,
		.copied = read};
}

/*
 * Compares the kernel's count with the bytes received. A byte that was dropped unread was not
 * copied, and is not zero copy. The tracepoint does not see small datagrams: where calls read what
 * it did not count, the rest is not known. Nor is it where nothing counted the bytes received.
 */
static struct evidence counted_kernel(const struct counted *c)
{
	bool counted;
	double received = counted_received(c, &counted), total = fmax(received, c->copied);
	double missed = fmin(counted ? c->moved[READ_COPY] : total, total) - c->copied;
	bool known = !(c->moved[READ_DROPPED] > 0) && missed <= 0.05 * total && !isnan(received);

	return (struct evidence){.what = "bytes received, by the kernel's count",
				 .source = BY_KERNEL,
				 .total = total,
				 .zero_copy = known ? total - c->copied : NAN,
				 .copied = c->copied};
}

int zero_copy_add_counted(struct store *s, const struct query *q, const struct block *b,
			  const enum asked asked[DIRECTIONS], struct evidence *e, int max,
			  struct error *err)
{
	struct evidence found[3];
	struct counted c;
	int rc = counted_read(s, q, b, FOR_SYSCALLS, &c, err), n = 0, count = 0;

	if (rc <= 0)
		return rc;
	if (c.moves[RECEIVED] && !isnan(c.copied))
		found[n++] = counted_kernel(&c);
	if (c.moves[RECEIVED])
		found[n++] = counted_read_bytes(&c);
	if (c.moves[SENT]) {
		found[n] = counted_sent(&c);
		found[n++].way = SENT;
	}
	for (int i = 0; i < n && count < max; i++) {
		if (!(found[i].total > 0))
			continue;
		if (found[i].source != BY_KERNEL)
			found[i].source = BY_SYSCALLS;
		found[i].side = b->side;
		if (asked[found[i].way] != ASKED_UNKNOWN)
			found[i].asked = asked[found[i].way];
		e[count++] = found[i];
	}
	return count;
}

int zero_copy_add_queues(struct store *s, const struct query *q, const struct block *b,
			 struct evidence *e, int max, struct error *err)
{
	const struct query run = {.repeat = q->repeat};
	freed(block_runs_free) struct block_runs runs = {.block = *b};
	freed(metric_keys_free) struct metric_keys keys = {0};
	int rc = runs.n = scope_runs(s, &run, b, FOR_FIGURES, &runs.runs, err), n = 0;

	if (rc >= 0)
		rc = metric_keys_add(&keys, s, &runs, "queue_owner_pct", OF_SIDE, err);
	for (size_t i = 0; i < keys.n && n < max; i++) {
		const char *name = keys.m[i].key.object, *owner = strrchr(name, '/');
		autofree char *none = xasprintf("%.*s/none", owner ? (int)(owner - name) : 0, name);

		if (!str_ends(name, "/zcrx") && !str_ends(name, "/devmem"))
			continue;
		e[n] = (struct evidence){
			.side = b->side, .what = name, .source = BY_QUEUE, .zero_copy = NAN};
		for (int r = 0; r < runs.n; r++) {
			const struct run *run = &runs.runs[r];
			double seconds = figure_metric(s, run, "seconds");
			double owned = run_metric(s, run, "queue_owner_pct", name, NO_CPU);

			if (isnan(owned) &&
			    isnan(run_metric(s, run, "queue_owner_pct", none, NO_CPU)))
				continue;
			e[n].total += seconds;
			e[n].copied += isnan(owned) ? seconds : (1 - owned / 100) * seconds;
		}
		n++;
	}
	return rc < 0 ? rc : n;
}
