# SPDX-License-Identifier: GPL-2.0-only
# zcost: one makefile. `make` builds, `make try` explains two captures of the tree, `make demo` measures some,
# `make check` tests, `make bench` measures, `make install` installs below DESTDIR and PREFIX.
#
#   OFFLINE=1   the laptop half alone: needs no libperf, liburing, libbpf
#   SAN=1       with AddressSanitizer and UBSan, in its own build folder
#   SAN=thread  with ThreadSanitizer, in its own build folder; `make tsan` tests it
#   V=1         shows the commands

VERSION := 0.1.0
RELEASED := 2026-11-23

CC ?= gcc
CLANG ?= clang
PKG_CONFIG ?= pkg-config
SANITIZE := $(if $(filter thread,$(SAN)),thread,address,undefined)
BUILD ?= build$(if $(SAN),$(if $(filter thread,$(SAN)),-tsan,-san))$(if $(OFFLINE),-offline)
B := $(BUILD)
LIBPERF := build/libperf
Q := $(if $(V),,@)

# Packages bring their own flags, with their own way of hardening. The sanitizers need none.
ifeq ($(origin CFLAGS),undefined)
CFLAGS := -O2 -g
ifndef SAN
CFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE \
	  $(shell $(CC) -fcf-protection -E -x c /dev/null >/dev/null 2>&1 && echo -fcf-protection)
LDFLAGS += -pie -Wl,-z,relro,-z,now
endif
endif
WARN := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wvla $(if $(WERROR),-Werror)
OUR_CFLAGS = -std=gnu17 -D_GNU_SOURCE $(WARN) -fno-omit-frame-pointer \
	     -I. -I$(B) -DZCOST_VERSION='"$(VERSION)"' $(if $(OFFLINE),-DOFFLINE) -pthread
LDFLAGS += -pthread
ifdef SAN
OUR_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined
LDFLAGS += -fsanitize=$(SANITIZE)
endif

pkgs = $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null)
LIB_PKGS := jansson libzstd libgcrypt
LAPTOP_PKGS := sqlite3 libdw libelf libtraceevent libprotobuf-c
LATE_PKGS := capstone libarchive libcurl
LIB_LIBS := $(call pkgs,$(LIB_PKGS)) -lm
LAPTOP_LIBS := $(call pkgs,$(LAPTOP_PKGS))
IBERTY := $(filter /%,$(shell $(CC) -print-file-name=libiberty.a))
LAPTOP_LIBS += $(IBERTY)
HOST_LIBS := $(call pkgs,libbpf) $(LIBPERF)/libperf.a $(LIBPERF)/libapi.a
URING_LIBS := $(call pkgs,liburing jansson)

