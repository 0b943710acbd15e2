#!/bin/sh
# SPDX-License-Identifier: MIT
# Measures one server every night with tcpclient and reports whether it got worse than in previous nights,
# or is worse than a reference program.  Prints nothing if it is not: meant for cron or a systemd timer.
set -euf
export LC_ALL=C # the order of names does not depend on who starts this
unset CDPATH

program=$(basename "$0")
parts=$(dirname "$(readlink -f "$0")") # installed, the program is a link

usage() {
    cat <<END
usage: $program CONFIG

Measure one night as configured in CONFIG (nightly.conf.example explains every line): remove the oldest
nights, check tcpclient --plan, measure "runs" times, repeat runs that are not VALID, and compare the night
with previous nights (tcpreport compare --nights).  Only one instance per host can run at a time.

With reference-server or reference-client in CONFIG, also measure that program, in the order reference,
candidate, candidate, reference, and compare the night only with the reference (tcpreport compare).

Each night has a directory, named after its start time (UTC):
  summary.txt         the verdict and the reasons for it
  run-NN.json .hlog .txt .server.txt
                      for each VALID run: result, histograms, summary, the server's output
  reference-NN.*      the same files for each VALID run of the reference program
  repeated/           the same files for runs that were SUSPECT or INVALID
  repeated.txt        why each of these was repeated
  plan.txt compare.txt verdict.json
                      output of the preflight and of the comparison
  fingerprint         settings, programs and machine; nights with the same fingerprint form a series
  changed.txt         in the first night of a series: what differs from the last reference night; or what
                      changed during the night
  page.html           the last run as a page (tcpreport html), unless the night is a PASS
  page.txt mail.txt   messages of tcpreport html and of sendmail; mostly empty
  reference           exists if later nights are compared with this one

Exit codes; for all but 0, the summary is mailed to mail-to or, if that is not set, printed to stderr:
  0    PASS: nothing is printed or mailed
  1    REGRESSION, reported every night until it is gone, or "series" or the reference in CONFIG changes; or
       a run missed a goal of --assert in client-options
  2    INCONCLUSIVE: a run was not VALID within the allowed repeats, or could not decide a goal; the deadline
       passed; the series is new (the fingerprint changed) and has fewer than 7 earlier nights; tcpreport
       compare is inconclusive; tcpclient or the server cannot run; tcpclient or the host changed meanwhile; the
       disk is full; or an error aborted the night (stderr only)
  3    nothing measured: the preflight failed; or the command line or CONFIG is invalid (stderr only)
  4    another instance is running, or a server that one has left in the background (stderr only)
  130  interrupted by SIGINT, SIGTERM or SIGHUP
END
}

# say LINE...: a message that cannot be written, as to a log on a full disk, does not change the exit code.
say() {
    printf '%s\n' "$@" >&2 || true
}

die() {
    say "$program: $*"
    exit 3
}

# shellcheck source=scripts/nightly-config.sh
. "$parts/nightly-config.sh"
# shellcheck source=scripts/nightly-nights.sh
. "$parts/nightly-nights.sh"

# --- processes: known by pid; timeout(1) ends each at the deadline even if this script dies ---

client_pid='' server_pid=''

# Sets $now, in seconds since boot: the clock may be set during the night.
look_at_clock() {
    read -r now _ </proc/uptime
    now=${now%.*}
}

seconds_left() {
    look_at_clock
    left=$((ends_at - now))
    [ "$left" -gt 0 ]
}

