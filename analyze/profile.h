/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile: samples folded by everything that a figure may ask for. The reader of perf.data makes
 * one, the store keeps one per side of a run, and every measure of functions, components, contexts
 * and call chains works on one. Memory grows with distinct stacks, not with samples.
 *
 * Frames are a trie: a frame is a symbol below its parent frame; the root of a chain (main, or the
 * thread's entry) has parent PROFILE_NONE. A cost row names the leaf frame. Ids are indexes into
 * the arrays. Strings live in `strings` and are never freed before the profile.
 */
#ifndef ZC_PROFILE_H
#define ZC_PROFILE_H

#include "lib/error.h"
#include "lib/hash.h"
#include "lib/intern.h"

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_NONE UINT32_MAX

/* Where a sample ran. The order is stored in databases: append only. */
enum context {
	CTX_UNKNOWN,
	CTX_USER,
	CTX_SYSCALL,
	CTX_SOFTIRQ,
	CTX_HARDIRQ,
	CTX_IDLE,
	CTX_KTHREAD,
	CTX_EXCEPTION, /* page faults and other traps, taken for a process */
	CTX_N
};
extern const char *const context_names[CTX_N];

enum dso_kind { DSO_UNKNOWN, DSO_KERNEL, DSO_MODULE, DSO_USER, DSO_BPF, DSO_GUEST };

struct profile_dso {
	uint32_t name;	   /* string: "[kernel.kallsyms]", "[veth]", "/usr/lib/libc.so.6" */
	uint32_t build_id; /* string of hexadecimal digits, or PROFILE_NONE */
	enum dso_kind kind;
};

/* Why an address has no name. The numbers are stored in databases: append only. */
enum unresolved {
	RESOLVED,
	UNRESOLVED_NO_SYMBOLS, /* no file, or none that has symbols */
	UNRESOLVED_MISMATCH,   /* there is a file, but it is not what was recorded */
	UNRESOLVED_GAP,	       /* there are symbols, but none over this address */
	UNRESOLVED_NO_MAPPING, /* nothing was mapped there */
	UNRESOLVED_GENERATED,  /* code made at run time, without a map of it */
	UNRESOLVED_GUEST,
	UNRESOLVED_N
};
extern const char *const unresolved_names[UNRESOLVED_N];

/*
 * An unresolved address is "0x<hex>": an offset in its object (a file, a module's memory, from
 * _text on in the kernel), or, where the object is not known, the address itself.
 */
struct profile_symbol {
	uint32_t name; /* string */
	uint32_t dso;
	enum unresolved unresolved;
};

struct profile_frame {
	uint32_t parent, symbol;
};

struct profile_cost {
	uint32_t event, cpu, comm, pid, tid; /* event: index; cpu: PROFILE_NONE if not recorded */
	enum context context;
	uint32_t frame; /* the leaf */
	uint64_t samples, weight;
};

/*
 * Samples of one instruction, kept where perfdata_options asks for it: of functions with a name
 * that cost something. Self only.
 */
struct profile_spot {
	uint32_t event, symbol;
	uint32_t line;	 /* string "file.c:123", or PROFILE_NONE */
	uint64_t offset; /* in the function */
	uint64_t samples, weight;
};

/* The bytes of a function that has spots, as far as they were at hand. */
struct profile_code {
	uint32_t symbol;
	uint64_t at;	/* address of the first byte: as linked, in a file, or in the kernel */
	uint8_t *bytes; /* owned */
	size_t size;
};

struct profile_event {
	uint32_t name; /* string: "cycles", "cpu-clock:k" */
	bool is_time;  /* weights are nanoseconds (cpu-clock, task-clock) */
	uint64_t samples, weight;
	double weight2; /* sum of squares of single weights: n_eff = weight^2 / weight2 */
	/* of a given frequency: samples of 16 times the usual period and more, and their weight;
	 * samples of less than a 16th, as a stream begins with */
	uint64_t outliers, outlier_weight, starts;
};

/* User stacks that were unwound from copies in the samples, and those that end before their root.
 */
struct profile_unwinds {
	uint64_t stacks;
	uint64_t cut;  /* the copy in the sample is shorter than the stack */
	uint64_t lost; /* no unwind table for an address, or values that make no sense */
	uint64_t deep; /* more frames than are kept */
};

/* What was lost or odd; every non-zero one is said beside the table. */
enum { SYMBOL_NAME_MOST = 4096 }; /* bytes of a symbol's name; longer names are cut */

struct profile_health {
	/* samples that are known to be such are not counted as records once more */
	uint64_t lost_records, lost_samples, throttled, unknown_ids, unknown_records, bad_chains;
	uint64_t backwards;	 /* counter values less than the one before them: not counted */
	uint64_t cut_names;	 /* symbols whose names were longer than SYMBOL_NAME_MOST */
	uint64_t outside_window; /* samples left out by the time filter */
	struct profile_unwinds unwinds;
	bool truncated; /* the file ended early or was damaged; `why` says where */
	char why[256];
};

/* Finds a row of an array by its contents: the low half of a hash and an index + 1 per slot. */
struct profile_index {
	uint64_t *slots;
	size_t nslots; /* a power of two */
};

struct profile {
	struct intern strings;
	struct profile_event *events;
	struct profile_dso *dsos;
	struct profile_symbol *symbols;
	struct profile_frame *frames;
	struct profile_cost *costs;
	size_t nevents, events_cap, ndsos, dsos_cap, nsymbols, symbols_cap, nframes, frames_cap,
		ncosts, costs_cap;
	struct profile_spot *spots; /* by event, symbol and offset */
	struct profile_code *codes;
	size_t nspots, spots_cap, ncodes, codes_cap;
	uint32_t arch; /* string: the machine that recorded, "x86_64"; PROFILE_NONE: not known */
	struct profile_index symbol_ids, frame_ids, cost_ids; /* profile.c's own */
	uint64_t first_ns, last_ns; /* times of the first and last sample counted; 0: no times */
	struct profile_health health;
	uint64_t kernel_base; /* what the kernel's offsets count from: its _text; 0: not recorded */
	char *kernel_note;    /* why kernel symbols are missing or doubtful, else NULL; owned */
	char *unwind_note; /* how many user stacks were not unwound to the root, else NULL; owned */
	char *dso_note;	   /* which objects' symbols were refused, and why, else NULL; owned */
};

void profile_init(struct profile *p);
void profile_free(struct profile *p);

uint32_t profile_event(struct profile *p, const char *name, bool is_time);
uint32_t profile_dso(struct profile *p, const char *name, const char *build_id, enum dso_kind kind);
uint32_t profile_symbol(struct profile *p, uint32_t dso, const char *name,
			enum unresolved unresolved);
uint32_t profile_frame(struct profile *p, uint32_t parent, uint32_t symbol);

/*
 * In place of all symbols, or of all costs there are: rows that are distinct already, from malloc,
 * owned from then on. Who numbers symbols anew sees to the frames that name them.
 */
void profile_take_symbols(struct profile *p, struct profile_symbol *rows, size_t n);
void profile_take_costs(struct profile *p, struct profile_cost *rows, size_t n);

/* Adds samples and weight to the row with the same key (all members but those two). */
void profile_add(struct profile *p, const struct profile_cost *key_and_cost);

/* All that is to be said beside a table: severity "lossy", "warning" or "note", and a sentence. */
typedef void (*profile_say)(void *arg, const char *severity, const char *text);
void profile_tell_health(const struct profile *p, profile_say say, void *arg);

/*
 * The number of the event of that name, -ENOENT where there is none; without a name that of the
 * first with samples, or nevents.
 */
int profile_pick_event(const struct profile *p, const char *name, uint32_t *event,
		       struct error *err);

const char *profile_symbol_name(const struct profile *p, uint32_t symbol);
/* As profile_symbol_name, but "libc.so.6+0x1234" for an unresolved one. Made in `buf`, if at all.
 */
const char *profile_symbol_label(const struct profile *p, uint32_t symbol, char *buf, size_t size);
const char *profile_symbol_dso(const struct profile *p, uint32_t symbol);

/* "[veth]" -> veth; kernel -> "kernel"; a user DSO -> its base name. */
const char *profile_module(const struct profile *p, uint32_t symbol);

#endif
