// SPDX-License-Identifier: GPL-2.0-only

#include "run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FORMAT "tcpzc 1 port %u flows %u rr %u verify %u size %zu response %zu\n"

enum { LINE = 160, AWAIT_MS = 200 };

static struct terms terms_ours(const struct run *r)
{
	const struct options *o = r->opt;

	return (struct terms){.flows = o->flows,
			      .rr = o->rr,
			      .verify = o->verify,
			      .udp = o->udp,
			      .port = (unsigned int)r->flows->seed,
			      .size = o->size,
			      .response = o->response};
}

/* Writes the terms as options. */
static const char *terms_text(const struct terms *t, char *line)
{
	int n = snprintf(line, LINE, "--flows %u", t->flows);

	if (t->udp)
		return strcpy(line, "--udp");
	if (t->rr)
		n += snprintf(line + n, (size_t)(LINE - n), " --rr --size %zu --response %zu",
			      t->size, t->response);
	if (t->verify)
		snprintf(line + n, (size_t)(LINE - n), " --verify");
	return line;
}

static void terms_write(const struct run *r, const struct sockaddr *to, socklen_t len)
{
	struct terms t = terms_ours(r);
	char line[LINE];
	int n = snprintf(line, sizeof(line), FORMAT, t.port, t.flows, t.rr, t.verify, t.size,
			 t.response);

	(void)!sendto(r->peer.fd, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL, to, len);
}

void terms_listen(struct run *r, int listener)
{
	struct peer_terms *p = &r->peer;
	int off = 0;

	p->from_len = sizeof(p->from);
	if (getsockname(listener, &p->from.any, &p->from_len))
		return;
	p->fd = socket(p->from.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return;
	if (p->from.any.sa_family == AF_INET6)
		setsockopt(p->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(p->fd, &p->from.any, p->from_len)) /* another socket has the port */
		terms_close(r);
}

void terms_send(struct run *r, int fd)
{
	struct peer_terms *p = &r->peer;

	p->from_len = sizeof(p->from);
	if (getpeername(fd, &p->from.any, &p->from_len))
		return;
	p->fd = socket(p->from.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return;
	if (connect(p->fd, &p->from.any, p->from_len))
		terms_close(r);
	else
		terms_write(r, NULL, 0);
}

/* Returns true when the terms are those of this run's sender, not of a late other one. */
static bool terms_known(const struct run *r)
{
	const struct terms *t = &r->peer.its;
	unsigned int i;

	if (!r->peer.told || t->udp || !r->opt->listen)
		return r->peer.told;
	for (i = 0; i < r->n_flows; i++)
		if (r->flows[i].fd >= 0 && r->flows[i].seed == t->port)
			return true;
	return false;
}

/* Another datagram than terms, before there is a connection, is data of a --udp sender. */
static void terms_parse(struct run *r, char *line, size_t n)
{
	struct terms t = {0};

	line[n] = '\0';
	if (sscanf(line, FORMAT, &t.port, &t.flows, &t.rr, &t.verify, &t.size, &t.response) != 6) {
		if (!r->opt->listen || r->flows->fd >= 0)
			return;
		t.udp = 1;
	}
	r->peer.its = t;
	r->peer.told = true;
}

static bool terms_are_different(const struct run *r)
{
	const struct terms a = terms_ours(r), *b = &r->peer.its;

	return terms_known(r) && (a.udp != b->udp || a.flows != b->flows || a.rr != b->rr ||
				  (a.rr && (a.size != b->size || a.response != b->response)) ||
				  a.verify != b->verify);
}

bool terms_differ(struct run *r, uint64_t *calls)
{
	struct peer_terms *p = &r->peer;
	char line[LINE + 1];
	ssize_t n;

	if (p->fd >= 0 && !terms_known(r)) {
		p->from_len = sizeof(p->from);
		n = recvfrom(p->fd, line, LINE, MSG_DONTWAIT, &p->from.any, &p->from_len);
		if (calls)
			++*calls;
		if (n > 0)
			terms_parse(r, line, (size_t)n);
	}
	return terms_are_different(r);
}

bool terms_await(struct run *r)
{
	struct pollfd p[] = {{.fd = r->peer.fd, .events = POLLIN},
			     {.fd = r->flows->fd, .events = POLLIN}};

	if (r->peer.fd >= 0 && !terms_known(r))
		poll(p, 2, AWAIT_MS);
	return terms_differ(r, NULL);
}

void terms_judge(struct run *r)
{
	struct terms a = terms_ours(r);
	char mine[LINE], its[LINE];
	struct flow *f = r->flows;
	unsigned int i;

	if (terms_differ(r, NULL)) {
		for (i = 0; i < r->n_flows; i++)
			r->flows[i].error = 0;
		f->error = EPROTO;
		snprintf(f->what, sizeof(f->what),
			 "the ends do not agree: the %s has %s, this end has %s",
			 r->opt->listen ? "sender" : "receiver", terms_text(&r->peer.its, its),
			 terms_text(&a, mine));
	}
	if (r->opt->listen && terms_known(r))
		terms_write(r, &r->peer.from.any, r->peer.from_len);
}

const char *terms_verify(const struct run *r)
{
	return terms_known(r) && r->peer.its.verify ? "peer" : "unknown";
}

void terms_close(struct run *r)
{
	if (r->peer.fd >= 0)
		close(r->peer.fd);
	r->peer.fd = -1;
}
