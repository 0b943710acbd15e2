#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures one server every night with tcpclient and reports whether it got worse than in the nights
# before, or than a reference program.  Silent if it did not: meant for cron or a systemd timer.
set -euf

program=$(basename "$0")

usage() {
    cat <<END
usage: $program CONFIG

Measure one night as configured in CONFIG (docs/nightly.conf.example explains every line): check tcpclient
--plan, measure RUNS times, repeat runs that are not VALID, compare the night with previous nights
(tcpreport compare --nights), and remove the oldest nights.  Only one instance per host can run at a time.

With reference-server or reference-client in CONFIG it measures that program, too, in the order
reference, candidate, candidate, reference, and judges the night by it alone (tcpreport compare).

Each night has a directory, named after its start time (UTC):
  summary.txt         the verdict and its grounds
  run-NN.json .hlog .txt  .server.txt
                      for each VALID run: result, histograms, summary; the server's output
  reference-NN.*      the same of the reference program
  repeated/           the same for runs that were SUSPECT or INVALID
  plan.txt compare.txt verdict.json fingerprint
                      output of the preflight and the comparison; settings, programs and machine
  reference           exists if later nights are compared with this one

Exit codes; all but 0 send mail to mail-to or, if that is not set, print to stderr:
  0    PASS: nothing is printed or mailed
  1    REGRESSION; repeated every night until it is gone or "series" or the reference in CONFIG changes
  2    INCONCLUSIVE: a run was not VALID within the allowed repeats, the deadline passed, a new series
       begins (the fingerprint changed; it takes 7 nights), tcpreport compare is inconclusive, or an error occurred
  3    nothing measured: the preflight failed, or the command line or CONFIG is invalid (stderr only)
  4    another instance is running (stderr only)
  130  interrupted by SIGINT or SIGTERM
END
}

die() {
    echo "$program: $*" >&2
    exit 3
}

# --- configuration ---

client_options='' require='' results='' lock=/ runs=10 repeats=3 repeat_wait=30s history=14 keep=100 deadline=2h
series=1 server='' server_ready='listening on' reference_server='' reference_client=''
tcpclient=tcpclient tcpreport=tcpreport mail_to='' sendmail=/usr/sbin/sendmail

# A key and its value, verbatim from the file.  Values are never evaluated.
set_key() {
    case $1 in
    client-options) client_options=$2 ;;
    require) require=$2 ;;
    results) results=$2 ;;
    lock) lock=$2 ;;
    runs) runs=$2 ;;
    repeats) repeats=$2 ;;
    repeat-wait) repeat_wait=$2 ;;
    history) history=$2 ;;
    keep) keep=$2 ;;
    deadline) deadline=$2 ;;
    series) series=$2 ;;
    server) server=$2 ;;
    server-ready) server_ready=$2 ;;
    reference-server) reference_server=$2 ;;
    reference-client) reference_client=$2 ;;
    tcpclient) tcpclient=$2 ;;
    tcpreport) tcpreport=$2 ;;
    mail-to) mail_to=$2 ;;
    sendmail) sendmail=$2 ;;
    *) return 1 ;;
    esac
}

trim() {
    trimmed=${1#"${1%%[![:space:]]*}"}
    trimmed=${trimmed%"${trimmed##*[![:space:]]}"}
}

read_config() {
    n_line=0
    while IFS= read -r line || [ -n "$line" ]; do
        n_line=$((n_line + 1))
        trim "$line"
        case $trimmed in
        '' | '#'*) continue ;;
        *=*) ;;
        *) die "$1:$n_line: invalid line '$trimmed': expected 'key = value'" ;;
        esac
        value=${trimmed#*=}
        trim "${trimmed%%=*}"
        key=$trimmed
        trim "$value"
        set_key "$key" "$trimmed" || die "$1:$n_line: unknown key '$key'"
    done <"$1"
}

# A key, its value, its minimum and its maximum.
need_count() {
    case $2 in
    '' | *[!0-9]* | 0?* | ??????*) ;;
    *) [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ] || return 0 ;;
    esac
    die "$1: invalid value '$2': expected a number from $3 to $4"
}

# A key, its duration, and its minimum.
set_seconds() {
    case $2 in
    *h) seconds_each=3600 ;;
    *m) seconds_each=60 ;;
    *) seconds_each=1 ;;
    esac
    need_count "$1" "${2%[smh]}" "$3" 99999
    seconds=$((${2%[smh]} * seconds_each))
}

