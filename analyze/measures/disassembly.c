// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/disassembly.h"

#include "lib/alloc.h"

#include <capstone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	cs_arch arch;
	cs_mode mode;
} machines[] = {
	{"x86_64", CS_ARCH_X86, CS_MODE_64},	     {"i686", CS_ARCH_X86, CS_MODE_32},
	{"i386", CS_ARCH_X86, CS_MODE_32},	     {"aarch64", CS_ARCH_ARM64, CS_MODE_ARM},
	{"armv7l", CS_ARCH_ARM, CS_MODE_ARM},	     {"ppc64le", CS_ARCH_PPC, CS_MODE_64},
	{"s390x", CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN},
};

size_t disassemble(const char *arch, const uint8_t *bytes, size_t size, uint64_t at,
		   struct instruction **list)
{
	size_t n, i, m;
	cs_insn *insn;
	csh handle;

	*list = NULL;
	for (m = 0; arch && m < array_size(machines); m++)
		if (!strcmp(machines[m].name, arch))
			break;
	if (!arch || m == array_size(machines) ||
	    cs_open(machines[m].arch, machines[m].mode, &handle) != CS_ERR_OK)
		return 0;
	if (machines[m].arch == CS_ARCH_X86)
		cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT); /* as objdump and perf */
	cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON); /* one unknown byte ends nothing */
	n = cs_disasm(handle, bytes, size, at, 0, &insn);
	*list = xcalloc(n + 1, sizeof(**list));
	for (i = 0; i < n; i++) {
		(*list)[i].offset = insn[i].address - at;
		snprintf((*list)[i].text, sizeof((*list)[i].text), "%.24s%s%.90s", insn[i].mnemonic,
			 *insn[i].op_str ? " " : "", insn[i].op_str);
	}
	if (n)
		cs_free(insn, n);
	cs_close(&handle);
	return n;
}
