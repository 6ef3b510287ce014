// SPDX-License-Identifier: GPL-2.0-only
/* The connection: IPv4 or IPv6, with time limits on everything that waits for the other side. */
#include "tcpzc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	RETRY_MS = 50,
	KEEP_S = 5,
	KEEP_COUNT = 4,
	GONE_MS = 20000,
	HURRY_MS = 500,
	RESPONSES = 1 << 16
};

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Beyond net.core.[rw]mem_max where we may. */
static int set_buffer(struct flow *f, int fd, int force, int plain, const char *what, size_t size)
{
	int value = size > INT_MAX / 2 ? INT_MAX / 2 : (int)size;

	if (!size || !set(fd, SOL_SOCKET, force, value) || !set(fd, SOL_SOCKET, plain, value))
		return 0;
	return flow_fail(f, errno, "--%s %zu", what, size);
}

/*
 * Buffers come before the connection: the window's scale is agreed then. A peer that vanishes
 * without a word is noticed after 20 seconds, by probes or by data that nobody acknowledges.
 */
static int set_options(struct flow *f, int fd)
{
	const struct options *o = f->opt;

	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEP_S);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEP_S);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_COUNT);
	set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, GONE_MS);
	if (o->rr) /* a request must not wait for the acknowledgement of the one before */
		set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (set_buffer(f, fd, SO_SNDBUFFORCE, SO_SNDBUF, "sndbuf", o->sndbuf) ||
	    set_buffer(f, fd, SO_RCVBUFFORCE, SO_RCVBUF, "rcvbuf", o->rcvbuf))
		return -f->error;
	if (o->rcvlowat &&
	    set(fd, SOL_SOCKET, SO_RCVLOWAT, o->rcvlowat > INT_MAX ? INT_MAX : (int)o->rcvlowat))
		return flow_fail(f, errno, "--rcvlowat %zu", o->rcvlowat);
	return 0;
}

static int resolve(struct flow *f, int family, struct addrinfo **res)
{
	const struct options *o = f->opt;
	struct addrinfo hints = {.ai_family = family,
				 .ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICSERV | (o->listen ? AI_PASSIVE : 0)};
	int rc = getaddrinfo(o->host, o->port, &hints, res);

	if (!rc)
		return 0;
	rc = rc == EAI_SYSTEM ? errno : EADDRNOTAVAIL;
	return flow_fail(f, rc, "no address for %s", o->host ? o->host : "this host");
}

/* Waits at most until `deadline_ns`: 1, 0 when the time is over, -errno; -EINTR: to be stopped. */
static int wait_until(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		uint64_t now = now_ns();
		uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
		int rc = poll(&p, 1, left > 1000000000 ? 1000 : (int)((left + 999999) / 1000000));

		if (rc > 0)
			return 1;
		if (rc < 0 && errno != EINTR)
			return -errno;
		if (stop_requested)
			return -EINTR;
		if (!left)
			return 0;
	}
}

static uint64_t deadline(double seconds)
{
	return now_ns() + (uint64_t)(seconds * 1e9);
}

static int listen_on(struct flow *f, const struct addrinfo *a)
{
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (a->ai_family == AF_INET6)
		set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	if (set_options(f, fd) || bind(fd, a->ai_addr, a->ai_addrlen) ||
	    listen(fd, (int)f->opt->flows)) {
		int code = errno;

		close(fd);
		return -code;
	}
	return fd;
}

/* Any address means IPv6 with IPv4 inside, or IPv4 alone where there is no IPv6. */
static int listener(struct flow *f)
{
	const int families[] = {f->opt->host ? AF_UNSPEC : AF_INET6, AF_INET};
	int i, fd = -EAFNOSUPPORT;

	for (i = 0; i < 2; i++) {
		struct addrinfo *res;

		if (resolve(f, families[i], &res))
			return -f->error;
		fd = listen_on(f, res);
		freeaddrinfo(res);
		if (fd >= 0 || f->error || (fd != -EAFNOSUPPORT && fd != -EADDRNOTAVAIL) ||
		    f->opt->host)
			break;
	}
	if (fd < 0 && !f->error)
		flow_fail(f, -fd, "cannot listen on %s port %s",
			  f->opt->host ? f->opt->host : "any", f->opt->port);
	return fd;
}

/*
 * A stream's pattern depends on the sender's port, which both ends know: connections need not be
 * accepted in the order in which they were made.
 */
