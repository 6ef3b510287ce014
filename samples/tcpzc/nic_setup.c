// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an interface needs before it can give receive queues to zcrx or devmem: printed, to be read
 * and run by whoever owns the NIC. Packets are led to the queues by our port; several queues share
 * the flows by RSS of their own (a context).
 */
#include "nic_setup.h"

#include <stdio.h>

/* %i the interface, %q its first queue for us, %n how many, %p the port. */
static const char *const begin[] = {
	"# set up",
	"ethtool -G %i tcp-data-split on hds-thresh 0",
	"ethtool -X %i equal %q   # other traffic keeps to the queues below",
	"ethtool -K %i ntuple on",
	NULL,
};
static const char *const one[] = {
	"ethtool -N %i flow-type tcp4 dst-port %p action %q   # prints the rule's ID",
	"ethtool -N %i flow-type tcp6 dst-port %p action %q",
	"# undo",
	"ethtool -N %i delete ID   # both rules",
	NULL,
};
static const char *const several[] = {
	"ethtool -X %i context new start %q equal %n   # prints the context's ID",
	"ethtool -N %i flow-type tcp4 dst-port %p context ID   # prints the rule's ID",
	"# undo",
	"ethtool -N %i delete RULE",
	"ethtool -X %i context ID delete",
	NULL,
};
static const char *const end[] = {
	"ethtool -X %i default",
	"ethtool -G %i tcp-data-split auto",
	NULL,
};

struct setup {
	const char *nic, *port;
	unsigned int queue, n;
};

static void print(const struct setup *s, const char *const *lines)
{
	const char *p;

	for (; *lines; lines++) {
		for (p = *lines; *p; p++) {
			if (*p != '%')
				putchar(*p);
			else if (*++p == 'i')
				fputs(s->nic, stdout);
			else if (*p == 'p')
				fputs(s->port, stdout);
			else
				printf("%u", *p == 'q' ? s->queue : s->n);
		}
		putchar('\n');
	}
}

void nic_setup_print(const char *nic, unsigned int queue, unsigned int n, const char *port)
{
	const struct setup s = {nic, port, queue, n};

	if (!queue)
		printf("# other traffic needs a queue of its own: rather take --queue 1 or "
		       "above\n");
	print(&s, begin);
	print(&s, n > 1 ? several : one);
	print(&s, end);
}
