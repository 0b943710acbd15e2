# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What setup-server.sh and setup-client.sh share: sourced, not run.
#
# A script names its settings with want, want_triple, want_notrack, want_address, want_route and
# want_irq; the mode decides what becomes of them:
#   check    say what is and what is wanted; change nothing; exit 1 when something differs
#   dry-run  print the commands that apply would run
#   apply    change what differs, after writing down what was in the state file
#   revert   undo the state file, last change first, and remove it

program=$(basename "$0")
mode=check
connections=10000
port=4242
state=/run/tcpscaler/${program%.sh}.state
persist=
persist_file=/etc/sysctl.d/90-tcpscaler-${program%.sh}.conf
irq_device=
owner=
revert_after=
differing=0

die() {
    echo "$program: $*" >&2
    exit 2
}

note() {
    echo "$program: $*" >&2
}

need_argument() {
    [ -n "${2-}" ] || die "$1: its value is missing"
}

is_count() {
    case $1 in '' | *[!0-9]*) return 1 ;; esac
}

# read_count TEXT: the number it stands for, as the programs take it: 10000, 100k, 1.5M.
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
    echo "${number:-0}"
}

# need_device OPTION NAME: as the kernel takes them, and nothing that a command takes for an option.
need_device() {
    case $2 in
    -* | *[!A-Za-z0-9._@:-]*) die "$1: '$2': accepted is the name of a network interface" ;;
    esac
}

# The options both scripts have.  $taken is how many words were taken; 0: not one of them.
# shellcheck disable=SC2034 # read by the scripts
common_option() {
    taken=1
    case $1 in
    --check | --apply | --revert | --dry-run) mode=${1#--} ;;
    --persist) persist=yes ;;
    --connections)
        need_argument "$@"
        connections=$(read_count "$2") || connections=0
        [ "$connections" -gt 0 ] || die "--connections: '$2': accepted is a number above 0, as 10000, 100k or 1.5M"
        taken=2
        ;;
    --port)
        need_argument "$@"
        is_count "$2" || die "--port: '$2': accepted is 1 to 65535"
        if [ "$2" -lt 1 ] || [ "$2" -gt 65535 ]; then
            die "--port: '$2': accepted is 1 to 65535"
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
        is_count "${2%[smh]}" || die "--revert-after: '$2': accepted is a time as 90, 90s, 30m or 2h"
        revert_after=$2 taken=2
        ;;
    --irq)
        need_argument "$@"
        need_device "$@"
        irq_device=$2 taken=2
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
  --connections N   sizes every value for N connections (default: 10000)
  --check           say what is and what is wanted, change nothing (default)
  --dry-run         print the commands that --apply would run
  --apply           change what differs; what was goes into the state file
  --revert          restore exactly what was, and remove the state file
  --port PORT       the server's port, for the rule that bypasses conntrack (default: 4242)
  --irq IFACE       spread the interrupts of this interface over all CPUs
  --persist         with --apply: keep the sysctls over a reboot, in
                    $persist_file
  --revert-after TIME
                    with --apply: this host reverts by itself after TIME (90s, 30m, 2h), whoever has
                    gone away meanwhile; another --apply with it begins that time anew
  --owner NAME      whose changes these are: --apply and --revert leave what is another's alone (3)
  --state FILE      default: $state
  -- COMMAND...     then run this with the limit of file descriptors raised; a script cannot raise
                    that of the shell it was started from

Nothing outlives a reboot without --persist.  Exit codes: 0 done, or all as wanted; 1 --check found
differences; 2 usage; 3 a change was refused.
END
}

# --- the state file: one change per line, "kind<TAB>name<TAB>value" ---

# What stands in the state file --revert writes and removes as root: nobody else may have made it, or be able
# to put another one in its place.

