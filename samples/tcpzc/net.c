// SPDX-License-Identifier: GPL-2.0-only
/* Connections over IPv4 or IPv6. Each wait for the other end has a time limit. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { RETRY_MS = 10, RESPONSES = 1 << 16 };

/*
 * Options before the connection. Buffers must be set early because they decide on the window scale.
 * Connections inherit the options of their listening socket.
 */
enum { KEEP_COUNT = 4 };

static int sockopt_set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Exceeds net.core.[rw]mem_max when the process has the right to. */
static int sockopt_set_buffer(struct flow *f, int fd, int force, int plain, const char *what,
			      size_t size)
{
	int value = size > INT_MAX / 2 ? INT_MAX / 2 : (int)size;

	if (!size || !sockopt_set_int(fd, SOL_SOCKET, force, value) ||
	    !sockopt_set_int(fd, SOL_SOCKET, plain, value))
		return 0;
	return flow_fail(f, errno, "--%s %zu", what, size);
}

/* Limits the wait for a peer that vanished: by unacknowledged data, or by keepalive probes. */
static void sockopt_set_tcp(struct flow *f, int fd)
{
	int seconds = (int)(f->opt->peer_timeout / KEEP_COUNT) + 1;

	sockopt_set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_COUNT);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)(f->opt->peer_timeout * 1000));
	if (f->opt->rr) /* a request must not wait until the previous one is acknowledged */
		sockopt_set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

static int sockopt_set(struct flow *f, int fd)
{
	const struct options *o = f->opt;

	if (!o->udp)
		sockopt_set_tcp(f, fd);
	if (sockopt_set_buffer(f, fd, SO_SNDBUFFORCE, SO_SNDBUF, "sndbuf", o->sndbuf) ||
	    sockopt_set_buffer(f, fd, SO_RCVBUFFORCE, SO_RCVBUF, "rcvbuf", o->rcvbuf))
		return -f->error;
	return 0;
}

static int net_resolve(struct flow *f, int family, struct addrinfo **res)
{
	const struct options *o = f->opt;
	struct addrinfo hints = {.ai_family = family,
				 .ai_socktype = o->udp ? SOCK_DGRAM : SOCK_STREAM,
				 .ai_flags = AI_NUMERICSERV | (o->listen ? AI_PASSIVE : 0)};
	const char *host = o->host ? o->host : "this host";
	int rc = getaddrinfo(o->host, o->port, &hints, res);

	if (rc == EAI_SYSTEM)
		return flow_fail(f, errno, "no address for %s", host);
	return rc ? flow_wrong(f, "no address for %s: %s", host, gai_strerror(rc)) : 0;
}

/* Returns 1 when an event came, 0 at the deadline, or -errno: -EINTR when the run is to stop. */
static int net_wait_until(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		uint64_t now = clock_mono_ns();
		uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
		int rc;

		rc = poll(&p, 1, left > 1000000000 ? 1000 : (int)((left + 999999) / 1000000));
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

static int net_listen_on(struct flow *f, const struct addrinfo *a)
{
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0), on = 1, off = 0;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (sockopt_set(f, fd) || bind(fd, a->ai_addr, a->ai_addrlen) ||
	    listen(fd, (int)f->opt->flows)) {
		int code = errno;

		close(fd);
		return -code;
	}
	return fd;
}

