/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's programs share, and the integers of headers that user space includes, too. */
#ifndef ZC_PROGRAMS_H
#define ZC_PROGRAMS_H

/* Linux 6.18 does not preempt a program of a system call, and 7.3 does: see AGAIN(). */
enum { PREEMPTS_MAJOR = 6, PREEMPTS_MINOR = 19 };

#ifndef __bpf__
#include <stdint.h>
#else
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int int32_t;
typedef long long int64_t;

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

char LICENSE[] SEC("license") = "GPL";

#define MAP(name, kind, entries, key_type, value_type, flags) \
	struct {                                              \
		__uint(type, BPF_MAP_TYPE_##kind);            \
		__uint(max_entries, entries);                 \
		__uint(map_flags, flags);                     \
		__type(key, key_type);                        \
		__type(value, value_type);                    \
	} name SEC(".maps")

/* --- the kernel's types, with the members that the programs read --- */

// clang-format off
#define KERNEL __attribute__((preserve_access_index))

struct task_struct { int pid, tgid; unsigned int flags, __state; char comm[16]; struct nsproxy *nsproxy; } KERNEL;
struct ns_common { unsigned int inum; } KERNEL;
struct net { struct ns_common ns; } KERNEL;
typedef struct { struct net *net; } KERNEL possible_net_t;
struct sock_common { uint16_t skc_dport, skc_num; volatile unsigned char skc_state; possible_net_t skc_net; } KERNEL;
struct sock { struct sock_common __sk_common; struct socket *sk_socket; } KERNEL;
struct net_device { char name[16]; int ifindex; possible_net_t nd_net; void *rtnl_link_ops; } KERNEL;
struct sk_buff { struct net_device *dev; struct sock *sk; unsigned int len, data_len, end; uint16_t transport_header;
	unsigned char *head, *data; } KERNEL;
struct skb_shared_info { unsigned short gso_size, gso_segs; } KERNEL;
// clang-format on

/* Flags of threads that never return to user mode. */
enum {
	PF_IO_WORKER = 0x10,	 /* a thread of a process */
	PF_USER_WORKER = 0x4000, /* the same: of vhost, since Linux 6.4 */
	PF_KTHREAD = 0x200000,
};

/* Returns the packets of the wire in a packet with `len` bytes. */
static __always_inline uint32_t packet_segments(void *end, uint32_t len)
{
	struct skb_shared_info *info = end;
	uint32_t size = BPF_CORE_READ(info, gso_size), segments;

	if (!size)
		return 1;
	segments = BPF_CORE_READ(info, gso_segs);
	return segments ?: (len + size - 1) / size; /* a virtual machine says the size alone */
}

/* Returns the next of `max` indexes that was never used; 0: none is left. */
static __always_inline uint32_t take_index(volatile uint32_t *used, uint32_t max)
{
	uint32_t n;

	if (*used >= max - 1)
		return 0;
	n = __sync_fetch_and_add(used, 1) + 1;
	return n < max ? n : 0;
}

/* --- programs of system calls --- */

/*
 * Newer kernels, such as Linux 7.3, may preempt a program of a system call. Until its thread runs
 * again, they skip this program for all other threads of the CPU: a quarter of the calls, where two
 * busy threads share a CPU. There, such a program is attached three times under three names, and
 * does nothing where one of the others has run. bpf_choose_again() leaves the copies out elsewhere.
 */
#define AGAIN(section, name, type, call)         \
	SEC(section) int name##_again1(type ctx) \
	{                                        \
		return call;                     \
	}                                        \
	SEC(section) int name##_again2(type ctx) \
	{                                        \
		return call;                     \
	}

extern int LINUX_KERNEL_VERSION __kconfig;
extern void bpf_preempt_disable(void) __weak __ksym;
extern void bpf_preempt_enable(void) __weak __ksym;

/* The kernel knows the version as it loads a program, and drops what never runs. */
static __always_inline int is_preempted(void)
{
	return LINUX_KERNEL_VERSION >= KERNEL_VERSION(PREEMPTS_MAJOR, PREEMPTS_MINOR, 0);
}

/* Begins to change what belongs to the CPU. Ends with release_cpu(). */
static __always_inline void hold_cpu(void)
{
	if (is_preempted())
		bpf_preempt_disable();
}

static __always_inline void release_cpu(void)
{
	if (is_preempted())
		bpf_preempt_enable();
}
#endif

#endif
