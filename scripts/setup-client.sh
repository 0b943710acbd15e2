#!/bin/sh
# SPDX-License-Identifier: MIT
# Tunes a Linux host for a client with a very large number of TCP connections, and reverts it.
set -eu
script=$(readlink -f "$0") # installed, the program is a link
parts=${script%/*}
# shellcheck source=scripts/setup-lib.sh
. "$parts/setup-lib.sh"

sources='' device='' low_port=''

usage() {
    cat <<END
usage: $program [options] [-- COMMAND...]

Tune this host for a client with N connections: port range, TIME_WAIT, file descriptors, TCP memory,
conntrack table, source addresses.

END
    common_usage
    cat <<END

Client options:
  --sources LIST --dev IFACE
                    add source addresses to IFACE: 10.0.0.5,10.0.1.1-9,10.0.1.200-10.0.2.5,fd00::1-9; a
                    block, 10.50.0.0/16, becomes local with one route (best on lo); for an IPv6 block,
                    net.ipv6.ip_nonlocal_bind becomes 1, too
  --low-port PORT   allow unprivileged programs to bind ports from PORT up

With --source or --sport, tcpclient chooses its ports itself and does not need a wider port range.  For
about ten thousand connections it needs no tuning: see tcpclient --plan.  A port in TIME_WAIT (60 s, fixed
in Linux) can be reused towards the same destination only with tcp_timestamps.
END
}

want_sources() {
    for item in $items; do
        case $item in
        */*) want_route "$item" "$device" ;;
        *) want_address "$item" "$device" ;;
        esac
    done
}

# A route makes an IPv4 block bindable, but not an IPv6 one.
has_block6() {
    for item in $items; do
        case $item in *:*/*) return 0 ;; esac
    done
    return 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --sources) need_argument "$@" && sources=$2 && shift 2 && continue ;;
    --dev) need_argument "$@" && device=$2 && shift 2 && continue ;;
    --low-port) need_argument "$@" && low_port=$2 && shift 2 && continue ;;
    --) shift && break ;;
    esac
    common_option "$@"
    [ "$taken" -gt 0 ] || die "'$1': unknown option: see --help"
    shift "$taken"
done
[ -z "$sources" ] || [ -n "$device" ] || die "--sources: requires --dev"
[ -z "$device" ] || [ -n "$sources" ] || die "--dev: requires --sources"
need_device --dev "$device"
items=$(list_sources "$sources") || exit
if [ -n "$sources" ] && [ "$mode" != revert ]; then
    refuse_gateways
    refuse_peers_of_ssh
fi
[ -z "$low_port" ] || is_port "$low_port" || die "--low-port: invalid value '$low_port': expected 0 to 65535"

begin "$@"
if [ "$mode" = revert ]; then
    revert
    [ $# -eq 0 ] || run_command "$@"
else
    want_common
    want_reserved_ports
    [ -z "$low_port" ] || want net.ipv4.ip_unprivileged_port_start "$low_port" at-most \
        "--low-port: bind source ports from here up without privileges"
    want net.ipv4.ip_local_port_range "$(automatic_ports "$low_port")" around "automatic source ports: all that need no privileges"
    want net.ipv4.tcp_tw_reuse 1 exactly "reuse a port in TIME_WAIT after a second"
    want net.ipv4.tcp_timestamps 1 at-least "required by tcp_tw_reuse"
    want net.ipv4.tcp_max_tw_buckets "$connections" at-least "sockets in TIME_WAIT; beyond this TIME_WAIT is cut short"
    want net.ipv4.tcp_max_orphans "$connections" at-least "closed sockets with unsent data; beyond this they are reset"
    if has_block6; then
        want net.ipv6.ip_nonlocal_bind 1 exactly "--sources: bind the addresses of an IPv6 block"
    fi
    want_notrack client
    [ -z "$sources" ] || want_sources
    finish "$@"
fi
