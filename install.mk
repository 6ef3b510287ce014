# SPDX-License-Identifier: GPL-2.0-only
# `make install` and `make uninstall`: one list of the installed files serves both.

PREFIX ?= /usr/local
DESTDIR ?=
bindir ?= $(PREFIX)/bin
datadir ?= $(PREFIX)/share
plandir := $(datadir)/zcost/samples
docdir := $(datadir)/doc/zcost

PLANS := $(wildcard samples/*.ini samples/*.sh samples/captures/*)
DOCS := README.md CONTRIBUTING.md NEWS.md $(shell find docs -name "*.md" -o -name "*.svg")
COMPLETIONS := bash-completion/completions/zcost bash-completion/completions/tcpzc zsh/site-functions/_zcost \
	fish/vendor_completions.d/zcost.fish fish/vendor_completions.d/tcpzc.fish
# Pages: of each program and command, and of the files, out of the reference. A page is made of the tables of the
# program, and of docs/man/NAME.md.
mandir ?= $(datadir)/man
COMMANDS := $(if $(OFFLINE),,collect capture doctor) analyze report plot compare history export push pack unpack
MAN1 := zcost.1 $(COMMANDS:%=zcost-%.1) $(if $(OFFLINE),,tcpzc.1)
MAN5 := plan.ini.5 zcost-capture.5 zcost-store.5
PAGES := $(addprefix $(B)/man/,$(MAN1) $(MAN5))
all: $(PAGES)
ROFF = awk -v name=$(basename $(@F)) -v section=$(subst .,,$(suffix $@)) -v released=$(RELEASED) \
	-v source='zcost $(VERSION)' -f docs/man/roff.awk
$(PAGES): docs/man/roff.awk | $(B)/man
$(B)/man:
	$(Q)mkdir -p $@
$(B)/man/zcost.1: $(B)/zcost docs/man/zcost.md
	$(Q)$< --man | $(ROFF) - docs/man/zcost.md >$@
$(B)/man/tcpzc.1: $(B)/tcpzc docs/man/tcpzc.md docs/reference/tcpzc.md
	$(Q){ $< --man; cat docs/man/tcpzc.md; sed -n '/^## workload.out/,$$p' docs/reference/tcpzc.md; } | $(ROFF) >$@
$(B)/man/zcost-%.1: docs/man/%.md $(B)/zcost
	$(Q)$(B)/zcost $* --man | $(ROFF) - $< >$@
$(B)/man/plan.ini.5: docs/reference/plan.md
$(B)/man/zcost-capture.5: docs/reference/capture-folder.md
# The page of the store ends with the schema itself.
$(B)/man/zcost-store.5: docs/reference/store.md $(B)/man/schema.md
$(B)/man/schema.md: analyze/store/schema.sql | $(B)/man
	$(Q)sed -e '1s,.*,,; s/^/    /; s/^ *$$//; s/\t/        /g' $< >$@
$(B)/man/%.5:
	$(Q)$(ROFF) $(filter %.md,$^) >$@

INSTALLED := $(addprefix $(bindir)/,$(notdir $(PROGRAMS))) $(PLANS:samples/%=$(plandir)/%) \
	$(addprefix $(docdir)/,$(DOCS) samples) \
	$(addprefix $(datadir)/,$(COMPLETIONS)) $(addprefix $(mandir)/man1/,$(MAN1)) $(addprefix $(mandir)/man5/,$(MAN5))

# FORCE: an older program replaces a newer one.
.PHONY: install uninstall FORCE
FORCE:
install: $(addprefix $(DESTDIR),$(INSTALLED))
$(DESTDIR)$(bindir)/%: $(B)/% FORCE
	@echo "  INSTALL $@"
	$(Q)install -D -m 755 $< $@
$(DESTDIR)$(plandir)/%: samples/% FORCE
	$(Q)install -D -m $(if $(filter %.sh,$<),755,644) $< $@
$(DESTDIR)$(mandir)/man1/%: $(B)/man/% FORCE
	$(Q)install -D -m 644 $< $@
$(DESTDIR)$(mandir)/man5/%: $(B)/man/% FORCE
	$(Q)install -D -m 644 $< $@
$(DESTDIR)$(docdir)/%: % FORCE
	$(Q)install -D -m 644 $< $@
$(DESTDIR)$(datadir)/bash-completion/completions/%: docs/completions/zcost.bash FORCE
	$(Q)install -D -m 644 $< $@
$(DESTDIR)$(datadir)/zsh/site-functions/%: docs/completions/% FORCE
	$(Q)install -D -m 644 $< $@
$(DESTDIR)$(datadir)/fish/vendor_completions.d/%: docs/completions/zcost.fish FORCE
	$(Q)install -D -m 644 $< $@
# The documents link to the plans.
$(DESTDIR)$(docdir)/samples: FORCE
	$(Q)mkdir -p $(@D) && ln -sfn ../../zcost/samples $@

# Removes folders of zcost's own, and only when they are empty.
uninstall:
	$(Q)rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	$(Q)for dir in $(datadir)/zcost $(docdir); do \
		[ ! -d $(DESTDIR)$$dir ] || find $(DESTDIR)$$dir -depth -type d -empty -delete; done

# --- packages, all of the committed tree; their tests take minutes and are no part of `make check` ---

# The tree as a tarball, which builds without git.
TARBALL := build-dist/zcost-$(VERSION).tar.gz
.PHONY: dist deb rpm check-dist check-deb check-rpm
dist:
	$(Q)mkdir -p build-dist && git archive --prefix=zcost-$(VERSION)/ -o $(TARBALL) HEAD
PACKAGE_TEST = @prove --exec '' --timer tests/package/$(1).t :: $(VERSION)
check-dist: dist
	$(call PACKAGE_TEST,dist)

deb: DEPS_DEBS := debhelper
deb: deps dist
	$(Q)rm -rf build-deb && mkdir build-deb && tar -xf $(TARBALL) -C build-deb
	$(Q)cd build-deb/zcost-$(VERSION) && env -u MAKEFLAGS -u MAKELEVEL -u BUILD dpkg-buildpackage -us -uc -b $(JOBS)
check-deb: deb $(B)/tests/tools/perfdata_gen
	@$(MAKE) --no-print-directory deps DEPS_DEBS='lintian debootstrap'
	$(call PACKAGE_TEST,deb)

# On Debian rpmbuild does not check the build requirements: their names are those of Fedora.
rpm: DEPS_DEBS := rpm
rpm: DEPS_RPMS := rpm-build
rpm: deps dist
	$(Q)rm -rf build-rpm && for half in without with; do \
		env -u MAKEFLAGS -u MAKELEVEL -u BUILD rpmbuild -ba --$$half offline $(if $(shell command -v dnf),,--nodeps) \
			--define "_topdir $(abspath build-rpm)" --define "_sourcedir $(abspath build-dist)" zcost.spec || exit 1; done
check-rpm: rpm
	$(call PACKAGE_TEST,rpm)
