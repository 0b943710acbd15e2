# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the variables of setup-lib.sh and its other parts
# Part of setup-lib.sh: source addresses and local blocks.
#
# Which are there is asked of ip(8) by address, not by text: IPv6 has many spellings of one address.

# family_of ADDRESS: as an option of ip(8).
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

# As it was added: the same address may be there with a prefix by now, and is somebody else's then.
undo_address() {
    ! ip -o addr show dev "$2" to "$1/$(bits_of "$1")" 2>/dev/null | grep -qF "/$(bits_of "$1") " ||
        ip addr del "$1/$(bits_of "$1")" dev "$2"
}

undo_route() {
    ! has_route "$1" "$2" || ip "$(family_of "$1")" route del local "$1" dev "$2"
}

want_address() {
    if has_address "$1" "$2"; then
        show "address $1" present "on $2" ok "a source address"
        claim address "$1 $2"
    else
        show "address $1" none "on $2" differs "a source address"
        # duplicate address detection would keep an IPv6 address from use for a second or more
        case $1 in
        *:*) change address "$1 $2" none ip addr add "$1/128" dev "$2" nodad ;;
        *) change address "$1 $2" none ip addr add "$1/32" dev "$2" ;;
        esac
    fi
}

# A whole block is made local by one route.
want_route() {
    if has_route "$1" "$2"; then
        show "block $1" present "local on $2" ok "a block of source addresses"
        claim route "$1 $2"
    else
        show "block $1" none "local on $2" differs "a block of source addresses"
        change route "$1 $2" none ip "$(family_of "$1")" route add local "$1" dev "$2"
    fi
}
