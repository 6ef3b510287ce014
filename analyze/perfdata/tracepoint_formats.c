// SPDX-License-Identifier: GPL-2.0-only
/* Finds the fields of tracepoints, and reads their values from samples. */
#include "analyze/perfdata/tracepoint_parts.h"

#include "lib/str.h"

#include <regex.h>
#include <traceevent/event-parse.h>

enum { VERSION_MAX = 64, SYSTEM_MAX = 256, NAME_MAX_LEN = 256 };

static const char magic[] = "\x17\x08\x44tracing";

/* Reads a string that ends with NUL within `max` bytes. Returns NULL if there is none. */
static const char *tracing_read_string(struct cursor *c, size_t max)
{
	size_t left = cursor_left(c);
	const uint8_t *end = left ? memchr(c->at, 0, left < max ? left : max) : NULL;

	if (!end) {
		c->bad = true;
		return NULL;
	}
	return cursor_take(c, (size_t)(end - c->at) + 1);
}

/* Reads a size of 8 bytes and as many bytes. */
static struct cursor tracing_read_block(struct cursor *c)
{
	uint64_t size = cursor_u64(c);

	return cursor_sub(c, size > SIZE_MAX ? SIZE_MAX : (size_t)size);
}

static bool tracing_read_header(struct tracing *t, struct cursor *c)
{
	const char *start = cursor_take(c, sizeof(magic) - 1);

	if (!start || memcmp(start, magic, sizeof(magic) - 1) ||
	    !tracing_read_string(c, VERSION_MAX))
		return false;
	t->big_endian = cursor_u8(c);
	c->swap = t->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	t->long_size = cursor_u8(c);
	cursor_u32(c); /* the page size */
	return !c->bad;
}

static bool tracing_read_named_block(struct cursor *c, const char *name)
{
	const char *found = tracing_read_string(c, 16);

	if (!found || strcmp(found, name))
		return false;
	tracing_read_block(c);
	return !c->bad;
}

/* Returns the rest of the line that begins with `key`, or NULL. */
static const char *format_find_line(const char *text, size_t size, const char *key, size_t *len)
{
	const char *end = text + size, *at = text, *eol;
	size_t n = strlen(key);

	while (at < end) {
		eol = memchr(at, '\n', (size_t)(end - at));
		eol = eol ? eol : end;
		if ((size_t)(eol - at) >= n && !memcmp(at, key, n)) {
			*len = (size_t)(eol - at) - n;
			return at + n;
		}
		at = eol + 1;
	}
	return NULL;
}

static bool format_parse_id(const char *digits, size_t len, uint64_t *id)
{
	size_t i;

	*id = 0;
	while (len && *digits == ' ') {
		digits++;
		len--;
	}
	for (i = 0; i < len && i < 18 && digits[i] >= '0' && digits[i] <= '9'; i++)
		*id = *id * 10 + (uint64_t)(digits[i] - '0');
	return i > 0;
}

static bool format_is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Skips a format without name or number. */
static void tracing_add_format(struct tracing *t, const char *system, struct cursor text)
{
	struct tracing_format f = {.text = (const char *)text.at, .size = cursor_left(&text)};
	size_t id_len, name_len;
	const char *id = format_find_line(f.text, f.size, "ID:", &id_len);
	const char *name = format_find_line(f.text, f.size, "name: ", &name_len);

	if (!id || !name || !format_parse_id(id, id_len, &f.id) || !name_len ||
	    name_len > NAME_MAX_LEN)
		return;
	for (size_t i = 0; i < name_len; i++)
		if (!format_is_name_char(name[i]))
			return;
	f.system = xstrdup(system);
	f.name = xstrndup(name, name_len);
	array_add(t->formats, t->n, t->cap, f);
}

static void tracing_skip_ftrace(struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	while (n-- && !c->bad)
		tracing_read_block(c);
}

static void tracing_read_system(struct tracing *t, struct cursor *c)
{
	const char *name = tracing_read_string(c, SYSTEM_MAX);
	uint32_t n = cursor_u32(c);
	struct cursor text;

	while (n-- && !c->bad) {
		text = tracing_read_block(c);
		if (!text.bad)
			tracing_add_format(t, name, text);
	}
}

