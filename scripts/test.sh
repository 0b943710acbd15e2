#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs missing dependencies, builds and runs every test.  As root, no test is skipped.
#   scripts/test.sh [PRESET]          release (default), asan, tsan
#   scripts/test.sh unit [PRESET]     builds and runs the unit tests of what has changed, and nothing else
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" = unit ]; then
    preset=${2:-release}
    [ -e "build/$preset/build.ninja" ] || cmake --preset "$preset" >/dev/null
    exec cmake --build --preset "$preset" --target unit_tests
fi
preset=${1:-release}

scripts/install-deps.sh test
tests/fleet/install-ansible
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset"
exec ctest --preset "$preset" --timeout 300 --parallel 3
