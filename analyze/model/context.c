// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/model/profile.h"

#include <fnmatch.h>
#include <stdio.h>

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
	[CTX_IDLE_TASK] = "idle task",
	[CTX_BLOCKED] = "blocked",
	[CTX_RUN_QUEUE] = "run queue",
};

/* Patterns for names without compiler suffixes (.part.0, .isra.0). The first match decides. */
static const struct {
	enum context context;
	const char *patterns;
} functions[] = {
	{CTX_SOFTIRQ, "__do_softirq handle_softirqs do_softirq do_softirq_own_stack "
		      "do_softirq_post_smp_call_flush"},
	{CTX_HARDIRQ, "generic_handle_domain_irq generic_handle_irq handle_irq_event"},
	{CTX_IDLE, "cpu_startup_entry do_idle cpu_idle_loop cpu_idle arch_cpu_idle default_idle "
		   "default_idle_call cpuidle_enter_state poll_idle acpi_idle_*"},
	{CTX_KTHREAD, "kthread ret_from_fork ret_from_fork_asm worker_thread"},
	/* x86 */
	{CTX_HARDIRQ, "exc_nmi asm_exc_nmi*"},
	{CTX_EXCEPTION, "asm_exc_* page_fault async_page_fault"},
	{CTX_HARDIRQ, "asm_sysvec_* sysvec_* asm_common_interrupt common_interrupt asm_*interrupt "
		      "*_interrupt do_IRQ ret_from_intr"},
	{CTX_SYSCALL, "entry_SYSCALL_64* do_syscall_64 system_call_fastpath entry_INT80_* "
		      "entry_SYSENTER_* entry_SYSCALL_compat* do_fast_syscall_32 do_int80_*"},
	{CTX_IDLE, "native_safe_halt pv_native_safe_halt intel_idle* mwait_idle* start_secondary"},
	/* arm64, arm */
	{CTX_HARDIRQ, "gic_handle_irq el[01]_irq el[01][ht]_64_irq el[01]_interrupt __irq_svc "
		      "__irq_usr"},
	{CTX_SYSCALL, "el0_svc* do_el0_svc invoke_syscall ret_fast_syscall"},
	{CTX_EXCEPTION, "el0_da el0_ia el1_abort"},
	{CTX_IDLE, "cpu_do_idle secondary_start_kernel"},
	/* tips of waits; a blank is a '?' */
	{CTX_BLOCKED, "woken?by?* not?woken*"},
	{CTX_RUN_QUEUE, "waiting?for?a?CPU preempted?by?*"},
};

/* Most functions match no pattern, so this compares the first letters first. */
static bool function_matches(const char *patterns, const char *name)
{
	char pattern[32];
	size_t len;

	for (; *patterns; patterns += len + (patterns[len] == ' ')) {
		len = strcspn(patterns, " ");
		if (*patterns != *name && *patterns != '*')
			continue;
		snprintf(pattern, sizeof(pattern), "%.*s", (int)len, patterns);
		if (!fnmatch(pattern, name, 0))
			return true;
	}
	return false;
}

enum context context_of_function(const char *name)
{
	char plain[256];

	snprintf(plain, sizeof(plain), "%s", name);
	plain[strcspn(plain, ".")] = '\0';
	for (size_t i = 0; i < array_size(functions); i++)
		if (function_matches(functions[i].patterns, plain))
			return functions[i].context;
	return CTX_UNKNOWN;
}

enum context context_of_softirq(enum context outer)
{
	return outer == CTX_SYSCALL || outer == CTX_USER ? CTX_SOFTIRQ_IN_SYSCALL : CTX_SOFTIRQ;
}

bool context_is_interrupt(enum context c)
{
	return c == CTX_HARDIRQ || context_is_softirq(c);
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
