# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034 # nightly.sh and nightly-nights.sh use the variables
# Part of nightly.sh: reads its configuration file and checks the values.

client_options='' require='' results='' lock=/ runs=10 repeats=3 repeat_wait=30s history=14 keep=100 deadline=2h
series=1 any_answers=no server='' server_ready='listening on' reference_server='' reference_client=''
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
    any-answers) any_answers=$2 ;;
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
    n_line=0 byte_order_mark=$(printf '\357\273\277')
    while IFS= read -r line || [ -n "$line" ]; do
        n_line=$((n_line + 1))
        trim "${line#"$byte_order_mark"}"
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

# Whether a value is a whole number between its minimum and its maximum.
is_count() {
    case $1 in
    '' | *[!0-9]* | 0?* | ??????*) return 1 ;;
    esac
    [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

# A host may have several configurations.
refuse() {
    die "$config: $*"
}

# A key, its value, its minimum and its maximum.
need_count() {
    is_count "$2" "$3" "$4" || refuse "$1: invalid value '$2': expected a number from $3 to $4"
}

# A key, its duration, and its minimum.
set_seconds() {
    case $2 in
    *h) seconds_each=3600 ;;
    *m) seconds_each=60 ;;
    *) seconds_each=1 ;;
    esac
    is_count "${2%[smh]}" "$3" 99999 ||
        refuse "$1: invalid value '$2': expected a time such as 90s, 45m or 2h: a number from $3 to 99999 and a unit"
    seconds=$((${2%[smh]} * seconds_each))
}

# systemd's NoNewPrivileges= keeps the setgid helpers of a local mailer from queueing a mail.
refuse_mail_without_privileges() {
    [ -n "$mail_to" ] && [ "${sendmail%%[[:blank:]]*}" = /usr/sbin/sendmail ] || return 0
    ! grep -q '^NoNewPrivs:[[:space:]]*1' /proc/self/status ||
        refuse "mail-to: sendmail cannot deliver under NoNewPrivileges=: remove mail-to; OnFailure= of the unit sends the mail instead"
}

check_config() {
    config=$1
    [ -n "$client_options" ] || refuse "missing client-options"
    [ -n "$results" ] || refuse "missing results"
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
    *) refuse "require: invalid value '$require': expected p50, p90, p95, p99, p99.9, p99.99 or max" ;;
    esac
    case $any_answers in
    yes | no) ;;
    *) refuse "any-answers: invalid value '$any_answers': expected yes or no" ;;
    esac
    [ -z "$reference_server" ] || [ -n "$server" ] || refuse "reference-server: requires server, the program to compare with it"
    refuse_mail_without_privileges
    cd "$(dirname "$1")" || refuse "cannot enter the directory of '$1'"
    [ -r "$lock" ] || refuse "lock: cannot read '$lock'"
    [ -r "$client_options" ] || refuse "client-options: cannot read '$client_options' in $PWD"
    for command in "$tcpclient" "$tcpreport" ${server:+"${server%%[[:blank:]]*}"} ${reference_client:+"$reference_client"} \
        ${reference_server:+"${reference_server%%[[:blank:]]*}"} ${mail_to:+"${sendmail%%[[:blank:]]*}"} flock timeout; do
        command -v "$command" >/dev/null || refuse "cannot find '$command'"
    done
    mkdir -p "$results" || refuse "results: cannot create '$results'"
    [ -w "$results" ] || refuse "results: cannot write to '$results'"
    results=$(cd "$results" && pwd)
}
