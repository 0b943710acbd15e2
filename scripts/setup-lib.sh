# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # parts, of the script
# Shared by setup-server.sh and setup-client.sh: sourced, not run, from the directory $parts; $script is the path of the script.
#
# A script states the values it wants with the want functions of the parts; the mode decides what happens:
#   check    print the current value, the wanted value and the reason; change nothing; exit 1 on a difference
#   dry-run  print commands equivalent to apply
#   apply    change what differs, after recording the old value in the state file
#   revert   undo the changes in the state file, last one first, and remove it

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

die() {
    echo "$program: $*" >&2
    exit 2
}

note() {
    echo "$program: $*" >&2
}

# --- options ---

need_argument() {
    [ -n "${2-}" ] || die "$1: missing value"
}

is_count() {
    case $1 in '' | *[!0-9]*) return 1 ;; esac
}

# read_count TEXT: prints the number, in the notation of the programs: 10000, 100k, 1.5M.
read_count() {
    number=${1%[kM]} decimals='' zeros=''
    case $1 in
    *k) zeros=000 ;;
    *M) zeros=000000 ;;
    esac
    case $number in
    *.*)
        decimals=${number#*.} number=${number%%.*}
        is_count "$decimals" && [ ${#decimals} -le ${#zeros} ] || return
        zeros=$(printf "%.$((${#zeros} - ${#decimals}))s" "$zeros")
        ;;
    esac
    is_count "$number" || return
    number=$(echo "$number$decimals$zeros" | sed 's/^0*//') # a leading 0 would make it octal
    [ ${#number} -le 9 ] || return # arithmetic wraps around
    echo "${number:-0}"
}

# is_port TEXT: 0 to 65535, without leading zeros, which some commands take for octal.
is_port() {
    case $1 in 0?* | ??????*) return 1 ;; esac
    is_count "$1" && [ "$1" -le 65535 ]
}

# need_device OPTION NAME: a name the kernel allows and no command mistakes for an option.
need_device() {
    case $2 in
    -* | *[!A-Za-z0-9._@:-]*) die "$1: invalid value '$2': expected the name of a network interface" ;;
    esac
}

# The options that both scripts have.  Sets $taken to the number of words consumed; 0: not a common option.
# shellcheck disable=SC2034 # read by the scripts
common_option() {
    taken=1
    case $1 in
    --check | --apply | --revert | --dry-run)
        [ "${mode_option:=$1}" = "$1" ] || die "$1 conflicts with $mode_option"
        mode=${1#--}
        ;;
    --persist) persist=yes ;;
    --notrack) notrack=yes ;;
    --connections)
        need_argument "$@"
        connections=$(read_count "$2") || connections=0
        [ "$connections" -gt 0 ] || die "--connections: invalid value '$2': expected 1 to 999999999, such as 10000, 100k or 1.5M"
        taken=2
        ;;
    --port)
        need_argument "$@"
        if ! is_port "$2" || [ "$2" = 0 ]; then
            die "--port: invalid value '$2': expected 1 to 65535"
        fi
        port=$2 taken=2
        ;;
    --state)
        need_argument "$@"
        state=$2 taken=2
        ;;
    --owner)
        need_argument "$@"
        owner=$(printf '%s' "$2" | tr '\t\n' '  ') taken=2
        ;;
    --revert-after)
        need_argument "$@"
        is_count "${2%[smh]}" || die "--revert-after: invalid value '$2': expected a time such as 90, 90s, 30m or 2h"
        revert_after=$2 taken=2
        ;;
    --lock-wait)
        need_argument "$@"
        is_count "$2" || die "--lock-wait: invalid value '$2': expected a number of seconds"
        lock_wait=$2 taken=2
        ;;
    --limits) limits=yes ;;
    --irq | --rps | --rings)
        need_argument "$@"
        need_device "$@"
        eval "${1#--}_device=\$2"
        taken=2
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) taken=0 ;;
    esac
}

