// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles of OpenTelemetry, made of a profile.proto: v1development as of opentelemetry-proto
 * 1.11.0. There a profile has one sample type, and the profiles of a request share the tables of a
 * dictionary. Place 0 of a table is the empty message, so entries of profile.proto move up by one.
 */
#include "analyze/export/export.h"

#include "analyze/export/profile.pb-c.h"

#include <endian.h>
#include <errno.h>

/* Numbers of fields. WIRE_NUMBERS writes messages whose fields are all numbers. */
// clang-format off
enum {
	REQUEST_RESOURCE_PROFILES = 1, REQUEST_DICTIONARY,
	OF_RESOURCE = 1, OF_SCOPE_PROFILES, /* ResourceProfiles */
	SCOPED_PROFILES = 2,                /* ScopeProfiles */
	RESOURCE_ATTRIBUTES = 1,
	ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE, /* KeyValue with a text, KeyValueAndUnit with a place */
	ANY_TEXT = 1,                       /* AnyValue */
	TABLE_MAPPING = 1, TABLE_LOCATION, TABLE_FUNCTION, TABLE_LINK, TABLE_STRING, TABLE_ATTRIBUTE, TABLE_STACK,
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLES, PROFILE_TIME, PROFILE_DURATION, PROFILE_PERIOD_TYPE, PROFILE_PERIOD, PROFILE_ID,
	SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_VALUES = 4,
	LOCATION_MAPPING = 1, LOCATION_ADDRESS, LOCATION_LINES,
	STACK_LOCATIONS = 1,
};
// clang-format on

struct otlp {
	const Pprof__Profile *from;
	struct str dictionary, *profiles; /* a profile for each sample type */
	struct map mappings, locations;	  /* id of profile.proto -> place */
	struct intern stacks, attributes; /* messages -> place */
};

/* --- the wire format: field and kind, then a number, 8 bytes, or a length and bytes --- */

enum { WIRE_NUMBER, WIRE_EIGHT, WIRE_BYTES };

static void wire_varint(struct str *s, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		str_putc(s, (char)(v | 0x80));
	str_putc(s, (char)v);
}

static void wire_number(struct str *s, unsigned int field, uint64_t v)
{
	wire_varint(s, field << 3 | WIRE_NUMBER);
	wire_varint(s, v);
}

static void wire_bytes(struct str *s, unsigned int field, const void *data, size_t len)
{
	wire_varint(s, field << 3 | WIRE_BYTES);
	wire_varint(s, len);
	str_add(s, data, len);
}

/* Writes a message and empties it. */
static void wire_message(struct str *s, unsigned int field, struct str *message)
{
	wire_bytes(s, field, message->buf, message->len);
	str_reset(message);
}

/* Writes a message whose fields 1, 2, 3 ... are these numbers. 0 is the default of a field. */
#define WIRE_NUMBERS(s, field, ...)                            \
	wire_numbers(s, field, (const int64_t[]){__VA_ARGS__}, \
		     array_size(((const int64_t[]){__VA_ARGS__})))

static void wire_numbers(struct str *s, unsigned int field, const int64_t *v, unsigned int n)
{
	freed(str_free) struct str message = {0};

	for (unsigned int i = 0; i < n; i++)
		if (v[i])
			wire_number(&message, i + 1, (uint64_t)v[i]);
	wire_message(s, field, &message);
}

static void wire_text_value(struct str *s, const char *text)
{
	freed(str_free) struct str value = {0};

	wire_bytes(&value, ANY_TEXT, text, strlen(text));
	wire_message(s, ATTRIBUTE_VALUE, &value);
}

/* --- the dictionary --- */

/* Returns the place of the message in a table, and writes it where it is new. */
static uint64_t otlp_place(struct otlp *w, unsigned int table, struct intern *known,
			   struct str *message)
{
	size_t n = known->n;
	uint32_t place = intern_bytes(known, message->buf, message->len);

	if (place == n)
		wire_bytes(&w->dictionary, table, message->buf, message->len);
	str_reset(message);
	return place;
}

/* pprof.c writes a function for each location, and no addresses of mappings. */
static void otlp_write_tables(struct otlp *w)
{
	const Pprof__Profile *from = w->from;
	struct str *to = &w->dictionary;

	for (unsigned int table = TABLE_MAPPING; table <= TABLE_STACK; table++)
		if (table != TABLE_STRING)
			wire_bytes(to, table, "", 0);
	intern_bytes(&w->attributes, "", 0);
	intern_bytes(&w->stacks, "", 0);
	for (size_t i = 0; i < from->n_string_table; i++)
		wire_bytes(to, TABLE_STRING, from->string_table[i], strlen(from->string_table[i]));
	for (size_t i = 0; i < from->n_mapping; i++) {
		*map_at(&w->mappings, from->mapping[i]->id) = i + 1;
		WIRE_NUMBERS(to, TABLE_MAPPING, 0, 0, 0, from->mapping[i]->filename);
	}
	for (size_t i = 0; i < from->n_location; i++) {
		const Pprof__Location *l = from->location[i];
		const Pprof__Function *f = from->function[i];
		freed(str_free) struct str location = {0};

		*map_at(&w->locations, l->id) = i + 1;
		wire_number(&location, LOCATION_MAPPING, *map_at(&w->mappings, l->mapping_id));
		wire_number(&location, LOCATION_ADDRESS, l->address);
		WIRE_NUMBERS(&location, LOCATION_LINES, (int64_t)i + 1);
		wire_message(to, TABLE_LOCATION, &location);
		WIRE_NUMBERS(to, TABLE_FUNCTION, f->name, f->system_name);
	}
}

