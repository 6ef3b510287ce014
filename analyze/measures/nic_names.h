/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of interface counters, taken apart. */
#ifndef ZC_NIC_NAMES_H
#define ZC_NIC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Which queue a driver's counter is of, by what drivers call them: "rx3_cache_reuse",
 * "rx_queue_3_packets", "queue_3_rx_cnt", "[3]: rx_packets", "rx_bytes[3]", "ch3_poll". Fills
 * `queue`, "rx-3" or "ch-3"; false: of none.
 */
bool nic_queue(const char *name, char *queue, size_t size);

#endif
