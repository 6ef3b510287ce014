/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The workload's processes and threads as they are now: the command, the processes with the names
 * or pids that the user gave, the descendants of both, and orphans that became our children
 * (run.h). Once seen, a process belongs to the workload until it is gone. Of our own children only
 * those count that are in the command's process group or in another session than ours; the others
 * are tools of collectors. A process that another run of zcost started, such as that of another
 * side on this host, belongs to that run, also under such a name.
 *
 * A process that starts and ends between two readings is never seen.
 */
#ifndef ZC_TREE_H
#define ZC_TREE_H

#include "collect/collect.h"
#include "lib/hash.h"

enum {
	TREE_THREADS = 8192, /* more processes or threads are not listed; `cut` stays set */
	TREE_FILES = 65536,  /* more open files are not looked at */
};

struct run;

struct tree_process {
	pid_t pid;
	uint64_t start; /* ticks since boot: a later process with the same number has another one
			 */
};

struct tree_match {
	struct tree_process process;
	char name[16]; /* the one in /proc/PID/comm */
};

struct tree_thread {
	pid_t pid, tid;
};

struct tree {
	struct tree_process *processes;
	struct tree_match *matches; /* roots, and processes that ever had a name of the user's */
	size_t nmatches, matches_cap;
	struct tree_thread *threads; /* ordered as the processes are */
	size_t nprocesses, processes_cap, nthreads, threads_cap;
	struct map known;	   /* the pids in `processes` */
	struct map matched;	   /* the processes in `matches` */
	uint64_t read_ns, took_ns; /* when the tree was read (0: never), and how long that took */
	size_t most;		   /* the largest number of threads in a reading */
	bool cut;
};

/*
 * Returns the tree of the run, which owns it. Collectors that read at the same moment share one
 * reading of the tree.
 */
const struct tree *tree_of(struct run *r);

/* Adds a process that the user named by its pid, as a match. Returns false when it is gone. */
bool tree_add_root(struct tree *t, pid_t pid);

/* What the tree's processes do: their CPU time, and whether none runs or waits for CPU or disk. */
struct tree_state {
	bool sleeps;
	double cpu_s;
};

struct tree_state tree_state_of(const struct tree *t);
void tree_free(struct tree *t);

/* The sockets that the workload's processes hold open. */
struct tree_sockets {
	struct map pid_of;     /* inode of a socket -> a process that holds it */
	bool refused, crowded; /* the open files of a process may not be read; too many of them */
};

/* Adds the sockets of now. The caller frees pid_of. */
void tree_find_sockets(const struct tree *t, struct tree_sockets *s);
/* Degrades a collector that lacks sockets. */
void tree_sockets_report(struct collect *c, const struct tree_sockets *s);

/*
 * Reads the first cap - 1 bytes of a small file of /proc and adds a NUL. Returns their number, or 0
 * when the file is gone or may not be read.
 */
size_t tree_file(char *buf, size_t cap, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

#endif
