/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exports a capture's store or a bare perf.data in a format of other tools. A new
 * format is a file here with its `const struct format`, a row in commands/export.c, and a test.
 */
#ifndef ZC_EXPORT_H
#define ZC_EXPORT_H

#include "analyze/figures/tables.h"
#include "analyze/scope/scope.h"
#include "lib/output.h"

struct export
{
	struct store *store; /* without a store, q->bare.profile is what there is */
	const struct query *q;
	const char *path;	 /* NULL or "-": standard output */
	const char *table;	 /* csv: one of the store's tables; NULL: all, into a folder */
	bool count_samples;	 /* weights are numbers of samples; else periods added up */
	const char **captures;	 /* for a format with many set; ends with NULL */
	struct comparison *ends; /* the ends of a format of two ends, open; store is NULL */
	struct table notes;	 /* losses and warnings, and whether the result is lossy; no rows */
	struct sink out;	 /* export_open's */
};

/* The options of formats with costs per unit of work. */
#define OPT_EXPORT_RUNS "variant side run workload-only unit basis " OPT_SLICE OPT_SAMPLES
#define OPT_EXPORT_FILE "unit basis rate units seconds busy-ns " OPT_RECORDING OPT_SAMPLES

/* A format. Its own file defines it, the list in commands/export.c names it. */
struct format {
	const char *name, *what;
	const char *options[SOURCES]; /* as in struct measure */
	bool two_ends;		      /* takes BASE and NEW */
	bool many;		      /* takes CAPTURE... and opens each itself; x->store is NULL */
	bool binary;		      /* no text: a terminal does not get it */
	int (*write)(struct export *x, struct error *err);
};

/* Opens the output; called when the first bytes are ready, so that a failure leaves a file alone.
 */
static inline FILE *export_open(struct export *x, struct error *err)
{
	sink_open(&x->out, x->path, err);
	return x->out.f;
}

/* Appends the samples as profile.proto, compressed or not. Returns 0 or -errno. (pprof.c) */
int pprof_encode(struct export *x, bool compressed, struct str *file, struct error *err);

/* What a profile.proto does not say of its origin. */
struct otlp_about {
	const char *labels[6][2]; /* names and values: attributes of the resource */
	size_t nlabels;
	uint64_t time_ns; /* since 1970 */
	uint8_t id[16];	  /* each profile gets one that differs in the last byte */
};

/*
 * Appends a request to a collector of OpenTelemetry, made of a profile.proto that is not
 * compressed. It has a profile for each sample type, the default one first. (otlp.c)
 */
int otlp_encode(const struct str *pprof, const struct otlp_about *about, struct str *request,
		struct error *err);

/*
 * Calls `add` for each statement that puts an analyzed capture into ClickHouse, in order. `rows` is
 * what an INSERT reads. To run all of them again does no harm. (clickhouse.c)
 */
typedef void clickhouse_fn(void *arg, const char *sql, const char *rows, size_t len);
int clickhouse_statements(const char *capture, clickhouse_fn *add, void *arg, struct error *err);

/*
 * --- folder.c ---
 *
 * Makes the temporary folder *tmp for the files of an export into the folder x->path. The other
 * gives it that name, or moves its files into the folder that has the name. Without success (rc)
 * it removes the temporary folder and returns rc. The caller frees *tmp.
 */
int export_open_folder(struct export *x, char **tmp, struct error *err);
int export_close_folder(struct export *x, const char *tmp, int rc, struct error *err);

/*
 * --- samples.c: the samples that an export has ---
 *
 * They are those of the query's runs, of one event, as the filters select them. A block is a
 * (variant, side) of a capture, or the whole perf.data. Each block knows what its samples cost per
 * unit of work, by the same shares and basis as `report functions`.
 */

struct sample_block {
	struct block of;   /* NULL, NULL for a perf.data */
	char *name;	   /* "VARIANT/SIDE", or "samples" of a perf.data; owned */
	uint64_t weight;   /* the weight of the samples that the filters select */
	double ns;	   /* cost of one unit of weight, per unit of work; NAN: not known */
	char *unit;	   /* the unit of work; NULL: no cost or no sample; owned */
	uint32_t root;	   /* the block's frame, where a format has one (lines.c) */
	bool exclude_idle; /* the samples of the idle context cost nothing */
	bool exclude_irq;  /* the filters leave out softirqs and interrupts */
};

