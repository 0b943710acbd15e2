#!/bin/sh
# SPDX-License-Identifier: MIT
# Every action of a workflow must be pinned to a commit, with its version in a comment: a tag can be moved.
#   tests/lint/pins.sh [FILE...]      default: every workflow
# Prints FILE:LINE:TEXT for each that is not; exit code 1 if there is any, or a file cannot be read.
set -eu
if [ $# -eq 0 ]; then
    CDPATH='' cd "$(dirname "$0")/../.."
    set -- .github/workflows/*.yml
fi
uses=$(grep -nH 'uses:' -- "$@") || [ $? -eq 1 ] # 2: a file cannot be read
if printf '%s' "$uses" | grep -vE 'uses: [A-Za-z0-9_./-]+@[0-9a-f]{40} # v[0-9.]+$'; then
    exit 1
fi