# systemd's NoNewPrivileges= keeps the setgid helpers of a local mailer from queueing a mail.
refuse_mail_without_privileges() {
    [ -n "$mail_to" ] && [ "${sendmail%% *}" = /usr/sbin/sendmail ] || return 0
    ! grep -q '^NoNewPrivs:[[:space:]]*1' /proc/self/status ||
        die "mail-to: sendmail cannot deliver under NoNewPrivileges=: remove mail-to, OnFailure= mails instead"
}

check_config() {
    [ -n "$client_options" ] || die "$1: missing client-options"
    [ -n "$results" ] || die "$1: missing results"
    need_count runs "$runs" 1 99
    need_count repeats "$repeats" 0 99
    need_count history "$history" 1 999
    need_count keep "$keep" "$((history + 1))" 99999
    set_seconds deadline "$deadline" 1
    deadline_s=$seconds
    set_seconds repeat-wait "$repeat_wait" 0
    repeat_wait_s=$seconds
    case $require in
    '' | p50 | p90 | p95 | p99 | p99.9 | p99.99 | max) ;;
    *) die "require: invalid value '$require': expected p50, p90, p95, p99, p99.9, p99.99 or max" ;;
    esac
    [ -z "$reference_server" ] || [ -n "$server" ] || die "reference-server: requires server, which it is compared with"
    refuse_mail_without_privileges
    cd "$(dirname "$1")"
    [ -r "$lock" ] || die "lock: cannot read '$lock'"
    [ -r "$client_options" ] || die "client-options: cannot read '$client_options'"
    for command in "$tcpclient" "$tcpreport" ${server:+"${server%% *}"} ${reference_client:+"$reference_client"} \
        ${reference_server:+"${reference_server%% *}"} ${mail_to:+"${sendmail%% *}"} flock timeout; do
        command -v "$command" >/dev/null || die "cannot find '$command'"
    done
    mkdir -p "$results" || die "results: cannot create '$results'"
    [ -w "$results" ] || die "results: cannot write to '$results'"
    results=$(cd "$results" && pwd)
}

# --- processes: known by pid; timeout(1) ends each at the deadline even if this script dies ---

client_pid='' server_pid=''

seconds_left() {
    left=$((ends_at - $(date +%s)))
    [ "$left" -gt 0 ]
}

# Runs a command until the deadline at most; returns its exit code.
in_time() {
    seconds_left || return 124
    timeout --kill-after=10 "$left" "$@" &
    client_pid=$!
    in_time_code=0
    wait "$client_pid" || in_time_code=$?
    client_pid=
    return "$in_time_code"
}

