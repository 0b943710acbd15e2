# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the variables of setup-lib.sh and its other parts
# Part of setup-lib.sh: source addresses and local blocks.
#
# Addresses are looked up with ip(8), not compared as text: an IPv6 address has many spellings.

# family_of ADDRESS: the option of ip(8).
family_of() {
    case $1 in
    *:*) echo -6 ;;
    *) echo -4 ;;
    esac
}

bits_of() {
    case $1 in
    *:*) echo 128 ;;
    *) echo 32 ;;
    esac
}

has_address() {
    ip "$(family_of "$1")" -o addr show dev "$2" to "$1/$(bits_of "$1")" 2>/dev/null | grep -q .
}

has_route() {
    ip "$(family_of "$1")" route show table local exact "$1" dev "$2" 2>/dev/null | grep -q '^local '
}

# Only with the prefix with which it was added: with another one, the address was added by another program.
undo_address() {
    ! ip -o addr show dev "$2" to "$1/$(bits_of "$1")" 2>/dev/null | grep -qF "/$(bits_of "$1") " ||
        ip addr del "$1/$(bits_of "$1")" dev "$2"
}

undo_route() {
    ! has_route "$1" "$2" || ip "$(family_of "$1")" route del local "$1" dev "$2"
}

# want_on_device KIND ADDRESS DEVICE LABEL WANTED REASON COMMAND...: what has_KIND does not find, COMMAND adds.
want_on_device() {
    if "has_$1" "$2" "$3"; then
        show "$4 $2" present "$5" ok "$6"
        claim "$1" "$2 $3"
        return
    fi
    show "$4 $2" none "$5" differs "$6"
    added=$1 added_to="$2 $3"
    shift 6
    change "$added" "$added_to" none "$@"
}

want_address() {
    # duplicate address detection would keep an IPv6 address from use for a second or more
    case $1 in
    *:*) set -- "$@" nodad ;;
    esac
    want_on_device address "$1" "$2" address "on $2" "a source address" \
        ip addr add "$1/$(bits_of "$1")" dev "$2" ${3:+"$3"}
}

