#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source file, and every file that begins with #!, must name its licence in its first two lines.
#   tests/lint/spdx.sh [FILE...]      default: those of the repository
# Prints the name of each that does not; exit code 1 if there is any.
set -eu
sources() {
    {
        git ls-files '*.c' '*.h' '*.py' '*.sh' '*.gp' '*.1' '*.7' '*.8' '*CMakeLists.txt' '.ci/*' 'bench/*' 'packaging/*' 'fleet/*.yml' fleet/ansible.cfg 'tests/fleet/*' 'tests/packaging/*' debian/rules 'debian/*.prerm' 'debian/tests/[!c]*' '.github/workflows/*' '.clusterfuzzlite/*'
        git grep -lI '^#!' | xargs awk 'FNR == 1 { if (/^#!/) print FILENAME; nextfile }'
    } | sort -u
}

if [ $# -eq 0 ]; then
    CDPATH='' cd "$(dirname "$0")/../.."
    # shellcheck disable=SC2046 # none of them has a blank in its name
    set -- $(sources)
    [ $# -gt 0 ]
fi
awk '
    BEGIN { for (i = 1; i < ARGC; i++) lacking[ARGV[i]] = 1 }
    /SPDX-License-Identifier: MIT/ { delete lacking[FILENAME] }
    FNR == 2 { nextfile }
    END {
        for (file in lacking) {
            print file ": expected SPDX-License-Identifier: MIT in line 1 or 2"
            status = 1
        }
        exit status
    }' "$@"
