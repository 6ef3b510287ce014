/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPZC_NIC_SETUP_H
#define TCPZC_NIC_SETUP_H

/* Prints the commands for `n` receive queues from `queue` on, led to by TCP port `port`. */
void nic_setup_print(const char *nic, unsigned int queue, unsigned int n, const char *port);

#endif
