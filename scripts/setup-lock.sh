# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the variables of setup-lib.sh and its other parts
# Part of setup-lib.sh: the lock that lets one script at a time change the host.

lock='' wanted_lock=''

# open_lock FILE: returns 1 if its directory is gone, as after a --revert.
open_lock() {
    mask=$(umask)
    umask 077
    command exec 9>>"$1" && opened=yes || opened=
    umask "$mask"
    [ -n "$opened" ]
}

# The lock file names the process that holds the lock, unless the disk is full.  In a subshell, $$ would be the pid of the
# script.
sign_lock() {
    read -r holder _ </proc/self/stat
    printf 'process %s (%s --%s)\n' "$holder" "$program" "${in_timer:+revert-after, from }$mode" 2>/dev/null >"$lock" || true
}

holder_of_lock() {
    holder=$(cat -- "$wanted_lock" 2>/dev/null) || holder=
    printf '%s' "${holder:-another setup script}"
}

wait_for_lock() {
    [ "$lock_wait" = 0 ] || {
        note "waiting for $(holder_of_lock), at most $lock_wait s (lock: $wanted_lock)"
        ! flock -w "$lock_wait" 9 || return 0
    }
    note "nothing was changed: $(holder_of_lock) is running (lock: $wanted_lock)"
    exit 3
}

# Only root can open the file, so nobody else can hold the lock.  unlock_state removes it once it is held here; a process
# that waited for it notices that it is gone and opens the new one.  Returns 1 if its directory is gone.
lock_file() {
    wanted_lock=$1
    command -v flock >/dev/null || return 0
    while :; do
        open_lock "$wanted_lock" 2>/dev/null || {
            [ -d "$(dirname -- "$wanted_lock")" ] || return
            note "nothing was changed: cannot open $wanted_lock"
            exit 3
        }
        flock -n 9 || wait_for_lock
        [ "$(stat -L -c %i /proc/self/fd/9)" != "$(stat -c %i -- "$wanted_lock" 2>/dev/null)" ] || break
    done
    lock=$wanted_lock
    sign_lock
}

unlock_state() {
    [ -n "$lock" ] || return 0
    rm -f -- "$lock"
    exec 9>&-
    lock=
}

# Takes the lock and finds the directory of the state.  Returns 1 if there is none to revert.
lock_state() {
    if [ "$siblings" = default ]; then
        lock_file "$volatile.lock"
        # while this one waited, another may have made or removed the durable state; a timer keeps its own
        [ -n "$in_timer" ] || choose_default_state
        find_state_directory
    else
        while find_state_directory; do
            ! lock_file "$state_directory/.lock" || return 0
        done
        return 1
    fi
}
