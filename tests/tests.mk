# SPDX-License-Identifier: GPL-2.0-only
# Unit tests: one cmocka program per tests/unit/*.c, host_*.c linked with the host half. Command
# tests: tests/cmd/*.t, host-*.t need the host half. All speak TAP; tests/testrules.yml says which run alone.

UNIT_SRC := $(wildcard tests/unit/*.c)
CMD_TESTS := $(sort $(wildcard tests/cmd/*.t))
ifdef OFFLINE
UNIT_SRC := $(filter-out tests/unit/host_% tests/unit/tcpzc_%,$(UNIT_SRC))
CMD_TESTS := $(filter-out tests/cmd/host-%,$(CMD_TESTS))
endif
UNIT := $(UNIT_SRC:%.c=$(B)/%)

# Four more than there are CPUs: half of the tests of the host half mostly wait. Without the module that reads the rules (it comes
# with Perl) prove would run all tests at a time.
TEST_JOBS = $(shell perl -MCPAN::Meta::YAML -e1 2>/dev/null && expr $$(nproc) + 4 || echo 1)

.SECONDARY:
.PHONY: run-tests
run-tests: $(PROGRAMS) $(UNIT)
	@ZCOST_BUILD=$(abspath $(B)) ZCOST_LDFLAGS='$(LDFLAGS)' HARNESS_RULESFILE=tests/testrules.yml sh tests/run.sh \
		-j$(TEST_JOBS) $(UNIT) $(CMD_TESTS)

# Small programs that tests and benchmarks run.
TOOLS := $(patsubst tests/tools/%.c,$(B)/tests/tools/%,$(wildcard tests/tools/*.c))

# The tests whose workloads and windows a busy machine delays, beside two busy programs. The others run beside each other in
# any case, or measure what other programs change.
BUSY_TESTS := capture-start collect-perf collect-run collect-sync collect-window demo matrix nginx window workload-only workloads
.PHONY: run-busy-tests
run-busy-tests: $(PROGRAMS) $(TOOLS)
	@ZCOST_BUILD=$(abspath $(B)) HARNESS_RULESFILE=tests/testrules.yml sh tests/busy.sh sh tests/run.sh \
		-j$(TEST_JOBS) $(BUSY_TESTS:%=tests/cmd/host-%.t)

$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/laptop.a $(B)/lib.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(B)/laptop.a $(B)/lib.a $(LAPTOP_LIBS) $(LIB_LIBS) -lcmocka

$(B)/tests/unit/host_%: $(B)/tests/unit/host_%.o $(B)/host.a $(B)/lib.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(B)/host.a $(B)/lib.a $(HOST_LIBS) $(LIB_LIBS) -lcmocka

# A mode of tcpzc whose source the test holds itself, to feed it what no device here does.
$(B)/tests/unit/tcpzc_%: $(B)/tests/unit/tcpzc_%.o $(TCPZC_OBJ) $(B)/lib.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(filter-out %/main.o %/$*.o,$(TCPZC_OBJ)) \
		$(B)/lib.a $(URING_LIBS) -lm -lcmocka

run-tests: $(TOOLS)
$(B)/tests/tools/%: $(B)/tests/tools/%.o $(B)/laptop.a $(B)/lib.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(B)/laptop.a $(B)/lib.a $(LAPTOP_LIBS) $(LIB_LIBS)

# Fails single calls of every command and table, and kills commands; `make faults FAULTS=300` fails more of each kind.
FAULTS ?= 60
INJECT := $(B)/tests/faults/inject.so
run-tests: $(INJECT)
$(INJECT): tests/faults/inject.c
	@mkdir -p $(@D)
	@echo "  LINK    $@"
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) -O2 -fPIC -shared -o $@ $<
.PHONY: faults
faults: all $(INJECT) $(B)/tests/tools/perfdata_gen
	@ZCOST_BUILD=$(abspath $(B)) FAULTS=$(FAULTS) prove --exec '' --verbose tests/cmd/faults.t tests/cmd/host-ssh.t

# Changes the calculation code in MUTANTS places, one at a time, and looks whether a test notices. A sample is repeated with its
# SEED. IN names folders, files or lines (FILE:LINE) instead.
MUTANTS ?= 200
.PHONY: mutate offline-programs print-build
mutate:
	@perl tests/mutate.pl build-mutate $(MUTANTS) $(or $(SEED),$$(date +%s)) $(IN)
offline-programs: $(B)/zcost $(UNIT) $(TOOLS) $(INJECT)
print-build:
	$(info $(CC) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS) $(if $(IBERTY),-DHAVE_LIBIBERTY) $(shell $(PKG_CONFIG) --cflags capstone 2>/dev/null))
	$(info $(CC) $(LDFLAGS))
	$(info $(LAPTOP_LIBS) $(LIB_LIBS))
	@:

# The share of executed lines of each folder. COVERED names tests instead of all; their counts add to those of earlier runs.
COVERED ?= $(patsubst %.c,build-coverage/%,$(wildcard tests/unit/*.c)) $(sort $(wildcard tests/cmd/*.t))
COVERAGE := -fprofile-update=atomic --coverage
.PHONY: coverage coverage-programs
coverage:
	@$(MAKE) --no-print-directory $(JOBS) BUILD=build-coverage CFLAGS="-O0 -g -w $(COVERAGE)" LDFLAGS=--coverage coverage-programs
	@-ZCOST_BUILD=$(abspath build-coverage) ZCOST_LDFLAGS=--coverage HARNESS_RULESFILE=tests/testrules.yml \
		prove -j$(TEST_JOBS) --exec '' --timer --failures --comments $(COVERED)
	@perl tests/coverage.pl build-coverage
coverage-programs: $(PROGRAMS) $(UNIT) $(TOOLS) $(INJECT)

# One libFuzzer program per tests/fuzz/*.c, host_*.c linked with the host half; the corpus is made of
# small recordings and of the foreign files where they are. `make fuzz FUZZ_SECONDS=600` for longer,
# FUZZ="ingest store" for some of them.
FUZZ_SECONDS ?= 60
FUZZ ?= $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
ifdef OFFLINE
FUZZ := $(filter-out host_%,$(FUZZ))
endif
FUZZ_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
.PHONY: fuzz fuzz-programs
fuzz:
	@$(MAKE) --no-print-directory $(JOBS) CC=$(CLANG) BUILD=build-fuzz \
		CFLAGS="-O1 -g -fsanitize=fuzzer-no-link $(FUZZ_FLAGS)" LDFLAGS="$(FUZZ_FLAGS)" fuzz-programs
	@for f in $(FUZZ); do sh tests/fuzz/run.sh build-fuzz/tests/fuzz/$$f $(FUZZ_SECONDS) || exit 1; done
fuzz-programs: $(B)/zcost $(FUZZ:%=$(B)/tests/fuzz/%) $(addprefix $(B)/tests/unit/perfdata_,world samples records)
$(B)/tests/fuzz/%: $(B)/tests/fuzz/%.o $(B)/laptop.a $(B)/lib.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $< $(B)/laptop.a $(B)/lib.a $(LAPTOP_LIBS) $(LIB_LIBS)
$(B)/tests/fuzz/host_%: $(B)/tests/fuzz/host_%.o $(B)/host.a $(B)/lib.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $< $(B)/host.a $(B)/lib.a $(HOST_LIBS) $(LIB_LIBS)

# ThreadSanitizer over what starts threads: the readers of perf.data and of runs, the checker of
# checksums, and the poller of power meters. Its runtime needs the usual layout of the memory.
TSAN_UNIT := host_collect lib_basic perfdata_samples tracepoints
TSAN_CMD := analyze analyze-damage golden-captures host-collect-power perfdata-threads plot-flame
ifdef OFFLINE
TSAN_UNIT := $(filter-out host_%,$(TSAN_UNIT))
TSAN_CMD := $(filter-out host-%,$(TSAN_CMD))
endif
.PHONY: tsan tsan-programs
tsan:
	@$(MAKE) --no-print-directory $(JOBS) SAN=thread BUILD=build-tsan tsan-programs
	@ZCOST_BUILD=$(abspath build-tsan) TSAN_OPTIONS="halt_on_error=1 exitcode=66" prove --exec 'setarch -R' \
		--timer --failures --comments $(TSAN_UNIT:%=build-tsan/tests/unit/%) $(TSAN_CMD:%=tests/cmd/%.t)
tsan-programs: $(PROGRAMS) $(TSAN_UNIT:%=$(B)/tests/unit/%) $(TOOLS)

# gcc -fanalyzer, clang-tidy, cppcheck and a look at comments over the product; LINT="lib/snap.c" for some files. tests/analyzer.supp,
# .clang-tidy and tests/cppcheck.supp have the exceptions with their reasons. A second run reads only what changed.
DEBS_LINT := gcc clang-tidy cppcheck
RPMS_LINT := gcc clang-tools-extra cppcheck
LINT := $(shell find zcost.c lib workload collect capture analyze plot samples -name '*.c' ! -name '*.bpf.c')
# error.c defines what lint.h redefines.
LINT_CFLAGS = $(if $(filter lib/error.c,$<),,-include tests/lint.h) -std=gnu17 -D_GNU_SOURCE -I. -I$(B) \
	-isystem $(LIBPERF)/include $(shell $(PKG_CONFIG) --cflags capstone) -DHAVE_LIBIBERTY \
	$(foreach d,ZCOST_VERSION FEATURES LIBRARIES,-D$(d)='""') $(if $(HAVE_BPF),-DHAVE_BPF \
	-DBPF_FOLDER='"$(B)/collect"')
.PHONY: lint lint-cppcheck lint-comments
lint: DEPS_DEBS := $(DEBS_LINT)
lint: DEPS_RPMS := $(RPMS_LINT)
lint: deps
	@$(MAKE) --no-print-directory $(JOBS) all
	@$(MAKE) --no-print-directory $(JOBS) --keep-going $(foreach c,analyzer tidy,$(LINT:%.c=$(B)/lint/%.$(c))) lint-cppcheck lint-comments
	@echo "no findings"
$(B)/lint/%.analyzer: %.c $(B)/%.o tests/lint.h tests/analyzer.supp tests/analyzer.awk
	@mkdir -p $(@D)
	@echo "  GCC     $<"
	$(Q)gcc $(LINT_CFLAGS) -O1 -fanalyzer -fanalyzer-verbosity=0 -fdiagnostics-plain-output -c -o /dev/null $< 2>&1 | \
		awk -v file=$< -f tests/analyzer.awk tests/analyzer.supp - >$@ || { cat $@; exit 1; }
$(B)/lint/%.tidy: %.c $(B)/%.o tests/lint.h .clang-tidy
	@mkdir -p $(@D)
	@echo "  TIDY    $<"
	$(Q)clang-tidy --quiet $< -- $(LINT_CFLAGS) >$@ 2>&1 || { cat $@; exit 1; }
# A comment that begins so has lost its noun: "of summary", "NULL: all".
lint-comments:
	$(Q)! grep -rnE '(/\*+|//) *(of |NULL:|-1:)' --include='*.[ch]' zcost.c lib workload collect capture analyze plot samples tests

lint-cppcheck:
	@mkdir -p $(B)/lint/cppcheck
	$(Q)cppcheck --quiet --std=c11 --enable=warning,performance,portability --library=tests/cppcheck.cfg \
		--suppressions-list=tests/cppcheck.supp --cppcheck-build-dir=$(B)/lint/cppcheck --error-exitcode=1 \
		--template='{file}:{line}: {severity}: {message} [{id}]' -D_GNU_SOURCE -DZCOST_VERSION='""' -I. $(LINT)
