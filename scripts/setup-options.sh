# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2154 # the variables of setup-lib.sh and its other parts
# Part of setup-lib.sh: the options of both scripts.

need_argument() {
    [ -n "${2-}" ] || die "$1: missing value"
}

is_count() {
    case $1 in '' | *[!0-9]*) return 1 ;; esac
}

# read_count TEXT: prints the number, in the notation of the programs: 10000, 100k, 1.5M.
read_count() {
    number=${1%[kM]} decimals='' zeros=''
    case $1 in
    *k) zeros=000 ;;
    *M) zeros=000000 ;;
    esac
    case $number in
    *.*)
        decimals=${number#*.} number=${number%%.*}
        is_count "$decimals" && [ ${#decimals} -le ${#zeros} ] || return
        zeros=$(printf "%.$((${#zeros} - ${#decimals}))s" "$zeros")
        ;;
    esac
    is_count "$number" || return
    number=$(echo "$number$decimals$zeros" | sed 's/^0*//') # a leading 0 would make it octal
    [ ${#number} -le 9 ] || return # arithmetic wraps around
    echo "${number:-0}"
}

# is_port TEXT: 0 to 65535, without leading zeros, which some commands read as octal.
is_port() {
    case $1 in 0?* | ??????*) return 1 ;; esac
    is_count "$1" && [ "$1" -le 65535 ]
}

# need_device OPTION NAME: a name the kernel allows and no command mistakes for an option.
need_device() {
    case $2 in
    -* | *[!A-Za-z0-9._@:-]*) die "$1: invalid value '$2': expected the name of a network interface" ;;
    esac
}

# The options that both scripts have.  Sets $taken to the number of words consumed; 0: not a common option.
common_option() {
    taken=1
    case $1 in
    --check | --apply | --revert | --dry-run)
        [ "${mode_option:=$1}" = "$1" ] || die "$1 conflicts with $mode_option"
        mode=${1#--}
        ;;
    --persist) persist=yes ;;
    --notrack) notrack=yes ;;
    --connections)
        need_argument "$@"
        connections=$(read_count "$2") || connections=0
        [ "$connections" -gt 0 ] || die "--connections: invalid value '$2': expected 1 to 999999999, such as 10000, 100k or 1.5M"
        taken=2
        ;;
    --port)
        need_argument "$@"
        if ! is_port "$2" || [ "$2" = 0 ]; then
            die "--port: invalid value '$2': expected 1 to 65535"
        fi
        port=$2 taken=2
        ;;
    --state)
        need_argument "$@"
        state=$2 taken=2
        ;;
    --owner)
        need_argument "$@"
        owner=$(printf '%s' "$2" | tr '\t\n' '  ') taken=2
        ;;
    --revert-after)
        need_argument "$@"
        is_count "${2%[smh]}" || die "--revert-after: invalid value '$2': expected a time such as 90, 90s, 30m or 2h"
        revert_after=$2 taken=2
        ;;
    --lock-wait)
        need_argument "$@"
        is_count "$2" || die "--lock-wait: invalid value '$2': expected a number of seconds"
        lock_wait=$2 taken=2
        ;;
    --limits) limits=yes ;;
    --irq | --rps | --rings)
        need_argument "$@"
        need_device "$@"
        eval "${1#--}_device=\$2"
        taken=2
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) taken=0 ;;
    esac
}

common_usage() {
    cat <<END
  --connections N   size every value for N connections (default: 10000)
  --check           print current and wanted values with reasons; change nothing (default)
  --dry-run         print commands equivalent to --apply
  --apply           change what differs; record the old values in the state file
  --revert          restore the old values and remove the state file
  --port PORT       the server's port (default: 4242)
  --notrack         exempt the server's port from connection tracking.  A firewall that matches on
                    connection state then drops these packets; see below
  --irq IFACE       spread the interrupts of this interface over the CPUs of its NUMA node
  --rps IFACE       if this interface has fewer receive queues than its NUMA node has CPUs, spread
                    packets over those CPUs (RPS); assign each CPU its own send queue (XPS)
  --rings IFACE     set the NIC's rings to their maximum size; print its interrupt coalescing
  --persist         with --apply: also set the changed sysctls at every boot, with
                    $persist_file; conflicts with --revert-after;
                    requires --apply, or --check or --dry-run, which show that file, too
  --limits          with --persist: raise the hard limit of file descriptors for N connections, for
                    logins and for services (after "systemctl daemon-reexec")
  --revert-after TIME
                    with --apply: revert automatically after TIME (90s, 30m, 2h; without a unit:
                    seconds), even if the session has ended; another --apply with this option
                    restarts the timer; one without it leaves the timer running; one with --persist stops
                    it.  If the revert fails, the state file remains; syslog, and a file named like the
                    state file with .log, say why
  --owner NAME      label the changes with NAME; --apply and --revert refuse to touch changes of
                    another owner (exit code 3)
  --lock-wait S     if another of these scripts is changing this host, wait up to S seconds for it
                    (default: 60); if it is still running then, exit with 3
  --state FILE      the state file (default: $volatile/$script.state; with --persist
                    $durable/$script.state)
  -- COMMAND...     then, unless a change was refused, run COMMAND with the fd limit raised for N
                    connections (a script cannot raise the limit of its parent shell); conflicts with
                    --dry-run

Without --persist, a reboot undoes everything; with it, everything except the sysctls and --limits.  If
setup-server and setup-client changed the same value, it is restored when both have been reverted (with
--state: only if both state files are in one directory).

--notrack saves conntrack entries, but untracked packets have no connection state: a rule such as
"ct state established accept" does not match them.  Use it only if another rule accepts packets from and
to the port.

Exit codes, or that of COMMAND if it runs:
  0  success
  1  --check found differences
  2  usage error
  3  the system refused a change, which is listed on stderr (all other changes were made); the state file
     could not be written (nothing was changed after that); nothing was changed (see --owner and
     --lock-wait); or standard output could not be written
END
}