end_process() {
    kill -TERM "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

end_processes() {
    [ -z "$client_pid" ] || end_process "$client_pid"
    [ -z "$server_pid" ] || end_process "$server_pid"
    client_pid='' server_pid=''
}

# Starts a fresh server, if one is configured; its output goes to a file.
start_server() {
    [ -n "$run_server" ] || return 0
    check_time
    : >"$1"
    # shellcheck disable=SC2086 # a command with its arguments
    timeout --kill-after=10 "$left" $run_server >>"$1" 2>&1 &
    server_pid=$!
    tenths=0
    until grep -qF -- "$server_ready" "$1"; do
        kill -0 "$server_pid" 2>/dev/null || conclude 2 "INCONCLUSIVE: the server exited: $(tail -n 1 "$1")"
        [ "$tenths" -lt 300 ] || conclude 2 "INCONCLUSIVE: the server did not print '$server_ready' within 30 s"
        tenths=$((tenths + 1))
        sleep 0.1
    done
}

check_time() {
    seconds_left || conclude 2 "INCONCLUSIVE: the deadline ($deadline) has passed"
}

# --- the end of a night ---

send_mail() {
    # shellcheck disable=SC2086 # a command with its arguments
    {
        printf 'To: %s\nSubject: [nightly] %s: ' "$mail_to" "$(uname -n)"
        head -n 1 "$night/summary.txt"
        echo
        cat "$night/summary.txt"
    } | timeout --kill-after=10 60 $sendmail -oi -t >"$night/mail.txt" 2>&1 8>&- 9>&-
}

tell() {
    [ -z "$mail_to" ] || ! send_mail || return 0
    cat "$night/summary.txt" >&2
    [ -z "$mail_to" ] || echo "$program: cannot mail $mail_to: $(tail -n 1 "$night/mail.txt")" >&2
}

# An exit code, the verdict, and optionally a file with details.
conclude() {
    trap '' INT TERM HUP
    end_processes
    {
        echo "$2"
        for part in repeated.txt ${3:+"$3"}; do
            [ ! -s "$night/$part" ] || grep -vxF -- "$2" "$night/$part" || true
        done
        printf '\nresults: %s\n' "$night"
    } >"$night/summary.txt"
    [ "$1" = 0 ] || tell
    concluded=yes
    exit "$1"
}

# --- nights ---

# The directories of all nights, oldest first, one per line.
nights() {
    find "$results" -mindepth 1 -maxdepth 1 -type d \
        -name '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9][0-9][0-9][0-9][0-9]Z' | sort
}

# Previous reference nights, newest first.
references() {
    nights | sort -r | while IFS= read -r before; do
        [ ! -e "$before/reference" ] || echo "$before"
    done
}

references_of_series() {
    references | while IFS= read -r before; do
        ! cmp -s "$before/fingerprint" "$night/fingerprint" || echo "$before"
    done
}

# The first nights of the last reference's series: the baseline.
pinned() {
    last=$(references | head -n 1)
    [ -n "$last" ] || return 0
    references | while IFS= read -r before; do
        ! cmp -s "$before/fingerprint" "$last/fingerprint" || echo "$before"
    done | tail -n 10
}

begin_night() {
    while night=$results/$(date -u +%Y-%m-%dT%H%M%SZ) && [ -e "$night" ]; do
        sleep 1
    done
    mkdir "$night"
}

# Removes the oldest nights, except the baseline and the last reference nights.
remove_old_nights() {
    {
        references | head -n "$history"
        pinned
    } >"$night/kept.txt"
    nights | sort -r | tail -n +"$((keep + 1))" | while IFS= read -r old; do
        grep -qxF -- "$old" "$night/kept.txt" || rm -rf -- "$old"
    done
    rm "$night/kept.txt"
}

# What must match for two nights to belong to one series: the settings except outputs and target, the host
# as in the result (tcpreport compare checks it, too), the program, the CPU and the kernel settings that
# affect latency.
write_fingerprint() {
    {
        echo "series $series"
        sed -nE '/^    "(json|hlog|hgrm|output|connections-out|target|port)":/d
            /^  "version"/p; /^  "options": \{/,/^  \}/p; /^  "host": \{/,/^  \}/p' "$night/run-01.json"
        echo "tcpclient $(cksum <"$(command -v "$tcpclient")")"
        sed -n 's/^model name[[:space:]]*: /cpu /p' /proc/cpuinfo | sort -u
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
    } >"$night/fingerprint"
}

# --- a night ---

preflight() {
    code=0
    in_time "$tcpclient" --config "$client_options" --plan >"$night/plan.txt" 2>&1 || code=$?
    check_time
    [ "$code" = 0 ] ||
        conclude 3 "INCONCLUSIVE: nothing measured: tcpclient --plan failed with exit code $code" plan.txt
}

# One attempt at a run; its files are $1.*.  Returns tcpclient's exit code.
try_run() {
    start_server "$1.server.txt"
    code=0
    in_time "$run_client" --config "$client_options" ${require:+--require "$require"} --json "$1.json" \
        --hlog "$1.hlog" --quiet=no --stats-interval 0 >/dev/null 2>"$1.txt" || code=$?
    end_processes
    check_time
    return "$code"
}

set_aside() {
    mkdir -p "$night/repeated"
    for kind in json hlog txt server.txt; do
        [ ! -e "$night/$1.$kind" ] || mv "$night/$1.$kind" "$night/repeated/$1.try-$2.$kind"
    done
}

# Whether no connection was established and at least one was refused.
was_refused() {
    grep -qE '^ +[0-9]+ +connect: refused$' "$night/$1.txt" && grep -qF ', 0 connected,' "$night/$1.txt"
}

# Gives a disturbed host time to settle; signals and the deadline still apply.
sleep_in_time() {
    [ "$1" = 0 ] || in_time sleep "$1" || true
    check_time
}

# The programs of run $1.
choose_programs() {
    run_client=$tcpclient run_server=$server
    case $1 in
    reference-*) run_client=${reference_client:-$tcpclient} run_server=${reference_server:-$server} ;;
    esac
}

