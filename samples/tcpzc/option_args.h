/* SPDX-License-Identifier: GPL-2.0-only */
/* Option arguments as values. What is no value is a usage error: these do not return then. */
#ifndef TCPZC_OPTION_ARGS_H
#define TCPZC_OPTION_ARGS_H

#include "tcpzc.h"

#include <argp.h>

/* A whole number, with k, M or G (powers of 1024) where `suffixes`. */
uint64_t option_parse_number(struct argp_state *state, const char *name, const char *arg,
			     uint64_t min, uint64_t max, bool suffixes);
double option_parse_seconds(struct argp_state *state, const char *name, const char *arg);
/* "10Gbit/s", "5000msg/s": bytes a second, or messages. */
double option_parse_rate(struct argp_state *state, const char *name, const char *arg,
			 bool *messages);
/* "0-3,8" */
void option_parse_cpus(struct argp_state *state, const char *name, const char *arg, cpu_set_t *set);
const struct mode *option_parse_mode(struct argp_state *state, const char *name,
				     const struct mode *const *modes, const char *arg);

#endif
