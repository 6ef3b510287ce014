# SPDX-License-Identifier: GPL-2.0-only
# `make install` and `make uninstall`: one list of the installed files serves both.

PREFIX ?= /usr/local
DESTDIR ?=
bindir ?= $(PREFIX)/bin
datadir ?= $(PREFIX)/share
plandir := $(datadir)/zcost/samples
docdir := $(datadir)/doc/zcost

PLANS := $(wildcard samples/*.ini samples/*.sh)
DOCS := README.md $(shell find docs -type f)
INSTALLED := $(addprefix $(bindir)/,$(notdir $(PROGRAMS))) $(addprefix $(plandir)/,$(notdir $(PLANS))) \
	$(addprefix $(docdir)/,$(DOCS) samples)

# FORCE: an older program replaces a newer one.
.PHONY: install uninstall FORCE
FORCE:
install: $(addprefix $(DESTDIR),$(INSTALLED))
$(DESTDIR)$(bindir)/%: $(B)/% FORCE
	@echo "  INSTALL $@"
	$(Q)install -D -m 755 $< $@
$(DESTDIR)$(plandir)/%: samples/% FORCE
	$(Q)install -D -m 644 $< $@
$(DESTDIR)$(docdir)/%: % FORCE
	$(Q)install -D -m 644 $< $@
# The documents link to the plans.
$(DESTDIR)$(docdir)/samples: FORCE
	$(Q)mkdir -p $(@D) && ln -sfn ../../zcost/samples $@

# Removes folders of zcost's own, and only when they are empty.
uninstall:
	$(Q)rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	$(Q)for dir in $(datadir)/zcost $(docdir); do \
		[ ! -d $(DESTDIR)$$dir ] || find $(DESTDIR)$$dir -depth -type d -empty -delete; done
