/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run: its options and its outcome. run_execute does everything in order, always ends what it
 * started, and always writes run.json. Times are CLOCK_MONOTONIC ns.
 */
#ifndef ZC_RUN_H
#define ZC_RUN_H

#include "collect/collect.h"
#include "collect/options.h"
#include "collect/run/tree.h"
#include "lib/cpuset.h"
#include "lib/words.h"

/*
 * `zcost collect --sync`: another process says when the window opens, so that two sides, here or on
 * another host, measure the same seconds. The protocol has lines on standard input and output, so
 * it works through ssh:
 *
 *   output      ready\n                     the workload runs, and every collector is prepared
 *               settled\n                   the workload listens or waits (see below)
 *               moving\n                    the workload moves data, or nothing will tell
 *               step WORDS\n                what the run does now: "finishing perf"
 *               error WORDS\n               why there is no run.json
 *   input       go <start_ns> <duration_ns>\n
 *                                           open the window at that CLOCK_MONOTONIC time of this
 *                                           host, at once when it is past; duration 0: until the
 *                                           command ends
 *   or          abort\n                     stop the workload; the run is marked failed
 *
 * The end of standard input before the run is over means abort: the other process is gone. A second
 * `go` is ignored. --warmup and --duration are not used, and run.json holds what was really
 * measured. A process that controls two hosts asks each host for its clock first.
 */
enum sync_event { SYNC_NOTHING, SYNC_GO, SYNC_ABORT };

struct sync {
	int fd;
	char line[256];
	size_t len;
	bool closed;
	uint64_t start_ns, duration_ns; /* the window that `go` asked for */
	char why[128];			/* the reason of an abort */
};

struct run;

