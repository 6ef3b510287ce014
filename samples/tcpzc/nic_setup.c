// SPDX-License-Identifier: GPL-2.0-only
/*
 * --print-setup: the commands that prepare an interface to give receive queues to zcrx or devmem.
 * The owner of the NIC reads them and runs them in one shell, which remembers the old settings for
 * the undo. Packets reach the queues by our port. Several queues share the flows by an RSS context.
 */

#include "tcpzc.h"

#include <stdio.h>

/* %i is the interface, %q its first queue for us, %n their number, %p the port. */
static const char *const begin[] = {
	"# set up; the first two lines remember the settings that the undo restores",
	"hds=$(ethtool -g %i | awk '/^HDS thresh/ { v = $3 } END { print v }')",
	"ntuple=$(ethtool -k %i | awk '/^ntuple-filters/ { print $2 }')",
	"ethtool -G %i tcp-data-split on hds-thresh 0",
	NULL,
};
static const char *const rest_below[] = {
	"ethtool -X %i equal %q   # other traffic uses the queues below",
	NULL,
};
/* There is no queue below 0, and `equal` needs the number of queues. */
static const char *const rest_above[] = {
	"# other traffic uses all queues above",
	"all=$(ls -d /sys/class/net/%i/queues/rx-* | wc -l)",
	"ethtool -X %i start %n equal $((all - %n))",
	NULL,
};
static const char *const one[] = {
	"ethtool -K %i ntuple on",
	"ethtool -N %i flow-type tcp4 dst-port %p action %q   # prints the rule's ID",
	"ethtool -N %i flow-type tcp6 dst-port %p action %q",
	"# undo",
	"ethtool -N %i delete ID   # of each rule",
	NULL,
};
static const char *const several[] = {
	"ethtool -K %i ntuple on",
	"ethtool -X %i context new start %q equal %n   # prints the context's ID",
	"ethtool -N %i flow-type tcp4 dst-port %p context ID   # prints the rule's ID",
	"ethtool -N %i flow-type tcp6 dst-port %p context ID",
	"# undo",
	"ethtool -N %i delete RULE   # of each rule",
	"ethtool -X %i context ID delete",
	NULL,
};
static const char *const end[] = {
	"ethtool -K %i ntuple $ntuple",
	"ethtool -X %i default",
	"ethtool -G %i tcp-data-split auto hds-thresh $hds",
	NULL,
};

struct setup {
	const char *nic, *port;
	unsigned int queue, n;
};

static void nic_setup_print_lines(const struct setup *s, const char *const *lines)
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

	nic_setup_print_lines(&s, begin);
	nic_setup_print_lines(&s, queue ? rest_below : rest_above);
	nic_setup_print_lines(&s, n > 1 ? several : one);
	nic_setup_print_lines(&s, end);
}