# refuse_foreign PATH [sticky]: root's, and not writable by others, but for a sticky directory where that will do.
refuse_foreign() {
    case $(stat -c '%u %A' -- "$1") in
    '0 l'* | '0 '?????-??-?) ;;
    '0 d'????????[tT]) [ "${2-}" = sticky ] || die "--state: $1 is writable by others" ;;
    '0 '*) die "--state: $1 is writable by others" ;;
    *) die "--state: $1 is not root's" ;;
    esac
}

# Every directory and link on the way to a path, as far as they exist.
refuse_foreign_way() {
    way=$1
    while [ "$way" != / ]; do
        way=$(dirname -- "$way")
        if [ -e "$way" ] || [ -L "$way" ]; then
            refuse_foreign "$way" sticky
        fi
    done
}

refuse_unsafe_state() {
    case $state in
    /*) ;;
    *) state=$PWD/$state ;;
    esac
    [ ! -L "$state" ] || die "--state: $state is a link"
    [ ! -e "$state" ] || [ -f "$state" ] || die "--state: $state is not a file"
    directory=$(dirname -- "$state")
    refuse_foreign_way "$state"
    [ -d "$directory" ] || [ "$mode" = revert ] || (umask 022 && mkdir -p -- "$directory") ||
        die "--state: cannot make $directory"
    [ -d "$directory" ] || return 0
    directory=$(readlink -f -- "$directory")
    refuse_foreign_way "$state"
    refuse_foreign_way "$directory"
    refuse_foreign "$directory"
    [ ! -e "$state" ] || refuse_foreign "$state"
}

recorded() {
    [ -f "$state" ] && grep -qF "$(printf '%s\t%s\t' "$1" "$2")" "$state"
}

record() {
    recorded "$1" "$2" && return
    (umask 022 && printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$state")
}

# What is on record is of one owner; without --owner it is nobody's.
check_owner() {
    [ -f "$state" ] || return 0
    recorded_owner=$(awk -F '\t' '$1 == "owner" { print $2 }' "$state")
    [ "$recorded_owner" = "$owner" ] || {
        note "tuned by '$recorded_owner', not by '$owner': left alone ($state)"
        exit 3
    }
}

# Runs a command that changes something; "$1 $2 $3" is how it was before.
change() {
    kind=$1 name=$2 before=$3
    shift 3
    differing=$((differing + 1))
    case $mode in
    check) ;;
    dry-run) echo "$*" ;;
    apply)
        record "$kind" "$name" "$before"
        "$@" >/dev/null || {
            note "refused: $*"
            exit 3
        }
        ;;
    esac
}

# --- sysctls ---

sysctl_path() {
    echo "/proc/sys/$(echo "$1" | tr . /)"
}

# A value with its blanks as the kernel prints them made single.
read_sysctl() {
    tr -s '\t ' ' ' <"$(sysctl_path "$1")"
}

write_sysctl() {
    echo "$2" >"$(sysctl_path "$1")"
}

show() {
    [ "$mode" = check ] || return 0
    printf '%-36s %-22s %-22s %s\n' "$1" "$2" "$3" "$4"
}

# want NAME VALUE at-least|exactly
want() {
    if [ ! -r "$(sysctl_path "$1")" ]; then
        note "$1: not here, left out"
        return
    fi
    is=$(read_sysctl "$1")
    if [ "$is" = "$2" ] || { [ "$3" = at-least ] && [ "$is" -ge "$2" ]; }; then
        show "$1" "$is" "$2" ok
    else
        show "$1" "$is" "$2" differs
        change sysctl "$1" "$is" write_sysctl "$1" "$2"
    fi
    [ -z "$persist" ] || [ "$mode" != apply ] || persist_sysctl "$1"
}

# want_triple NAME LEAST: three numbers of which the last is at least LEAST.
want_triple() {
    [ -r "$(sysctl_path "$1")" ] || {
        note "$1: not here, left out"
        return
    }
    is=$(read_sysctl "$1")
    if [ "${is##* }" -ge "$2" ]; then
        show "$1" "$is" "... $2" ok
    else
        show "$1" "$is" "$(($2 / 2)) $(($2 * 3 / 4)) $2" differs
        change sysctl "$1" "$is" write_sysctl "$1" "$(($2 / 2)) $(($2 * 3 / 4)) $2"
    fi
}

persist_sysctl() {
    recorded file "$persist_file" || record file "$persist_file" new
    printf '%s = %s\n' "$1" "$(read_sysctl "$1")" >>"$persist_file"
}

# --- conntrack: connections that are not tracked need no table ---

nft_rules() {
    cat <<END
table inet tcpscaler-$1 {
    chain prerouting {
        type filter hook prerouting priority raw; policy accept;
        tcp dport $port notrack
        tcp sport $port notrack
    }
    chain output {
        type filter hook output priority raw; policy accept;
        tcp dport $port notrack
        tcp sport $port notrack
    }
}
END
}

add_nft() {
    nft_rules "$1" | nft -f -
}

iptables_rules() {
    for chain in PREROUTING OUTPUT; do
        for side in dport sport; do
            iptables -t raw "$1" "$chain" -p tcp "--$side" "$port" -j NOTRACK || return
        done
    done
}

# want_notrack NAME: a rule of this name for the server's port.
want_notrack() {
    if [ ! -e /proc/sys/net/netfilter/nf_conntrack_max ]; then
        show "notrack rule" "no conntrack" "none" ok
    elif command -v nft >/dev/null; then
        if nft list table inet "tcpscaler-$1" >/dev/null 2>&1; then
            show "notrack rule (nft)" present present ok
        else
            show "notrack rule (nft)" none "port $port" differs
            change nft "tcpscaler-$1" none add_nft "$1"
        fi
    elif command -v iptables >/dev/null; then
        if iptables -t raw -C OUTPUT -p tcp --sport "$port" -j NOTRACK 2>/dev/null; then
            show "notrack rule (iptables)" present present ok
        else
            show "notrack rule (iptables)" none "port $port" differs
            change iptables "$port" none iptables_rules -A
        fi
    else
        note "neither nft nor iptables: connections may be tracked, the table has to hold them"
    fi
}

# --- addresses ---

has_address() {
    ip -o addr show dev "$2" | grep -qF -e " inet $1/" -e " inet6 $1/"
}

has_route() {
    ip route show table local | grep -qF "local $1 dev $2"
}

want_address() {
    if has_address "$1" "$2"; then
        show "address $1" present "on $2" ok
    else
        show "address $1" none "on $2" differs
        change address "$1" "$2" ip addr add "$1" dev "$2"
    fi
}

# A whole block is made local by one route.
want_route() {
    if has_route "$1" "$2"; then
        show "block $1" present "local on $2" ok
    else
        show "block $1" none "local on $2" differs
        change route "$1" "$2" ip route add local "$1" dev "$2"
    fi
}

# --- interrupts ---

write_irq() {
    echo "$2" >"/proc/irq/$1/smp_affinity_list"
}

want_irq() {
    n_cpus=$(nproc) cpu=0 found=
    # shellcheck disable=SC2013 # numbers
    for irq in $(awk -v device="$1" 'index($0, device) { sub(":", "", $1); print $1 }' /proc/interrupts); do
        file=/proc/irq/$irq/smp_affinity_list
        [ -r "$file" ] || continue
        found=yes is=$(cat "$file")
        if [ "$is" = "$cpu" ]; then
            show "irq $irq of $1" "cpu $is" "cpu $cpu" ok
        else
            show "irq $irq of $1" "cpu $is" "cpu $cpu" differs
            change irq "$irq" "$is" write_irq "$irq" "$cpu"
        fi
        cpu=$(((cpu + 1) % n_cpus))
    done
    [ -n "$found" ] || note "$1: no interrupts of this name in /proc/interrupts"
}

# --- undoing: also what is undone already, as after a revert that was cut short ---

undo() {
    case $1 in
    owner) ;;
    timer) stop_timer "$2" "$3" ;;
    sysctl) write_sysctl "$2" "$3" ;;
    nft) ! nft list table inet "$2" >/dev/null 2>&1 || nft delete table inet "$2" ;;
    iptables) port=$2 && iptables_rules -D ;;
    address) ! has_address "$2" "$3" || ip addr del "$2" dev "$3" ;;
    route) ! has_route "$2" "$3" || ip route del local "$2" dev "$3" ;;
    irq) write_irq "$2" "$3" ;;
    file) rm -f -- "$2" ;;
    esac
}

revert() {
    [ -f "$state" ] || {
        note "nothing to revert: no $state"
        return
    }
    failed=
    tab=$(printf '\t')
    reversed=$(sed -n '1!G;h;$p' "$state")
    while IFS=$tab read -r kind name before; do
        undo "$kind" "$name" "$before" || {
            note "cannot restore $kind $name to '$before'"
            failed=yes
        }
    done <<END
$reversed
END
    [ -z "$failed" ] || exit 3
    rm -f "$state"
    rmdir /run/tcpscaler 2>/dev/null || true
}

# --- undoing by itself ---

# A process that waits on this host: it needs no controller, no connection and no file but the state.

# When the process began, in ticks since boot: with its number that names it for ever.
begin_of() {
    sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
}

stop_timer() {
    if [ -z "$in_timer" ] && [ "$(begin_of "$1")" = "$2" ]; then kill "$1"; fi
}

in_timer=
start_timer() {
    (
        in_timer=yes
        trap '' HUP
        trap 'kill "$sleeper"; exit' TERM
        sleep "$revert_after" &
        sleeper=$!
        wait "$sleeper"
        revert
    ) </dev/null >/dev/null 2>&1 &
    record timer "$!" "$(begin_of $!)"
}

# In the state there is the last one alone.
renew_timer() {
    if [ -f "$state" ]; then
        while IFS=$(printf '\t') read -r kind name before; do
            [ "$kind" != timer ] || stop_timer "$name" "$before"
        done <"$state"
        sed -i '/^timer/d' "$state"
    fi
    start_timer
}

# --- the course of both scripts ---

# What every machine with so many connections needs: sockets of both ends, and what each thread has open
# besides (64 descriptors, of 1,000 connections where the hard limit of descriptors is that low).
want_common() {
    files=$((connections * 2 + connections / 8 + 10000))
    open_now=$(cut -f 1 /proc/sys/fs/file-nr)
    want fs.file-max $((files + (open_now / 100000 + 1) * 100000)) at-least
    want fs.nr_open $((connections + 10000)) at-least
    want fs.epoll.max_user_watches "$files" at-least
    want_triple net.ipv4.tcp_mem $((connections / 2 + 50000))
    want net.core.netdev_max_backlog 10000 at-least
    [ ! -e /proc/sys/net/netfilter/nf_conntrack_max ] ||
        want net.netfilter.nf_conntrack_max $((connections + connections / 5)) at-least
    [ -z "$irq_device" ] || want_irq "$irq_device"
}

# shellcheck disable=SC3045 # dash, busybox and bash have -H and -S
run_command() {
    wanted=$((connections + 1024))
    ulimit -Hn "$wanted" 2>/dev/null || true
    ulimit -Sn "$(ulimit -Hn)"
    exec "$@"
}

finish() {
    case $mode in
    check) [ $differing -eq 0 ] || exit 1 ;;
    apply) [ $differing -eq 0 ] || note "$differing changes; --revert undoes them ($state)" ;;
    esac
}

begin() {
    case $mode in
    check) printf '%-36s %-22s %-22s\n' setting is wanted ;;
    apply | revert)
        [ "$(id -u)" = 0 ] || die "--$mode needs root"
        refuse_unsafe_state
        check_owner
        ;;
    esac
    if [ "$mode" = apply ]; then
        [ -z "$owner" ] || record owner "$owner" ''
        [ -z "$revert_after" ] || renew_timer
    fi
    [ -z "$persist" ] || [ "$mode" != apply ] || : >"$persist_file"
}
