// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/symbols/symtab.h"

#include "analyze/symbols/dso.h"
#include "lib/cursor.h"
#include "lib/file.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

struct kallsyms_line {
	uint64_t addr;
	char type;
	char *name, *module; /* module: "[mod]" or NULL */
};

static int kallsyms_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Splits "ffffffff81000000 T _text" or "... t foo\t[mod]", which ends at `end`, in place. */
static bool kallsyms_parse_line(char *at, const char *end, struct kallsyms_line *l)
{
	char *start = at;
	int digit;

	for (l->addr = 0; (digit = kallsyms_hex_digit(*at)) >= 0; at++)
		l->addr = l->addr << 4 | (uint64_t)digit;
	if (at == start || at[0] != ' ' || !at[1] || at[2] != ' ')
		return false;
	l->type = at[1];
	l->name = at + 3;
	l->module = end[-1] == ']' ? strchr(l->name, '\t') : NULL;
	if (l->module)
		*l->module++ = '\0';
	return *l->name;
}

/* names like '$x' are ARM mapping symbols */
static bool kallsyms_is_wanted(const struct kallsyms_line *l, bool function)
{
	return (function || strchr("DdBb", l->type)) && l->name[0] != '$';
}

static uint8_t kallsyms_binding(char type)
{
	if (type == 'W')
		return STB_WEAK;
	return isupper((unsigned char)type) ? STB_GLOBAL : STB_LOCAL;
}

/* Adds a line of the text, which becomes the names of the table. */
static bool kallsyms_add_line(struct symtab *t, const struct kallsyms_line *l, const char *text)
{
	const bool function = strchr("TtWw", l->type);

	if (!kallsyms_is_wanted(l, function))
		return false;
	array_add(t->symbols, t->n, t->cap,
		  (struct symtab_symbol){
			  .start = l->addr,
			  .end = l->addr,
			  .name = (uint32_t)(l->name - text),
			  .module = l->module ? (uint32_t)(l->module - text) : 0,
			  .binding = kallsyms_binding(l->type),
			  .type = function ? STT_FUNC : STT_OBJECT,
		  });
	return l->addr != 0;
}

int kallsyms_read(struct symtab *t, const char *path, struct error *err)
{
	char *text, *end;
	bool any = false;
	struct kallsyms_line l;
	size_t len;
	int ret = file_read(path, &text, &len, err);

	if (ret)
		return ret;
	t->names = (struct str){text, len, len};
	for (char *line = text; len < UINT32_MAX && line < text + len; line = end + 1) {
		end = memchr(line, '\n', (size_t)(text + len - line)) ?: text + len;
		*end = '\0';
		if (kallsyms_parse_line(line, end, &l))
			any |= kallsyms_add_line(t, &l, text);
	}
	if (any) {
		symtab_finish(t, true);
		return 0;
	}
	ret = t->n ? error_set(
			     err, EPERM,
			     "%s: all addresses are zero: read it as root, or set kernel.kptr_restrict to 0",
			     path)
		   : error_set(err, EBADMSG, "%s: holds no kernel symbols", path);
	symtab_free(t);
	return ret;
}

/* --- what several recordings have in common --- */

enum { IDLE_MAX = 64 }; /* each has an open file */

struct symbol_cache {
	pthread_mutex_t lock;
	struct cached_table {
		char *key;
		struct symtab table;
	} * tables;
	size_t ntables, tables_cap;
	struct idle_inlines {
		char *path;
		struct inlines *in;
	} idle[IDLE_MAX]; /* debug information that no thread uses */
	size_t nidle;
};

