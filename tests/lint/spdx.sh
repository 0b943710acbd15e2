#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source file must name its licence in its first two lines.
set -eu
cd "$(dirname "$0")/../.."
status=0
files=$(git ls-files '*.c' '*.h' '*.py' '*.sh' '*.gp' '*.1' '*.7' '*.8' '*CMakeLists.txt' '.ci/*' 'bench/*' 'packaging/*' 'fleet/*.yml' fleet/ansible.cfg 'tests/fleet/*' 'tests/packaging/*' debian/rules 'debian/tests/[!c]*' '.github/workflows/*' '.clusterfuzzlite/*' tests/unit/run tests/stall tests/one-fd-table tests/fuzz/run tests/torture/run)
[ -n "$files" ]
for file in $files; do
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT' || {
        echo "$file: no SPDX line"
        status=1
    }
done
exit $status
