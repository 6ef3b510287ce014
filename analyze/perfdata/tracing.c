// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/tracing.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

enum { VERSION_MAX = 64, SYSTEM_MAX = 256, NAME_MAX_LEN = 256 };

static const char magic[] = "\x17\x08\x44tracing";

/* A string that ends with NUL within `max` bytes, or NULL. */
static const char *take_string(struct cursor *c, size_t max)
{
	size_t left = cursor_left(c);
	const uint8_t *end = left ? memchr(c->at, 0, left < max ? left : max) : NULL;

	if (c->bad || !end) {
		c->bad = true;
		return NULL;
	}
	return cursor_take(c, (size_t)(end - c->at) + 1);
}

/* A size of 8 bytes and so many bytes. */
static struct cursor take_block(struct cursor *c)
{
	uint64_t size = cursor_u64(c);

	return cursor_sub(c, size > SIZE_MAX ? SIZE_MAX : (size_t)size);
}

static bool take_header(struct tracing *t, struct cursor *c)
{
	const char *start = cursor_take(c, sizeof(magic) - 1);

	if (!start || memcmp(start, magic, sizeof(magic) - 1) || !take_string(c, VERSION_MAX))
		return false;
	t->big_endian = cursor_u8(c);
	c->swap = t->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	t->long_size = cursor_u8(c);
	t->page_size = cursor_u32(c);
	return !c->bad;
}

static bool take_named_block(struct cursor *c, const char *name)
{
	const char *found = take_string(c, 16);

	if (!found || strcmp(found, name))
		return false;
	take_block(c);
	return !c->bad;
}

/* The rest of a line behind `key`, at a line's start; NULL: there is none. */
static const char *find_line(const char *text, size_t size, const char *key, size_t *len)
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

static bool parse_id(const char *digits, size_t len, uint64_t *id)
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

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* A format that does not say its name and number is stepped over. */
static void add_format(struct tracing *t, const char *system, struct cursor text)
{
	struct tracing_format f = {.text = (const char *)text.at, .size = cursor_left(&text)};
	size_t id_len, name_len, i;
	const char *id = find_line(f.text, f.size, "ID:", &id_len);
	const char *name = find_line(f.text, f.size, "name: ", &name_len);

	if (!id || !name || !parse_id(id, id_len, &f.id) || !name_len || name_len > NAME_MAX_LEN)
		return;
	for (i = 0; i < name_len; i++)
		if (!is_name(name[i]))
			return;
	f.system = xstrdup(system);
	f.name = xstrndup(name, name_len);
	array_grow(t->formats, t->n, t->cap);
	t->formats[t->n++] = f;
}

static void take_ftrace(struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	while (n-- && !c->bad)
		take_block(c);
}

static void take_system(struct tracing *t, struct cursor *c)
{
	const char *name = take_string(c, SYSTEM_MAX);
	uint32_t n = cursor_u32(c);
	struct cursor text;

	while (n-- && !c->bad) {
		text = take_block(c);
		if (!text.bad)
			add_format(t, name, text);
	}
}

bool tracing_read(struct tracing *t, struct cursor c)
{
	uint32_t systems;

	*t = (struct tracing){0};
	if (!c.at || !take_header(t, &c))
		return false;
	if (!take_named_block(&c, "header_page") || !take_named_block(&c, "header_event")) {
		t->cut = "the ring buffer's description";
		return false;
	}
	t->tep = tep_alloc();
	if (!t->tep)
		return false;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(t->tep, (int)t->long_size);
	tep_set_file_bigendian(t->tep, t->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	take_ftrace(&c);
	systems = cursor_u32(&c);
	while (systems-- && !c.bad)
		take_system(t, &c);
	if (c.bad)
		t->cut = "the formats of tracepoints";
	return true;
}

void tracing_free(struct tracing *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		free(t->formats[i].system);
		free(t->formats[i].name);
	}
	free(t->formats);
	if (t->tep)
		tep_free(t->tep);
	*t = (struct tracing){0};
}

struct tracing_format *tracing_find(const struct tracing *t, uint64_t id)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->formats[i].id == id)
			return &t->formats[i];
	return NULL;
}

/* --- the text of one format --- */

/* libtraceevent trusts what it reads, and this is anybody's file: it is given known lines alone. */

static bool skip_text(const char **at, const char *end, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(end - *at) < n || memcmp(*at, text, n))
		return false;
	*at += n;
	return true;
}

static bool skip_number(const char **at, const char *end)
{
	const char *start = *at;

	while (*at < end && **at >= '0' && **at <= '9')
		(*at)++;
	return *at > start && *at - start < 9;
}

/* "unsigned long args[6]": words and stars, at most one pair of brackets on each of the two. */
static bool skip_declaration(const char **at, const char *end)
{
	int words = 0;

	while (*at < end && **at != ';') {
		const char *start = *at;

		while (*at < end && is_name(**at))
			(*at)++;
		words += *at > start;
		if (*at > start && skip_text(at, end, "[")) {
			while (*at < end && is_name(**at))
				(*at)++;
			if (!skip_text(at, end, "]"))
				return false;
		}
		if (!skip_text(at, end, " ") && !skip_text(at, end, "*") && *at == start)
			return false;
	}
	return words >= 2 && (*at)[-1] != ' ' && (*at)[-1] != '*';
}

/* "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;"; older kernels do not tell the sign. */
static bool is_field(const char *at, const char *end)
{
	if (!skip_text(&at, end, "\tfield:") || !skip_declaration(&at, end) ||
	    !skip_text(&at, end, ";\toffset:") || !skip_number(&at, end) ||
	    !skip_text(&at, end, ";\tsize:") || !skip_number(&at, end) || !skip_text(&at, end, ";"))
		return false;
	return at == end || (skip_text(&at, end, "\tsigned:") && skip_number(&at, end) &&
			     skip_text(&at, end, ";") && at == end);
}

/* The format's fields up to a line that is none, without the way to print them. */
static void copy_known(struct str *to, const struct tracing_format *f)
{
	const char *end = f->text + f->size, *at, *eol;

	str_printf(to, "name: %s\nID: %llu\nformat:\n", f->name, (unsigned long long)f->id);
	at = memmem(f->text, f->size, "\nformat:\n", 9);
	for (at = at ? at + 9 : end; at < end; at = eol + 1) {
		eol = memchr(at, '\n', (size_t)(end - at));
		if (!eol || (eol > at && !is_field(at, eol)))
			break;
		str_add(to, at, (size_t)(eol - at) + 1);
	}
	str_puts(to, "\nprint fmt: \"\"\n");
}

static void parse(struct tracing *t, struct tracing_format *f)
{
	struct str text = {0};

	if (f->parsed)
		return;
	f->parsed = true;
	copy_known(&text, f);
	tep_parse_event(t->tep, text.buf, text.len, f->system);
	str_free(&text);
}

struct tracing_field tracing_field(struct tracing *t, struct tracing_format *f, const char *name)
{
	struct tep_format_field *field = NULL;
	struct tracing_field out = {0};
	struct tep_event *event;

	parse(t, f);
	event = tep_find_event(t->tep, (int)f->id);
	if (event)
		field = tep_find_any_field(event, name);
	if (!field || field->offset < 0 ||
	    field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_STRING))
		return out;
	if (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8)
		return out;
	out.at = (uint32_t)field->offset;
	out.size = (uint8_t)field->size;
	out.sign = field->flags & TEP_FIELD_IS_SIGNED;
	return out;
}

const char *tracing_print_format(const struct tracing_format *f, size_t *len)
{
	return find_line(f->text, f->size, "print fmt:", len);
}
