# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # parts, of the script
# Shared by setup-server.sh and setup-client.sh: sourced, not run, from the directory $parts; $script is the path of the script.
#
# A script states the values it wants with the want functions of the parts; the mode decides what happens:
#   check    print the current value, the wanted value and the reason; change nothing; exit 1 on a difference
#   dry-run  print commands equivalent to apply
#   apply    change what differs, after recording the old value in the state file
#   revert   undo the changes in the state file, last one first, and remove it

PATH=$PATH:/usr/sbin:/sbin # of nft, iptables and ethtool; that of cron, and of root after su(1), lacks them
program=${0##*/}
script=${script##*/}
script=${script%.sh}
mode=check
mode_option=
connections=10000
port=4242
persist=
notrack=
limits=
irq_device=
rps_device=
rings_device=
owner=
revert_after=
lock_wait=60
differing=0
refused=0

# shellcheck source=scripts/setup-options.sh
. "$parts/setup-options.sh"
# shellcheck source=scripts/setup-state.sh
. "$parts/setup-state.sh"
# shellcheck source=scripts/setup-timer.sh
. "$parts/setup-timer.sh"
# shellcheck source=scripts/setup-lock.sh
. "$parts/setup-lock.sh"
# shellcheck source=scripts/setup-sysctl.sh
. "$parts/setup-sysctl.sh"
# shellcheck source=scripts/setup-firewall.sh
. "$parts/setup-firewall.sh"
# shellcheck source=scripts/setup-network.sh
. "$parts/setup-network.sh"
# shellcheck source=scripts/setup-nic.sh
. "$parts/setup-nic.sh"

# A message that cannot be written, as to a log on a full disk, changes nothing else.
note() {
    printf '%s\n' "$program: $*" >&2 || true
}

die() {
    note "$*"
    exit 2
}

# What --check and --dry-run print is their result.
cannot_print() {
    note "cannot write to standard output"
    exit 3
}

# --- modes ---

# show NAME IS WANTED ok|differs|unknown REASON
show() {
    [ "$mode" = check ] || return 0
    printf '%-36s %-22s %-22s %-8s %s\n' "$@" 2>/dev/null || cannot_print
}

refuse() {
    note "refused: $*"
    refused=$((refused + 1))
}

# Prints a change as a command line.
print_command() {
    case $1 in
    write_sysctl) echo "sysctl -w $2='$3'" ;;
    write_value) echo "echo $3 >$2" ;;
    add_nft) printf "nft -f - <<'END'\n%s\nEND\n" "$(nft_rules "$2")" ;;
    set_ring) echo "ethtool -G $2 $3 $4" ;;
    one_rule) echo "$2 -t raw $3 $4 -p tcp --$5 $6 -j CT --notrack" ;;
    write_file) printf "mkdir -p %s\ncat >%s <<'END'\n%s\nEND\n" "$(dirname "$2")" "$2" "$(printf '%s' "$3")" ;;
    *) echo "$*" ;;
    esac 2>/dev/null || cannot_print
}

# refuse_command COMMAND...: if the command prints as several lines, the first one names it; if it has set `why`, it
# printed nothing.
refuse_command() {
    case $1 in
    write_file) refuse "writing $2" ;;
    *) refuse "$(print_command "$@" | head -n 1)${why:+: $why}" ;;
    esac
}

# write_kernel FILE VALUE: on failure tries again, to set `why` to the error, which the shell ends its message with.
write_kernel() {
    { echo "$2" >"$1"; } 2>/dev/null || why=$( (echo "$2" >"$1") 2>&1) || {
        why=${why##*: }
        return 1
    }
}

# change KIND NAME BEFORE COMMAND...: runs a command that changes something; KIND, NAME and BEFORE say how to undo it.
change() {
    kind=$1 name=$2 before=$3
    shift 3
    differing=$((differing + 1))
    case $mode in
    check) ;;
    dry-run) print_command "$@" ;;
    apply)
        record "$kind" "$name" "$before"
        why=
        "$@" >/dev/null || refuse_command "$@"
        ;;
    esac
}

# Network namespaces share the host's neighbour table and have no limits of their own.
want_neighbours() {
    for family in ipv4 ipv6; do
        if in_kernel net.$family.neigh.default.gc_thresh3; then
            want net.$family.neigh.default.gc_thresh2 4096 at-least "neighbours on the link before old ones are evicted"
            want net.$family.neigh.default.gc_thresh3 8192 at-least "neighbours on the link; beyond this packets are dropped"
        fi
    done
}

# A hard limit above fs.nr_open would break logins; one below systemd's default would be a step back.
want_limits() {
    limit=$((connections + 1024))
    [ $limit -ge 524288 ] || limit=524288
    for file in /etc/systemd/system.conf.d/90-tcpscaler-setup-*.conf; do
        other=$(sed -n 's/^DefaultLimitNOFILE=1024://p' "$file" 2>/dev/null) || other=
        if [ "$file" != "/etc/systemd/system.conf.d/90-tcpscaler-$script.conf" ] && is_count "$other" && [ "$other" -gt "$limit" ]; then
            limit=$other # that of the other script
        fi
    done
    read_sysctl fs.nr_open
    if [ "$mode" = apply ] && [ "$limit" -gt "$is" ]; then
        limit=$is
    fi
    want_file "/etc/security/limits.d/90-tcpscaler-$script.conf" "*    hard nofile $limit
root hard nofile $limit
" "file descriptor limit for logins"
    want_file "/etc/systemd/system.conf.d/90-tcpscaler-$script.conf" "[Manager]
DefaultLimitNOFILE=1024:$limit
" "file descriptor limit for services"
    [ "$mode" != apply ] || raise_limits_of_siblings
}

