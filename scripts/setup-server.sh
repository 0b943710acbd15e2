#!/bin/sh
# SPDX-License-Identifier: MIT
# Tunes a Linux host for a server with a huge number of TCP connections, and takes it back.
set -eu
# shellcheck source=scripts/setup-lib.sh
. "$(dirname "$0")/setup-lib.sh"

small_buffers=

usage() {
    cat <<END
usage: $program [options] [-- COMMAND...]

Tune this host for a server with N connections: accept and SYN queues, file descriptors, TCP memory, no
SYN cookies, room in the conntrack table.

END
    common_usage
    cat <<END

Only here:
  --small-buffers   socket buffers of 1 to 16 KiB, for millions of idle connections

The queues: a connection stands in the SYN queue (tcp_max_syn_backlog) until its handshake is done, then
in the accept queue (the smaller of --backlog and somaxconn) until the program takes it.  When that is
full the last segment of the handshake is dropped: the client believes it is connected, the server has
nothing and repeats its answer tcp_synack_retries times (half-open; tcp_abort_on_overflow=1 would send a
reset instead).  SYN cookies hide an overflow of the first queue and leave a message in dmesg.
END
}

while [ $# -gt 0 ]; do
    case $1 in
    --small-buffers) small_buffers=yes && shift && continue ;;
    --) shift && break ;;
    esac
    common_option "$@"
    [ "$taken" -gt 0 ] || die "'$1': unknown option: see --help"
    shift "$taken"
done
[ -z "$notrack" ] || [ "$mode" = revert ] || refuse_port_of_ssh

begin
if [ "$mode" = revert ]; then
    revert
    [ $# -eq 0 ] || run_command "$@"
else
    want_common
    want net.core.somaxconn 16384 at-least "the longest accept queue that --backlog can ask for"
    want net.ipv4.tcp_max_syn_backlog 16384 at-least "handshakes under way; beyond it SYNs are dropped"
    want net.ipv4.tcp_syncookies 0 exactly "cookies hide a full SYN queue and lose TCP options"
    if [ -n "$small_buffers" ]; then
        want net.ipv4.tcp_rmem '1024 4096 16384' exactly "--small-buffers: at most 16 KiB to read"
        want net.ipv4.tcp_wmem '1024 4096 16384' exactly "--small-buffers: at most 16 KiB to write"
        want net.ipv4.tcp_moderate_rcvbuf 0 exactly "--small-buffers: buffers do not grow by themselves"
    fi
    want_notrack server
    finish "$@"
fi
