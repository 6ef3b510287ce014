// SPDX-License-Identifier: GPL-2.0-only
/* Evidence of zero copy without the program's word, from the runs with system calls counted. */
#include "analyze/measures/zerocopy.h"

#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum moved { SENT_COPY, SENT_SHARED, SENT_ASKED, READ_COPY, READ_DROPPED, MOVED };

/*
 * System calls by what they do to the data of a socket. splice is in neither list: it moves data
 * in both directions. tee and vmsplice only fill the pipe that splice then empties.
 */
static const struct {
	const char *name;
	enum moved how;
} calls[] = {
	{"sendto", SENT_COPY},
	{"sendmsg", SENT_COPY},
	{"write", SENT_COPY},
	{"writev", SENT_COPY},
	{"sendfile", SENT_SHARED},
	{"sendfile64", SENT_SHARED},
	{"sendto (MSG_ZEROCOPY)", SENT_ASKED},
	{"sendmsg (MSG_ZEROCOPY)", SENT_ASKED},
	{"recvfrom", READ_COPY},
	{"recvmsg", READ_COPY},
	{"read", READ_COPY},
	{"readv", READ_COPY},
	{"recvfrom (MSG_TRUNC)", READ_DROPPED},
	{"recvmsg (MSG_TRUNC)", READ_DROPPED},
};

/* What was counted on a side. NAN: not known. */
struct counted {
	double moved[MOVED], spliced; /* bytes by system calls */
	double reads;		      /* calls that read */
	double uring_enters, maps;    /* calls that move bytes and do not return their number */
	double received, work;	      /* bytes by tcp_info; by the workload's own account */
	double copied;		      /* bytes by the kernel's count */
	bool receives, sends;	      /* by its role; a proxy does both */
};

static void counted_add_call(struct counted *c, const struct syscall_row *r)
{
	size_t i, len = strlen(r->name) - (str_ends(r->name, " (32-bit)") ? 9 : 0);

	for (i = 0; i < array_size(calls); i++) {
		if (strlen(calls[i].name) != len || strncmp(calls[i].name, r->name, len))
			continue;
		c->moved[calls[i].how] += (double)r->bytes;
		c->reads += calls[i].how >= READ_COPY ? (double)r->calls : 0;
	}
	if (!strcmp(r->name, "splice"))
		c->spliced += (double)r->bytes;
	if (!strcmp(r->name, "io_uring_enter"))
		c->uring_enters += (double)r->calls;
	if (!strcmp(r->name, "getsockopt")) /* TCP_ZEROCOPY_RECEIVE */
		c->maps += (double)r->calls;
}

/*
 * Returns the bytes that the side received. Where nothing but reading calls can have moved them,
 * and the kernel copied as many, their sum is exact. Programs also read files, and points of a
 * workload may be coarse, so the sockets' own count comes next.
 */
static double counted_received(const struct counted *c)
{
	double read = c->moved[READ_COPY] + c->moved[READ_DROPPED] + c->spliced;
	bool as_copied = fabs(c->moved[READ_COPY] - c->copied) <= 0.01 * read;

	if (c->uring_enters + c->maps < 0.01 * c->reads && as_copied)
		return read;
	return c->received > 0 ? c->received : c->work > 0 ? c->work : read;
}

static int counted_read(struct store *s, const struct block *b, struct counted *c,
			struct error *err)
{
	const struct query all = {0};
	struct syscall_row *rows;
	struct run *runs;
	int n = scope_runs(s, &all, b, FOR_SYSCALLS, &runs, err), i, k, nrows;

	*c = (struct counted){.receives = store_side_is(s, b->side, "receiver") ||
					  store_side_is(s, b->side, "proxy"),
			      .sends = !store_side_is(s, b->side, "receiver")};
	for (i = 0; i < n; i++) {
		nrows = store_syscalls(s, runs[i].id, &rows, err);
		for (k = 0; k < nrows; k++)
			counted_add_call(c, &rows[k]);
		free(rows);
		c->copied += figure_metric(s, &runs[i], "rx_kernel_copied_bytes");
		c->work += figure_metric(s, &runs[i], "bytes");
		c->received += figure_metric(s, &runs[i], "tcp_socket_bytes_received");
	}
	free(runs);
	return n;
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
	double shared = c->moved[SENT_SHARED] + c->spliced, copied = c->moved[SENT_COPY];
	double total = shared + copied + c->moved[SENT_ASKED];

	if (total < 0.5 * c->work)
		return (struct evidence){.what = c->uring_enters > 0
							 ? "bytes sent, by io_uring"
							 : "bytes sent, by no system call seen",
					 .total = c->work,
					 .zero_copy = NAN,
					 .copied = NAN};
	if (c->moved[SENT_ASKED] > 0.01 * total)
		shared = copied = NAN;
	return (struct evidence){.what = counted_sent_name(c),
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
	double seen = read + dropped + c->spliced, total = fmax(seen, counted_received(c));

	return (struct evidence){
		.what = dropped > read	    ? "bytes received, by system calls (MSG_TRUNC)"
			: c->spliced > read ? "bytes received, by system calls (splice)"
					    : "bytes received, by system calls",
		.total = total,
		.zero_copy = seen >= 0.95 * total && !(dropped > 0) ? c->spliced : NAN,
		.copied = read};
}

/*
 * Compares the kernel's count with the bytes received. A byte that was dropped unread was not
 * copied, and is not zero copy. The tracepoint does not see small datagrams: where calls read what
 * it did not count, the rest is not known.
 */
static struct evidence counted_kernel(const struct counted *c)
{
	double total = fmax(counted_received(c), c->copied);
	double missed = fmin(c->moved[READ_COPY], total) - c->copied;
	bool known = !(c->moved[READ_DROPPED] > 0) && missed <= 0.05 * total;

	return (struct evidence){.what = "bytes received, by the kernel's count",
				 .source = BY_KERNEL,
				 .total = total,
				 .zero_copy = known ? total - c->copied : NAN,
				 .copied = c->copied};
}

int zero_copy_add_counted(struct store *s, const struct block *b, enum asked asked,
			  struct evidence *e, int max, struct error *err)
{
	struct evidence found[3];
	struct counted c;
	int rc = counted_read(s, b, &c, err), n = 0, i, count = 0;

	if (rc <= 0)
		return rc;
	if (c.receives && !isnan(c.copied))
		found[n++] = counted_kernel(&c);
	if (c.receives)
		found[n++] = counted_read_bytes(&c);
	if (c.sends)
		found[n++] = counted_sent(&c);
	for (i = 0; i < n && count < max; i++) {
		if (!(found[i].total > 0))
			continue;
		if (found[i].source != BY_KERNEL)
			found[i].source = BY_SYSCALLS;
		found[i].side = b->side;
		found[i].runs = rc;
		found[i].asked = asked == ASKED_DROP ? ASKED_UNKNOWN : asked;
		e[count++] = found[i];
	}
	return count;
}