# The last file by name wins, so the other script's files must not have a lower limit; nor one above the
# fs.nr_open that is left once this script has been reverted.
raise_limits_of_siblings() {
    ! is_recorded "$state" sysctl fs.nr_open || is=$recorded
    for directory in /etc/security/limits.d /etc/systemd/system.conf.d; do
        raised=$(cat -- "$directory/90-tcpscaler-$script.conf" 2>/dev/null) || continue
        for file in "$directory"/90-tcpscaler-setup-*.conf; do
            if [ "$(cat -- "$file")" = "$raised" ] || ! sibling_with file "$file"; then
                continue
            fi
            # shellcheck disable=SC2031 # sibling_with() has set it, here
            if [ "$limit" -gt "$is" ] && ! is_recorded "$sibling" sysctl fs.nr_open; then
                refuse "raising the limit in $file: needs a higher fs.nr_open: run the script that wrote it with --apply --connections $connections, too"
            else
                write_file "$file" "$raised
" || refuse "raising the limit in $file"
            fi
        done
    done
}

# What every host needs for N connections: sockets of both ends, and 64 further descriptors per thread (a
# thread may hold as few as 1,000 connections if the hard limit is low).
want_common() {
    files=$((connections * 2 + connections / 8 + 10000))
    open_now=$(cut -f 1 /proc/sys/fs/file-nr 2>/dev/null) || open_now=0 # some containers do not have it
    want fs.file-max $((files + (open_now / 100000 + 1) * 100000)) at-least \
        "files of both programs, files open now, and 100,000 spare"
    want fs.nr_open $((connections + 10000)) at-least "files of one process: one per connection"
    want fs.epoll.max_user_watches "$files" at-least "one watch per connection, in both programs"
    want_triple net.ipv4.tcp_mem $((connections / 2 + 50000)) "pages for socket buffers, half a page per connection"
    want net.core.netdev_max_backlog 10000 at-least "packets queued for a CPU; beyond this they are dropped"
    ! in_kernel net.netfilter.nf_conntrack_max ||
        want net.netfilter.nf_conntrack_max $((connections + connections / 5)) at-least-or-0 \
            "one entry per tracked connection; SYNs are dropped when the table is full"
    ! in_kernel net.netfilter.nf_conntrack_buckets ||
        want net.netfilter.nf_conntrack_buckets $(((connections + connections / 5) / 4 / 512 * 512 + 512)) at-least \
            "at most four tracked connections per hash chain"
    want_neighbours
    [ -z "$limits" ] || want_limits
    [ -z "$irq_device" ] || want_irq "$irq_device"
    [ -z "$rps_device" ] || want_rps "$rps_device"
    [ -z "$rings_device" ] || want_rings "$rings_device"
}

# Raises limits, never lowers them.
# shellcheck disable=SC3045 # dash, busybox and bash have -H and -S
run_command() {
    wanted=$((connections + 1024))
    hard=$(ulimit -Hn)
    if [ "$hard" != unlimited ] && [ "$hard" -lt "$wanted" ]; then
        ulimit -Hn "$wanted" 2>/dev/null || note "the file descriptor limit stays at $hard (wanted: $wanted)"
    fi
    ulimit -Sn "$(ulimit -Hn)"
    unlock_state
    exec "$@"
}

# finish [COMMAND...]
finish() {
    want_persisted
    if [ "$mode" = apply ] && [ $differing -gt 0 ]; then
        note "changes made: $((differing - refused)); --revert undoes them ($state)"
    fi
    if [ $refused -gt 0 ]; then
        note "changes refused: $refused"
        exit 3
    fi
    [ $# -eq 0 ] || run_command "$@"
    [ "$mode" != check ] || [ $differing -eq 0 ] || exit 1
}

# begin [COMMAND...]
begin() {
    # without it, ssh sessions and listening ports are not found, and no state is reverted
    command -v awk >/dev/null || die "cannot find 'awk'"
    choose_state
    [ ! -s "$state.log" ] || note "the last --revert-after failed: see $state.log"
    [ "$mode" != dry-run ] || [ $# -eq 0 ] || die "--dry-run: conflicts with COMMAND, which would run"
    [ -z "$persist" ] || [ -n "$mode_option" ] || die "--persist: requires --apply, --check or --dry-run"
    case $revert_after,$mode_option in
    ,* | *,--apply | *,--check) ;;
    *) die "--revert-after: requires --apply" ;;
    esac
    [ -z "$limits" ] || [ -n "$persist" ] || die "--limits: requires --persist: without it, a reboot could lower fs.nr_open below the limit"
    case $mode in
    check) show setting current wanted '' reason ;;
    apply | revert)
        [ "$(id -u)" = 0 ] || die "--$mode: requires root"
        [ -z "$persist" ] || [ -z "$revert_after" ] || die "--revert-after: conflicts with --persist: a reboot would end the timer"
        begin_change
        ;;
    esac
}

# From here on this script holds the state exclusively.
begin_change() {
    trap unlock_state EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    if ! lock_state; then
        return 0
    fi
    [ -z "$revert_after" ] || [ "$state" != "$durable/$script.state" ] ||
        die "--revert-after: conflicts with the changes of an earlier --persist, which it would revert, too"
    refuse_unsafe_state
    find_siblings
    check_owner "$state"
    forget_what_reboot_undid
    adopt_volatile_state
    if [ "$mode" = apply ]; then
        begin_state
        [ -z "$revert_after" ] || renew_timer
        [ -z "$persist" ] || drop_timer
    fi
}
