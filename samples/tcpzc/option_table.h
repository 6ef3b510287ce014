/* SPDX-License-Identifier: GPL-2.0-only */
/* An option is a row: where its value goes and which values it takes. */
#ifndef TCPZC_OPTION_TABLE_H
#define TCPZC_OPTION_TABLE_H

#include "tcpzc.h"

#include <argp.h>

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
enum { SENDER = 1, RECEIVER = 2 }; /* the end that the option belongs to; 0: both */

struct option_row {
	const char *name;
	int key; /* a letter, or 0 */
	const char *arg, *help;
	enum option_kind kind;
	size_t at, width; /* in struct options; NUMBER and SIZE have 4 or 8 bytes */
	uint64_t min, max;
	int whose;
};

enum { ROWS_MAX = 96 };
extern const struct option_row option_table[ROWS_MAX + 1]; /* ends with a row without a name */

/* These parse an option's argument. A bad value is a usage error, and then they do not return. */

/* Parses a whole number, with k, M or G (powers of 1024) when `suffixes` is set. */
uint64_t option_parse_number(struct argp_state *state, const char *name, const char *arg,
			     uint64_t min, uint64_t max, bool suffixes);
double option_parse_seconds(struct argp_state *state, const char *name, const char *arg);
/* Parses "10Gbit/s" or "5000msg/s" into bytes or messages a second. */
double option_parse_rate(struct argp_state *state, const char *name, const char *arg,
			 bool *messages);
/* Parses "0-3,8". */
void option_parse_cpus(struct argp_state *state, const char *name, const char *arg, cpu_set_t *set);
const struct mode *option_parse_mode(struct argp_state *state, const char *name,
				     const struct mode *const *modes, const char *arg);

#endif
