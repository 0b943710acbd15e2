#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs missing dependencies, builds and runs the tests.  As root, no test is skipped.
#   scripts/test.sh [release|asan|tsan]   the C code (default: release)
#   scripts/test.sh PRESET parts          only the unit tests, fuzz corpus and simulations
#   scripts/test.sh PRESET programs       only the rest
#   scripts/test.sh scripts               scripts/, fleet/ and packaging/
#   scripts/test.sh truth                 the tests that measure time, one by one; the machine should do nothing else
#   scripts/test.sh unit [PRESET]         only builds and runs the unit tests affected by changes
# JOBS: how many tests run in parallel (default: 14; most of them wait).
# EVERY_TEST: if not empty, also the tests of tests/deep alone: the longest, and with sanitizers those with no line of their own to check.
# PREPARED: if not empty, everything is installed and built already, as in .ci/run.
set -eu
CDPATH='' cd "$(dirname "$0")/.."
if [ "${1:-}" = unit ] && [ $# -le 2 ]; then
    preset=${2:-release}
    # a build configured without it may lack tests, and would then succeed without them
    if [ ! -e "build/$preset/build.ninja" ] || ! grep -qsx TCPSCALER_ALL_TESTS:BOOL=ON "build/$preset/CMakeCache.txt"; then
        cmake --preset "$preset" -DTCPSCALER_ALL_TESTS=ON >/dev/null
    fi
    # one change may fail several tests, and a header that does not compile all of them
    exec cmake --build --preset "$preset" --target unit_tests -- -k 20
fi
case "$*" in
scripts) suite=scripts preset=release takes="5 minutes" ;;
truth) suite=truth preset=release takes="4 minutes" ;;
asan | tsan) suite=code preset=$1 takes="5 minutes" ;;
'' | release) suite=code preset=release takes="3 minutes" ;;
'release parts' | 'asan parts' | 'tsan parts') suite=parts preset=$1 takes="1 minute" ;;
'release programs' | 'asan programs' | 'tsan programs') suite=programs preset=$1 takes="4 minutes" ;;
*)
    echo "usage: $0 [release|asan|tsan [parts|programs] | scripts | truth | unit [PRESET]]" >&2
    exit 2
    ;;
esac
echo "$suite, $preset: about $takes on 2 CPUs once it is built"

prepared=${PREPARED-}
unset PREPARED # some tests run this script
if [ -z "$prepared" ]; then
    scripts/install-deps.sh test
    [ "$suite" != scripts ] || tests/fleet/install-ansible
    cmake --preset "$preset" -DTCPSCALER_ALL_TESTS=ON >/dev/null
    cmake --build --preset "$preset"
fi

set_session_nice() {
    (echo "$1" >/proc/self/autogroup) 2>/dev/null || true
}

# As root: gives these processes and, where sessions share the CPUs, this session precedence over whatever else runs here.
come_first() {
    renice -n -20 -p $$ >/dev/null 2>&1 || true
    session_nice=$(sed -n 's/.* nice //p' /proc/self/autogroup 2>/dev/null) || true
    [ -n "$session_nice" ] || return 0 # sessions do not share the CPUs
    trap 'set_session_nice "$session_nice"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    set_session_nice -20
}

begin=$(date +%s)
left_out='scripts|truth'
[ -n "${EVERY_TEST-}" ] || left_out="$left_out|covered|one-thread"
set -- --parallel "${JOBS:-14}" --label-exclude "^($left_out)\$"
of_parts='^(unit|fuzz|sim)/'
case $suite in
parts) set -- "$@" --tests-regex "$of_parts" ;;
programs) set -- "$@" --exclude-regex "$of_parts" ;;
scripts) set -- --parallel "${JOBS:-14}" --label-regex '^scripts$' ;;
truth)
    set -- --label-regex '^truth$'
    come_first
    ;;
esac
failed=0
# ctest must not outlive this script
setpriv --pdeathsig TERM ctest --preset "$preset" "$@" || failed=$?
log=build/$preset/$suite.log
cp "build/$preset/Testing/Temporary/LastTest.log" "$log" # the next suite writes its own
grep '^     once more: ' "$log" || true # what the machine spoiled
echo "$suite, $preset: $(($(date +%s) - begin)) s"
exit "$failed"
