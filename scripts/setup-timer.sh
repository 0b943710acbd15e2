# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the variables of setup-lib.sh and its other parts
# Part of setup-lib.sh: the timer that reverts by itself, --revert-after.
#
# A background process on this host; it needs no controller, no connection and no file but the state.

# Start time of a process, in ticks since boot: together with the pid it is unique.
begin_of() {
    sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
}

stop_timer() {
    if [ -z "$in_timer" ] && [ "$(begin_of "$1")" = "$2" ]; then kill -USR1 "$1"; fi
}

# end_timer CODE: if the revert failed, keeps its messages next to the state and in the system log, since no one saw them.
end_timer() {
    if [ "$1" != 0 ] && [ -n "$said" ]; then
        note "--revert-after failed: repeat it with --revert ($state)"
        (umask 022 && cat -- "$said" >"$state.log") || true
        ! command -v logger >/dev/null || logger -t "$script" -p daemon.err <"$said" || true
    fi
    [ -z "$said" ] || rm -f -- "$said"
    unlock_state
}

in_timer=
# shellcheck disable=SC2034 # setup-lock.sh reads lock and lock_wait
start_timer() {
    rm -f -- "$state.log" # of the timer before
    (
        in_timer=yes lock=
        exec 9>&-
        trap - EXIT
        trap '' HUP
        trap 'kill "$sleeper"; exit' USR1
        # ended with its session or service: too early is better than never, as when the sleep is killed
        trap 'kill "$sleeper" 2>/dev/null || true' TERM
        sleep "$revert_after" &
        sleeper=$!
        wait "$sleeper" || true
        said=
        trap 'end_timer $?' EXIT
        trap 'exit 0' USR1
        trap '' TERM
        said=$(mktemp "$volatile.XXXXXX") || said= # a revert without messages is better than none
        [ -z "$said" ] || exec 2>"$said"
        lock_wait=999999999 # no one would repeat the revert
        if lock_state; then
            find_siblings
            revert
        fi
    ) </dev/null >/dev/null 2>&1 &
    timer=$!
    record timer "$timer" "$(begin_of $timer)"
}

# keep_timer PID: stops all others and removes them from the state; all, if PID is empty.
keep_timer() {
    while IFS=$tab read -r _ name before; do
        [ "$name" = "$1" ] || stop_timer "$name" "$before" || true
    done <<END
$(grep "^timer$tab" "$state")
END
    # shellcheck disable=SC2016 # fields of awk
    replace_state awk -F '\t' -v last="$1" '$1 != "timer" || $2 == last' <"$state"
}

# The state is never without a timer.
renew_timer() {
    start_timer
    keep_timer "$timer"
}

# --persist keeps what a timer would revert.
drop_timer() {
    ! grep -q "^timer$tab" "$state" || {
        keep_timer ''
        note "--persist: stopped the timer of --revert-after"
    }
}
