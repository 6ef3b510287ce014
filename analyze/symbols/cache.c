// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/symbols/cache.h"

#include "analyze/symbols/dso.h"
#include "lib/alloc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MOST = 32 };			  /* open files */
static const uint64_t unpacked_most = 1ULL << 30; /* bytes of their unpacked debug information */

struct symbol_cache {
	pthread_mutex_t lock;
	struct cached_kernel {
		char *path;
		struct symtab table;
	} * kernels;
	size_t nkernels, kernels_cap;
	struct cached_file {
		char *path;
		struct inlines *inlines;
	} files[FILES_MOST]; /* the one returned last is the last */
	size_t nfiles;
	uint64_t unpacked; /* bytes of all files */
};

struct symbol_cache *symbol_cache_new(void)
{
	struct symbol_cache *c = xcalloc(1, sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	return c;
}

/* Removes a file from the list. The caller closes it. */
static struct inlines *cached_file_remove(struct symbol_cache *c, size_t i)
{
	struct inlines *in = c->files[i].inlines;

	c->unpacked -= inlines_unpacked(in);
	free(c->files[i].path);
	memmove(&c->files[i], &c->files[i + 1], (--c->nfiles - i) * sizeof(c->files[i]));
	return in;
}

void symbol_cache_free(struct symbol_cache *c)
{
	size_t i;

	while (c->nfiles)
		inlines_close(cached_file_remove(c, c->nfiles - 1));
	for (i = 0; i < c->nkernels; i++) {
		free(c->kernels[i].path);
		symtab_free(&c->kernels[i].table);
	}
	free(c->kernels);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static const struct symtab *cached_kernel_find(const struct symbol_cache *c, const char *path)
{
	size_t i;

	for (i = 0; i < c->nkernels; i++)
		if (!strcmp(c->kernels[i].path, path))
			return &c->kernels[i].table;
	return NULL;
}

int symbol_cache_kallsyms(struct symbol_cache *c, struct symtab *t, const char *path,
			  struct error *err)
{
	const struct symtab *known;
	int rc = 0;

	if (!c)
		return kallsyms_read(t, path, err);
	pthread_mutex_lock(&c->lock); /* also while it reads: other threads want the same file */
	known = cached_kernel_find(c, path);
	if (known) {
		symtab_copy(t, known);
	} else {
		rc = kallsyms_read(t, path, err);
		if (!rc) {
			array_add(c->kernels, c->nkernels, c->kernels_cap,
				  (struct cached_kernel){.path = xstrdup(path)});
			symtab_copy(&c->kernels[c->nkernels - 1].table, t);
		}
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

struct inlines *symbol_cache_inlines(struct symbol_cache *c, const char *path,
				     struct unread *unread)
{
	struct inlines *in = NULL;
	size_t i;

	if (!c)
		return inlines_open(path, unread);
	pthread_mutex_lock(&c->lock);
	for (i = 0; i < c->nfiles && !in; i++)
		if (!strcmp(c->files[i].path, path))
			in = cached_file_remove(c, i);
	pthread_mutex_unlock(&c->lock);
	if (in)
		inlines_use(in, unread);
	return in ? in : inlines_open(path, unread);
}

void symbol_cache_return(struct symbol_cache *c, const char *path, struct inlines *in)
{
	if (!c || !in || inlines_unpacked(in) > unpacked_most) {
		inlines_close(in);
		return;
	}
	pthread_mutex_lock(&c->lock);
	while (c->nfiles == FILES_MOST || c->unpacked + inlines_unpacked(in) > unpacked_most)
		inlines_close(cached_file_remove(c, 0));
	c->files[c->nfiles++] = (struct cached_file){xstrdup(path), in};
	c->unpacked += inlines_unpacked(in);
	inlines_use(in, NULL);
	pthread_mutex_unlock(&c->lock);
}
