#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs shellcheck on every shell script: what is named *.sh, or begins with #!/bin/sh or #!/bin/bash.  One that cleans up in an
# EXIT trap must also trap SIGTERM and SIGHUP: dash runs no EXIT trap when a signal ends it.  One that changes to its own directory
# must do so without CDPATH, in which the caller may have another directory of that name.
#   tests/lint/shell.sh [FILE...]      default: every script of the repository
#   tests/lint/shell.sh --list         their names, one per line
# Prints the findings; exit code 1 if there is any.
set -eu
scripts() {
    {
        git ls-files '*.sh'
        git grep -lIE '^#!/bin/(ba)?sh$' | xargs awk 'FNR == 1 { if (/^#!/) print FILENAME; nextfile }'
    } | sort -u
}

if [ $# -eq 0 ] || [ "$1" = --list ]; then
    CDPATH='' cd "$(dirname "$0")/../.."
    [ $# -eq 0 ] || { scripts; exit; }
    # shellcheck disable=SC2046 # none of them has a blank in its name
    set -- $(scripts)
fi
failed=0
for script in "$@"; do
    grep -qE '^ *trap [^-].* EXIT( |$)' "$script" || continue
    for name in TERM HUP; do
        grep -qE "^ *trap .*\<$name\>" "$script" || {
            echo "$script: a trap for EXIT, none for $name"
            failed=1
        }
    done
done
for script in "$@"; do
    # shellcheck disable=SC2016 # a pattern
    ! grep -E 'cd "\$\(dirname "\$(0|\{BASH_SOURCE)' "$script" | grep -qv "CDPATH=''" || {
        echo "$script: cd \"\$(dirname ...)\" without CDPATH=''"
        failed=1
    }
done
shellcheck -x "$@" || failed=1
exit $failed
