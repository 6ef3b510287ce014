/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The side-band: which maps, threads, names and kernel symbols existed when. Pass one adds the
 * records in the file's order. sideband_finish sorts them by time and position, and derives what a
 * sample needs: the comm of a thread at a time, and the version of a process's address space. A
 * version is an index into `list`: the state after all rows up to and including that row.
 *
 * An exec removes no maps: until the new program runs, samples in the kernel still carry the user
 * stack of the old program. As in perf, later maps replace what they overlap.
 *
 * Records can be lost, so some cases follow perf:
 *   - A process that starts while perf reads /proc appears twice: in perf's rows, without a time,
 *     and in the kernel's rows. Its FORK keeps the maps that perf found, because the kernel's rows
 *     may be lost. The parent's maps replace them where both exist.
 *   - The tid of a thread may later be the pid of a process without a recorded start. Then the maps
 *     of the thread's process apply. This is a guess. It is right for programs that fork often.
 *   - perf also adds the new process's maps to these, and searches a thread's maps under its
 *     previous number. zcost does neither, because it knows the pid of the thread's process.
 */
#ifndef ZC_SIDEBAND_H
#define ZC_SIDEBAND_H

#include "lib/hash.h"
#include "lib/intern.h"

#include <stdbool.h>

struct profile;

enum side_kind { SIDE_MAP, SIDE_COMM, SIDE_FORK, SIDE_EXIT, SIDE_KSYMBOL };

/* A mapped object. Containers, or replaced files, can give two files the same name. */
struct side_dso {
	uint32_t name, build_id; /* strings; build_id UINT32_MAX: not recorded */
	uint32_t major, minor;
	uint64_t inode; /* 0: not recorded */
};

struct side_map {
	uint64_t start, end, pgoff;
	uint32_t dso;
};

struct side_row {
	uint64_t time, order;
	uint32_t pid, tid, ppid, ptid; /* pid KERNEL_PID: the kernel's own maps */
	uint32_t what; /* MAP: index into maps; COMM: string; KSYMBOL: index into ksymbols */
	uint8_t kind;
	bool exec;  /* COMM: an exec set it */
	bool alone; /* FORK: perf wrote it, and the child inherits no maps */
	bool late;  /* FORK: perf had already listed the maps of this process */
};

struct side_ksymbol {
	uint64_t start, end;
	uint32_t name; /* string */
	bool unregister;
};

#define KERNEL_PID UINT32_MAX

/* A flag in a version: the row is the start of a thread with this tid. */
#define SIDE_THREAD (UINT32_C(1) << 31)

/* A thread uses the address space of its process. */
static inline bool side_is_thread(const struct side_row *row)
{
	return row->pid == row->ppid;
}

/*
 * Returns the key of the space that a FORK changes. For a thread: the space that an earlier process
 * with that number had.
 */
static inline uint32_t side_fork_key(const struct side_row *row)
{
	return side_is_thread(row) ? row->tid : row->pid;
}

/* The value from a time on. */
struct side_change {
	uint64_t time, order;
	uint32_t value;
};

struct side_timeline {
	struct side_change *changes;
	uint32_t n, cap;
};

struct side_timelines {
	struct map index; /* pid or tid -> index + 1 */
	struct side_timeline *list;
	size_t n, cap;
};

struct side_space {
	uint32_t pid, version;
};

struct sideband {
	struct intern *strings; /* the profile's strings */
	struct side_row *list;
	struct side_map *maps;
	struct side_dso *dsos;
	struct side_ksymbol *ksymbols;
	size_t n, cap, nmaps, maps_cap, ndsos, dsos_cap, nksymbols, ksymbols_cap;
	struct intern dso_ids; /* bytes of dsos; the ids are indexes into dsos */
	/*
	 * The kernel's relocation symbol, "_text" or "_stext", and its address. "": not recorded.
	 */
	char ref_name[64];
	uint64_t ref_addr, kernel_start, kernel_end;
	size_t nmodules;	      /* number of mapped kernel modules */
	uint32_t kernel_build_id;     /* string, from MMAP2; UINT32_MAX: not recorded */
	struct side_timelines comms;  /* by tid: string */
	struct side_timelines spaces; /* by pid, or KERNEL_PID: a version, maybe with SIDE_THREAD */
};

