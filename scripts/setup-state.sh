# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the variables of setup-lib.sh and its other parts
# Part of setup-lib.sh: the state file, which records all previous values, and undoing the changes.
#
# One change per line, "kind<TAB>name<TAB>value", written before the change is made.  An entry that two states of one
# directory (or of the two default directories) share has the same value in both: the one from before the first
# change.  The last --revert restores it.

tab=$(printf '\t')
header=tcpscaler-setup
volatile=/run/tcpscaler
durable=/var/lib/tcpscaler
boot=$(cat /proc/sys/kernel/random/boot_id)
state=
state_directory=
siblings=
sibling_list=

# --- where it is ---

# A reboot undoes what is not persisted and removes its state; persisted changes need a durable state.
choose_state() {
    siblings=given
    if [ -z "$state" ]; then
        siblings=default
        choose_default_state
    fi
    case $state in
    /*) ;;
    *) state=$PWD/$state ;;
    esac
}

choose_default_state() {
    state=$volatile/$script.state
    if [ -n "$persist" ] || [ -e "$durable/$script.state" ]; then
        state=$durable/$script.state
    fi
}

# --revert executes the state file as root: only root may have created it or be able to replace it.

# refuse_foreign PATH [sticky]: must be owned by root and not writable by others; "sticky" allows a sticky directory.
refuse_foreign() {
    case $(stat -c '%u %A' -- "$1" 2>/dev/null) in
    '') ;; # already removed
    '0 l'* | '0 '?????-??-?) ;;
    '0 d'????????[tT]) [ "${2-}" = sticky ] || die "--state: $1 is writable by others" ;;
    '0 '*) die "--state: $1 is writable by others" ;;
    *) die "--state: $1 is not owned by root" ;;
    esac
}

# Checks every existing directory and link on the way to an absolute path.
refuse_foreign_way() {
    way=$1
    while [ "$way" != / ]; do
        way=${way%/*}
        way=${way:-/}
        if [ -e "$way" ] || [ -L "$way" ]; then
            refuse_foreign "$way" sticky
        fi
    done
}

# Finds the directory of the state; --apply creates it.  Returns 1 if --revert finds none.
find_state_directory() {
    state_directory=$(dirname -- "$state")
    refuse_foreign_way "$state"
    [ "$mode" = revert ] || make_directory "$state_directory" || die "--state: cannot create $state_directory"
    [ -d "$state_directory" ] || return 1
    state_directory=$(readlink -f -- "$state_directory")
    refuse_foreign_way "$state_directory"
    refuse_foreign "$state_directory"
}

refuse_unsafe_state() {
    [ ! -L "$state" ] || die "--state: $state is a symbolic link"
    [ ! -e "$state" ] || [ -f "$state" ] || die "--state: $state is not a regular file"
    refuse_foreign "$state"
    state=$state_directory/$(basename -- "$state")
}

# Directories created here, one per line, until there is a state to record them in.
made_directories=

# make_directory PATH: creates it and its parents.
make_directory() {
    [ ! -d "$1" ] || return 0
    make_directory "$(dirname -- "$1")" || return
    # mkdir fails when another process was faster
    (umask 022 && mkdir -- "$1" 2>/dev/null) || [ -d "$1" ] || return
    made_directories="$made_directories$1
"
    record_directories
}

record_directories() {
    [ -n "$state_directory" ] && [ -e "$state" ] || return 0
    while read -r made; do
        [ -z "$made" ] || record directory "$made" ''
    done <<END
$made_directories
END
    made_directories=
}

# --- reading and writing ---

# is_recorded STATE KIND NAME: sets $recorded to the value.  Not with grep(1): it would be a quarter of all processes started.
is_recorded() {
    [ -f "$1" ] || return
    while IFS=$tab read -r recorded_kind recorded_name recorded; do
        [ "$recorded_kind" != "$2" ] || [ "$recorded_name" != "$3" ] || return 0
    done <"$1"
    return 1
}

is_of_this_boot() {
    is_recorded "$1" boot "$boot" || ! grep -q "^boot$tab" "$1"
}

# is_persistent STATE: whether its sysctls are set at boot.
is_persistent() {
    grep -q "^file$tab/etc/sysctl.d/" "$1"
}

# is_current STATE KIND: whether no reboot has undone its changes of this kind.
is_current() {
    is_of_this_boot "$1" || case $2 in
    owner | directory | file) ;;
    sysctl) is_persistent "$1" ;;
    *) return 1 ;;
    esac
}

# Lists other states that may have recorded the same settings in $sibling_list, one per line.  Must be called with the
# lock held: until it is released, no other script adds one.
find_siblings() {
    rm -f -- "$state.new" # of a script that was killed: it would count as a sibling
    drop_cut_entry "$state"
    sibling_list=$(sibling_states)
}

sibling_states() {
    case $siblings in
    given) set -- "$state_directory" ;;
    *) set -- "$volatile" "$durable" ;;
    esac
    for place; do
        for sibling in "$place"/*; do
            if [ "$sibling" != "$state" ] && [ -f "$sibling" ] && [ ! -L "$sibling" ] &&
                [ "$(stat -c %u -- "$sibling")" = 0 ] && [ "$(head -n 1 -- "$sibling")" = "$header" ]; then
                drop_cut_entry "$sibling"
                printf '%s\n' "$sibling"
            fi
        done
    done
}

# sibling_with KIND NAME: sets $sibling to one that has recorded it; returns 1 if none has.
sibling_with() {
    [ -n "$sibling_list" ] || return 1
    while read -r sibling; do
        if is_recorded "$sibling" "$1" "$2" && is_current "$sibling" "$1"; then
            return
        fi
    done <<END
$sibling_list
END
    return 1
}

record() {
    ! is_recorded "$state" "$1" "$2" || return 0
    if sibling_with "$1" "$2" && is_recorded "$sibling" "$1" "$2"; then
        set -- "$1" "$2" "$recorded"
    fi
    (umask 022 && printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$state") || cannot_record
}

# What is not on record must not be changed.
cannot_record() {
    instead=
    [ "$mode" != apply ] || instead=", or use --revert to undo what was changed"
    note "cannot write $state: nothing more was changed; make it writable and repeat --$mode$instead"
    exit 3
}

# drop_cut_entry STATE: an entry is written before its change is made, so one that was cut short, as on a full disk, has
# changed nothing.  Needs no space on the disk.
drop_cut_entry() {
    [ ! -s "$1" ] || [ -z "$(tail -c 1 -- "$1")" ] || truncate -s "$(sed '$d' <"$1" | wc -c)" -- "$1"
}

# A setting that another script changed and this one needs, too, is recorded in both states.
claim() {
    if [ "$mode" = apply ] && sibling_with "$1" "$2"; then
        record "$1" "$2" ''
    fi
}

# replace_state COMMAND...: what this command prints becomes the state.  If the command fails, as on a full disk, the state
# stays as it is.
replace_state() {
    { (umask 022 && "$@" >"$state.new") && mv -f -- "$state.new" "$state"; } || {
        rm -f -- "$state.new"
        cannot_record
    }
}

print_header() {
    printf '%s\nboot\t%s\t\n' "$header" "$boot"
}

# The script that is reverted last removes them.
record_directories_of_siblings() {
    [ -n "$sibling_list" ] || return 0
    while IFS=$tab read -r kind name _; do
        [ "$kind" != directory ] || record directory "$name" ''
    done <<END
$(printf '%s\n' "$sibling_list" | while read -r sibling; do cat -- "$sibling"; done)
END
}

# Starts a state: header, boot id and owner.
begin_state() {
    [ -e "$state" ] || replace_state print_header
    record_directories
    record_directories_of_siblings
    [ -z "$owner" ] || record owner "$owner" ''
}

# check_owner STATE: all its changes have one owner; without --owner, none.
check_owner() {
    [ -f "$1" ] || return 0
    recorded_owner=$(awk -F '\t' '$1 == "owner" { print $2 }' "$1")
    [ "$recorded_owner" = "$owner" ] || {
        note "tuned by '$recorded_owner', not by '$owner': nothing was changed ($1)"
        exit 3
    }
}

# after_reboot: filters a state for what a reboot does not undo.
after_reboot() {
    kept='owner|directory|file'
    ! is_persistent "$state" || kept="$kept|sysctl"
    print_header || return
    grep -E "^($kept)$tab" || [ $? = 1 ] # nothing to keep; 2 is an error
}

forget_what_reboot_undid() {
    if [ -f "$state" ] && ! is_of_this_boot "$state"; then
        replace_state after_reboot <"$state"
    fi
}

# --persist after an --apply without it: moves the volatile state into the durable one.
adopt_volatile_state() {
    adopted=$volatile/$script.state
    if [ "$siblings" = given ] || [ "$state" = "$adopted" ] || [ ! -f "$adopted" ]; then
        return 0
    fi
    check_owner "$adopted"
    [ -e "$state" ] || replace_state head -n 2 -- "$adopted"
    while IFS=$tab read -r kind name before; do
        case $kind in
        "$header" | boot) ;;
        *) record "$kind" "$name" "$before" ;;
        esac
    done <"$adopted"
    rm -f -- "$adopted"
    find_siblings
    rmdir -- "$volatile" 2>/dev/null || true
}

# --- undoing: idempotent, so that an interrupted revert can be repeated ---

# need_tool_of KIND NAME: without the tool that finds a change, it would seem to be undone.
need_tool_of() {
    case $1 in
    nft) tool=nft ;;
    iptables) tool=${2%% *} ;;
    *) tool=ip ;;
    esac
    command -v "$tool" >/dev/null || {
        note "cannot find '$tool': repeat this with its directory in PATH, which is $PATH"
        return 1
    }
}

undo() {
    case $1 in
    "$header" | boot | owner | directory) return 0 ;;
    timer)
        stop_timer "$2" "$3"
        return
        ;;
    esac
    ! sibling_with "$1" "$2" || return 0
    case $1 in
    nft | iptables | address | route) need_tool_of "$1" "$2" || return ;;
    esac
    case $1 in
    sysctl) restore_sysctl "$2" "$3" ;;
    file) restore_file "$2" "$3" ;;
    value) restore_value "$2" "$3" ;;
    ring) undo_ring "$2" "$3" ;;
    nft) undo_nft "$2" ;;
    iptables) undo_rule "$2" ;;
    address) undo_address "${2% *}" "${2##* }" ;;
    route) undo_route "${2% *}" "${2##* }" ;;
    *) note "unknown kind of change: '$1'" && return 1 ;;
    esac
}

remove_directories() {
    while IFS=$tab read -r kind name _; do
        [ "$kind" != directory ] || rmdir -- "$name" 2>/dev/null || true
    done <<END
$1
END
}

nothing_to_revert() {
    note "nothing to revert: $state does not exist"
    rm -f -- "$state.log"
    remove_default_directories
}

# Also those of a script that was killed before it had a state.
remove_default_directories() {
    [ "$siblings" = given ] || rmdir -- "$volatile" "$durable" 2>/dev/null || true
}

# Must be called with the lock held.
revert() {
    [ -f "$state" ] || {
        nothing_to_revert
        return
    }
    failed=
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
    rm -f -- "$state" "$state.new" "$state.log"
    [ "$siblings" = default ] || unlock_state
    remove_directories "$reversed"
    remove_default_directories
}