# Repeats a run until it is VALID, at most $repeats times.
valid_run() {
    choose_programs "$1"
    try=1
    until try_run "$night/$1"; do
        why=$(sed -n '/^Verdict/,$p' "$night/$1.txt" | sed 's/^Verdict *//; s/^ *//' | paste -sd ' ' -)
        why="exit code $code: ${why:-$(tail -n 1 "$night/$1.txt")}"
        echo "$1, try $try: $why" >>"$night/repeated.txt"
        what='was not VALID' because=''
        ! was_refused "$1" || what='was refused' because=': nothing listens at the target'
        set_aside "$1" "$try"
        [ "$code" != 2 ] || conclude 2 "INCONCLUSIVE: tcpclient cannot run $1"
        [ "$try" -le "$repeats" ] || conclude 2 "INCONCLUSIVE: $1 $what in $try tries$because"
        sleep_in_time $((repeat_wait_s * try))
        try=$((try + 1))
    done
}

# Reference, candidate, candidate, reference: a host that gets slower meanwhile slows both down alike.
measure() {
    for number in $(seq -f %02g "$runs"); do
        case $reference_server$reference_client,$number in
        ,*) valid_run "run-$number" ;;
        *[13579])
            valid_run "reference-$number"
            valid_run "run-$number"
            ;;
        *)
            valid_run "run-$number"
            valid_run "reference-$number"
            ;;
        esac
    done
}

# The results of the nights listed on stdin, one path per line: $1-NN.json.
results_of() {
    while IFS= read -r of; do
        find "$of" -maxdepth 1 -name "$1-[0-9][0-9].json"
    done | sort
}

say_what_changed() {
    last=$(references | head -n 1)
    [ -z "$last" ] || diff "$last/fingerprint" "$night/fingerprint" >"$night/changed.txt" || true
}

# The results to judge by, one path a line, and an option of tcpreport compare.  Sets code and verdict.
compare() {
    old_ifs=$IFS
    IFS='
'
    # shellcheck disable=SC2046,SC2086 # split at the ends of lines
    set -- "$2" $1 -- $(echo "$night" | results_of run)
    IFS=$old_ifs
    code=0
    in_time "$tcpreport" compare --json "$night/verdict.json" --min-runs "$runs" "$@" >"$night/compare.txt" 2>&1 || code=$?
    check_time
    verdict=$(grep -E '^(PASS|REGRESSION|INCONCLUSIVE):' "$night/compare.txt") || verdict=
    case $code,$verdict in
    0,PASS:* | 1,REGRESSION:* | 2,INCONCLUSIVE:*) ;;
    *) verdict="INCONCLUSIVE: tcpreport compare failed with exit code $code" code=2 ;;
    esac
}

# Both have read the same settings on the same host: --force allows for defaults that differ.
judge_by_reference() {
    compare "$(echo "$night" | results_of reference)" --force
    conclude "$code" "$verdict" compare.txt
}

judge_by_nights() {
    before=$(references_of_series)
    if [ -z "$before" ]; then
        say_what_changed
        : >"$night/reference"
        conclude 2 "INCONCLUSIVE: first night of a series: nothing to compare with" changed.txt
    fi
    compare "$(echo "$before" | results_of run)" --nights
    case $code,$verdict in
    0,* | 2,*' reference nights') : >"$night/reference" ;;
    esac
    conclude "$code" "$verdict" compare.txt
}

case ${1:-} in
-h | --help)
    usage
    exit 0
    ;;
esac
if [ $# != 1 ]; then
    usage >&2
    exit 3
fi
if [ ! -f "$1" ] || [ ! -r "$1" ]; then
    die "cannot read '$1'"
fi
read_config "$1"
check_config "$1"

# The host's lock needs no write access, so that any user can take it.
exec 8<"$lock"
flock -n 8 || {
    echo "$program: another instance is running on this host (lock: $lock)" >&2
    exit 4
}
# Children inherit the lock: a server that is still running keeps the next night from starting.
exec 9>>"$results/lock"
flock -n 9 || {
    echo "$program: another instance is using $results" >&2
    exit 4
}
# An unexpected failure, such as a full disk, must not look like a verdict.
concluded=
trap '[ -n "$concluded" ] || { end_processes; echo "$program: aborted by an error" >&2; exit 2; }' EXIT
ends_at=$(($(date +%s) + deadline_s))
begin_night
remove_old_nights
trap 'conclude 130 "INCONCLUSIVE: interrupted by a signal"' INT TERM HUP
preflight
measure
write_fingerprint
[ -z "$reference_server$reference_client" ] || judge_by_reference
judge_by_nights