/* Prints a line of the protocol, or nothing where the run has no --sync. */
void sync_print(const struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reads the input that is there. The caller calls it when fd is readable. */
enum sync_event sync_read(struct sync *s);

/*
 * The guard is a child that waits. When we die without stopping it (SIGKILL, out of memory), it
 * ends the processes that we started, which it finds by their mark (lib/spawn.h): the workload,
 * also what left its group or session, and perf. The kernel ends our BPF programs, events and
 * pipes.
 */

struct guard {
	pid_t pid; /* 0 when there is no guard */
	int fd;
};

/* Starts the guard before any process that carries the mark. `mark` is "NAME=VALUE". */
int guard_start(struct guard *g, const char *mark, struct error *err);
void guard_stop(struct guard *g);

/*
 * Orphans: processes of the workload that left its group and lost their parent. After orphans_adopt
 * they become our children, and orphans_end ends them.
 */

/* Must come before any process is started. */
void orphans_adopt(void);

/* Sends SIGTERM to all our children except one (0: all), SIGKILL after grace_ms, and reaps them. */
void orphans_end(int grace_ms, pid_t except);

/* The folder of a run, before the run. */

/*
 * Checks that a run may be written to `dir`: the folder is missing, empty, or holds an earlier run,
 * and then *used is set. Returns -EEXIST when it holds anything else.
 */
int folder_check(const char *dir, bool *used, struct error *err);

/* Removes the files of an earlier run, so that none of them passes for a file of this run. */
void folder_clear(const char *dir);

enum { ATTACH_MOST = 64 }; /* processes of --pid */

struct run {
	/* options; the strings belong to the caller */
	const char *dir;
	const char *host_dir; /* hosts/<host>; NULL: inside dir */
	const char *variant, *pass, *side, *units;
	const char *named; /* names of more processes of the workload, with globs; "": none */
	unsigned int repeat;
	struct cpuset cpus;
	const char *frame_cpus; /* CPUs of all sides here, which share the frame; NULL: `cpus` */
	const char *without;	/* collectors that another side runs for this one, or NULL */
	double warmup_s, duration_s, grace_s; /* duration 0: until the command ends */
	char **argv; /* what to start; nothing when the run attaches to `pids` */
	pid_t pids[ATTACH_MOST];
	size_t npids;
	const char *user;    /* who runs the command; NULL: the user of this process */
	unsigned int prefix; /* so many words of argv stay with the user of this process */
	bool sync;
	unsigned int freq;	     /* samples per second and CPU */
	const char *call_graph;	     /* fp, dwarf, dwarf,SIZE or lbr, as for perf record */
	const char *syscalls_method; /* NULL for the best method that works here */
	unsigned int time_one_in;  /* every nth system call is timed, all are counted; 0 is as 1 */
	const char *power_csv;	   /* file of an external meter; NULL: none */
	const char *power_command; /* [KIND=]CMD (options.h); NULL: none */
	const char *events;	   /* to count (events.h); NULL: the default ones */

	/* what to collect */
	struct collect *collect;
	size_t ncollect;

	/* while it runs */
	char *hosts;	      /* folder for the facts that explain this host's samples; owned */
	struct cpuset online; /* CPUs there are */
	struct words words;   /* argv, and with `user` the words that change the user */
	pid_t pid;	      /* the workload's first process */
	int pidfd, signals;   /* pidfd is readable when the command, or one of `pids`, has ended */
	int account;	      /* descriptor of the account of BPF programs (bpf.h); -1: it is off */
	int held;   /* descriptor that releases the workload when the window opens; -1: it runs */
	char *mark; /* environment variable of all processes that must end with the run; owned */
	struct guard guard;
	struct sync in;
	bool running;
	struct tree tree; /* the workload's processes: tree_of() */
	pid_t *processes; /* those at the window's start and end */
	size_t nprocesses, processes_cap;

	/* the outcome */
	uint64_t started_ns, ended_ns, start_ns, end_ns; /* the last two are the window; 0: never */
	uint64_t wanted_ns;				 /* when it was to open */
	uint64_t until_ns; /* when the open window is to close; 0: with the workload */
	uint64_t early_ns; /* how much too early the command's end closed the window; 0: it did not
			    */
	uint64_t own_ns;   /* our own CPU time in the window, without children */
	char wall_clock[32];
	bool stopped; /* there is no exit status: we stopped the workload, or never started it */
	int status;   /* what waitpid() returned */
	bool failed;
	char why[1024];
	char *cut_off; /* why the workload's account is incomplete; owned; NULL: it is complete */
};

/* Returns 0 when run.json is written, also for a run that failed (see `failed`), else -errno. */
int run_execute(struct run *r, struct error *err);

/* Says whether the user named processes, by pid or name, that zcost does not start. */
static inline bool run_has_strangers(const struct run *r)
{
	return *r->named || r->npids;
}

/* Says whether a collector of that name was chosen. */
bool run_has_collector(const struct run *r, const char *name);

/* Creates a file of the run for appending. Returns its descriptor or -errno. */
int run_create_file(const struct run *r, const char *name, struct error *err);

/* Moves the calling thread off the measured CPUs, where there are others. */
void run_leave_cpus(const struct run *r);

/* Writes run.json (docs/reference/capture-folder.md). */
int run_write_json(const struct run *r, struct error *err);

/*
 * How far a workload has come before its window opens. The capture waits for both lines of the
 * protocol (run.h), so that a client finds its server listening, and a window has data in it also
 * where the host is so busy that the workload starts late:
 *
 *   settled   it has a TCP socket that listens, or all its processes sleep: a server waits for its
 *             client, any other program for something else
 *   moving    its account of the work has begun, or one of its TCP sockets has moved a byte
 *
 * Time on a busy host says little, so a limit is CPU time: a workload that has used two seconds of
 * it is settled. It counts as moving when it has no TCP socket although it has used one second of
 * CPU time, or sleeps a second after its start. It counts as moving at once when it has no `units`,
 * and when it is measured without a warm-up.
 */

struct motion;

struct motion *motion_begin(struct run *r);

/* Looks at the workload and prints what it reached. Returns true when no further look is due. */
bool motion_look(struct motion *m);
void motion_end(struct motion *m);

/* What the workload's TCP sockets showed. */
struct tcp_seen {
	bool sockets, listens, moved;
};

/*
 * Looks at the sockets for a `c` that belongs to no list of collectors and only has its run. Shows
 * nothing where the sockets cannot be read. The caller calls tcp_look_end() after the last look.
 */
struct tcp_seen tcp_look(struct collect *c);
void tcp_look_end(struct collect *c);

void netns_close(struct netns *n);

/*
 * Follows the workload of c's run. When it has entered another namespace, calls `work`, unless it
 * is NULL, inside that one, once. Three things degrade the collector: a namespace that cannot be
 * entered, a failure of `work`, and processes in several namespaces. Only the first of these is
 * read.
 */
typedef int netns_work(void *arg, struct error *err);
void netns_enter(struct collect *c, netns_work *work, void *arg);

/* Calls `work` inside the namespace that netns_enter() found. */
int netns_inside(const struct netns *n, netns_work *work, void *arg, struct error *err);

/*
 * The user who runs the workload: `zcost collect --user NAME`. zcost, its collectors and the words
 * of the prefix stay root, because a prefix such as `ip netns exec` needs root. Behind the prefix
 * env drops the variables of root, and setpriv its rights for good: no setuid program brings them
 * back. lib/spawn.h keeps the terminal, the keys and the descriptors of root away (`apart`). The
 * limits of resources stay those of zcost.
 */

/*
 * Adds the words that run `argv` as the user: the first `prefix` words of argv, then env and
 * setpriv with their options, then the other words. `mark` ("NAME=VALUE") stays in the environment.
 * Without a name these are the words of argv.
 */
int user_command(struct words *w, const char *name, size_t prefix, char *const argv[],
		 const char *mark, struct error *err);

#endif
