#!/bin/sh
# SPDX-License-Identifier: MIT
# Tunes a Linux host for a server with a very large number of TCP connections, and reverts it.
set -eu
script=$(readlink -f "$0") # installed, the program is a link
parts=${script%/*}
# shellcheck source=scripts/setup-lib.sh
. "$parts/setup-lib.sh"

small_buffers=

usage() {
    cat <<END
usage: $program [options] [-- COMMAND...]

Tune this host for a server with N connections: accept and SYN queues, file descriptors, TCP memory, no
SYN cookies, conntrack table.

END
    common_usage
    cat <<END

Server options:
  --small-buffers   socket buffers of 1 to 16 KiB, for millions of idle connections

Queues: a connection waits in the SYN queue (three quarters of tcp_max_syn_backlog, at most as long as the
accept queue) until its handshake completes, then in the accept queue (the smaller of --backlog and
somaxconn) until the program accepts it.  If the accept queue is full, the kernel drops the last segment of
the handshake: the client sees an established connection, but the server has none and retransmits its
SYN-ACK tcp_synack_retries times (a half-open connection; with tcp_abort_on_overflow=1 the kernel would send
a reset instead).  SYN cookies hide an overflow of the SYN queue, except for a message in dmesg.
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

begin "$@"
if [ "$mode" = revert ]; then
    revert
    [ $# -eq 0 ] || run_command "$@"
else
    want_common
    want net.core.somaxconn 16384 at-least "upper limit for --backlog, the accept queue"
    want net.ipv4.tcp_max_syn_backlog 21846 at-least "incomplete handshakes; beyond three quarters of it SYNs are dropped"
    want net.ipv4.tcp_syncookies 0 exactly "cookies hide a full SYN queue and lose TCP options"
    if [ -n "$small_buffers" ]; then
        want net.ipv4.tcp_rmem '1024 4096 16384' exactly "--small-buffers: receive buffers of at most 16 KiB"
        want net.ipv4.tcp_wmem '1024 4096 16384' exactly "--small-buffers: send buffers of at most 16 KiB"
        want net.ipv4.tcp_moderate_rcvbuf 0 exactly "--small-buffers: no automatic buffer growth"
    fi
    want_notrack server
    finish "$@"
fi
