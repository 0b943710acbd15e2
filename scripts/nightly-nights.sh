# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the variables of nightly.sh
# Part of nightly.sh: the directories of the nights, which of them belong to one series, and the comparison
# of this night with them.

# The directories of all nights, oldest first, one per line.
nights() {
    find -H "$results" -mindepth 1 -maxdepth 1 -type d \
        -name '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9][0-9][0-9][0-9][0-9]Z' | sort
}

# Previous reference nights, newest first.  Read all of it: under systemd SIGPIPE is ignored, and echo would complain.
references() {
    nights | sort -r | while IFS= read -r before; do
        [ ! -e "$before/reference" ] || printf '%s\n' "$before"
    done
}

references_of_series() {
    references | while IFS= read -r before; do
        ! cmp -s "$before/fingerprint" "$night/fingerprint" || printf '%s\n' "$before"
    done
}

# The nights that this one is compared with: the first 10 and the last 100.  The comparison uses 14 of the last ones, or older
# ones for a metric that has no value in some; the results of all nights of some years would exceed the limit of a command line.
nights_to_compare() {
    references_of_series |
        awk -v last=100 '{ night[NR] = $0 } END { for (i = 1; i <= NR; i++) if (i <= last || i > NR - 10) print night[i] }'
}

# The first nights of each series that one of the last reference nights belongs to: the baselines.
baselines() {
    references | while IFS= read -r before; do
        [ ! -r "$before/fingerprint" ] || printf '%s %s\n' "$(cksum <"$before/fingerprint")" "$before"
    done | awk -v last="$history" '
        { series = $1 " " $2; sub(/^[^ ]* [^ ]* /, ""); of[NR] = series; night[NR] = $0; if (NR <= last) recent[series] }
        END { for (i = NR; i > 0; i--) if (of[i] in recent && ++n[of[i]] <= 10) print night[i] }'
}

# A full disk may have no room for the directory until old nights are removed.
begin_night() {
    while night=$results/$(date -u +%Y-%m-%dT%H%M%SZ) && [ -e "$night" ]; do
        sleep 1
    done
    mkdir "$night" 2>/dev/null || {
        remove_old_nights
        mkdir "$night"
    }
}

# Removes the oldest nights, except this one, the baselines and the last reference nights.  By its name this one may be the
# oldest, if the clock was ahead earlier or is behind now.
remove_old_nights() {
    # without a temporary file: on a full disk, only this frees space
    kept=$(
        references | sed -n "1,${history}p"
        baselines
    )
    nights | sort -r | { grep -vxF -- "$night" || true; } | tail -n +"$keep" | while IFS= read -r old; do
        printf '%s\n' "$kept" | grep -qxF -- "$old" || rm -rf -- "$old" || say "$program: cannot remove '$old'"
    done
}

# A reference night with a later date counts as the last night in every comparison, and is never removed.
note_later_nights() {
    last=$(references | sed -n 1p)
    [ "$(printf '%s\n' "$last" "$night" | sort | tail -n 1)" = "$night" ] ||
        say "$program: warning: '$last' has a later date than tonight: remove it unless today's clock is wrong"
}

# The lines of /proc/cpuinfo, on stdin, that name the CPU: of x86 and POWER, Arm, RISC-V, IBM Z.
cpu_models() {
    sed -nE -e 's/^(model name|cpu)[[:space:]]*: /cpu /p' -e 's/^(CPU (implementer|variant|part|revision)|uarch)[[:space:]]*: /\1 /p' \
        -e 's/^processor [0-9]+: .*(machine = )/\1/p' | sort -u
}

# The files of queries and schedules that the settings on stdin name, as JSON: the result does not have their content.
files_of_settings() {
    sed -nE '/^ *"(query-file": "|schedule": "@|conn-schedule": "@)(.*)",?$/ { s//\2/; s/\\(["\\])/\1/g; p; }' | sort -u
}

