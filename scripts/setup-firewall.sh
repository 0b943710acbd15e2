# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the variables of setup-lib.sh and its other parts
# Part of setup-lib.sh: connection tracking and the firewall.
#
# An untracked packet has no connection state: "ct state established accept" does not match it.  On a host whose
# firewall accepts by state, a notrack rule would block the port; hence it is only added on request.

# Patterns of rules that need connection state: matches on it, and every kind of NAT.
stateful_nft='(^|[^a-z])ct (original |reply )?[a-z]|(^|[[:space:]])(masquerade|snat|dnat|redirect|synproxy|flow add)|xt match "?(conntrack|state)'
stateful_iptables='ctstate|--state|-m connlimit|-j (MASQUERADE|SNAT|DNAT|REDIRECT|SYNPROXY)'

# Prints the first rule of this host that needs connection state, trimmed; returns 1 if there is none.
stateful_rule() {
    {
        nft -s list ruleset 2>/dev/null | grep -E "$stateful_nft" || true
        for save in iptables-save ip6tables-save iptables-legacy-save ip6tables-legacy-save; do
            "$save" 2>/dev/null | grep -E -e "$stateful_iptables" || true
        done
    } | sed 's/^[[:space:]]*//; 1q' | grep .
}

# need_ss OPTION
need_ss() {
    command -v ss >/dev/null || die "$1: cannot find 'ss' of iproute2, which is needed to find ssh sessions that would be cut off"
}

# An ssh session through this port would hang.
refuse_port_of_ssh() {
    session=${SSH_CONNECTION-}
    if [ "${session##* }" = "$port" ]; then
        die "--notrack: port $port carries this ssh session"
    fi
    need_ss --notrack
    # sshd may only have sessions on this port: systemd may listen for it
    if ss -Htanp "sport = :$port" 2>/dev/null | grep -q '"sshd'; then
        die "--notrack: sshd uses port $port"
    fi
}

# A client's rules match packets to and from the server's port; a server's rules match its own port.
# Sets $in and $out, the matches for incoming and outgoing packets.
directions() {
    case $1 in
    client) in=sport out=dport ;;
    server) in=dport out=sport ;;
    esac
}

# Replaces an existing table of this name.
nft_rules() {
    directions "$1"
    cat <<END
table inet tcpscaler-$1-$port
delete table inet tcpscaler-$1-$port
table inet tcpscaler-$1-$port {
    chain prerouting {
        type filter hook prerouting priority raw; policy accept;
        tcp $in $port notrack
    }
    chain output {
        type filter hook output priority raw; policy accept;
        tcp $out $port notrack
    }
}
END
}

add_nft() {
    nft_rules "$1" | nft -f -
}

has_nft() {
    [ "$(nft list table inet "$1" 2>/dev/null | grep -c ' notrack$')" = 2 ]
}

want_nft() {
    if has_nft "tcpscaler-$1-$port"; then
        show "notrack rule (nft)" "port $port" "port $port" ok "$untracked"
        claim nft "tcpscaler-$1-$port"
    else
        show "notrack rule (nft)" none "port $port" differs "$untracked"
        change nft "tcpscaler-$1-$port" none add_nft "$1"
    fi
}

# one_rule TOOL -A|-C|-D CHAIN SIDE PORT: waits for other programs that change the table.
one_rule() {
    "$1" -w -t raw "$2" "$3" -p tcp "--$4" "$5" -j CT --notrack
}

# want_rule TOOL CHAIN SIDE
want_rule() {
    if one_rule "$1" -C "$2" "$3" "$port" 2>/dev/null; then
        show "notrack rule ($1 $2)" "port $port" "port $port" ok "$untracked"
        claim iptables "$1 $2 $3 $port"
    else
        show "notrack rule ($1 $2)" none "port $port" differs "$untracked"
        change iptables "$1 $2 $3 $port" none one_rule "$1" -A "$2" "$3" "$port"
    fi
}

# undo_rule "TOOL CHAIN SIDE PORT"
undo_rule() {
    # shellcheck disable=SC2086 # words
    set -- $1
    if one_rule "$1" -C "$2" "$3" "$4" 2>/dev/null; then
        one_rule "$1" -D "$2" "$3" "$4"
    fi
}

undo_nft() {
    ! nft list table inet "$1" >/dev/null 2>&1 || nft delete table inet "$1"
}

want_iptables() {
    directions "$1"
    for tool in iptables ip6tables; do
        command -v "$tool" >/dev/null || continue
        want_rule "$tool" PREROUTING "$in"
        want_rule "$tool" OUTPUT "$out"
    done
}

untracked='an untracked connection needs no conntrack entry'

# Why no rule is added.
why_tracked() {
    if [ "$(id -u)" != 0 ]; then
        echo 'see --notrack (only root can see the firewall)'
    elif rule=$(stateful_rule); then
        echo "the firewall needs connection state: $rule"
    else
        echo 'the wanted conntrack table has room for every connection; see --notrack'
    fi
}

# want_notrack client|server: exempt the packets of this side from tracking.
want_notrack() {
    if ! in_kernel net.netfilter.nf_conntrack_max; then
        show "notrack rule" "no conntrack" none ok "this kernel does not track connections"
    elif [ -z "$notrack" ]; then
        show "notrack rule" - none ok "$(why_tracked)"
    elif [ "$mode" = check ] && [ "$(id -u)" != 0 ]; then
        show "notrack rule" - "port $port" unknown "only root can see the firewall"
        differing=$((differing + 1))
    else
        ! rule=$(stateful_rule) ||
            note "--notrack: the firewall needs connection state ($rule): it drops packets of port $port unless another rule accepts them"
        if command -v nft >/dev/null; then
            want_nft "$1"
        elif command -v iptables >/dev/null; then
            want_iptables "$1"
        else
            note "--notrack: neither nft nor iptables is installed"
            differing=$((differing + 1)) refused=$((refused + 1))
        fi
    fi
}
