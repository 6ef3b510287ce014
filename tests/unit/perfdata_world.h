/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording small enough to add up by hand: three processes, four objects, a kernel with a
 * module and a BPF program; fork, exec, a mapping over a mapping, a mapping that is recorded late,
 * recursion.
 */
#ifndef TEST_PERFDATA_WORLD_H
#define TEST_PERFDATA_WORLD_H

#include "tests/unit/perfdata_stream.h"

enum {
	SERVER = 100, /* forks CLIENT; a second thread, 110 */
	CLIENT = 101, /* execs /w/client */
	WORKER = 200, /* maps /w/liby over a part of /w/libx */
};

#define EXE	0x400000ULL /* where programs are mapped, from offset 0x1000 */
#define LIB	0x7f0000000000ULL
#define KERNEL	0xffffffff81000000ULL
#define MODULE	0xffffffffc0000000ULL
#define BPF	0xffffffffc1000000ULL
#define IN_KERN (uint64_t) PERF_CONTEXT_KERNEL
#define IN_USER (uint64_t) PERF_CONTEXT_USER
#define USER	PERF_RECORD_MISC_USER
#define KERN	PERF_RECORD_MISC_KERNEL

#define SAMPLE(time, period, pid, tid, cpu, mode, ...)                          \
	{                                                                       \
		(time), (period), (pid), (tid), (cpu), (mode), {__VA_ARGS__}, 0 \
	}
static const struct w_sample samples[] = {
	/* main -> serve -> recurse three deep: recurse counts once */
	SAMPLE(20, 1000, SERVER, SERVER, 0, USER, IN_USER, EXE + 0x210, EXE + 0x220, EXE + 0x230,
	       EXE + 0x110, EXE + 0x10),
	/* its second thread, in the library */
	SAMPLE(21, 2000, SERVER, 110, 1, USER, IN_USER, LIB + 0x10, EXE + 0x110),
	/* the child before its exec: still the server's program */
	SAMPLE(30, 4000, CLIENT, CLIENT, 0, USER, IN_USER, EXE + 0x110, EXE + 0x10),
	/* the kernel, during the exec's system call: the old program's stack */
	SAMPLE(36, 8000, CLIENT, CLIENT, 0, KERN, IN_KERN, KERNEL + 0x210, KERNEL + 0x110, IN_USER,
	       EXE + 0x110, EXE + 0x10),
	/* and behind it: the client's program at the same address */
	SAMPLE(50, 16000, CLIENT, CLIENT, 1, USER, IN_USER, EXE + 0x110, EXE + 0x10),
	/* softirq work inside a system call of the client */
	SAMPLE(51, 32000, CLIENT, CLIENT, 1, KERN, IN_KERN, MODULE + 0x110, KERNEL + 0x510,
	       KERNEL + 0x410, KERNEL + 0x310, KERNEL + 0x210, KERNEL + 0x110, IN_USER, EXE + 0x110,
	       EXE + 0x10),
	/* libx in the worker, then liby over the page of libx's xb, then what is left of libx */
	SAMPLE(60, 64000, WORKER, WORKER, 0, USER, IN_USER, LIB + 0x110),
	SAMPLE(70, 128000, WORKER, WORKER, 0, USER, IN_USER, LIB + 0x110, LIB + 0x210, LIB + 0x10),
	/* the idle CPU; an interrupt in it; a BPF program, once loaded and once not any more */
	SAMPLE(80, 256000, 0, 0, 0, KERN, IN_KERN, KERNEL + 0x710),
	SAMPLE(81, 512000, 0, 0, 0, KERN, IN_KERN, KERNEL + 0x910, KERNEL + 0x610, KERNEL + 0x710),
	SAMPLE(82, 1024000, 0, 0, 0, KERN, IN_KERN, BPF + 8, KERNEL + 0x810),
	SAMPLE(92, 2048000, 0, 0, 0, KERN, IN_KERN, BPF + 8, KERNEL + 0x810),
	/* nothing is mapped there */
	SAMPLE(93, 4096000, WORKER, WORKER, 1, USER, IN_USER, 0x1234),
	/* an unknown marker: the chain is dropped, the sample is not */
	SAMPLE(94, 8192000, WORKER, WORKER, 1, USER, IN_USER, LIB + 0x10, (uint64_t)-3000,
	       LIB + 0x210),
	/* a thread without any record; an id that no event has */
	SAMPLE(95, 16384000, 300, 300, 1, USER, IN_USER, 0x5678),
	{96, 1, WORKER, WORKER, 1, USER, {IN_USER, LIB + 0x10}, 555},
};
enum { NSAMPLES = sizeof(samples) / sizeof(samples[0]) };

/* Samples 0..n of the list. */
static inline void write_samples(struct writer *w, size_t from, size_t to)
{
	for (; from < to; from++)
		w_sample(w, &samples[from]);
}

static inline void write_records(struct writer *w)
{
	w_kernel_map(w, KERNEL, 0xa00, KERNEL, "[kernel.kallsyms]_text");
	w_kernel_map(w, MODULE, 0x1000, 0, "/lib/modules/6/veth.ko.xz");
	w_comm(w, 0, SERVER, SERVER, false, "server");
	w_mmap2(w, 0, SERVER, EXE, 0x1000, 0x1000, "/w/server");
	w_mmap2(w, 0, SERVER, LIB, 0x1000, 0x1000, "/w/libx.so");
	w_task(w, PERF_RECORD_FORK, 10, SERVER, SERVER, 110, SERVER);
	w_comm(w, 11, SERVER, 110, false, "rx-thread");
	write_samples(w, 0, 2);
	w_task(w, PERF_RECORD_FORK, 25, CLIENT, SERVER, CLIENT, SERVER);
	/* later samples first, as from another CPU's buffer: the order in the file does not count
	 */
	write_samples(w, 4, 6);
	write_samples(w, 2, 4);
	w_comm(w, 35, CLIENT, CLIENT, true, "client");
	w_mmap2(w, 40, CLIENT, EXE, 0x1000, 0x1000, "/w/client");
	write_samples(w, 7, 8);
	w_comm(w, 55, WORKER, WORKER, false, "worker");
	w_mmap2(w, 55, WORKER, LIB, 0x300, 0x1000, "/w/libx.so");
	write_samples(w, 6, 7);
	w_mmap2(w, 65, WORKER, LIB + 0x100, 0x100, 0x1100, "/w/liby.so");
	w_ksymbol(w, 75, BPF, 64, false, "bpf_prog_0123_drop");
	w_lost(w, PERF_RECORD_LOST, 7);
	w_lost(w, PERF_RECORD_LOST_SAMPLES, 3);
	w_ksymbol(w, 90, BPF, 64, true, "bpf_prog_0123_drop");
	write_samples(w, 8, NSAMPLES);
	w_task(w, PERF_RECORD_EXIT, 99, CLIENT, SERVER, CLIENT, SERVER);
}

/* Writes the world as a file of one form. The caller frees it. */
static inline struct str form(bool big, bool pipe, bool compressed, uint32_t attr_size)
{
	struct writer records = {.big = big}, packed = {.big = big}, w = {.big = big};
	struct str *inner = &records.out;

	write_records(&records);
	if (compressed) {
		w_compress(&packed, &records.out, 101);
		inner = &packed.out;
	}
	if (pipe)
		w_pipe(&w, inner);
	else
		w_file(&w, inner, attr_size);
	str_free(&records.out);
	str_free(&packed.out);
	return w.out;
}

#endif
