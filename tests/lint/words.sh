#!/bin/sh
# SPDX-License-Identifier: MIT
# Finds phrases that read like a translation, in comments, messages, documents and names such as so_many_words.
#   tests/lint/words.sh [FILE...]      default: every file of the repository that has words of ours, but for the changelog,
#                                      which quotes old ones
#   tests/lint/words.sh --list         the phrases, one per line
# Prints FILE:LINE:TEXT for each, or FILE:TEXT if it is split over two lines, and on stderr the phrases; exit code 1 if there is any, or
# a file cannot be read.
set -eu

# One extended regular expression per line; case does not matter.
phrases() {
    cat <<'END'
the begin
from its begin
came about
came into being
so many
for ever
stands? in
stands? first
stands? beside
stands? behind
stands? still
stood still
whoever
what bound
nobody keeps
among strangers
ends of connections
accepted (is|are)
one operand too many
be shown and steered
has no value for
never will take over
in the place of
put in its place
for want of
END
}

if [ "${1-}" = --list ]; then
    phrases
    exit 0
fi
pattern="(^|[^[:alnum:]])($(phrases | sed 's/ /[ _]/g' | paste -sd '|' -))([^[:alnum:]]|\$)"
# in messages, where "requested" is meant: a count or a figure that was "asked"
asked='"[^"]*(%s|%[a-z]+|[0-9]) asked\b'
# messages begin with "warning: "
warn='"warn: '

if [ $# -eq 0 ]; then
    CDPATH='' cd "$(dirname "$0")/../.."
    files=$(git ls-files | grep -vE '^(CHANGELOG\.md|LICENSE|tests/lint/words\.sh)$|^tests/fuzz/(corpus|regressions)/|\.(png|svg)$')
    # shellcheck disable=SC2086 # none of them has a blank in its name
    set -- $files
fi
status=0
grep -nHiE -e "$pattern" -e "$asked" -e "$warn" -- "$@" || status=$?
[ "$status" -ne 0 ] || {
    grep -ohiE -e "$pattern" -e "$asked" -e "$warn" -- "$@" | sed 's/^[^[:alnum:]]*//; s/[^[:alnum:]]*$//' | sort -u |
        sed 's/.*/reword "&": native readers tripped over it/' >&2
    exit 1
}
[ "$status" -eq 1 ] # 2: a file cannot be read

# each file as one line: what is found now begins on one line and ends on the next
pattern="\\b($(phrases | sed 's| |[[:space:]*#/]+|g' | paste -sd '|' -))\\b"
split=$(LC_ALL=C grep -zoHiE -e "$pattern" -- "$@" | tr '\0' '\n')
[ -z "$split" ] || {
    printf '%s\n' "$split"
    exit 1
}
