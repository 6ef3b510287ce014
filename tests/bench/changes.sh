#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How often `zcost history` reports a change that is none, in YEARS (1000) simulated years of daily captures with a look a
# day and a budget of 0.05, and how often it finds a step, of SERIES (200) for each. It takes some minutes.
set -eu
. "$(dirname "$0")/lib.sh"
need "$build/tests/tools/changes"
"$build/tests/tools/changes" "${YEARS:-1000}" "${SERIES:-200}"
