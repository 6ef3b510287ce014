/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The side-band: what was mapped, started, named and loaded, and when. Pass one adds the records
 * in the file's order; sideband_finish sorts them by (time, position) and derives what a sample
 * needs: the comm of a thread at a time, and the version of a process's address space.
 *
 * An exec takes no maps away: until the new program runs, samples in the kernel still carry the old
 * program's user stack. What is mapped later displaces what it overlaps, and perf does the same.
 *
 * Records get lost, and then what is left is read as perf does, if it may be true. A process that
 * starts while perf looks through /proc is told of twice: by perf, with no time, and by the kernel.
 * Its FORK keeps the maps that perf found, since the kernel's own may be lost; the parent's
 * displace them where both have some. (To perf they stay with the threads that it found, not with
 * the first.) A thread's number, should it become a process's with no word of its start, stands for
 * the maps of the process that the thread was in: no more than a guess, but a program that forks
 * often makes it true, and no other's addresses are in them. (Nor do we add the new one's maps to
 * them, or look for a thread's maps where its number was before, as perf does: its process's pid is
 * known.)
 *
 * A version is an index into `list`: the state after all rows up to and including that one.
 */
#ifndef ZC_SIDEBAND_H
#define ZC_SIDEBAND_H

#include "lib/hash.h"
#include "lib/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum side_kind { SIDE_MAP, SIDE_COMM, SIDE_FORK, SIDE_EXIT, SIDE_KSYMBOL };

/* An object that was mapped. Two files may have one name: in containers, or one after the other. */
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
	uint32_t pid, tid, ppid, ptid; /* KERNEL_PID: the kernel's own map */
	uint32_t what;		       /* MAP: index in maps; COMM: string; KSYMBOL: in ksymbols */
	uint8_t kind;
	bool alone; /* FORK: made up by perf, copies no maps */
	bool late;  /* FORK: of a process whose maps perf had told of already */
};

struct side_ksymbol {
	uint64_t start, end;
	uint32_t name; /* string */
	bool unregister;
};

#define KERNEL_PID UINT32_MAX

/* Of a version: it is the start of a thread of that number. */
#define SIDE_THREAD (UINT32_C(1) << 31)

/* The start of a thread, which is in its process's space. */
static inline bool side_is_thread(const struct side_row *row)
{
	return row->pid == row->ppid;
}

/* Whose maps a FORK changes: of a thread, those that a process of its number had. */
static inline uint32_t side_fork_key(const struct side_row *row)
{
	return side_is_thread(row) ? row->tid : row->pid;
}

/* What held from a time on. */
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
	struct intern *strings; /* the profile's */
	struct side_row *list;
	struct side_map *maps;
	struct side_dso *dsos;
	struct side_ksymbol *ksymbols;
	size_t n, cap, nmaps, maps_cap, ndsos, dsos_cap, nksymbols, ksymbols_cap;
	struct intern dso_ids; /* their bytes; ids are indexes in dsos */
	/* the kernel's relocation symbol: "_text" or "_stext" and where it was; "" not recorded */
	char ref_name[64];
	uint64_t ref_addr, kernel_start, kernel_end;
	size_t nmodules;	      /* how many of the kernel's modules were mapped */
	uint32_t kernel_build_id;     /* string from MMAP2, or UINT32_MAX */
	struct side_timelines comms;  /* by tid: string */
	struct side_timelines spaces; /* by pid, the kernel's too: version, maybe SIDE_THREAD */
};

void sideband_add_row(struct sideband *s, const struct side_row *row);
uint32_t sideband_add_dso(struct sideband *s, const struct side_dso *dso);
uint32_t sideband_add_map(struct sideband *s, const struct side_map *map);
uint32_t sideband_add_ksymbol(struct sideband *s, const struct side_ksymbol *k);

void sideband_finish(struct sideband *s);

/* The timeline of a pid or tid, or NULL. */
const struct side_timeline *sideband_timeline(const struct side_timelines *t, uint32_t key);

/* What held at (time, order); `none` before the first change, or without a timeline. */
static inline uint32_t timeline_at(const struct side_timeline *line, uint64_t time, uint64_t order,
				   uint32_t none)
{
	uint32_t low = 0, high = line ? line->n : 0, mid;

	while (low < high) {
		const struct side_change *c = &line->changes[mid = low + (high - low) / 2];

		if (c->time < time || (c->time == time && c->order <= order))
			low = mid + 1;
		else
			high = mid;
	}
	return low ? line->changes[low - 1].value : none;
}
void sideband_free(struct sideband *s);

/*
 * The address spaces of all processes, replayed from the side-band in the order of time. Advance to
 * a version, then ask what is mapped. The side-band is only read: every thread can have a replay of
 * its own.
 */

/* Processes that forked share a list until one of them changes it. */
struct space_maps {
	uint32_t refs, n, cap;
	uint32_t id[]; /* of side-band maps, by address, without overlaps */
};

struct space {
	struct space_maps *maps; /* NULL: none */
	uint32_t state; /* 1 + the row that changed it last: the same state, the same maps */
};

struct spaces {
	const struct sideband *side;
	struct map index; /* pid -> index + 1 */
	struct space *list;
	size_t n, cap;
	struct space programs; /* in kernel memory: the `dso` of its maps is an index in ksymbols */
	struct side_map *pieces; /* what new maps left of old ones */
	size_t npieces, pieces_cap;
	uint32_t done;	       /* rows of the side-band applied */
	uint32_t kernel_state; /* as a space's: of the kernel's maps and programs */
};

/* Applies rows up to and including `version`; UINT32_MAX: none yet. Never goes back. */
void spaces_advance(struct spaces *s, uint32_t version);

/* The space of a process, or of KERNEL_PID; NULL: never told of. Valid until spaces_advance. */
const struct space *spaces_get(const struct spaces *s, uint32_t pid);

/* What is mapped at `addr` in a space, which may be NULL; or NULL. Valid until spaces_advance. */
const struct side_map *spaces_find(const struct spaces *s, const struct space *space,
				   uint64_t addr);

/* The program in kernel memory (BPF and the like) registered over `addr` now, or NULL. */
const struct side_ksymbol *spaces_ksymbol(const struct spaces *s, uint64_t addr);
void spaces_free(struct spaces *s);

/*
 * The address spaces of all processes at all times, for look-ups in any order and by any thread;
 * space.c, which replays them, only goes forward. Both give the same map: the last one over an
 * address since the process was forked, and before that its parent's at that time.
 */

struct history_map {
	uint64_t start, end, reach; /* reach: the furthest end of the maps up to this one */
	uint32_t row, map;	    /* of the side-band */
};

struct history_space {
	struct history_map *maps; /* by start */
	uint32_t *forks;	  /* rows that began it, in their order */
	uint32_t n, cap, nforks, forks_cap;
};

struct history {
	const struct sideband *side;
	struct map index; /* pid -> index + 1 */
	struct history_space *list;
	size_t n, cap;
};

/* The side-band is finished and outlives it. */
void history_make(struct history *h, const struct sideband *side);
void history_free(struct history *h);

/*
 * What `pid` had mapped at `addr` in `version` (UINT32_MAX: nothing yet), or NULL. Later maps may
 * have taken parts of it away, but not this address.
 */
const struct side_map *history_find(const struct history *h, uint32_t pid, uint64_t addr,
				    uint32_t version);

#endif