# The program that measures, the CPU and the kernel settings that affect latency.
print_machine() {
    echo "tcpclient $(cksum <"$(command -v "$tcpclient")")"
    cpu_models </proc/cpuinfo
    for setting in net/ipv4/tcp_congestion_control net/ipv4/tcp_rmem net/ipv4/tcp_wmem \
        net/ipv4/tcp_timestamps net/ipv4/tcp_sack net/ipv4/tcp_autocorking net/ipv4/tcp_max_syn_backlog \
        net/ipv4/tcp_slow_start_after_idle net/ipv4/tcp_syncookies net/ipv4/ip_local_port_range \
        net/core/somaxconn net/core/default_qdisc net/core/rmem_max net/core/wmem_max \
        net/core/busy_poll net/core/busy_read; do
        [ ! -r "/proc/sys/$setting" ] || echo "$setting $(cat "/proc/sys/$setting")"
    done
    governor=/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
    [ ! -r $governor ] || echo "governor $(cat $governor)"
    sed -n 's/^microcode[[:space:]]*: /microcode /p' /proc/cpuinfo | sort -u
    for setting in devices/system/cpu/intel_pstate/no_turbo devices/system/cpu/cpufreq/boost \
        devices/system/cpu/smt/active devices/system/cpu/cpuidle/current_driver \
        module/intel_idle/parameters/max_cstate kernel/mm/transparent_hugepage/enabled; do
        [ ! -r "/sys/$setting" ] || echo "$setting $(cat "/sys/$setting")"
    done
    find /sys/devices/system/cpu/cpu0/cpuidle -name disable 2>/dev/null | sort |
        while IFS= read -r state; do
            echo "$state $(cat "$state")"
        done
    find /sys/class/net -mindepth 1 -maxdepth 1 | sort | while IFS= read -r nic; do
        [ ! -e "$nic/device/driver" ] || echo "$nic $(basename "$(readlink "$nic/device/driver")")"
    done
}

# What must match for two nights to belong to one series: the settings except outputs, control and target, the files
# they name, the number of runs (tcpreport compare leaves out nights of fewer), the host as in the result (it checks
# that, too), and the machine.
print_fingerprint() {
    no_settings='json|hlog|hgrm|output|connections-out|find-out|sweep-out|report|watch|control|control-token|server-control|target|port'
    no_settings="$no_settings|assert|require|quiet|verbose|force"
    echo "series $series"
    echo "runs $runs"
    sed -nE '/^    "('"$no_settings"')":/d
        /^  "version"/p; /^  "options": \{/,/^  \}/p; /^  "host": \{/,/^  \}/p' "$night/run-01.json"
    files_of_settings <"$night/run-01.json" | while IFS= read -r file; do
        [ ! -r "$file" ] || printf '%s %s\n' "$file" "$(cksum <"$file")"
    done
    print_machine
}

# With one write, which fails on a full disk.
write_fingerprint() {
    fingerprint=$(print_fingerprint)
    { printf '%s\n' "$fingerprint" >"$night/fingerprint"; } 2>/dev/null || fail "cannot write the fingerprint"
}

# Ends a night whose runs are not of one machine: a package may have been updated meanwhile.  Takes what print_machine
# printed at the start.
check_machine() {
    machine=$(print_machine)
    [ "$machine" != "$1" ] || return 0
    { printf '%s\n' "$1" >"$night/fingerprint"; } 2>/dev/null || true
    printf '%s\n' "$machine" | diff "$night/fingerprint" - >"$night/changed.txt" || true
    conclude 2 "INCONCLUSIVE: tcpclient or the host changed during the night" changed.txt
}

# The results of the nights listed on stdin, one path per line: $1-NN.json.
results_of() {
    while IFS= read -r of; do
        find "$of" -maxdepth 1 -name "$1-[0-9][0-9].json"
    done | sort
}

say_what_changed() {
    last=$(references | sed -n 1p)
    [ -z "$last" ] || diff "$last/fingerprint" "$night/fingerprint" >"$night/changed.txt" || true
}

# The results to judge by, one path a line, and an option of tcpreport compare.  Sets code and verdict.
compare() {
    any=
    [ "$any_answers" = no ] || any=--any-answers
    old_ifs=$IFS
    IFS='
'
    # shellcheck disable=SC2046,SC2086 # split at the ends of lines
    set -- "$2" $any $1 -- $(printf '%s\n' "$night" | results_of run)
    IFS=$old_ifs
    code=0
    in_time "$night/compare.txt" "$night/compare.txt" "$tcpreport" compare --json "$night/verdict.json" --min-runs "$runs" "$@" || code=$?
    check_time
    verdict=$(grep -E '^(PASS|REGRESSION|INCONCLUSIVE):' "$night/compare.txt") || verdict=
    case $code,$verdict in
    0,PASS:* | 1,REGRESSION:* | 2,INCONCLUSIVE:*) ;;
    *) fail "tcpreport compare failed with exit code $code" compare.txt ;;
    esac
}

# Both have read the same settings on the same host: --force allows for defaults that differ.
judge_by_reference() {
    compare "$(printf '%s\n' "$night" | results_of reference)" --force
    conclude "$code" "$verdict" compare.txt
}

judge_by_nights() {
    before=$(nights_to_compare | results_of run)
    if [ -z "$before" ]; then
        say_what_changed
        : >"$night/reference"
        conclude 2 "INCONCLUSIVE: first night of a series: nothing to compare with" changed.txt
    fi
    compare "$before" --nights
    case $code,$verdict in
    0,* | 2,*' reference nights') : >"$night/reference" ;;
    esac
    conclude "$code" "$verdict" compare.txt
}