/* --- profiles --- */

/* Adds the sample to the profile of each sample type for which it has a value. */
static void otlp_write_sample(struct otlp *w, const Pprof__Sample *from)
{
	freed(str_free) struct str sample = {0}, list = {0}, part = {0};
	size_t common;

	for (size_t i = 0; i < from->n_location_id; i++)
		wire_varint(&list, *map_at(&w->locations, from->location_id[i]));
	wire_message(&part, STACK_LOCATIONS, &list);
	wire_number(&sample, SAMPLE_STACK, otlp_place(w, TABLE_STACK, &w->stacks, &part));
	for (size_t i = 0; i < from->n_label; i++) {
		const Pprof__Label *l = from->label[i];

		wire_number(&part, ATTRIBUTE_KEY, (uint64_t)l->key);
		if (l->num)
			WIRE_NUMBERS(&part, ATTRIBUTE_VALUE, 0, 0, l->num); /* int_value */
		else
			wire_text_value(&part, w->from->string_table[l->str]);
		wire_varint(&list, otlp_place(w, TABLE_ATTRIBUTE, &w->attributes, &part));
	}
	wire_message(&sample, SAMPLE_ATTRIBUTES, &list);
	common = sample.len;
	for (size_t k = 0; k < w->from->n_sample_type; k++, sample.len = common) {
		wire_varint(&list, (uint64_t)from->value[k]);
		wire_message(&sample, SAMPLE_VALUES, &list);
		if (from->value[k])
			wire_bytes(&w->profiles[k], PROFILE_SAMPLES, sample.buf, sample.len);
	}
}

/* Writes all of a profile but its samples. */
static void otlp_write_head(const struct otlp *w, const struct otlp_about *about, size_t k)
{
	const Pprof__ValueType *type = w->from->sample_type[k], *period = w->from->period_type;
	struct str *to = &w->profiles[k];
	uint64_t time = htole64(about->time_ns);
	uint8_t id[sizeof(about->id)];

	memcpy(id, about->id, sizeof(id));
	id[sizeof(id) - 1] ^= (uint8_t)k;
	WIRE_NUMBERS(to, PROFILE_SAMPLE_TYPE, type->type, type->unit);
	wire_varint(to, PROFILE_TIME << 3 | WIRE_EIGHT);
	str_add(to, &time, sizeof(time));
	wire_number(to, PROFILE_DURATION, (uint64_t)w->from->duration_nanos);
	WIRE_NUMBERS(to, PROFILE_PERIOD_TYPE, period->type, period->unit);
	wire_number(to, PROFILE_PERIOD, (uint64_t)w->from->period);
	wire_bytes(to, PROFILE_ID, id, sizeof(id));
}

static void otlp_write_request(struct otlp *w, const struct otlp_about *about, struct str *request)
{
	freed(str_free) struct str label = {0}, part = {0}, of = {0};

	for (size_t i = 0; i < about->nlabels; i++) {
		wire_bytes(&label, ATTRIBUTE_KEY, about->labels[i][0], strlen(about->labels[i][0]));
		wire_text_value(&label, about->labels[i][1]);
		wire_message(&part, RESOURCE_ATTRIBUTES, &label);
	}
	wire_message(&of, OF_RESOURCE, &part);
	for (size_t k = w->from->n_sample_type; k--;)
		wire_message(&part, SCOPED_PROFILES, &w->profiles[k]);
	wire_message(&of, OF_SCOPE_PROFILES, &part);
	wire_message(request, REQUEST_RESOURCE_PROFILES, &of);
	wire_message(request, REQUEST_DICTIONARY, &w->dictionary);
}

int otlp_encode(const struct str *pprof, const struct otlp_about *about, struct str *request,
		struct error *err)
{
	Pprof__Profile *from =
		pprof__profile__unpack(NULL, pprof->len, (const uint8_t *)pprof->buf);
	struct otlp w = {.from = from};

	if (!from)
		return error_set(err, ENOMEM, "the profile does not fit into memory");
	w.profiles = xcalloc(from->n_sample_type, sizeof(*w.profiles));
	otlp_write_tables(&w);
	for (size_t i = 0; i < from->n_sample; i++)
		otlp_write_sample(&w, from->sample[i]);
	for (size_t k = 0; k < from->n_sample_type; k++)
		otlp_write_head(&w, about, k);
	otlp_write_request(&w, about, request);
	array_free(e, w.profiles, from->n_sample_type, str_free(e));
	str_free(&w.dictionary);
	map_free(&w.mappings);
	map_free(&w.locations);
	intern_free(&w.stacks);
	intern_free(&w.attributes);
	pprof__profile__free_unpacked(from, NULL);
	return 0;
}