# in_time OUTPUT MESSAGES COMMAND...: runs a command until the deadline at most, and appends its stdout and stderr to these
# files; returns its exit code.  The caller must not redirect: what a signal makes this script say would go there, too.
in_time() {
    seconds_left || return 124
    output=$1 messages=$2
    shift 2
    timeout --kill-after=10 "$left" "$@" >>"$output" 2>>"$messages" &
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

# Prints the last line of a file for a verdict, which may be a mail's subject: without control characters.
last_line() {
    tail -n 1 "$1" | LC_ALL=C tr '\t' ' ' | LC_ALL=C tr -d '\000-\037\177'
}

# Ends the night: the server, whose output is in a file, exited before it was ready.  The command of one that goes to the
# background has succeeded.
fail_without_server() {
    wait "$server_pid" || fail "the server exited: $(last_line "$1")"
    fail "the server exited without an error: it must stay in the foreground"
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
        kill -0 "$server_pid" 2>/dev/null || fail_without_server "$1"
        [ "$tenths" -lt 300 ] || fail "the server did not print '$server_ready' within 30 s"
        tenths=$((tenths + 1))
        sleep 0.1
    done
}

check_time() {
    seconds_left || conclude 2 "INCONCLUSIVE: the deadline ($deadline) has passed"
}

# --- the end of a night ---

# send_mail VERDICT SUMMARY
send_mail() {
    mail_log=$night/mail.txt
    (: >"$mail_log") 2>/dev/null || mail_log=/dev/null
    # shellcheck disable=SC2086 # a command with its arguments
    printf 'To: %s\nSubject: [nightly] %s: %s\n\n%s\n' "$mail_to" "$(uname -n)" "$1" "$2" |
        timeout --kill-after=10 60 $sendmail -oi -t >"$mail_log" 2>&1 8>&- 9>&-
}

# tell VERDICT SUMMARY
tell() {
    [ -z "$mail_to" ] || ! send_mail "$@" || return 0
    say "$2"
    [ -z "$mail_to" ] || say "$program: cannot mail $mail_to: $(last_line "$mail_log")"
}

# Sets $last to the result of the last run; to nothing if there is none.
find_last_run() {
    last=$(find "$night" -maxdepth 1 -name 'run-*.json' -size +0 | sort | tail -n 1)
}

# Prints what the verdict on the last run does not say: the answers were errors.
print_answer_note() {
    find_last_run
    [ -z "$last" ] || sed -n 's/^ *\([0-9.]* % of the answers were \)/the last run: \1/p' "${last%.json}.txt" || true
}

# Writes a page about the last run, which shows what was wrong.  If that fails, nothing else changes.
write_page() {
    find_last_run
    [ -n "$last" ] || return 0
    log=${last%.json}.hlog
    [ -s "$log" ] || log=
    timeout --kill-after=10 60 "$tcpreport" html -o "$night/page.html" "$last" ${log:+"$log"} \
        >"$night/page.txt" 2>&1 8>&- 9>&- || rm -f "$night/page.html"
}

# summarize VERDICT [FILE]: prints the summary, with the details in FILE.
summarize() {
    printf '%s\n' "$1"
    for part in repeated.txt ${2:+"$2"}; do
        [ ! -s "$night/$part" ] || grep -vxF -- "$1" "$night/$part" || true
    done
    print_answer_note
    printf '\nresults: %s\n' "$night"
    [ ! -s "$night/page.html" ] || printf 'the last run: %s\n' "$night/page.html"
}

# An exit code, the verdict, and optionally a file with details.  The message needs no space on the disk.
conclude() {
    trap '' INT TERM HUP
    end_processes
    [ "$1" = 0 ] || write_page
    summary=$(summarize "$2" ${3:+"$3"})
    { printf '%s\n' "$summary" >"$night/summary.txt"; } 2>/dev/null || [ "$1" != 0 ] || fail "cannot write summary.txt"
    [ "$1" = 0 ] || tell "$2" "$summary"
    concluded=yes
    exit "$1"
}

# Sets $unwritable to why nothing can be written, as on a full disk; to nothing if it can.
look_at_disk() {
    unwritable=$(env printf '\n' 2>&1 >"$night/space") || unwritable="cannot write to '$night': ${unwritable##*: }"
    rm -f "$night/space"
}

# fail VERDICT [FILE]: like conclude 2; but if nothing can be written, that is the reason.
fail() {
    look_at_disk
    conclude 2 "INCONCLUSIVE: ${unwritable:-$1}" ${2:+"$2"}
}

# --- a night ---

preflight() {
    code=0
    in_time "$night/plan.txt" "$night/plan.txt" "$tcpclient" --config "$client_options" --plan || code=$?
    check_time
    [ "$code" != 0 ] || return 0
    look_at_disk
    conclude 3 "INCONCLUSIVE: nothing measured: tcpclient --plan failed with exit code $code${unwritable:+; $unwritable}" plan.txt
}

# One attempt at a run; its files are $1.*.  Returns tcpclient's exit code.
try_run() {
    start_server "$1.server.txt"
    code=0
    in_time /dev/null "$1.txt" "$run_client" --config "$client_options" ${require:+--require "$require"} --json "$1.json" \
        --hlog "$1.hlog" --quiet=no --stats-interval 0 || code=$?
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

# goals RUN missed|undecided: those of --assert, in one line; fails if there are none.
goals() {
    goals=$(sed -n "/^Goals/,/^Verdict/s/^\\(Goals\\)\\{0,1\\} *\\(.* $2: .*\\)/\\2/p" "$night/$1.txt" | paste -sd '|' - | sed 's/|/; /g')
    [ -n "$goals" ]
}

# --assert judges the candidate: goals that a VALID run of the reference misses do not matter.
is_valid_reference() {
    case $1 in
    reference-*) grep -q '^Verdict  *VALID' "$night/$1.txt" && ! grep -q '^ *BUG ' "$night/$1.txt" && { goals "$1" missed || goals "$1" undecided; } ;;
    *) return 1 ;;
    esac
}

