/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Taking a receive queue for zero copy, for a moment. On success it was really taken, and is given
 * back before these return.
 */
#ifndef ZC_DOCTOR_TRY_H
#define ZC_DOCTOR_TRY_H

int try_zcrx_index(unsigned int nic, unsigned int queue);
int try_zcrx(const char *nic, unsigned int queue); /* 0 or -errno */
/* `said`: the kernel's own words, 256 bytes. 0 or -errno. */
int try_devmem(const char *nic, unsigned int queue, int dmabuf, char *said);
int try_devmem_tx(const char *nic, int dmabuf, char *said); /* to send out of it */

#endif
