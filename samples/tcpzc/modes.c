// SPDX-License-Identifier: GPL-2.0-only
/* THE TABLE of modes. A mode is one file, which says everything about it, and one row here. */
#include "tcpzc.h"

#include <string.h>

#define TX_MODES(X)            \
	X(tx_send)             \
	X(tx_sendfile)         \
	X(tx_sendfile_direct)  \
	X(tx_splice)           \
	X(tx_msg_zerocopy)     \
	X(tx_uring_send)       \
	X(tx_uring_send_zc)    \
	X(tx_uring_sendmsg_zc) \
	X(tx_vmsplice)         \
	X(tx_devmem)
#define RX_MODES(X)           \
	X(rx_recv)            \
	X(rx_recvmsg)         \
	X(rx_trunc)           \
	X(rx_mmap)            \
	X(rx_uring_recv)      \
	X(rx_uring_multishot) \
	X(rx_zcrx)            \
	X(rx_devmem)

#define DECLARE(m) extern const struct mode m;
TX_MODES(DECLARE)
RX_MODES(DECLARE)

#define ROW(m) &(m),
const struct mode *const tx_modes[] = {TX_MODES(ROW) NULL};
const struct mode *const rx_modes[] = {RX_MODES(ROW) NULL};

const struct mode *mode_find(const struct mode *const *table, const char *name)
{
	for (; *table; table++)
		if (!strcmp((*table)->name, name))
			return *table;
	return NULL;
}