# Ends the night where another try of the run would change nothing.
conclude_by_goals() {
    case $code,$1 in
    1,run-*) ! goals "$1" missed || conclude 1 "REGRESSION: $1: $goals" ;;
    3,run-*) ! { grep -q '^Verdict  *VALID' "$night/$1.txt" && goals "$1" undecided; } || conclude 2 "INCONCLUSIVE: $1: $goals" ;;
    esac
}

# Gives a disturbed host time to settle; signals and the deadline still apply.
sleep_in_time() {
    [ "$1" = 0 ] || in_time /dev/null /dev/null sleep "$1" || true
    check_time
}

# The programs of run $1.
choose_programs() {
    run_client=$tcpclient run_server=$server
    case $1 in
    reference-*) run_client=${reference_client:-$tcpclient} run_server=${reference_server:-$server} ;;
    esac
}

# Repeats a run until it is VALID, at most $repeats times.  A run that cannot decide a goal, or misses one, ends the night.
valid_run() {
    choose_programs "$1"
    try=1
    until try_run "$night/$1" || is_valid_reference "$1"; do
        why=$(sed -n '/^Verdict/,$p' "$night/$1.txt" | sed 's/^Verdict *//; s/^ *//' | paste -sd '|' - | sed 's/|/: /; s/|/; /g')
        why="exit code $code: ${why:-$(last_line "$night/$1.txt")}"
        full=$(env printf '%s\n' "$1, try $try: $why" 2>&1 >>"$night/repeated.txt") || full=${full:-unknown error}
        conclude_by_goals "$1"
        [ -z "$full" ] || conclude 2 "INCONCLUSIVE: $1: exit code $code; cannot write to '$night': ${full##*: }"
        what='was not VALID' because=''
        ! was_refused "$1" || what='was refused' because=': nothing listens at the target'
        set_aside "$1" "$try"
        [ "$code" != 2 ] || conclude 2 "INCONCLUSIVE: tcpclient cannot run $1"
        [ "$try" -le "$repeats" ] || conclude 2 "INCONCLUSIVE: $1 $what in $try tries$because"
        sleep_in_time $((repeat_wait_s * try))
        try=$((try + 1))
    done
}

# Reference, candidate, candidate, reference: a host that slows down during the night affects both alike.
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

case ${1:-} in
-h | --help)
    usage
    exit 0
    ;;
esac
[ $# = 1 ] || die "expected one CONFIG: see --help"
if [ ! -f "$1" ] || [ ! -r "$1" ]; then
    die "cannot read '$1'"
fi
read_config "$1"
check_config "$1"

# The host's lock needs no write access, so that any user can take it.
exec 8<"$lock"
flock -n 8 || {
    say "$program: another instance, or a server that one has started, is running on this host (lock: $lock)"
    exit 4
}
# Children inherit the lock: a server that is still running keeps the next night from starting.
(: >>"$results/lock") 2>/dev/null || die "results: cannot write to '$results/lock'"
exec 9>>"$results/lock"
flock -n 9 || {
    say "$program: another instance is using $results"
    exit 4
}
# An unexpected failure, such as a full disk, must not look like a verdict.
concluded=
trap '[ -n "$concluded" ] || { end_processes; say "$program: aborted by an error"; exit 2; }' EXIT
look_at_clock
ends_at=$((now + deadline_s))
begin_night
trap 'conclude 130 "INCONCLUSIVE: interrupted by a signal"' INT TERM HUP
remove_old_nights
note_later_nights
machine_before=$(print_machine)
preflight
measure
check_machine "$machine_before"
write_fingerprint
[ -z "$reference_server$reference_client" ] || judge_by_reference
judge_by_nights
