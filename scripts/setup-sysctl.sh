# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the variables of setup-lib.sh and its other parts
# Part of setup-lib.sh: sysctls, and the files that set them at boot.

persist_file=/etc/sysctl.d/90-tcpscaler-$script.conf
persisted=

# find_sysctl NAME: sets $sysctl to its file.
# shellcheck disable=SC2086 # split at dots
find_sysctl() {
    IFS=.
    set -- $1
    IFS=/
    sysctl="/proc/sys/$*"
    unset IFS
}

# in_kernel NAME: whether this kernel has it.
in_kernel() {
    find_sysctl "$1"
    [ -r "$sysctl" ]
}

# read_sysctl NAME: sets $is to the current value, with each run of blanks as one space.  Not with read, which takes a
# byte at a time: the kernel returns no more of a sysctl than the first read(2) asks for.
read_sysctl() {
    find_sysctl "$1"
    is=$(tr -s '\t ' ' ' <"$sysctl")
}

write_sysctl() {
    find_sysctl "$1"
    write_kernel "$sysctl" "$2"
}

# The sysctl may have gone with its module.
restore_sysctl() {
    in_kernel "$1" || {
        note "$1: no longer in this kernel, skipped"
        return 0
    }
    read_sysctl "$1"
    [ "$is" = "$2" ] || write_sysctl "$1" "$2" || {
        note "$1: $why"
        return 1
    }
}

# set_sysctl NAME IS WANTED REASON: WANTED is empty if IS is fine already.
set_sysctl() {
    if [ -z "$3" ]; then
        claim sysctl "$1"
    else
        change sysctl "$1" "$2" write_sysctl "$1" "$3"
    fi
    persist_sysctl "$1" "${3:-$2}" "$3"
}

# persist_sysctl NAME VALUE CHANGED: persists what this script changed, now or before, also if the state is gone.  A "-"
# prefix ignores errors: sysctls of modules may not exist yet at boot.
persist_sysctl() {
    [ -n "$persist" ] || return 0
    if [ -n "$3" ] || is_recorded "$state" sysctl "$1" || grep -qsF -e "$1 = " -- "$persist_file"; then
        case $1 in net.netfilter.*) persisted=$persisted- ;; esac
        persisted="$persisted$1 = $2
"
    fi
}

has_sysctl() {
    in_kernel "$1" || {
        note "$1: not in this kernel or network namespace, skipped"
        return 1
    }
}

# is_enough IS WANTED at-least|at-least-or-0|at-most|exactly|around: "at-least-or-0" is for limits where 0 means no limit,
# "around" for ranges, which may be wider.
is_enough() {
    case $3 in
    exactly) [ "$1" = "$2" ] ;;
    at-least) [ "$1" -ge "$2" ] ;;
    at-least-or-0) [ "$1" = 0 ] || [ "$1" -ge "$2" ] ;;
    at-most) [ "$1" -le "$2" ] ;;
    around) [ "${1%% *}" -le "${2%% *}" ] && [ "${1##* }" -ge "${2##* }" ] ;;
    esac
}

# around_both RANGE RANGE: prints the range that includes both.
around_both() {
    first=${1%% *} last=${1##* }
    [ "$first" -le "${2%% *}" ] || first=${2%% *}
    [ "$last" -ge "${2##* }" ] || last=${2##* }
    echo "$first $last"
}

# want NAME VALUE at-least|at-least-or-0|at-most|exactly|around REASON
want() {
    has_sysctl "$1" || return 0
    read_sysctl "$1"
    if is_enough "$is" "$2" "$3"; then
        show "$1" "$is" "$2" ok "$4"
        set_sysctl "$1" "$is" ''
    else
        [ "$3" != around ] || set -- "$1" "$(around_both "$is" "$2")" "$3" "$4"
        show "$1" "$is" "$2" differs "$4"
        set_sysctl "$1" "$is" "$2"
    fi
}

# larger A B C D E F: of three numbers and three others, the larger one of each pair.
larger() {
    echo "$(($1 > $4 ? $1 : $4)) $(($2 > $5 ? $2 : $5)) $(($3 > $6 ? $3 : $6))"
}

# want_triple NAME LEAST REASON: three numbers, the last one at least LEAST; none is lowered.
want_triple() {
    has_sysctl "$1" || return 0
    read_sysctl "$1"
    if [ "${is##* }" -ge "$2" ]; then
        show "$1" "$is" "... $2" ok "$3"
        set_sysctl "$1" "$is" ''
    else
        # shellcheck disable=SC2086 # numbers
        wanted=$(larger $is $(($2 / 2)) $(($2 * 3 / 4)) "$2")
        show "$1" "$is" "$wanted" differs "$3"
        set_sysctl "$1" "$is" "$wanted"
    fi
}

# --- files ---

# Mode, owner and content of a file, as one word each.
describe_file() {
    if [ -e "$1" ]; then
        printf '%s %s\n' "$(stat -c '%a %u:%g' -- "$1")" "$(base64 <"$1" | tr -d '\n')"
    else
        echo new
    fi
}

# put_file PATH MODE OWNER: replaces the file with stdin, atomically.
put_file() {
    (umask 077 && cat >"$1.tcpscaler") && chmod "$2" -- "$1.tcpscaler" && chown "$3" -- "$1.tcpscaler" &&
        mv -f -- "$1.tcpscaler" "$1"
}

write_file() {
    make_directory "$(dirname -- "$1")" && printf '%s' "$2" | put_file "$1" 644 0:0
}

# restore_file PATH DESCRIPTION
restore_file() {
    rm -f -- "$1.tcpscaler"
    [ "$(describe_file "$1")" != "$2" ] || return 0
    case $2 in
    new) rm -f -- "$1" ;;
    *) echo "${2##* }" | base64 -d | put_file "$1" "${2%% *}" "$(echo "$2" | cut -d ' ' -f 2)" ;;
    esac
}

# want_file PATH CONTENT REASON
want_file() {
    if [ "$(cat -- "$1" 2>/dev/null)" = "$(printf '%s' "$2")" ]; then
        show "$1" present present ok "$3"
        claim file "$1"
    else
        show "$1" "$([ -e "$1" ] && echo other || echo none)" present differs "$3"
        change file "$1" "$(describe_file "$1")" write_file "$1" "$2"
    fi
}

# with_persisted FILE: prints this settings file with the values of $persisted for the names in both.
with_persisted() {
    printf '%s' "$persisted" | awk 'NR == FNR { value[$1] = $0; next } { print $1 in value ? value[$1] : $0 }' - "$1"
}

# At boot the last file by name wins, so the other script's file must not have a lower value.
raise_persisted_of_siblings() {
    [ -n "$persisted" ] || return 0
    for file in /etc/sysctl.d/90-tcpscaler-setup-*.conf; do
        if [ "$file" = "$persist_file" ] || ! sibling_with file "$file"; then
            continue
        fi
        raised=$(with_persisted "$file")
        [ "$raised" = "$(cat -- "$file")" ] || write_file "$file" "$raised
" || refuse "raising the values in $file"
    done
}

want_persisted() {
    [ -n "$persist" ] || return 0
    want_file "$persist_file" "$persisted" "sets these sysctls at boot"
    [ "$mode" != apply ] || raise_persisted_of_siblings
}