static int connected(struct flow *f)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a = {0};
	socklen_t len = sizeof(a);

	if (f->tx ? getsockname(f->fd, &a.any, &len) : getpeername(f->fd, &a.any, &len))
		return flow_fail(f, errno, "the connection's address");
	f->seed = ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
	if (f->back) {
		f->back->fd = f->fd;
		f->back->seed = f->seed + RESPONSES;
	}
	if (!f->alone && (f->mode->flags | (f->back ? f->back->mode->flags : 0)) & MODE_NONBLOCK &&
	    fcntl(f->fd, F_SETFL, fcntl(f->fd, F_GETFL) | O_NONBLOCK))
		return flow_fail(f, errno, "O_NONBLOCK");
	return 0;
}

static int accept_one(struct flow *f, int fd, uint64_t until)
{
	const struct options *o = f->opt;
	int rc = wait_until(fd, POLLIN, until);

	if (!rc && !f->index)
		return flow_fail(f, ETIMEDOUT, "nobody connected to port %s within %g seconds",
				 o->port, o->accept_timeout);
	if (!rc)
		return flow_fail(f, ETIMEDOUT,
				 "%u of %u connections came to port %s within %g seconds (the "
				 "sender needs --flows too)",
				 f->index, o->flows, o->port, o->accept_timeout);
	if (rc < 0)
		return flow_fail(f, -rc, "waiting for a sender on port %s", o->port);
	f->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	return f->fd < 0 ? flow_fail(f, errno, "accept") : connected(f);
}

int net_accept(struct flow *flows, unsigned int n)
{
	uint64_t until = deadline(flows->opt->accept_timeout);
	int rc = 0, fd = listener(flows);
	unsigned int i;

	if (fd < 0)
		return fd;
	for (i = 0; i < n && !rc; i++)
		rc = accept_one(&flows[i], fd, until);
	close(fd);
	return rc;
}

static int finish_connect(int fd, uint64_t deadline_ns)
{
	int rc = wait_until(fd, POLLOUT, deadline_ns), code;
	socklen_t len = sizeof(code);

	if (rc <= 0)
		return rc ? rc : -ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) ? -errno : -code;
}

/* One attempt: 0, or -errno. */
static int connect_once(struct flow *f, const struct addrinfo *a, uint64_t deadline_ns)
{
	int rc, fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	rc = set_options(f, fd);
	if (!rc && connect(fd, a->ai_addr, a->ai_addrlen))
		rc = errno == EINPROGRESS ? finish_connect(fd, deadline_ns) : -errno;
	if (rc) {
		close(fd);
		return rc;
	}
	fcntl(fd, F_SETFL, 0);
	f->fd = fd;
	return 0;
}

static bool worth_retrying(int rc)
{
	return rc == -ECONNREFUSED || rc == -EHOSTUNREACH || rc == -ENETUNREACH ||
	       rc == -ECONNRESET || rc == -EADDRNOTAVAIL;
}

static int connect_one(struct flow *f)
{
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000};
	const struct options *o = f->opt;
	uint64_t until = deadline(o->connect_timeout);
	struct addrinfo *res, *a;
	int rc = -ETIMEDOUT;

	if (resolve(f, AF_UNSPEC, &res))
		return -f->error;
	do {
		for (a = res; a; a = a->ai_next) {
			rc = connect_once(f, a, until);
			if (!rc || f->error || stop_requested)
				break;
		}
		if (!rc || f->error || stop_requested || !worth_retrying(rc))
			break;
		nanosleep(&pause, NULL);
	} while (now_ns() < until && !stop_requested);
	freeaddrinfo(res);
	if (rc)
		return flow_fail(f, -rc, "cannot connect to %s port %s within %g seconds", o->host,
				 o->port, o->connect_timeout);
	return connected(f);
}

int net_connect(struct flow *flows, unsigned int n)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		rc = connect_one(&flows[i]);
	return rc;
}

/*
 * The end of the data is sent; the peer closes after it has read everything. What it does instead
 * when it goes away early is a reset. Asked to stop, we do not wait long for a peer that does
 * not read: what we sent is known.
 */
static int linger_one(struct flow *f)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t start = now_ns();
	char byte;
	ssize_t n;

	while ((n = recv(f->fd, &byte, 1, MSG_DONTWAIT))) {
		uint64_t waited_ms = (now_ns() - start) / 1000000;

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return flow_fail(f, errno, "the receiver went away before it had read all");
		if (stop_asked() && waited_ms > HURRY_MS)
			return 0;
		if (waited_ms > GONE_MS)
			return flow_fail(f, ETIMEDOUT, "the receiver has not read everything");
		if (n < 0)
			nanosleep(&pause, NULL);
	}
	return 0;
}

void net_linger(struct flow *flows, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!flows[i].error)
			shutdown(flows[i].fd, SHUT_WR);
	for (i = 0; i < n; i++)
		if (!flows[i].error)
			linger_one(&flows[i]);
}
