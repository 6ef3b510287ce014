/* SPDX-License-Identifier: GPL-2.0-only */
/* An option is a row: where its value goes, and what is a value. Ends with a row without a name. */
#ifndef TCPZC_OPTION_TABLE_H
#define TCPZC_OPTION_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum option_kind {
	HEADER,
	FLAG,
	NUMBER,
	SIZE,
	SECONDS,
	RATE,
	CPUS,
	TEXT,
	TX_MODE,
	RX_MODE,
	LISTEN,
	CONNECT,
	PORT
};
enum { SENDER = 1, RECEIVER = 2 }; /* whose option it is; 0: both ends' */

struct option_row {
	const char *name;
	int key; /* a letter, or 0 */
	const char *arg, *help;
	enum option_kind kind;
	size_t at, width; /* in struct options; NUMBER and SIZE: of 4 or 8 bytes */
	uint64_t min, max;
	int whose;
};

enum { ROWS_MAX = 96 };
extern const struct option_row option_table[ROWS_MAX + 1];

#endif