/* Any address means IPv6 and IPv4 on one socket, or IPv4 alone on a host without IPv6. */
static int net_listener(struct flow *f)
{
	const int families[] = {f->opt->host ? AF_UNSPEC : AF_INET6, AF_INET};
	int fd = -EAFNOSUPPORT;

	for (int i = 0; i < 2; i++) {
		struct addrinfo *res;

		if (net_resolve(f, families[i], &res))
			return -f->error;
		fd = net_listen_on(f, res);
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
 * The pattern of a stream depends on the sender's port, which both ends know. So the order in which
 * connections are accepted does not matter.
 */
static int net_connected(struct flow *f)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a = {0};
	socklen_t len = sizeof(a);

	if (f->tx ? getsockname(f->fd, &a.any, &len) : getpeername(f->fd, &a.any, &len))
		return flow_fail(f, errno, "cannot read the address of the connection");
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

static int net_accept_flow(struct flow *f, int fd, uint64_t until)
{
	const struct options *o = f->opt;
	int rc = net_wait_until(fd, POLLIN, until);

	if (!rc && !f->index)
		return flow_fail(f, ETIMEDOUT, "nobody connected to port %s within %g s", o->port,
				 o->accept_timeout);
	if (!rc)
		return flow_fail(
			f, ETIMEDOUT,
			"%u of %u connections came to port %s within %g s (the sender needs --flows too)",
			f->index, o->flows, o->port, o->accept_timeout);
	if (rc == -EINTR)
		return flow_wrong(f, "stopped while waiting for a sender on port %s", o->port);
	if (rc < 0)
		return flow_fail(f, -rc, "waiting for a sender on port %s", o->port);
	f->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	return f->fd < 0 ? flow_fail(f, errno, "accept") : net_connected(f);
}

/* --- all flows --- */

int net_accept(struct flow *flows, unsigned int n)
{
	uint64_t until = clock_deadline(flows->opt->accept_timeout);
	autoclose int fd = net_listener(flows);
	int rc = fd < 0 ? fd : 0;

	for (unsigned int i = 0; i < n && !rc; i++)
		rc = net_accept_flow(&flows[i], fd, until);
	return rc;
}

/* Tries once. Returns 0 or -errno. */
static int net_connect_once(struct flow *f, const struct addrinfo *a, uint64_t deadline_ns)
{
	int rc, fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), code;
	socklen_t len = sizeof(code);

	if (fd < 0)
		return -errno;
	rc = sockopt_set(f, fd);
	if (!rc && connect(fd, a->ai_addr, a->ai_addrlen)) {
		rc = errno == EINPROGRESS ? net_wait_until(fd, POLLOUT, deadline_ns) : -errno;
		if (rc > 0)
			rc = getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) ? -errno : -code;
		else if (!rc)
			rc = -ETIMEDOUT;
	}
	if (rc) {
		close(fd);
		return rc;
	}
	fcntl(fd, F_SETFL, 0);
	f->fd = fd;
	return 0;
}

static bool net_worth_retrying(int rc)
{
	return rc == -ECONNREFUSED || rc == -EHOSTUNREACH || rc == -ENETUNREACH ||
	       rc == -ECONNRESET || rc == -EADDRNOTAVAIL;
}

static int net_connect_flow(struct flow *f)
{
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000};
	const struct options *o = f->opt;
	uint64_t until = clock_deadline(o->connect_timeout);
	struct addrinfo *res;
	int rc = -ETIMEDOUT;

	if (net_resolve(f, AF_UNSPEC, &res))
		return -f->error;
	do {
		for (struct addrinfo *a = res; a; a = a->ai_next) {
			rc = net_connect_once(f, a, until);
			if (!rc || f->error || stop_requested)
				break;
		}
		if (!rc || f->error || stop_requested || !net_worth_retrying(rc))
			break;
		nanosleep(&pause, NULL);
	} while (clock_mono_ns() < until && !stop_requested);
	freeaddrinfo(res);
	if (rc && stop_requested)
		return flow_wrong(f, "stopped while connecting to %s port %s", o->host, o->port);
	if (rc)
		return flow_fail(f, -rc, "cannot connect to %s port %s within %g s", o->host,
				 o->port, o->connect_timeout);
	return net_connected(f);
}

int net_connect(struct flow *flows, unsigned int n)
{
	int rc = 0;

	for (unsigned int i = 0; i < n && !rc; i++)
		rc = net_connect_flow(&flows[i]);
	return rc;
}

/* --- the end of the connection --- */

enum { HURRY_MS = 500 };

/* Returns 1 when the peer has closed its half, 0 when it has not, -errno when it is gone. */
static int linger_peer_closed(int fd)
{
	int code = 0;
	socklen_t len = sizeof(code);
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!n && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) && code)
		return -code;
	return n == 0;
}

/*
 * Waits until the peer has read everything. The peer then closes its socket; a peer that goes away
 * early resets the connection. A peer may close its half before that, so everything must also be
 * acknowledged. After a signal to stop, the wait is short: we know what we have sent.
 */
static int linger_flow(struct flow *f)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	const uint64_t gone_ms = (uint64_t)(f->opt->peer_timeout * 1000);
	uint64_t start = clock_mono_ns();

	for (;;) {
		int closed = linger_peer_closed(f->fd), left = 0;
		uint64_t waited_ms = (clock_mono_ns() - start) / 1000000;

		if (closed < 0)
			return flow_fail(
				f, -closed,
				"the receiver closed the connection before it had read everything");
		if (closed && (ioctl(f->fd, SIOCOUTQ, &left) || !left))
			return 0;
		if (stop_asked() && waited_ms > HURRY_MS)
			return 0;
		if (waited_ms > gone_ms)
			return flow_fail(f, ETIMEDOUT, "the receiver has not read everything");
		nanosleep(&pause, NULL);
	}
}

void net_linger(struct flow *flows, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!flows[i].error)
			shutdown(flows[i].fd, SHUT_WR);
	for (unsigned int i = 0; i < n; i++)
		if (!flows[i].error)
			linger_flow(&flows[i]);
}
