// SPDX-License-Identifier: GPL-2.0-only
/*
 * parts PART...: works by turns in each part until SIGTERM or SIGINT. Then prints a line for each
 * kind of time: its name, its CPU time in ns, and that of the shortest turn.
 *
 *   user     user space
 *   random   a system call with interrupts on: getrandom
 *   calls    1000 system calls that do next to nothing
 *   off      a system call with interrupts off: ioctl. To switch on an event of a thread, the
 *            kernel switches all of its events off and on again. So the number of events is the
 *            length: off=2000 takes three periods of 0.2 ms, and the default a fraction of one
 *   udp      sends a packet over loopback. The softirq in the system call cuts it into 60 packets
 *            for our socket. The kernel notes when the softirq begins, and we when the call ends
 *   sleep    half a millisecond
 *   wait     reads a byte from the file descriptor 3, and
 *   pass     writes one to 4: for two programs that take turns
 *
 * The time to open what a part needs is the kind open, all of it a system call.
 */
#include "lib/alloc.h"
#include "lib/error.h"

#include <linux/perf_event.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { USER_STEPS = 200000, RANDOM_BYTES = 65536, PACKETS = 60, PACKET = 1000 };

static volatile sig_atomic_t stopped;
static int event, events = 500, sock;
static double softirq_ns; /* in the last turn, or -1 */
static char buf[RANDOM_BYTES];

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void user(void)
{
	for (volatile unsigned int i = 0; i < USER_STEPS; i++)
		;
}

static void getrandom_part(void)
{
	if (getrandom(buf, sizeof(buf), 0) < 0)
		stopped = 1;
}

static void calls(void)
{
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
}

static void off_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};
	struct rlimit files = {(rlim_t)events + 64, (rlim_t)events + 64};

	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < events && event >= 0; i++)
		event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static void off(void)
{
	ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
}

static void udp_open(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(to);
	int on = 1, size = PACKET;

	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(sock, (struct sockaddr *)&to, len) ||
	    getsockname(sock, (struct sockaddr *)&to, &len) ||
	    connect(sock, (struct sockaddr *)&to, len) ||
	    setsockopt(sock, SOL_UDP, UDP_SEGMENT, &size, sizeof(size)) ||
	    setsockopt(sock, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)))
		sock = -1;
}

static void udp(void)
{
	struct mmsghdr got[PACKETS] = {0};
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(struct timespec))];
	} note;
	struct timespec began;
	double end;

	got[0].msg_hdr.msg_control = &note;
	got[0].msg_hdr.msg_controllen = sizeof(note);
	if (send(sock, buf, (size_t)PACKETS * PACKET, 0) < 0)
		stopped = 1;
	end = now_ns(CLOCK_REALTIME);
	softirq_ns = -1;
	if (recvmmsg(sock, got, PACKETS, MSG_DONTWAIT, NULL) < 1)
		return; /* ksoftirqd has the packet */
	memcpy(&began, CMSG_DATA(&note.head), sizeof(began));
	softirq_ns = end - (double)began.tv_sec * 1e9 - (double)began.tv_nsec;
}

static void sleep_part(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
}

static void wait_part(void)
{
	if (read(3, buf, 1) != 1)
		stopped = 1;
}

static void pass_part(void)
{
	if (write(4, buf, 1) != 1)
		stopped = 1;
}

static struct part {
	const char *name;
	void (*work)(void), (*open)(void);
	double ns, shortest_ns, known_ns, softirq_ns; /* known: turns whose softirqs are known */
} parts[] = {
	{.name = "user", .work = user},
	{.name = "random", .work = getrandom_part},
	{.name = "calls", .work = calls},
	{.name = "off", .work = off, .open = off_open},
	{.name = "udp", .work = udp, .open = udp_open},
	{.name = "sleep", .work = sleep_part},
	{.name = "wait", .work = wait_part},
	{.name = "pass", .work = pass_part},
};

static struct part *part_find(const char *name)
{
	for (size_t i = 0; i < array_size(parts); i++)
		if (!strcmp(parts[i].name, name) ||
		    (parts[i].work == off && sscanf(name, "off=%d", &events) == 1))
			return &parts[i];
	fprintf(stderr, "parts: no part '%s'\n", name);
	exit(EXIT_USAGE);
}

static double spent(void)
{
	return now_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void part_turn(struct part *p)
{
	double before = spent(), ns;

	softirq_ns = 0;
	p->work();
	ns = spent() - before;
	p->ns += ns;
	if (!p->shortest_ns || ns < p->shortest_ns)
		p->shortest_ns = ns;
	/* The kernel needs some turns until it notes when softirqs begin. */
	if (softirq_ns >= 0 && softirq_ns < ns) {
		p->known_ns += ns;
		p->softirq_ns += softirq_ns;
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = stop}; /* reads and writes are interrupted */
	double open_ns = spent();

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	for (int i = 1; i < argc; i++)
		if (part_find(argv[i])->open)
			part_find(argv[i])->open();
	open_ns = spent() - open_ns;
	if (argc < 2 || event < 0 || sock < 0)
		return EXIT_FAILED;
	for (int i = 0; !stopped; i = (i + 1) % (argc - 1))
		part_turn(part_find(argv[i + 1]));
	printf("open %.0f\n", open_ns);
	for (size_t i = 0; i < array_size(parts); i++) {
		const struct part *p = &parts[i];
		double softirqs = p->softirq_ns ? p->ns * p->softirq_ns / p->known_ns : 0;

		if (p->ns)
			printf("%s %.0f %.0f\n", p->name, p->ns - softirqs, p->shortest_ns);
		if (softirqs)
			printf("softirq %.0f\n", softirqs);
	}
	return EXIT_OK;
}