common_usage() {
    cat <<END
  --connections N   size every value for N connections (default: 10000)
  --check           print current and wanted values with reasons; change nothing (default)
  --dry-run         print commands equivalent to --apply
  --apply           change what differs; record the old values in the state file
  --revert          restore the old values and remove the state file
  --port PORT       the server's port (default: 4242)
  --notrack         exempt the server's port from connection tracking.  A firewall that matches on
                    connection state then drops these packets; see below
  --irq IFACE       spread the interrupts of this interface over the CPUs of its NUMA node
  --rps IFACE       if this interface has fewer receive queues than its NUMA node has CPUs, spread
                    packets over those CPUs (RPS); assign each CPU its own send queue (XPS)
  --rings IFACE     set the NIC's rings to their maximum size; print its interrupt coalescing
  --persist         with --apply: also set the changed sysctls at every boot, with
                    $persist_file; conflicts with --revert-after
  --limits          with --persist: raise the hard limit of file descriptors for N connections, for
                    logins and for services (after "systemctl daemon-reexec")
  --revert-after TIME
                    with --apply: revert automatically after TIME (90s, 30m, 2h; without a unit:
                    seconds), even if the session has ended; another --apply with this option
                    restarts the timer; one without it leaves the timer running.  If the revert fails,
                    the state file remains; syslog, and a file named like the state file with .log,
                    say why
  --owner NAME      label the changes with NAME; --apply and --revert refuse to touch changes of
                    another owner (exit code 3)
  --lock-wait S     if another of these scripts is changing this host, wait up to S seconds for it
                    (default: 60); if it is still running then, exit with 3
  --state FILE      the state file (default: $volatile/$script.state; with --persist
                    $durable/$script.state)
  -- COMMAND...     then run COMMAND with the fd limit raised for N connections (a script cannot raise
                    the limit of its parent shell); conflicts with --dry-run

Without --persist, a reboot undoes everything; with it, everything except the sysctls and --limits.  If
setup-server and setup-client changed the same value, it is restored when both have been reverted (with
--state: only if both state files are in one directory).

--notrack saves conntrack entries, but untracked packets have no connection state: a rule such as
"ct state established accept" does not match them.  Use it only if another rule accepts packets from and
to the port.

Exit codes:
  0  success
  1  --check found differences
  2  usage error
  3  the system refused a change, which is listed on stderr (all other changes were made); the state file
     could not be written (nothing was changed after that); or nothing was changed (see --owner and
     --lock-wait)
END
}

# --- modes ---

# show NAME IS WANTED ok|differs REASON
show() {
    [ "$mode" = check ] || return 0
    printf '%-36s %-22s %-22s %-8s %s\n' "$@"
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
    esac
}

# change KIND NAME BEFORE COMMAND...: runs a command that changes something; KIND, NAME and BEFORE tell how to undo it.
change() {
    kind=$1 name=$2 before=$3
    shift 3
    differing=$((differing + 1))
    case $mode in
    check) ;;
    dry-run) print_command "$@" ;;
    apply)
        record "$kind" "$name" "$before"
        "$@" >/dev/null || refuse "$(print_command "$@" | head -n 1)"
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
    ! is_recorded "$state" sysctl fs.nr_open || is=$(value_in "$state" sysctl fs.nr_open)
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
    open_now=$(cut -f 1 /proc/sys/fs/file-nr)
    want fs.file-max $((files + (open_now / 100000 + 1) * 100000)) at-least \
        "files of both programs, files open now, and 100,000 spare"
    want fs.nr_open $((connections + 10000)) at-least "files of one process: one per connection"
    want fs.epoll.max_user_watches "$files" at-least "one watch per connection, in both programs"
    want_triple net.ipv4.tcp_mem $((connections / 2 + 50000)) "pages for socket buffers, half a page per connection"
    want net.core.netdev_max_backlog 10000 at-least "packets queued for a CPU; beyond this they are dropped"
    ! in_kernel net.netfilter.nf_conntrack_max ||
        want net.netfilter.nf_conntrack_max $((connections + connections / 5)) at-least \
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
        note "$refused changes were refused"
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
    [ -z "$limits" ] || [ -n "$persist" ] || die "--limits: requires --persist: without it, a reboot could lower fs.nr_open below the limit"
    case $mode in
    check) printf '%-36s %-22s %-22s %-8s %s\n' setting current wanted '' reason ;;
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
    fi
}
