// SPDX-License-Identifier: GPL-2.0-only
/*
 * drops CAUSE N: has datagrams dropped on loopback, prints how many, and waits for a signal.
 *
 *   closed    N datagrams to a port without a socket
 *   full      N to a socket that reads none; those dropped are those that it cannot read later
 *   checksum  N with a wrong checksum, to a socket that reads
 *   rule      N in aggregates of ten to port 7, which a rule of the firewall drops
 *   queue     N through a short queue; of each one dropped the kernel tells the sender
 *   none      N in aggregates of ten, which arrive
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 1000 };

static struct sockaddr_in to = {.sin_family = AF_INET};
static char data[SIZE];

static int fail(const char *what)
{
	perror(what);
	exit(1);
}

static int open_socket(int type, int protocol)
{
	int s = socket(AF_INET, type, protocol);

	return s < 0 ? fail("socket") : s;
}

/* Returns a socket with a small receive buffer; `to` becomes its address. */
static int open_receiver(void)
{
	int s = open_socket(SOCK_DGRAM, 0), size = 16384;
	socklen_t len = sizeof(to);

	if (setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) ||
	    bind(s, (struct sockaddr *)&to, sizeof(to)) ||
	    getsockname(s, (struct sockaddr *)&to, &len))
		fail("bind");
	return s;
}

/* Makes the socket send the data as ten datagrams in one aggregate. */
static void send_aggregates(int s)
{
	int segment = SIZE / 10;

	if (setsockopt(s, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
		fail("UDP_SEGMENT");
}

/* Returns how many datagrams the kernel refused for lack of room in a queue. */
static int send_all(int s, int n)
{
	int refused = 0;

	for (int i = 0; i < n; i++)
		if (sendto(s, data, SIZE, 0, (struct sockaddr *)&to, sizeof(to)) < 0) {
			if (errno != ENOBUFS)
				fail("sendto");
			refused++;
		}
	return refused;
}

/* Returns how many datagrams the namespace has delivered to a socket or refused for lack of one. */
static long count_delivered(void)
{
	FILE *f = fopen("/proc/self/net/snmp", "r");
	long n = 0;

	if (!f || fscanf(f, "%*[^\n] Ip: %*d %*d %*d %*d %*d %*d %*d %*d %ld", &n) != 1)
		fail("/proc/self/net/snmp");
	fclose(f);
	return n;
}

/* Sends n datagrams or aggregates and waits until all have arrived: ksoftirqd may take them over
 * and deliver them later. */
static void send_and_wait(int s, int n)
{
	long before = count_delivered();

	if (send_all(s, n))
		fail("sendto");
	while (count_delivered() < before + n)
		usleep(1000);
}

static int receive_all(int s)
{
	char received[SIZE];
	int n = 0;

	while (recv(s, received, SIZE, MSG_DONTWAIT) > 0)
		n++;
	return n;
}

int main(int argc, char **argv)
{
	const char *cause = argc == 3 ? argv[1] : "";
	int n = argc == 3 ? atoi(argv[2]) : 0, on = 1, receiver, sender;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port = htons(7);
	sender = open_socket(SOCK_DGRAM, 0);
	if (!strcmp(cause, "closed")) {
		send_all(sender, n);
	} else if (!strcmp(cause, "rule")) {
		send_aggregates(sender);
		send_all(sender, n / 10);
	} else if (!strcmp(cause, "full")) {
		receiver = open_receiver();
		send_and_wait(sender, n);
		n -= receive_all(receiver);
	} else if (!strcmp(cause, "checksum")) {
		struct udphdr *header = (void *)data;

		receiver = open_receiver();
		header->dest = to.sin_port;
		header->len = htons(SIZE);
		header->check = 1;
		sender = open_socket(SOCK_RAW, IPPROTO_UDP);
		for (int i = 0; i < n; i++) {
			send_and_wait(sender, 1);
			if (receive_all(receiver))
				fail("checksum");
		}
	} else if (!strcmp(cause, "none")) {
		receiver = open_receiver();
		send_aggregates(sender);
		for (int i = 0; i < n; i += 10) {
			send_and_wait(sender, 1);
			if (receive_all(receiver) != 10)
				fail("none");
		}
		n = 0;
	} else if (!strcmp(cause, "queue")) {
		open_receiver();
		setsockopt(sender, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
		n = send_all(sender, n);
	} else {
		return 2;
	}
	printf("%d\n", n);
	fflush(stdout);
	pause();
	return 0;
}