obj = $(patsubst %.c,$(B)/%.o,$(filter-out %.bpf.c,$(wildcard $(addsuffix /*.c,$(1)))))
LIB_OBJ := $(call obj,lib workload)
HOST_OBJ := $(call obj,collect collect/run collect/events collect/syscalls collect/frame collect/packets collect/path collect/waits collect/doctor capture)
PPROF := $(B)/analyze/export/profile.pb-c
LAPTOP_OBJ := $(call obj,analyze/model analyze/archive analyze/perfdata analyze/symbols analyze/texts analyze/store \
		analyze/scope analyze/probes analyze/probes/* analyze/costs analyze/evidence analyze/figures analyze/analysis analyze/compare analyze/export analyze/commands plot) $(PPROF).o
TCPZC_OBJ := $(call obj,samples/tcpzc)

ARCHIVES := $(if $(OFFLINE),,$(B)/host.a) $(B)/laptop.a $(B)/lib.a
LIBS := $(if $(OFFLINE),,$(HOST_LIBS)) $(LAPTOP_LIBS) $(LIB_LIBS)
PROGRAMS := $(B)/zcost $(if $(OFFLINE),,$(B)/tcpzc)

.PHONY: all try demo check check-busy bench deps clean format
.DELETE_ON_ERROR:
all: $(PROGRAMS)

include tests/tests.mk
include install.mk

$(B)/zcost: $(B)/zcost.o $(ARCHIVES) $(if $(OFFLINE),,$(LIBPERF)/libperf.a)
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(ARCHIVES) $(LIBS)

$(B)/tcpzc: $(TCPZC_OBJ) $(B)/lib.a
	@echo "  LINK    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(URING_LIBS) -lm

$(B)/lib.a: $(LIB_OBJ)
$(B)/host.a: $(HOST_OBJ)
$(B)/laptop.a: $(LAPTOP_OBJ)
$(B)/%.a:
	@echo "  AR      $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/analyze/symbols/symtab.o: OUR_CFLAGS += $(if $(IBERTY),-DHAVE_LIBIBERTY)
$(B)/analyze/costs/hotspots.o: OUR_CFLAGS += $(shell $(PKG_CONFIG) --cflags capstone 2>/dev/null)
$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The format of pprof: C code out of its description.
$(PPROF).c: analyze/export/profile.proto
	@mkdir -p $(@D)
	@echo "  PROTOC  $<"
	$(Q)protoc --c_out=$(B) $<
$(PPROF).o: $(PPROF).c
	$(Q)$(CC) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS) -c -o $@ $<
$(B)/analyze/export/pprof.o $(B)/analyze/export/otlp.o: $(PPROF).c

# What `zcost --version` names.
FEATURES = $(if $(OFFLINE),-,+)host $(if $(HAVE_BPF),+,-)bpf $(if $(OFFLINE),-,+)io_uring $(if $(IBERTY),+,-)c++-names
LIBRARIES = $(foreach p,$(LIB_PKGS) $(LAPTOP_PKGS) $(LATE_PKGS) $(if $(OFFLINE),,libbpf liburing),$(p) \
	$(shell $(PKG_CONFIG) --modversion $(p) 2>/dev/null);) $(if $(OFFLINE),,libperf $(KERNEL_NAME))
$(B)/zcost.o: OUR_CFLAGS += -DFEATURES='"$(FEATURES)"' -DLIBRARIES='"$(strip $(LIBRARIES))"'

# Data files inside the program (EMBED_TEXT in lib/file.h).
$(B)/analyze/store/store.o: analyze/store/schema.sql
$(B)/analyze/store/history.o: analyze/store/history.sql
$(B)/analyze/costs/components.o: analyze/costs/components.rules
$(B)/plot/flame.o: plot/flame.js plot/flame.css
$(B)/plot/html_page.o: plot/html.css plot/html.js

# --- programs for the kernel: BPF objects, embedded in their collectors where clang is there ---

ifndef OFFLINE
BPF_OBJ := $(patsubst %.bpf.c,$(B)/%.bpf.o,$(wildcard collect/*/*.bpf.c))
HAVE_BPF := $(shell command -v $(CLANG) 2>/dev/null)
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
BPF_ARCH := $(patsubst aarch64%,arm64,$(patsubst x86_64%,x86,$(shell $(CC) -dumpmachine)))
ifneq ($(HAVE_BPF),)
$(B)/collect/%.bpf.o: collect/%.bpf.c
	@mkdir -p $(@D)
	@echo "  BPF     $<"
	$(Q)$(CLANG) -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) $(if $(MULTIARCH),-I/usr/include/$(MULTIARCH)) -I. \
		-Wall -MMD -MP -c -o $@ $<
$(HOST_OBJ): | $(BPF_OBJ)
$(HOST_OBJ): OUR_CFLAGS += -DHAVE_BPF -DBPF_FOLDER='"$(B)/collect"'
$(foreach b,$(BPF_OBJ),$(eval $(filter $(dir $(b))%,$(HOST_OBJ)): $(b)))
endif

# Names of system calls, out of the C library's headers.
$(B)/collect/syscalls.o: $(B)/collect/syscall_names.inc
$(B)/collect/syscall_names.inc:
	@mkdir -p $(@D)
	$(Q)echo '#include <sys/syscall.h>' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9][0-9]*\)$$/[\2] = "\1",/p' >$@

# --- libperf: the system's where pkg-config finds one, else out of the kernel's source package ---

# Debian's lies in /usr/src, Ubuntu's in a folder there.
KERNEL_SOURCE := $(lastword $(sort $(wildcard /usr/src/linux-source-*.tar.* \
	/usr/src/linux-source-*/linux-source-*.tar.*)))
KERNEL_NAME := $(firstword $(subst .tar., ,$(notdir $(KERNEL_SOURCE))))
LIBPERF_TREE := tools/lib tools/include tools/scripts tools/build tools/arch scripts
ifneq ($(shell $(PKG_CONFIG) --exists libperf 2>/dev/null && echo yes),)
HOST_LIBS := $(call pkgs,libbpf libperf)
$(LIBPERF)/libperf.a:
	@mkdir -p $(@D) && $(AR) rcs $@
