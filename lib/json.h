/* SPDX-License-Identifier: GPL-2.0-only */
/* Members of JSON objects that may be absent or of another type. */
#ifndef ZC_JSON_H
#define ZC_JSON_H

#include "lib/error.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>

static inline const char *json_str(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static inline uint64_t json_u64(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	double x = json_is_real(v) ? json_real_value(v) : 0; /* as another program may write it */
	json_int_t n = json_is_integer(v) ? json_integer_value(v) : 0;

	return n > 0 ? (uint64_t)n : x > 0 && x < 1.8e19 ? (uint64_t)x : 0;
}

/* Returns NAN where there is no such number. */
static inline double json_num(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Reads a whole file. An error names the line. Returns NULL after an error. */
json_t *json_file(const char *path, struct error *err);

/* Makes a string of any text: what is not UTF-8 is read as Latin-1. */
json_t *json_any_text(const char *text);

/* Writes the value and a newline as file_write() does. `flags` are those of json_dumps(). */
int json_write(const char *path, const json_t *value, size_t flags, struct error *err);

#endif
