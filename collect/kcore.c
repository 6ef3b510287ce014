// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's code as it runs: from _stext to _etext, and of modules, copied from /proc/kcore into
 * a core file once per host. `zcost report hotspots` disassembles the copy. The kernel patches its
 * code at boot, so no file of the distribution holds it. ZCOST_PROC names another /proc, for tests.
 */
#include "collect/collect.h"
#include "collect/host.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { RANGES_MAX = 1024, SEGMENTS_MAX = 4096, CODE_MAX = 256 << 20 };

struct range {
	uint64_t start, size;
	uint64_t at; /* the offset in /proc/kcore */
};

struct ranges {
	struct range list[RANGES_MAX];
	size_t n;
};

/* --- which code --- */

/* "ffffffff81000000 T _stext" */
static void kcore_kernel_range(struct ranges *r, char *kallsyms)
{
	uint64_t start = 0, end = 0;
	char *rest = kallsyms, *line;

	while ((!start || !end) && (line = str_token(&rest, '\n'))) {
		if (str_ends(line, " _stext"))
			start = strtoull(line, NULL, 16);
		else if (str_ends(line, " _etext"))
			end = strtoull(line, NULL, 16);
	}
	if (start && end > start)
		r->list[r->n++] = (struct range){.start = start, .size = end - start};
}

/* "veth 45056 0 - Live 0xffffffffc0a00000": the module's data is copied along with its code. */
static void kcore_module_ranges(struct ranges *r, char *modules)
{
	char *rest = modules, *line, *address;
	unsigned long long size;

	while (r->n < RANGES_MAX && (line = str_token(&rest, '\n'))) {
		address = strstr(line, " 0x");
		if (!address || sscanf(line, "%*s %llu", &size) != 1)
			continue;
		r->list[r->n] = (struct range){strtoull(address, NULL, 16), size, 0};
		r->n += r->list[r->n].start != 0;
	}
}

static int kcore_read_ranges(struct ranges *r, struct error *err)
{
	autofree char *kallsyms = xasprintf("%s/kallsyms", proc_root()), *symbols = NULL;
	autofree char *path = xasprintf("%s/modules", proc_root()), *modules = NULL;

	if (file_read(kallsyms, &symbols, NULL, err))
		return -err->code;
	kcore_kernel_range(r, symbols);
	if (!file_read(path, &modules, NULL, NULL))
		kcore_module_ranges(r, modules);
	return 0;
}

/* --- where it is --- */

static void kcore_path(struct ranges *r, const Elf64_Phdr *p)
{
	for (size_t i = 0; p->p_type == PT_LOAD && i < r->n; i++) {
		struct range *g = &r->list[i];

		if (g->start >= p->p_vaddr && g->start - p->p_vaddr <= p->p_filesz &&
		    g->size <= p->p_filesz - (g->start - p->p_vaddr))
			g->at = g->start - p->p_vaddr + p->p_offset;
	}
}

/* Reduces the ranges to those that the core has. */
static int kcore_find_ranges(struct ranges *r, int fd, Elf64_Ehdr *head, struct error *err)
{
	uint64_t sum = 0;
	Elf64_Phdr p;
	size_t n;

	if (file_read_at(fd, head, sizeof(*head), 0) != sizeof(*head) ||
	    memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_phentsize != sizeof(p))
		return error_set(err, EBADMSG, "/proc/kcore is no 64-bit core file");
	for (size_t i = 0; i < head->e_phnum && i < SEGMENTS_MAX; i++)
		if (file_read_at(fd, &p, sizeof(p), head->e_phoff + i * sizeof(p)) == sizeof(p))
			kcore_path(r, &p);
	for (size_t i = n = 0; i < r->n; i++)
		if (r->list[i].at && sum + r->list[i].size <= CODE_MAX) {
			sum += r->list[i].size;
			r->list[n++] = r->list[i];
		}
	r->n = n;
	return n ? 0
		 : error_set(
			   err, ENODATA,
			   "/proc/kcore does not hold the kernel's code (run as root; lockdown may forbid it)");
}

/* --- the copy --- */

static int kcore_copy_range(int from, int to, const struct range *g, uint64_t at)
{
	static char buf[1 << 16];
	uint64_t n;

	for (uint64_t done = 0; done < g->size; done += n) {
		n = g->size - done < sizeof(buf) ? g->size - done : sizeof(buf);
		if (file_read_at(from, buf, n, g->at + done) != (ssize_t)n ||
		    pwrite(to, buf, n, (off_t)(at + done)) != (ssize_t)n)
			return errno ? -errno : -EIO;
	}
	return 0;
}

static int kcore_write_core(int from, int to, Elf64_Ehdr *head, const struct ranges *r)
{
	uint64_t at = sizeof(*head) + r->n * sizeof(Elf64_Phdr);
	int rc = 0;

	head->e_phoff = sizeof(*head);
	head->e_phnum = (uint16_t)r->n;
	head->e_shoff = head->e_shnum = head->e_shstrndx = 0;
	if (pwrite(to, head, sizeof(*head), 0) != sizeof(*head))
		return -errno;
	for (size_t i = 0; i < r->n && !rc; at += r->list[i++].size) {
		Elf64_Phdr p = {.p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_offset = at,
				.p_vaddr = r->list[i].start,
				.p_filesz = r->list[i].size,
				.p_memsz = r->list[i].size};

		if (pwrite(to, &p, sizeof(p), (off_t)(sizeof(*head) + i * sizeof(p))) != sizeof(p))
			return -errno;
		rc = kcore_copy_range(from, to, &r->list[i], at);
	}
	return rc;
}

static int kcore_probe(struct collect *c)
{
	autofree char *path = xasprintf("%s/kcore", proc_root());

	if (access(path, R_OK))
		return error_sys(
			&c->err, errno,
			"/proc/kcore (CONFIG_PROC_KCORE, and only for root), so hot instructions of the kernel will be offsets without code");
	return 0;
}

/* Writes the file whole or not at all: two sides on one host may do this at the same time. */
static int kcore_prepare(struct collect *c)
{
	autofree struct ranges *r = xcalloc(1, sizeof(*r));
	autofree char *path = xasprintf("%s/kcore", proc_root());
	autofree char *copy = xasprintf("%s/kcore", c->run->hosts), *tmp = remains_name(copy);
	autoclose int from = -1;
	Elf64_Ehdr head;
	int to, rc;

	if (!access(copy, F_OK))
		return 0;
	from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return error_sys(&c->err, errno, "%s", path);
	rc = kcore_read_ranges(r, &c->err);
	rc = rc ?: kcore_find_ranges(r, from, &head, &c->err);
	rc = rc ?: dir_make(c->run->hosts, &c->err);
	if (!rc) {
		to = file_create(tmp, 0, 0600);
		rc = file_replace(to, tmp, copy,
				  to < 0 ? to : kcore_write_core(from, to, &head, r));
		if (rc)
			error_sys(&c->err, -rc, "%s: cannot copy the kernel's code", copy);
	}
	return rc;
}

const struct collector collector_kcore = {
	.name = "kcore",
	.what = "the kernel's code as it runs, once per host, for report hotspots",
	.passes = PASS_PROFILE,
	.probe = kcore_probe,
	.prepare = kcore_prepare,
};