struct symbol_cache *symbol_cache_new(void)
{
	struct symbol_cache *c = xcalloc(1, sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void symbol_cache_free(struct symbol_cache *c)
{
	array_free(e, c->tables, c->ntables, free(e->key), symtab_free(&e->table));
	for (size_t i = 0; i < c->nidle; i++) {
		free(c->idle[i].path);
		inlines_close(c->idle[i].in);
	}
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* The caller holds the lock. */
static bool symbol_cache_find(const struct symbol_cache *c, struct symtab *t, const char *key)
{
	for (size_t i = 0; i < c->ntables; i++)
		if (!strcmp(c->tables[i].key, key)) {
			symtab_copy(t, &c->tables[i].table);
			return true;
		}
	return false;
}

/* The cache owns the names from now on. The caller holds the lock. */
static void symbol_cache_add(struct symbol_cache *c, struct symtab *t, const char *key)
{
	struct cached_table new = {.key = xstrdup(key)};

	symtab_copy(&new.table, t);
	new.table.borrows = false;
	t->borrows = true;
	array_add(c->tables, c->ntables, c->tables_cap, new);
}

bool symbol_cache_copy(struct symbol_cache *c, struct symtab *t, const char *key)
{
	bool found = false;

	if (c) {
		pthread_mutex_lock(&c->lock);
		found = symbol_cache_find(c, t, key);
		pthread_mutex_unlock(&c->lock);
	}
	return found;
}

void symbol_cache_keep(struct symbol_cache *c, struct symtab *t, const char *key)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	symbol_cache_add(c, t, key);
	pthread_mutex_unlock(&c->lock);
}

int symbol_cache_kallsyms(struct symbol_cache *c, struct symtab *t, const char *path,
			  struct error *err)
{
	int rc = 0;

	if (!c)
		return kallsyms_read(t, path, err);
	pthread_mutex_lock(&c->lock); /* also while it reads: other threads want the same file */
	if (!symbol_cache_find(c, t, path)) {
		rc = kallsyms_read(t, path, err);
		if (!rc)
			symbol_cache_add(c, t, path);
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

struct inlines *symbol_cache_take(struct symbol_cache *c, const char *path)
{
	struct inlines *in = NULL;

	if (!c)
		return NULL;
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->nidle && !in; i++) {
		if (strcmp(c->idle[i].path, path) != 0)
			continue;
		in = c->idle[i].in;
		free(c->idle[i].path);
		c->idle[i] = c->idle[--c->nidle];
	}
	pthread_mutex_unlock(&c->lock);
	return in;
}

void symbol_cache_give(struct symbol_cache *c, const char *path, struct inlines *in)
{
	bool kept = false;

	if (c) {
		pthread_mutex_lock(&c->lock);
		kept = c->nidle < IDLE_MAX;
		if (kept)
			c->idle[c->nidle++] = (struct idle_inlines){xstrdup(path), in};
		pthread_mutex_unlock(&c->lock);
	}
	if (!kept)
		inlines_close(in);
}

bool kallsyms_address(const char *path, const char *name, uint64_t *addr, struct error *err)
{
	FILE *f = fopen(path, "re");
	autofree char *text = NULL;
	bool found = false;
	size_t cap = 0;
	struct kallsyms_line l;

	while (f && !found && getline(&text, &cap, f) > 0) {
		char *end = text + strcspn(text, "\n");

		*end = '\0';
		found = kallsyms_parse_line(text, end, &l) && strchr("TtWw", l.type) &&
			!strcmp(l.name, name);
	}
	if (found)
		*addr = l.addr;
	else if (!f || !feof(f)) /* without memory, getline() sets no error in the stream */
		error_sys(err, errno, "%s: cannot read", path);
	if (f)
		fclose(f);
	return found;
}

/* A note is { namesz, descsz, type, name, desc }. name and desc are padded to 4 bytes. */
static bool notes_find_build_id(struct cursor c, char hex[65])
{
	while (cursor_left(&c) >= 12) {
		uint32_t namesz = cursor_u32(&c), descsz = cursor_u32(&c), type = cursor_u32(&c);
		struct cursor name = cursor_sub(&c, ((size_t)namesz + 3) & ~(size_t)3);
		struct cursor desc = cursor_sub(&c, ((size_t)descsz + 3) & ~(size_t)3);

		if (c.bad)
			return false;
		if (type != NT_GNU_BUILD_ID || namesz != 4 || memcmp(name.at, "GNU", 4) ||
		    descsz > 32)
			continue;
		for (uint32_t i = 0; i < descsz; i++)
			snprintf(hex + 2 * i, 3, "%02x", desc.at[i]);
		return descsz;
	}
	return false;
}

bool notes_build_id(const char *path, char hex[65], struct error *err)
{
	autofree char *data = NULL;
	size_t len;

	if (file_read(path, &data, &len, err))
		return false;
	return notes_find_build_id(cursor_of(data, len, false), hex);
}
