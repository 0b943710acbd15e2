#!/bin/sh
# SPDX-License-Identifier: MIT
# Mails what a failed systemd unit wrote to the journal.  systemd sets MONITOR_* for a unit that OnFailure=
# started; before version 251 it does not, and the last invocation of the nightly unit is asked for.
set -eu

program=$(basename "$0")
case $#,${1-} in
1,-h | 1,--help)
    echo "usage: $program ADDRESS"
    exit 0
    ;;
1,[!-]*) ;;
*)
    echo "usage: $program ADDRESS" >&2
    exit 2
    ;;
esac
PATH=$PATH:/usr/sbin:/sbin
command -v sendmail >/dev/null || {
    echo "$program: no mail to $1: cannot find 'sendmail'" >&2
    exit 1
}
unit=${MONITOR_UNIT:-tcpscaler-nightly.service}
journalctl --sync || true
invocation=${MONITOR_INVOCATION_ID:-$(systemctl show --property=InvocationID --value "$unit" || true)}
case $invocation in
'') lines=100 of="_SYSTEMD_UNIT=$unit" ;;
*) lines=all of="_SYSTEMD_INVOCATION_ID=$invocation" ;;
esac
said=$(journalctl --quiet --output=cat --lines="$lines" "$of") || said=
: "${said:=no message in the journal}"
{
    printf 'To: %s\nSubject: [nightly] %s: %s\n\n' "$1" "$(uname -n)" "$(printf '%s\n' "$said" | sed -n 1p)"
    printf '%s\n\n%s: exit status %s\n' "$said" "$unit" "${MONITOR_EXIT_STATUS:-unknown}"
} | sendmail -oi -t