bool tracing_read(struct tracing *t, struct cursor c)
{
	uint32_t systems;

	*t = (struct tracing){0};
	if (!c.at || !tracing_read_header(t, &c))
		return false;
	if (!tracing_read_named_block(&c, "header_page") ||
	    !tracing_read_named_block(&c, "header_event")) {
		t->cut = "the ring buffer's description";
		return false;
	}
	t->tep = tep_alloc();
	if (!t->tep)
		return false;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(t->tep, (int)t->long_size);
	tep_set_file_bigendian(t->tep, t->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tracing_skip_ftrace(&c);
	systems = cursor_u32(&c);
	while (systems-- && !c.bad)
		tracing_read_system(t, &c);
	if (c.bad)
		t->cut = "the formats of tracepoints";
	return true;
}

void tracing_free(struct tracing *t)
{
	array_free(e, t->formats, t->n, free(e->system), free(e->name));
	if (t->tep)
		tep_free(t->tep);
	*t = (struct tracing){0};
}

struct tracing_format *tracing_find(const struct tracing *t, uint64_t id)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->formats[i].id == id)
			return &t->formats[i];
	return NULL;
}

/* --- the text of one format --- */

/*
 * libtraceevent trusts its input, and the file may be malicious. So it only gets lines that match
 * this expression: words and stars, each word with at most one pair of brackets.
 */

/* "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;". Older kernels omit the sign. */
#define NAME	 "[a-zA-Z0-9_]+"
#define BRACKETS "(\\[[a-zA-Z0-9_]*\\])?"
#define NUMBER	 "[0-9]{1,8};"
static const char field_line[] = "^\tfield:" NAME BRACKETS "([ *]+" NAME BRACKETS ")+;"
				 "\toffset:" NUMBER "\tsize:" NUMBER "(\tsigned:" NUMBER ")?$";

/* Copies the fields up to the first line that is no field. Omits the print format. */
static void format_copy_fields(struct str *to, const struct tracing_format *f)
{
	const char *end = f->text + f->size, *at, *eol;
	regex_t field;

	if (regcomp(&field, field_line, REG_EXTENDED | REG_NOSUB))
		return;
	str_printf(to, "name: %s\nID: %llu\nformat:\n", f->name, (unsigned long long)f->id);
	at = memmem(f->text, f->size, "\nformat:\n", 9);
	for (at = at ? at + 9 : end; at < end; at = eol + 1) {
		autofree char *line = NULL;

		eol = memchr(at, '\n', (size_t)(end - at));
		if (!eol)
			break;
		line = xstrndup(at, (size_t)(eol - at));
		if (*line && regexec(&field, line, 0, NULL, 0))
			break;
		str_printf(to, "%s\n", line);
	}
	str_puts(to, "\nprint fmt: \"\"\n");
	regfree(&field);
}

static void format_parse(struct tracing *t, struct tracing_format *f)
{
	freed(str_free) struct str text = {0};

	if (f->parsed)
		return;
	f->parsed = true;
	format_copy_fields(&text, f);
	tep_parse_event(t->tep, text.buf, text.len, f->system);
}

struct tracing_field tracing_field(struct tracing *t, struct tracing_format *f, const char *name)
{
	autofree char *whole = xstrndup(name, strcspn(name, "["));
	const char *element = strchr(name, '[');
	struct tep_format_field *field = NULL;
	struct tracing_field out = {0};
	struct tep_event *event;
	uint32_t size, before;

	format_parse(t, f);
	event = tep_find_event(t->tep, (int)f->id);
	if (event)
		field = tep_find_any_field(event, whole);
	if (!field || field->offset < 0 || field->flags & TEP_FIELD_IS_STRING ||
	    !(field->flags & TEP_FIELD_IS_ARRAY) != !element)
		return out;
	size = element ? field->elementsize : (uint32_t)field->size;
	before = element ? size * (uint32_t)atoi(element + 1) : 0;
	if ((size != 1 && size != 2 && size != 4 && size != 8) ||
	    before + size > (uint32_t)field->size)
		return out;
	out.at = (uint32_t)field->offset + before;
	out.size = (uint8_t)size;
	out.sign = field->flags & TEP_FIELD_IS_SIGNED;
	return out;
}

