#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures how many lines of the source the tests run.  Prints for each file the number of lines, how many were run and
# which were not; then the same for all pure parts (those that make no system calls) and for all files.
#   scripts/coverage.sh [report]      report: print the coverage of the last tests, without running them again
# Exit code 1: the tests ran less than 90 % of the lines of a pure part or less than 80 % of all lines, or a test failed.
set -eu
build=build/coverage
least_pure=90
least_all=80
# coverage disturbs what these measure; without root, programs cannot write their counts and complain (security)
disturbed='^(e2e|truth)/(package|memory|scale|wire_truth|truth|nightly|security)(/|$)'

forget() {
    find $build -name '*.gcda' -delete
}

case $* in
'' | report) ;;
*)
    echo "usage: $0 [report]" >&2
    exit 2
    ;;
esac
CDPATH='' cd "$(dirname "$0")/.."
if [ "${1:-}" != report ]; then
    scripts/install-deps.sh deep
    cmake --preset coverage -DTCPSCALER_ALL_TESTS=ON >/dev/null
    forget
    cmake --build --preset coverage
    forget # the build runs the programs, for their completions
    ctest --preset coverage --timeout 300 --parallel 2 --exclude-regex "$disturbed" || exit 1
fi

# Parts that make no system call: those whose header says "Pure", and these rooms, but for those of the second pattern of awk.
said=$(grep -rlw Pure include | sed 's|^include/||; s|\.h$||' | tr '\n' ' ')
pure='^(base|config|measure|protocol|report|workload)/'
impure='^base/(clock|inputs|large_blocks|log|messages|notify|output|outputs|reopen|replacement|shutdown|standard_streams|textfile|thread_start|writing)$|^config/settings$|^measure/(hlog|rows)$|^report/(cmd_.*|gnuplot|inputs|lines|recording)$'

gcovr --root . --object-directory $build --filter src/ | awk -v said="$said" -v pure="$pure" -v impure="$impure" \
    -v least_pure=$least_pure -v least_all=$least_all '
    function percent(n, of) { return of > 0 ? 100 * n / of : 0 }
    BEGIN {
        n_said = split(said, names)
        for (i = 1; i <= n_said; i++) is_pure[names[i]] = 1
    }
    $1 ~ /^src\/.*\.c$/ && NF >= 4 {
        name = $1
        gsub(/^src\/|\.c$/, "", name)
        lines += $2; run += $3
        if ((name in is_pure || name ~ pure) && name !~ impure) {
            n_pure++; pure_lines += $2; pure_run += $3
            if (percent($3, $2) < least_pure) below = below " " name
        }
        printf "%-30s %5d %5d %6.1f %%  %s\n", name, $2, $3, percent($3, $2), $5
    }
    END {
        printf "%-30s %5d %5d %6.1f %%\n", n_pure " pure parts", pure_lines, pure_run, percent(pure_run, pure_lines)
        printf "%-30s %5d %5d %6.1f %%\n", "all", lines, run, percent(run, lines)
        if (below != "") print "less than " least_pure " %:" below
        exit n_pure == 0 || below != "" || percent(run, lines) < least_all
    }'
