#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source file must name its licence in its first two lines.
set -eu
cd "$(dirname "$0")/../.."
files=$(git ls-files '*.c' '*.h' '*.py' '*.sh' '*.gp' '*.1' '*.7' '*.8' '*CMakeLists.txt' '.ci/*' 'bench/*' 'packaging/*' 'fleet/*.yml' fleet/ansible.cfg 'tests/fleet/*' 'tests/packaging/*' debian/rules 'debian/*.prerm' 'debian/tests/[!c]*' '.github/workflows/*' '.clusterfuzzlite/*' tests/unit/run tests/stall tests/one-fd-table tests/fuzz/run tests/torture/run)
[ -n "$files" ]
# shellcheck disable=SC2086 # none of them has a blank in its name
awk '
    BEGIN { for (i = 1; i < ARGC; i++) lacking[ARGV[i]] = 1 }
    /SPDX-License-Identifier: MIT/ { delete lacking[FILENAME] }
    FNR == 2 { nextfile }
    END {
        for (file in lacking) {
            print file ": no SPDX line"
            status = 1
        }
        exit status
    }' $files
