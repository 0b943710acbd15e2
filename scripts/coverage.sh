#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the tests on a build that counts which lines are run.  Prints for each file its lines, how many were run and
# which were not, then the pure parts (docs/ARCHITECTURE.md) and all files together.
#   scripts/coverage.sh [report]      report: what the last tests ran, without running them again
# Exit code 1: less than 90 % of the lines of a pure part or less than 80 % of all were run, or a test failed.
set -eu
cd "$(dirname "$0")/.."
build=build/coverage
least_pure=90
least_all=80
# these measure what counting disturbs; and who gives up root cannot write counts, and says so (security)
disturbed='e2e/(package|memory|scale|wire_truth|truth|nightly|security)$'

forget() {
    find $build -name '*.gcda' -delete
}

if [ "${1:-}" != report ]; then
    scripts/install-deps.sh deep
    cmake --preset coverage >/dev/null
    forget
    cmake --build --preset coverage
    forget # the build runs the programs, for their completions
    ctest --preset coverage --timeout 300 --parallel 2 --exclude-regex "$disturbed"
fi

# The parts in a row of the table of libraries.
parts_of() {
    awk -F '|' -v library="$1" '$2 ~ "^ *" library " *$" { gsub(/`/, "", $4); print $4 }' docs/ARCHITECTURE.md
}
# those of reading are pure but for these
pure=$({ parts_of core && parts_of reading; } | tr ' ' '\n' | grep -vE '^(recording|gnuplot|cmd_.*|)$' | tr '\n' ' ')

gcovr --root . --object-directory $build --filter src/ | awk -v pure=" $pure" -v least_pure=$least_pure \
    -v least_all=$least_all '
    function percent(n, of) { return of > 0 ? 100 * n / of : 0 }
    $1 ~ /^src\/.*\.c$/ && NF >= 4 {
        name = $1
        gsub(/^src\/|\.c$/, "", name)
        lines += $2; run += $3
        if (index(pure, " " name " ")) {
            n_pure++; pure_lines += $2; pure_run += $3
            if (percent($3, $2) < least_pure) below = below " " name
        }
        printf "%-22s %5d %5d %6.1f %%  %s\n", name, $2, $3, percent($3, $2), $5
    }
    END {
        printf "%-22s %5d %5d %6.1f %%\n", n_pure " pure parts", pure_lines, pure_run, percent(pure_run, pure_lines)
        printf "%-22s %5d %5d %6.1f %%\n", "all", lines, run, percent(run, lines)
        if (below != "") print "less than " least_pure " %:" below
        exit n_pure == 0 || below != "" || percent(run, lines) < least_all
    }'
