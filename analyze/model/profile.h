/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile: samples folded by everything that a figure may need. The perf.data reader makes one,
 * the store holds one per side of a run, and every measure of functions, components, contexts and
 * call chains works on one. Memory grows with the number of distinct stacks, not of samples.
 *
 * Frames form a trie: a frame is a symbol below its parent frame. The root of a chain (main, or the
 * thread's entry) has the parent PROFILE_NONE. A cost row names the leaf frame. Ids are indexes
 * into the arrays. `strings` owns all strings until profile_free.
 */
#ifndef ZC_MODEL_PROFILE_H
#define ZC_MODEL_PROFILE_H

#include "lib/cpuset.h"
#include "lib/hash.h"
#include "lib/intern.h"

/* --- context.c: the context that a sample ran in --- */

/* Databases store these numbers: append only. */
enum context {
	CTX_UNKNOWN,
	CTX_USER,
	CTX_SYSCALL,
	CTX_SOFTIRQ,
	CTX_HARDIRQ,
	CTX_IDLE,
	CTX_KTHREAD,
	CTX_EXCEPTION, /* page faults and other traps that the kernel handles for a process */
	CTX_SOFTIRQ_IN_SYSCALL, /* a system call runs the softirq, without an interrupt between */
	CTX_IDLE_TASK,		/* the idle task, awake; only the frame tells it from CTX_IDLE */
	CTX_BLOCKED,		/* the event "wall" alone has this one and the next */
	CTX_RUN_QUEUE,		/* runnable, without a CPU */
	CTX_N
};
extern const char *const context_names[CTX_N];

/*
 * Returns the context that a kernel function and its callees run in, or CTX_UNKNOWN when the name
 * reveals none. The function nearest to the leaf decides. A function alone never reveals
 * CTX_SOFTIRQ_IN_SYSCALL.
 */
enum context context_of_function(const char *name);

/*
 * Returns the context of a softirq. `outer` is the context of the nearest caller that is no softirq
 * and reveals one. Kernel functions below a program's function run in a system call.
 */
enum context context_of_softirq(enum context outer);

bool context_is_softirq(enum context c);
/* Returns whether the context is a softirq or a hard interrupt. */
bool context_is_interrupt(enum context c);

/* Returns the context with this name in context_names, or CTX_UNKNOWN. */
enum context context_of_name(const char *name);

/* --- the profile --- */

#define PROFILE_NONE UINT32_MAX

enum dso_kind { DSO_UNKNOWN, DSO_KERNEL, DSO_MODULE, DSO_USER, DSO_BPF, DSO_GUEST };

struct profile_dso {
	uint32_t name;	   /* string: "[kernel.kallsyms]", "[veth]", "/usr/lib/libc.so.6" */
	uint32_t build_id; /* string of hexadecimal digits, or PROFILE_NONE */
	enum dso_kind kind;
};

/* Why an address has no name. Databases store these numbers: append only. */
enum unresolved {
	RESOLVED,
	UNRESOLVED_NO_SYMBOLS, /* no file was found, or no file has symbols */
	UNRESOLVED_MISMATCH,   /* a file exists, but it is not the recorded one */
	UNRESOLVED_GAP,	       /* no symbol covers this address */
	UNRESOLVED_NO_MAPPING, /* nothing was mapped there */
	UNRESOLVED_GENERATED,  /* code made at run time, without a perf map */
	UNRESOLVED_GUEST,
	UNRESOLVED_N
};
extern const char *const unresolved_names[UNRESOLVED_N];

/* perf's name of an object that nobody knows. */
#define UNMAPPED "[unknown]"

/*
 * The name of an unresolved symbol is "0x<hex>". The number is an offset: in the file, in the
 * module's memory, or from the kernel's _text. It is the address itself if the object is unknown.
 * All user addresses in no mapping have one symbol, UNMAPPED, which is no address.
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
	uint32_t event; /* index */
	uint32_t cpu;	/* PROFILE_NONE: not recorded */
	uint32_t comm, pid, tid;
	enum context context;
	uint32_t frame; /* the leaf */
	uint64_t samples, weight;
};

/*
 * The samples of one instruction, without its callees. perfdata_options.spots asks for spots. Only
 * named functions that cost enough have them.
 */
struct profile_spot {
	uint32_t event, symbol;
	uint32_t line;	 /* string "file.c:123", or PROFILE_NONE */
	uint64_t offset; /* in the function */
	uint64_t samples, weight;
};

