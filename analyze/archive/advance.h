/* SPDX-License-Identifier: GPL-2.0-only */
/* "packing 45 %" on a terminal's last line; nothing where stderr is no terminal. */
#ifndef ZC_ARCHIVE_ADVANCE_H
#define ZC_ARCHIVE_ADVANCE_H

#include <stdbool.h>
#include <stdint.h>

struct advance {
	const char *doing;
	uint64_t total, done; /* bytes; total 0: not known */
	uint64_t next_ns;
	bool tty, shown;
};

struct advance advance_of(const char *doing, uint64_t total);
void advance_add(struct advance *p, uint64_t bytes);
void advance_end(struct advance *p); /* wipes the line */

#endif