const char *tracing_print_format(const struct tracing_format *f, size_t *len)
{
	return format_find_line(f->text, f->size, "print fmt:", len);
}

/* --- reading samples --- */

static const char too_long[] = "a sample longer than its record";
static const char too_short[] = "a tracepoint shorter than its format";

static uint32_t plan_bytes_before(uint64_t type, uint64_t field)
{
	static const uint64_t before[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,	 PERF_SAMPLE_TID,	PERF_SAMPLE_TIME,
		PERF_SAMPLE_ADDR,	PERF_SAMPLE_ID,	 PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
		PERF_SAMPLE_PERIOD,	PERF_SAMPLE_RAW,
	};
	uint32_t n = 0;

	for (uint32_t i = 0; before[i] != field; i++)
		n += type & before[i] ? 8 : 0;
	return n;
}

void tracepoint_plan_finish(struct tracepoint_plan *p, const struct event *e)
{
	uint64_t type = e->sample_type;

	p->fixed = !(type & (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN));
	p->ids = plan_bytes_before(type, PERF_SAMPLE_TID);
	p->time = plan_bytes_before(type, PERF_SAMPLE_TIME);
	p->cpu = type & PERF_SAMPLE_CPU ? plan_bytes_before(type, PERF_SAMPLE_CPU) : 0;
	p->raw = plan_bytes_before(type, PERF_SAMPLE_RAW);
	for (int i = 0; i < TRACEPOINT_FIELDS && p->fields[i].size; i++) {
		p->nfields++;
		if (p->fields[i].at + p->fields[i].size > p->need)
			p->need = p->fields[i].at + p->fields[i].size;
	}
}

static inline uint32_t plan_u32(const uint8_t *at, bool swap)
{
	return (uint32_t)tracing_value((struct tracing_field){.size = 4}, at, swap);
}

/* Values without a field are 0, because two events are compared by all values. */
static inline void plan_read_values(const struct tracepoint_plan *p, const uint8_t *raw, bool swap,
				    struct tracepoint *t)
{
	uint32_t i;

	for (i = 0; i < p->nfields; i++)
		t->v[i] = tracing_value(p->fields[i], raw, swap);
	for (; i < TRACEPOINT_FIELDS; i++)
		t->v[i] = 0;
}

/* Checks the size up to the last field once, and then reads without checks. */
static inline const char *plan_read_fixed(const struct tracepoint_plan *p,
					  const struct cursor *body, struct tracepoint *t)
{
	size_t left = cursor_left(body), head_size = p->raw + sizeof(uint32_t);
	const uint8_t *head = body->at;
	bool swap = body->swap;
	uint32_t size;

	if (left < head_size)
		return too_long;
	size = plan_u32(head + p->raw, swap);
	if (size > left - head_size)
		return too_long;
	if (size < p->need)
		return too_short;
	t->time = tracing_value((struct tracing_field){.at = p->time, .size = 8}, head, swap);
	t->pid = plan_u32(head + p->ids, swap);
	t->tid = plan_u32(head + p->ids + 4, swap);
	t->cpu = p->cpu ? plan_u32(head + p->cpu, swap) : UINT32_MAX;
	plan_read_values(p, head + head_size, swap, t);
	return NULL;
}

static const char *plan_read_decoded(const struct tracepoint_plan *p, const struct event *e,
				     struct cursor body, struct tracepoint *t)
{
	struct sample_rest rest;
	struct sample s;

	if (!sample_decode(&s, e, &body) || !sample_decode_rest(&rest, e, &body))
		return too_long;
	if (rest.raw_size < p->need)
		return too_short;
	t->time = s.time;
	t->pid = s.pid;
	t->tid = s.tid;
	t->cpu = s.cpu;
	plan_read_values(p, rest.raw, body.swap, t);
	return NULL;
}

const char *tracepoint_plan_read(const struct tracepoint_plan *p, const struct event *e,
				 const struct cursor *body, struct tracepoint *t)
{
	t->want = p->want;
	return p->fixed ? plan_read_fixed(p, body, t) : plan_read_decoded(p, e, *body, t);
}