/* The machine code of a function that has spots. */
struct profile_code {
	uint32_t symbol;
	uint64_t at; /* address of the first byte: linked address, file offset or kernel address */
	uint8_t *bytes; /* owned */
	size_t size;
};

struct profile_event {
	uint32_t name; /* string: "cycles", "cpu-clock:k" */
	bool is_time;  /* weights are nanoseconds (cpu-clock, task-clock) */
	uint64_t samples, weight;
	bool exact;	/* the weights are exact times of contexts */
	double weight2; /* sum of squares of single weights: n_eff = weight^2 / weight2 */
};

/* --- what a profile has lost, and what is doubtful about it --- */

/* User stacks that the reader unwound from copies in the samples; those that end too early. */
struct profile_unwinds {
	uint64_t stacks;
	uint64_t cut;  /* the copy in the sample is shorter than the stack */
	uint64_t lost; /* an address has no unwind table, or a value makes no sense */
	uint64_t deep; /* more frames than the reader stores */
};

enum { SYMBOL_NAME_MOST = 4096 }; /* bytes; the reader cuts longer names */

struct profile_health {
	uint64_t lost_records; /* without those that lost_samples counts */
	uint64_t lost_samples, throttled, unknown_ids, bad_chains;
	uint64_t backwards;	 /* counter values below the one before; they are not counted */
	uint64_t outside_window; /* samples that the time filter leaves out */
	struct profile_unwinds unwinds;
	bool truncated; /* the file ends early or is damaged; `why` says where */
	char why[256];
};

/* The first file with symbols or code that exists and could not be read. Threads share it. */
struct unread {
	char *why; /* The profile owns it; without a reason it is NULL. */
};

/* Keeps the error if error_of_machine() or EFBIG, and no other came first. Other errors are no
 * loss. */
void unread_add(struct unread *u, const struct error *err);
/* Adds errno if it is an error of the machine: libelf and libdw have no public number for one. */
void unread_add_errno(struct unread *u, const char *path);

/*
 * Finds a row of an array by its contents. A slot has the low half of a hash and the index of a row
 * + 1, or 0 if it is free.
 */
struct row_slots {
	uint64_t *of;
	size_t n; /* a power of two; 0 at first */
};

/* Makes room for one more than `n` rows. */
static inline void slots_make_room(struct row_slots *s, size_t n)
{
	size_t to = s->n ? 2 * s->n : 1 << 10;

	if (n * 2 < s->n)
		return;
	s->of = slots_grow(s->of, s->n, to);
	s->n = to;
}

/*
 * Steps to the next row that has this hash and sets *row. Returns false if there is no such row; a
 * new row then belongs at *slot. Start with *slot = NULL.
 */
static inline bool slots_next(const struct row_slots *s, uint64_t hash, uint64_t **slot,
			      uint32_t *row)
{
	size_t i = *slot ? (size_t)(*slot - s->of) + 1 : (uint32_t)hash;

	for (i &= s->n - 1; s->of[i] && (s->of[i] ^ hash << 32) >> 32;)
		i = (i + 1) & (s->n - 1);
	*slot = &s->of[i];
	*row = (uint32_t)s->of[i] - 1;
	return s->of[i];
}

struct profile {
	struct intern strings;
	struct profile_event *events;
	struct profile_dso *dsos;
	struct profile_symbol *symbols;
	struct profile_frame *frames;
	struct profile_cost *costs;
	size_t nevents, events_cap, ndsos, dsos_cap, nsymbols, symbols_cap, nframes, frames_cap,
		ncosts, costs_cap;
	uint32_t *own; /* pids of the workload, ascending; of a capture */
	size_t nown, own_cap;
	struct profile_spot *spots; /* sorted by event, symbol and offset */
	struct profile_code *codes;
	size_t nspots, spots_cap, ncodes, codes_cap;
	uint32_t arch;		/* string: the recorded machine, "x86_64"; PROFILE_NONE: unknown */
	uint32_t host, release; /* strings: the recorded host, its kernel; PROFILE_NONE: unknown */
	struct row_slots symbol_ids, frame_ids, cost_ids; /* private to profile.c */
	uint64_t first_ns, last_ns; /* times of the first and last counted sample; 0: no times */
	unsigned int parts; /* parts of the window that were sampled; 0: it was sampled as a whole */
	struct profile_health health;
	uint64_t kernel_base; /* _text, where kernel offsets start; 0: not recorded */
	char *kernel_note;    /* why kernel symbols are missing, or NULL; owned */
	char *unwind_note;    /* how many user stacks end before their root, or NULL; owned */
	char *dso_note;	      /* which objects' symbols were refused and why, or NULL; owned */
	struct unread unread;
};

