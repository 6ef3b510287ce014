/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a variant was measured under, as a flat JSON object of strings ("receiver.cpus": "1"). The
 * manifest keeps it, so that `capture` again adds to a capture only what is comparable with it.
 */
#ifndef ZC_CAPTURE_SETTINGS_H
#define ZC_CAPTURE_SETTINGS_H

#include "capture/plan.h"

#include <jansson.h>

/* jansson holds UTF-8 only; anything else is kept byte by byte as Latin-1. */
json_t *settings_text(const char *s); /* a new reference */

json_t *settings_of(const struct plan *p, const struct variant *v); /* a new reference */

/* -EEXIST with the first difference, as words about variant `name`; 0 when equal. */
int settings_same(const json_t *then, const json_t *now, const char *name, struct error *err);

#endif
