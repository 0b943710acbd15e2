#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the unit tests under valgrind's memcheck.  Prints its output for tests with an error or a leak, and how many
# ran; exit code 1 if there is any.  Ignores whether the tests pass: under valgrind a long double has 64 bits, which
# makes two of them fail half-way and leak.
#   scripts/valgrind.sh [TEST ...]      TEST: such as workload/pacer (default: all)
set -eu
case ${1:-} in
-*)
    echo "usage: $0 [TEST ...]" >&2
    exit 2
    ;;
esac
CDPATH='' cd "$(dirname "$0")/.."
build=build/release
memcheck="valgrind -q --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=99"

scripts/install-deps.sh deep
cmake --preset release -DTCPSCALER_ALL_TESTS=ON >/dev/null
cmake --build --preset release >build/valgrind.log || {
    cat build/valgrind.log >&2
    exit 1
}
if [ $# -eq 0 ]; then
    for test in $(find "$build/tests/unit" -name 'test_*' ! -name '*.*' -type f -perm -u+x | sort); do
        test=${test#"$build"/tests/unit/}
        set -- "$@" "$(echo "$test" | sed 's/test_//')"
    done
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
failed=0
for test in "$@"; do
    case $test in
    base/units | config/options_value) leaks=no ;;
    *) leaks=full ;;
    esac
    status=0
    program=$build/tests/unit/$(dirname "$test")/test_${test##*/}
    $memcheck --leak-check=$leaks --log-file="$log" "$program" >/dev/null 2>&1 || status=$?
    if [ "$status" -ge 99 ]; then
        failed=$((failed + 1))
        echo "$test: exit code $status"
        cat "$log"
    fi
done
echo "$(($# - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