void profile_init(struct profile *p);
void profile_free(struct profile *p);

/* The event of a profile of exact times (perfdata/exact.c). Each of its samples is one time. */
#define EXACT_EVENT "frame"

/* The event of the wall time of the workload's threads (probes/waits/profile.c). */
#define WALL_EVENT "wall"

uint32_t profile_event(struct profile *p, const char *name, bool is_time);
uint32_t profile_dso(struct profile *p, const char *name, const char *build_id, enum dso_kind kind);
uint32_t profile_symbol(struct profile *p, uint32_t dso, const char *name,
			enum unresolved unresolved);
uint32_t profile_frame(struct profile *p, uint32_t parent, uint32_t symbol);

/*
 * Replace all symbols or all costs by `rows`. The rows must be distinct and come from malloc; the
 * profile owns them afterwards, and nobody adds to them. A caller that renumbers symbols must
 * update the frames itself.
 */
void profile_take_symbols(struct profile *p, struct profile_symbol *rows, size_t n);
void profile_take_costs(struct profile *p, struct profile_cost *rows, size_t n);

/* Adds samples and weight to the row with the same key: all members except those two. */
void profile_add(struct profile *p, const struct profile_cost *key_and_cost);

/* Adds a pid to those of the workload. profile_sort_own() makes them ready for profile_is_own(). */
void profile_add_own(struct profile *p, uint32_t pid);
void profile_sort_own(struct profile *p);
bool profile_is_own(const struct profile *p, uint32_t pid);
/* Returns -ENODATA if the workload's processes are not known. */
int profile_check_own(const struct profile *p, const char *variant, const char *side,
		      struct error *err);

/*
 * Returns whether samples of a CPU's idle task account for its idle time. Idle time is known to two
 * ticks of 10 ms. Unknown idle time (NAN) is not accounted for.
 */
static inline bool profile_has_idle(double sampled_ns, double idle_ns)
{
	return idle_ns <= 2 * sampled_ns + 2e7;
}

/*
 * Adds up the weights of the profile's clock event (cpu-clock, task-clock) on some CPUs (NULL:
 * all). Returns false if the profile samples no clock.
 */
struct profile_time {
	uint32_t event;	   /* index */
	double busy, idle; /* ns: samples of other contexts, and of the idle context */
	bool exact;	   /* they are those of the frame, so a CPU is busy when it is not idle */
};
bool profile_time_of(const struct profile *p, const struct cpuset *cpus, struct profile_time *t);

/*
 * Sets *event to the index of the event `name`. Returns -ENOENT if there is no such event. Without
 * a name, *event is the first event with samples, or nevents.
 */
int profile_pick_event(const struct profile *p, const char *name, uint32_t *event,
		       struct error *err);

const char *profile_symbol_name(const struct profile *p, uint32_t symbol);
/* Returns the symbol's name, or "libc.so.6+0x1234" in `buf` for an unresolved symbol. */
const char *profile_symbol_label(const struct profile *p, uint32_t symbol, char *buf, size_t size);
const char *profile_symbol_dso(const struct profile *p, uint32_t symbol);

/* Returns "veth" for "[veth]", "kernel" for the kernel, and the base name of a user DSO. */
const char *profile_module(const struct profile *p, uint32_t symbol);

struct notes;

/* Adds what perf lost. */
void health_add_losses(struct notes *notes, const struct profile_health *h);
/* Adds what a reader of the profile must know: losses, throttling, missing symbols. */
void profile_add_notes(const struct profile *p, struct notes *notes);

/* --- a part of a recording's time, as the user names it with --from and --to --- */

struct time_point {
	uint64_t ns;
	bool given, relative; /* relative: counts from the first sample */
};

struct time_slice {
	struct time_point from, to; /* [from, to) */
};

/*
 * Parses seconds as perf script prints them ("12345.678901"), or seconds after the first sample
 * ("+0.25"), to the nanosecond. Returns -EINVAL for anything else.
 */
int time_point_parse(struct time_point *p, const char *text);

/* Returns whether the user named a start or an end. */
bool slice_given(const struct time_slice *s);
/* Returns -EINVAL unless the slice starts before its end. */
int slice_check(const struct time_slice *s, struct error *err);

#endif
