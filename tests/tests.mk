# SPDX-License-Identifier: GPL-2.0-only
# Unit tests: one cmocka program per tests/unit/*.c, host_*.c linked with the host half. Command
# tests: tests/cmd/*.t, host-*.t need the host half. All speak TAP.

UNIT_SRC := $(wildcard tests/unit/*.c)
CMD_TESTS := $(sort $(wildcard tests/cmd/*.t))
ifdef OFFLINE
UNIT_SRC := $(filter-out tests/unit/host_%,$(UNIT_SRC))
CMD_TESTS := $(filter-out tests/cmd/host-%,$(CMD_TESTS))
endif
UNIT := $(UNIT_SRC:%.c=$(B)/%)

.SECONDARY:
.PHONY: run-tests
run-tests: $(PROGRAMS) $(UNIT)
	@ZCOST_BUILD=$(abspath $(B)) prove --exec '' --timer --failures $(UNIT) $(CMD_TESTS)

$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/laptop.a $(B)/lib.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(B)/laptop.a $(B)/lib.a $(LAPTOP_LIBS) $(LIB_LIBS) -lcmocka

$(B)/tests/unit/host_%: $(B)/tests/unit/host_%.o $(B)/host.a $(B)/lib.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(B)/host.a $(B)/lib.a $(HOST_LIBS) $(LIB_LIBS) -lcmocka

# Small programs that tests and benchmarks run.
TOOLS := $(patsubst tests/tools/%.c,$(B)/tests/tools/%,$(wildcard tests/tools/*.c))
run-tests: $(TOOLS)
$(B)/tests/tools/%: $(B)/tests/tools/%.o $(B)/laptop.a $(B)/lib.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(B)/laptop.a $(B)/lib.a $(LAPTOP_LIBS) $(LIB_LIBS)