void sideband_add_row(struct sideband *s, const struct side_row *row);
uint32_t sideband_add_map(struct sideband *s, const struct side_map *map);

void sideband_finish(struct sideband *s);

/* Adds the n processes and all processes that they and their children started to p->own. */
void sideband_add_descendants(const struct sideband *s, const uint32_t *pids, size_t n,
			      struct profile *p);

/* Returns the timeline of a pid or tid, or NULL. */
const struct side_timeline *sideband_get_timeline(const struct side_timelines *t, uint32_t key);

/* Returns how many changes are up to (time, order). */
static inline uint32_t timeline_count(const struct side_timeline *line, uint64_t time,
				      uint64_t order)
{
	uint32_t low = 0, high = line ? line->n : 0, mid;

	while (low < high) {
		const struct side_change *c = &line->changes[mid = low + (high - low) / 2];

		if (c->time < time || (c->time == time && c->order <= order))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Returns the value at (time, order), or `none` before the first change or without a timeline. */
static inline uint32_t timeline_at(const struct side_timeline *line, uint64_t time, uint64_t order,
				   uint32_t none)
{
	uint32_t n = timeline_count(line, time, order);

	return n ? line->changes[n - 1].value : none;
}
void sideband_free(struct sideband *s);

/* --- space.c --- */

/*
 * The address spaces of all processes at all times. The map at an address is the last one over it
 * since the process was forked, and otherwise the parent's at the time of the fork.
 */
struct history_map {
	uint64_t start, end, reach; /* reach: the highest end of all maps up to this one */
	uint64_t row;		    /* index into the side-band */
	uint32_t map;	/* index into the side-band's maps; of a program: into ksymbols */
	uint32_t until; /* the row that removed the program, or UINT32_MAX */
	uint32_t first; /* the first map of this range; code that is written at run time has many */
};

struct history_space {
	struct history_map *maps; /* sorted by start, end and row */
	uint64_t *forks;	  /* the rows that started it, in order */
	uint32_t n, cap, nforks, forks_cap;
};

enum { MARK_BITS = 15, PLACE_BITS = 21 }; /* a place has 2 MiB */

struct history {
	const struct sideband *side;
	struct map index; /* pid -> index + 1 */
	struct history_space *list;
	size_t n, cap;
	struct history_space programs; /* such as BPF, in kernel memory */
	/* A bit for each history_mark_of: whether any process ever maps a place with this hash. */
	uint64_t marks[(1 << MARK_BITS) / 64];
};

/* `side` must be finished and must outlive the history. */
void history_make(struct history *h, const struct sideband *side);
void history_free(struct history *h);

static inline uint32_t history_mark_of(uint64_t addr)
{
	return (uint32_t)((addr >> PLACE_BITS) * 0x9e3779b97f4a7c15ULL >> (64 - MARK_BITS));
}

/* Returns false only for a user address that no process ever maps. It is quick. */
static inline bool history_may_map(const struct history *h, uint64_t addr)
{
	uint32_t i = history_mark_of(addr);

	return h->marks[i / 64] >> i % 64 & 1;
}

/*
 * Returns what `pid` had mapped at `addr` in `version`, or NULL. UINT32_MAX is the version before
 * the first row. Later maps may have replaced parts of the map, but not this address.
 */
const struct side_map *history_find(const struct history *h, uint32_t pid, uint64_t addr,
				    uint32_t version);

/* Recently used pages. Stacks use few at a time. */
enum { SEEN_PAGES = 1024 };
struct seen_page {
	uint64_t page; /* + 1 */
	uint32_t pid, version;
	const struct side_map *map;
};

struct history_seen {
	struct seen_page pages[SEEN_PAGES];
};

/* As history_find, and faster where `seen` has the page. One thread may use `seen`. */
const struct side_map *history_find_again(const struct history *h, struct history_seen *seen,
					  uint32_t pid, uint64_t addr, uint32_t version);

/* Returns the program in kernel memory at `addr` in `version`, or NULL. */
const struct side_ksymbol *history_find_program(const struct history *h, uint64_t addr,
						uint32_t version);

/*
 * Returns the state of a process's or of the kernel's maps in `version`. Equal states have equal
 * maps. 0: nothing is known about the process.
 */
uint32_t history_state(const struct history *h, uint32_t pid, uint32_t version);

#endif