struct samples {
	struct store *store; /* without a store, the source is q->bare.profile */
	const struct query *q;
	struct table *notes;
	bool costs; /* find the costs */
	struct sample_block *blocks;
	int nblocks;
	char *event;  /* that all profiles have; NULL: none has samples; owned */
	bool is_time; /* the weights are nanoseconds */
	struct map comms;
};

/* Some samples of a block: the profile of one run, or the perf.data. */
struct sample_run {
	struct samples *s;
	struct sample_block *block;
	const struct run *run; /* NULL for a perf.data */
	const struct profile *p;
	uint32_t event;
};

/* Finds the blocks. The caller sets the first four members and calls samples_close(). */
int samples_open(struct samples *s, struct error *err);
void samples_close(struct samples *s);

typedef void sample_fn(void *arg, const struct sample_run *r);
/* Calls `add` for each run with samples, block by block, and adds the notes of the runs. Returns
 * -ENODATA when no sample is selected. */
int samples_read(struct samples *s, sample_fn *add, void *arg, struct error *err);

/* Returns whether the filters select the sample, and adds its weight to its block. */
bool samples_select(const struct sample_run *r, const struct profile_cost *c);

/* Returns the name of the command, or "". */
const char *sample_comm(const struct sample_run *r, const struct profile_cost *c);

/* Returns the cost of the row in ns per unit of work; 0 for idle time that costs nothing. NAN: not
 * known. */
double sample_ns(const struct sample_run *r, const struct profile_cost *c);

/* Rounds one cost after another to picoseconds so that the sum of all is the rounded sum. */
struct picoseconds {
	double exact;
	int64_t given;
};
int64_t picoseconds_round(struct picoseconds *sum, double ns);

/*
 * Sets *unit to the unit of work of all blocks that have a cost, or to NULL. Returns -EINVAL where
 * blocks have different units.
 */
int samples_unit(const struct samples *s, const char **unit, struct error *err);

/*
 * Returns the file of an object as perf script prints it. That of code from a JIT compiler is the
 * map file that perf looks for. The caller frees it.
 */
char *sample_object_path(const char *dso);
/*
 * Returns the name of an address without a symbol: the last part of its object's path, as in
 * "[libc.so.6]", or "[unknown]". The caller frees it.
 */
char *sample_object_name(const char *dso);

/* --- lines.c --- */

/*
 * Call chains as lines of text: "comm;root;...;leaf", with VARIANT/SIDE before the command where
 * there are several blocks. Two chains with the same text share a line: an address without a symbol
 * has only its object's name. The chains of the profiles therefore go into a trie of the printed
 * names. A walk of the trie in the order of names gives the lines.
 */
struct lines {
	struct profile trie; /* a frame is the text between two ';' */
	bool count_samples;  /* a line's weight is its number of samples; else their periods */
	bool all_roots;	     /* a block has its root also where it is the only one */
	int end;	     /* which of the weights lines_add() fills: 0, or 1 for NEW */
	struct {
		uint64_t *of; /* the line that ends at each frame of the trie */
		size_t cap;
	} weight[2];
	/* The block that is read, or the one of a perf.data. Runs of a store share the numbers of
	 * frames. */
	struct {
		const struct sample_block *block;
		const struct profile *p;
		uint32_t root;	  /* frame of the trie above the command, or PROFILE_NONE */
		struct map names; /* symbol -> symbol of the trie + 1 */
		struct map comms; /* comm -> frame of the trie + 1 */
		struct line_place {
			uint32_t comm, frame; /* frames of the trie; comm + 1, 0: none */
		} * places;		      /* by frame of the profile */
	} source;
};

void lines_init(struct lines *l);
void lines_free(struct lines *l);

/* A sample_fn. `lines` is a struct lines. Leaves out samples that cost nothing. */
void lines_add(void *lines, const struct sample_run *r);
/* Ends the reading of one end. */
void lines_end(struct lines *l);

static inline uint64_t lines_weight(const struct lines *l, int end, uint32_t frame)
{
	return frame < l->weight[end].cap ? l->weight[end].of[frame] : 0;
}

/* Calls `line` for each line with a weight, in the order of names. */
typedef void line_fn(void *arg, const char *text, uint32_t frame);
void lines_walk(const struct lines *l, line_fn *line, void *arg);

#endif