block_of() {
    case $1 in
    */*) echo "$1" ;;
    *) echo "$1/$(bits_of "$1")" ;;
    esac
}

# "ADDRESS DESTINATION" for each gateway and route.  The filters of ip(8) leave out routes with several next hops.  Some awks
# need the parentheses, and some have no "^".
gateways() {
    for family in -4 -6; do
        ip $family -o route show table all 2>/dev/null
    done | awk '{ for (i = 2; i < NF; i++) if ($i == "via") print ($(i + 1) == "inet6" ? $(i + 2) : $(i + 1)), $1 }'
}

# Reads gateways, then sources; prints the first source that is or includes a gateway, and what is beyond it.
source_with_gateway() {
    awk '
    function hex(text,    value) {
        for (; text != ""; text = substr(text, 2))
            value = 16 * value + index("123456789abcdef", tolower(substr(text, 1, 1)))
        return value
    }
    function bits(address,    n, zeros, width, parts, i, k, text) {
        for (n = gsub(/:/, ":", address); n < 8; n++)
            zeros = zeros "0:"
        sub(/::/, ":" zeros, address)
        width = address ~ /:/ ? 16 : 8
        n = split(address, parts, /[.:]/)
        for (i = 1; i <= n; i++)
            for (k = width == 16 ? 32768 : 128; k >= 1; k /= 2)
                text = text int((width == 16 ? hex(parts[i]) : parts[i]) / k) % 2
        return text
    }
    NF == 2 {
        if (!($1 in destination) || $2 == "default")
            destination[$1] = $2
    }
    NF == 1 {
        n_bits = split($1, block, "/") == 2 ? block[2] : 128
        start = substr(bits(block[1]), 1, n_bits)
        found = ""
        for (gateway in destination)
            if (found != "default" && !(gateway ~ /:/) == !($1 ~ /:/) && substr(bits(gateway), 1, n_bits) == start)
                found = destination[gateway]
        if (found != "") {
            print $1, found
            exit
        }
    }'
}

# If the address of a gateway became local, this host could reach neither the gateway nor the networks beyond it.
refuse_gateways() {
    found=$(known=$(gateways) && printf '%s\n' "$known" "$items" | source_with_gateway) ||
        die "--sources: nothing was changed: awk failed to look for gateways, which would be cut off"
    case $found in
    '') return ;;
    *' default') gateway='the default gateway' ;;
    *) gateway="the gateway to ${found#* }" ;;
    esac
    die "--sources: ${found%% *} is or includes $gateway, which would be cut off"
}

# The other end of an ssh session that becomes local would be cut off.  An sshd, "sshd-session" in new versions, has the
# session, but not always the listener: systemd may have that.  ss(8) takes the last part of an IPv6 address without a
# prefix for a port.
refuse_peers_of_ssh() {
    need_ss --sources
    session=${SSH_CONNECTION-}
    ports="sport = :${session##* }"
    [ -n "$session" ] || ports='sport = :22'
    for port_of_sshd in $(ss -Htnp 2>/dev/null | awk '/"sshd/ {sub(/.*:/, "", $4); print $4}' | sort -u); do
        ports="$ports or sport = :$port_of_sshd"
    done
    ss -Htn state established "( $ports )" 2>/dev/null | grep -q . || return 0
    for item in $items; do
        ! ss -Htn state established "( $ports ) and dst $(block_of "$item")" 2>/dev/null | grep -q . ||
            die "--sources: $item is or includes the other end of an ssh session, which would be cut off"
    done
}

# One route makes a whole block local.
want_route() {
    want_on_device route "$1" "$2" block "local on $2" "a block of source addresses" \
        ip "$(family_of "$1")" route add local "$1" dev "$2"
}

# --- ports ---

# is_in PORT LIST: as in ip_local_reserved_ports.
is_in() {
    for span in $(echo "$2" | tr , ' '); do
        if [ "$1" -ge "${span%-*}" ] && [ "$1" -le "${span#*-}" ]; then
            return 0
        fi
    done
    return 1
}

# The listening ports of this network namespace, one per line: TCP_LISTEN, and UDP sockets that are not connected.
listening_ports() {
    # shellcheck disable=SC2013 # numbers
    for hex in $({
        cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '$4 == "0A" { print $2 }'
        cat /proc/net/udp /proc/net/udp6 2>/dev/null | awk '$4 == "07" { print $2 }'
    } | sed 's/.*://' | sort -u); do
        echo $((0x$hex))
    done
}

# automatic_ports LOW_PORT: the range to want.  The kernel refuses one that begins below ip_unprivileged_port_start, which
# becomes LOW_PORT, unless that is empty or it is lower.
automatic_ports() {
    is=0
    ! in_kernel net.ipv4.ip_unprivileged_port_start || read_sysctl net.ipv4.ip_unprivileged_port_start
    [ "$is" -le "${1:-$is}" ] || is=$1
    [ "$is" -ge 1024 ] || is=1024
    echo "$is 65535"
}

# A wider range of automatic ports must not hand out ports of servers, which could then not restart: tcpserver's, and
# listening ports that were outside the range so far.
want_reserved_ports() {
    has_sysctl net.ipv4.ip_local_reserved_ports && in_kernel net.ipv4.ip_local_port_range || return 0
    read_sysctl net.ipv4.ip_local_port_range
    range=$is
    read_sysctl net.ipv4.ip_local_reserved_ports
    wanted=$is
    for candidate in "$port" $(listening_ports); do
        if [ "$candidate" -lt 1024 ] || is_in "$candidate" "$wanted"; then
            continue
        fi
        if [ "$candidate" = "$port" ] || ! is_in "$candidate" "${range%% *}-${range##* }"; then
            wanted=$wanted${wanted:+,}$candidate
        fi
    done
    if [ "$is" = "$wanted" ]; then
        show net.ipv4.ip_local_reserved_ports "${is:--}" "${is:--}" ok "keep servers' ports out of the automatic source ports"
        set_sysctl net.ipv4.ip_local_reserved_ports "$is" ''
    else
        show net.ipv4.ip_local_reserved_ports "${is:--}" "$wanted" differs "keep servers' ports out of the automatic source ports"
        set_sysctl net.ipv4.ip_local_reserved_ports "$is" "$wanted"
    fi
}

# --- lists of sources, in tcpclient's syntax ---

most_addresses=65536

odd_source() {
    die "--sources: invalid value '$1': expected an address, a range or a block: 10.0.0.5, 10.0.1.1-9, 10.0.1.200-10.0.2.5, fd00::1-9, 10.50.0.0/16"
}

# number_of A.B.C.D: returns 1 if invalid.
number_of() {
    number=0 n_parts=0
    for part in $(echo "$1" | tr . ' '); do
        case $part in 0?* | ????* | *[!0-9]*) return 1 ;; esac
        [ "$part" -le 255 ] || return 1
        number=$((number * 256 + part)) n_parts=$((n_parts + 1))
    done
    [ $n_parts = 4 ] && echo $number
}

address_of() {
    echo $(($1 >> 24)).$(($1 >> 16 & 255)).$(($1 >> 8 & 255)).$(($1 & 255))
}

# list_range4 FIRST LAST: LAST may be just the last number.
list_range4() {
    case $2 in
    *.*) end=$(number_of "$2") ;;
    *) end=$(number_of "${1%.*}.$2") ;;
    esac && at=$(number_of "$1") || return
    [ "$at" -le "$end" ] && [ $((end - at)) -lt $most_addresses ] || return
    while [ "$at" -le "$end" ]; do
        address_of "$at"
        at=$((at + 1))
    done
}

is_group() {
    case $1 in '' | *[!0-9A-Fa-f]* | ?????*) return 1 ;; esac
}

# list_range6 FIRST LAST: within the last group.
list_range6() {
    head=${1%:*} first_group=${1##*:} last_group=${2##*:}
    case $2 in *:*) [ "${2%:*}" = "$head" ] || return ;; esac
    is_group "$first_group" && is_group "$last_group" || return
    at=$((0x$first_group)) end=$((0x$last_group))
    [ "$at" -le "$end" ] || return
    while [ "$at" -le "$end" ]; do
        printf '%s:%x\n' "$head" "$at"
        at=$((at + 1))
    done
}

# A block with its host bits cleared, as ip(8) requires.
list_block() {
    prefix=${1##*/}
    case $prefix in 0?*) return 1 ;; esac # shell arithmetic and ip(8) would read it as octal
    is_count "$prefix" && [ ${#prefix} -le 3 ] && [ "$prefix" -le "$(bits_of "$1")" ] || return
    case $1 in
    *:*) echo "$1" ;;
    *)
        number=$(number_of "${1%/*}") || return
        echo "$(address_of $((number >> 32 - prefix << 32 - prefix)))/$prefix"
        ;;
    esac
}

# list_sources LIST: one address or block per line; exits the subshell if the list is invalid.
list_sources() {
    case $1 in
    *[!0-9A-Fa-f.:,/-]* | -* | ,* | *, | *,,*) odd_source "$1" ;;
    esac
    for item in $(echo "$1" | tr , ' '); do
        case $item in
        */*) list_block "$item" ;;
        *:*-*) list_range6 "${item%%-*}" "${item#*-}" ;;
        *-*) list_range4 "${item%%-*}" "${item#*-}" ;;
        *:*) echo "$item" ;;
        *) list_range4 "$item" "$item" ;;
        esac || odd_source "$item"
    done
}
