#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing, builds, runs every test.  As root nothing is skipped.
#   scripts/test.sh [PRESET]     release (default), asan, tsan
set -eu
cd "$(dirname "$0")/.."
preset=${1:-release}

scripts/install-deps.sh test
tests/fleet/install-ansible
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
exec ctest --preset "$preset" --timeout 300 --parallel 3
