// SPDX-License-Identifier: GPL-2.0-only
/* The modes: each is a file of its own; a new one is a file, a line here and one in the table. */
#include "tcpzc.h"

#include <string.h>

extern const struct mode tx_send, tx_sendfile, tx_sendfile_direct, tx_splice, tx_msg_zerocopy,
	tx_uring_send, tx_uring_send_zc, tx_uring_sendmsg_zc, tx_vmsplice, tx_devmem;
extern const struct mode rx_recv, rx_recvmsg, rx_trunc, rx_mmap, rx_uring_recv, rx_uring_multishot,
	rx_zcrx, rx_devmem;

const struct mode *const tx_modes[] = {
	&tx_send,	&tx_sendfile,	   &tx_sendfile_direct,	 &tx_splice,   &tx_msg_zerocopy,
	&tx_uring_send, &tx_uring_send_zc, &tx_uring_sendmsg_zc, &tx_vmsplice, &tx_devmem,
	NULL,
};
const struct mode *const rx_modes[] = {
	&rx_recv, &rx_recvmsg, &rx_trunc, &rx_mmap, &rx_uring_recv, &rx_uring_multishot,
	&rx_zcrx, &rx_devmem,  NULL,
};

const struct mode *mode_find(const struct mode *const *table, const char *name)
{
	for (; *table; table++)
		if (!strcmp((*table)->name, name))
			return *table;
	return NULL;
}
