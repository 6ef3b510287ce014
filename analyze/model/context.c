// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/model/profile.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

const char *const context_names[CTX_N] = {
	[CTX_UNKNOWN] = "unknown",
	[CTX_USER] = "user",
	[CTX_SYSCALL] = "syscall",
	[CTX_SOFTIRQ] = "softirq",
	[CTX_HARDIRQ] = "hardirq",
	[CTX_IDLE] = "idle",
	[CTX_KTHREAD] = "kthread",
	[CTX_EXCEPTION] = "exception",
	[CTX_SOFTIRQ_IN_SYSCALL] = "softirq in syscall",
};

/* Patterns for names without compiler suffixes (.part.0, .isra.0). The first match decides. */
static const struct {
	const char *pattern;
	enum context context;
} functions[] = {
	/* every architecture */
	{"__do_softirq", CTX_SOFTIRQ},
	{"handle_softirqs", CTX_SOFTIRQ},
	{"do_softirq", CTX_SOFTIRQ},
	{"do_softirq_own_stack", CTX_SOFTIRQ},
	{"do_softirq_post_smp_call_flush", CTX_SOFTIRQ},
	{"generic_handle_domain_irq", CTX_HARDIRQ},
	{"generic_handle_irq", CTX_HARDIRQ},
	{"handle_irq_event", CTX_HARDIRQ},
	{"cpu_startup_entry", CTX_IDLE},
	{"do_idle", CTX_IDLE},
	{"cpu_idle_loop", CTX_IDLE},
	{"cpu_idle", CTX_IDLE},
	{"arch_cpu_idle", CTX_IDLE},
	{"default_idle", CTX_IDLE},
	{"default_idle_call", CTX_IDLE},
	{"cpuidle_enter_state", CTX_IDLE},
	{"poll_idle", CTX_IDLE},
	{"acpi_idle_*", CTX_IDLE},
	{"kthread", CTX_KTHREAD},
	{"ret_from_fork", CTX_KTHREAD},
	{"ret_from_fork_asm", CTX_KTHREAD},
	{"worker_thread", CTX_KTHREAD},
	/* x86 */
	{"exc_nmi", CTX_HARDIRQ},
	{"asm_exc_nmi*", CTX_HARDIRQ},
	{"asm_exc_*", CTX_EXCEPTION},
	{"asm_sysvec_*", CTX_HARDIRQ},
	{"sysvec_*", CTX_HARDIRQ},
	{"asm_common_interrupt", CTX_HARDIRQ},
	{"common_interrupt", CTX_HARDIRQ},
	{"asm_*interrupt", CTX_HARDIRQ},
	{"*_interrupt", CTX_HARDIRQ},
	{"do_IRQ", CTX_HARDIRQ},
	{"ret_from_intr", CTX_HARDIRQ},
	{"page_fault", CTX_EXCEPTION},
	{"async_page_fault", CTX_EXCEPTION},
	{"entry_SYSCALL_64*", CTX_SYSCALL},
	{"do_syscall_64", CTX_SYSCALL},
	{"system_call_fastpath", CTX_SYSCALL},
	{"entry_INT80_*", CTX_SYSCALL},
	{"entry_SYSENTER_*", CTX_SYSCALL},
	{"entry_SYSCALL_compat*", CTX_SYSCALL},
	{"do_fast_syscall_32", CTX_SYSCALL},
	{"do_int80_*", CTX_SYSCALL},
	{"native_safe_halt", CTX_IDLE},
	{"pv_native_safe_halt", CTX_IDLE},
	{"intel_idle*", CTX_IDLE},
	{"mwait_idle*", CTX_IDLE},
	{"start_secondary", CTX_IDLE},
	/* arm64, arm */
	{"gic_handle_irq", CTX_HARDIRQ},
	{"el[01]_irq", CTX_HARDIRQ},
	{"el[01][ht]_64_irq", CTX_HARDIRQ},
	{"el[01]_interrupt", CTX_HARDIRQ},
	{"__irq_svc", CTX_HARDIRQ},
	{"__irq_usr", CTX_HARDIRQ},
	{"el0_svc*", CTX_SYSCALL},
	{"do_el0_svc", CTX_SYSCALL},
	{"invoke_syscall", CTX_SYSCALL},
	{"ret_fast_syscall", CTX_SYSCALL},
	{"el0_da", CTX_EXCEPTION},
	{"el0_ia", CTX_EXCEPTION},
	{"el1_abort", CTX_EXCEPTION},
	{"cpu_do_idle", CTX_IDLE},
	{"secondary_start_kernel", CTX_IDLE},
};

enum context context_of_function(const char *name)
{
	char plain[256];
	size_t i;

	snprintf(plain, sizeof(plain), "%s", name);
	plain[strcspn(plain, ".")] = '\0';
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const char *pattern = functions[i].pattern;

		if ((*pattern == *plain || *pattern == '*') && !fnmatch(pattern, plain, 0))
			return functions[i].context;
	}
	return CTX_UNKNOWN;
}

enum context context_of_softirq(enum context outer)
{
	return outer == CTX_SYSCALL || outer == CTX_USER ? CTX_SOFTIRQ_IN_SYSCALL : CTX_SOFTIRQ;
}

bool context_is_softirq(enum context c)
{
	return c == CTX_SOFTIRQ || c == CTX_SOFTIRQ_IN_SYSCALL;
}

enum context context_of_name(const char *name)
{
	enum context c = CTX_UNKNOWN;

	while (c < CTX_N && strcmp(context_names[c], name))
		c++;
	return c < CTX_N ? c : CTX_UNKNOWN;
}