else
# The kernel's makefiles split the path at its spaces.
ifneq ($(and $(word 2,$(CURDIR)),$(if $(wildcard $(LIBPERF)/libperf.a),,no),$(filter-out try deps clean format,$(or $(MAKECMDGOALS),all))),)
$(error libperf cannot be built in a folder whose path has a space: $(CURDIR): move the folder, or build with OFFLINE=1)
endif
$(HOST_OBJ): OUR_CFLAGS += -isystem $(LIBPERF)/include
$(HOST_OBJ): | $(LIBPERF)/libperf.a
$(LIBPERF)/libperf.a:
	@test -n "$(KERNEL_SOURCE)" || { echo "no libperf: install a linux-source package \
	(make deps does), or build with OFFLINE=1" >&2; exit 1; }
	@echo "  LIBPERF $(notdir $(KERNEL_SOURCE))"
	$(Q)rm -rf $(LIBPERF) && mkdir -p $(LIBPERF)/src
	$(Q)XZ_DEFAULTS=-T0 tar -xf $(KERNEL_SOURCE) -C $(LIBPERF)/src --strip-components=1 \
		$(addprefix $(KERNEL_NAME)/,$(LIBPERF_TREE))
	$(Q)env -u MAKEFLAGS -u MAKEOVERRIDES -u CFLAGS -u LDFLAGS make -C $(LIBPERF)/src/tools/lib/perf \
		>$(LIBPERF)/build.log 2>&1 || { cat $(LIBPERF)/build.log >&2; exit 1; }
	$(Q)cp $(LIBPERF)/src/tools/lib/api/libapi.a $(LIBPERF)/
	$(Q)mkdir -p $(LIBPERF)/include && \
		cp -r $(LIBPERF)/src/tools/lib/perf/include/perf $(LIBPERF)/include/ && \
		cp -r $(LIBPERF)/src/tools/lib/perf/include/internal $(LIBPERF)/include/
	$(Q)cp $(LIBPERF)/src/tools/lib/perf/libperf.a $@ && rm -rf $(LIBPERF)/src
endif
endif

# --- what a fresh machine needs: installed when missing, and only then ---

DEBS := gcc libc6-dev pkg-config libjansson-dev libzstd-dev libgcrypt20-dev libsqlite3-dev libelf-dev libdw-dev \
	libtraceevent-dev libcapstone-dev libarchive-dev libcurl4-openssl-dev libiberty-dev protobuf-compiler protobuf-c-compiler \
	libprotobuf-c-dev gnuplot-nox fonts-dejavu-core sqlite3 perl
RPMS := gcc glibc-devel pkgconf-pkg-config jansson-devel libzstd-devel libgcrypt-devel sqlite-devel \
	elfutils-libelf-devel elfutils-devel libtraceevent-devel capstone-devel libarchive-devel libcurl-devel binutils-devel protobuf-compiler \
	protobuf-c-compiler protobuf-c-devel gnuplot dejavu-sans-fonts sqlite perl
ifndef OFFLINE
DEBS += clang libbpf-dev liburing-dev linux-perf iproute2 ethtool procps kmod xz-utils bzip2
RPMS += clang libbpf-devel liburing-devel libperf-devel perf iproute ethtool procps-ng kmod xz bzip2
endif
DEBS_CHECK := binutils xz-utils zstd libcmocka-dev jq strace libxml2-utils openssh-server iperf3 apache2-utils nginx wrk sockperf python3 chromium mandoc zsh fish nftables
RPMS_CHECK := binutils xz zstd libcmocka-devel jq strace perl-Test-Harness libxml2 openssh-server openssh-clients iperf3 httpd-tools nginx python3 chromium mandoc zsh fish nftables

deps:
	@sh tests/deps.sh $(if $(OFFLINE),offline,full) '$(DEBS) $(DEPS_DEBS)' '$(RPMS) $(DEPS_RPMS)' $(DEPS_NO_SUDO)

# As many at a time as there are CPUs, where nobody said otherwise.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(or $(shell nproc 2>/dev/null),1))

# A fresh machine has nothing that pkg-config could answer: install first, then read the makefile anew.
check: DEPS_DEBS := $(DEBS_CHECK)
check: DEPS_RPMS := $(RPMS_CHECK)
check: deps
	@$(MAKE) --no-print-directory $(JOBS) WERROR=1 BUILD=$(BUILD)-check run-tests

# After `make check`: some of its tests once more, on a machine that two busy programs keep busy.
check-busy:
	@$(MAKE) --no-print-directory $(JOBS) WERROR=1 BUILD=$(BUILD)-check run-busy-tests

# Needs the laptop half alone, and no root: it never asks for a password.
ifdef OFFLINE
try: DEPS_NO_SUDO := no-sudo
try: deps
	@$(MAKE) --no-print-directory $(JOBS) $(B)/zcost
	@sh samples/try.sh $(B)/zcost try
else
try:
	@$(MAKE) --no-print-directory OFFLINE=1 try
endif

demo: deps
	@$(MAKE) --no-print-directory $(JOBS) all
	@sh samples/demo.sh $(B) demo

bench: DEPS_DEBS := iperf3 strace jq
bench: DEPS_RPMS := iperf3 strace jq
bench: deps
	@$(MAKE) --no-print-directory $(JOBS) all
	@sh tests/bench/run.sh $(B)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build build-san build-tsan build-offline build-fuzz build-check build-san-check build-offline-check build-deb \
		build-dist build-rpm build-mutate build-coverage

-include $(shell find $(B) -name '*.d' 2>/dev/null)
