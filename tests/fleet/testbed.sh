#!/bin/sh
# SPDX-License-Identifier: MIT
# Simulates several hosts on one Linux machine, to try out and test a fleet: each host is a network, pid,
# mount and uts namespace with a real sshd, all on one bridge.
#
# The machine's own network is not changed, and its root file system is read-only in the hosts.  Each host has
# its own /run, /root, /tmp, /var/tmp and sysctls of net.*, which disappear with it; fs.*, kernel.* and vm.*
# belong to the whole machine and are read-only in the hosts.  A testbed consists of processes and the files
# below $TESTBED only, so testbeds in different directories do not interfere.
set -eu
TESTBED=${TESTBED:-/tmp/tcpscaler-testbed}
NETWORK=10.77

usage() {
    cat <<END
usage: $0 COMMAND

  up [N]            a server and N client hosts (default: 4), as root: srv, c1, c2, ...
  down              everything ends; nothing is left
  status            a line per host
  inventory         an inventory for fleet/run.yml, of all hosts
  in HOST COMMAND   run this in the host; ctl: in the controller's network, with this file system
  crash HOST        every process is killed (peers see resets), the host is off the net, its memory lost
  cut HOST          no more packets in or out; its processes go on
  heal HOST         undoes cut
  boot HOST         starts a crashed host again

The testbed is in \$TESTBED ($TESTBED).
END
    exit 2
}

die() {
    echo "$0: $*" >&2
    exit 1
}

# --- hosts: a line "NAME OCTET" each; its address is 10.77.0.OCTET ---

octet() {
    awk -v name="$1" '$1 == name { print $2; found = 1 } END { exit !found }' "$TESTBED/hosts" ||
        die "$1: no such host: see status"
}

# The process that keeps the namespaces of a host; its child is the host's pid 1.
keeper() {
    cat "$TESTBED/$1/pid" 2>/dev/null
}

first_process() {
    pgrep -P "$(keeper "$1")" || die "$1: is down"
}

# A zombie, which its parent may leave for seconds, has no namespaces any more.
gone() {
    case $(cut -d ' ' -f 3 "/proc/$1/stat" 2>/dev/null) in '' | Z) ;; *) return 1 ;; esac
}

is_up() {
    pid=$(keeper "$1") && ! gone "$pid"
}

on_switch() {
    nsenter -t "$(keeper switch)" -n "$@"
}

# --- up ---

# The switch is also where the controller is: the bridge has its address.
make_switch() {
    mkdir -p "$TESTBED/switch"
    setsid unshare --net sleep infinity </dev/null >/dev/null 2>&1 &
    echo $! >"$TESTBED/switch/pid"
    wait_until "the switch" own_network switch
    on_switch ip link set lo up
    on_switch ip link add br0 type bridge
    on_switch ip addr add "$NETWORK.0.1/16" dev br0
    on_switch ip link set br0 up
}

own_network() {
    here=$(readlink /proc/self/ns/net)
    there=$(readlink "/proc/$(keeper "$1")/ns/net") && [ "$here" != "$there" ]
}

wait_until() {
    what=$1
    shift
    for _ in $(seq 1200); do
        if "$@" 2>/dev/null; then
            return
        fi
        sleep 0.05
    done
    die "waited a minute for $what"
}

make_keys() {
    mkdir -p "$TESTBED/ctl"
    ssh-keygen -q -t ed25519 -N '' -C testbed -f "$TESTBED/ctl/key"
    cat >"$TESTBED/ctl/ssh_config" <<END
User root
IdentityFile $TESTBED/ctl/key
IdentitiesOnly yes
UserKnownHostsFile $TESTBED/ctl/known_hosts
StrictHostKeyChecking yes
END
}

make_host() {
    mkdir -p "$TESTBED/$1"
    ssh-keygen -q -t ed25519 -N '' -C "$1" -f "$TESTBED/$1/host_key"
    cp "$TESTBED/ctl/key.pub" "$TESTBED/$1/authorized_keys"
    echo "$NETWORK.0.$2 $(cut -d' ' -f1,2 "$TESTBED/$1/host_key.pub")" >>"$TESTBED/ctl/known_hosts"
    cat >"$TESTBED/$1/sshd_config" <<END
HostKey /run/sshd/host_key
AuthorizedKeysFile /run/sshd/authorized_keys
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
Subsystem sftp internal-sftp
MaxStartups 64:30:128
END
    # A password of "!" would mean to sshd that root is locked.
    cat >"$TESTBED/$1/init" <<END
set -e
hostname $1
mount -o remount,bind,ro /
for own in fs kernel vm; do
    mount --bind /proc/sys/\$own /proc/sys/\$own
    mount -o remount,bind,ro /proc/sys/\$own
done
mount -t tmpfs -o mode=0755 tmpfs /run
mkdir -m 0755 /run/sshd
cp $TESTBED/$1/host_key $TESTBED/$1/authorized_keys $TESTBED/$1/sshd_config /run/sshd
sed 's/^root:[^:]*:/root:*:/' /etc/shadow >/run/shadow
chmod 600 /run/shadow
mount --bind /run/shadow /etc/shadow
cd /
mount -t tmpfs -o mode=0700 tmpfs /root
for own in /tmp /var/tmp; do mount -t tmpfs -o mode=1777 tmpfs \$own; done
ip link set lo up
until [ -e /proc/sys/net/ipv4/conf/eth0 ]; do sleep 0.02; done
ip addr add $NETWORK.0.$2/16 dev eth0
ip link set eth0 up
exec /usr/sbin/sshd -D -e -f /run/sshd/sshd_config
END
}

# With its keeper every process of the host dies, and with them its namespaces.
boot() {
    n=$(octet "$1")
    if is_up "$1"; then die "$1: is up"; fi
    setsid unshare --net --mount --uts --pid --fork --kill-child=KILL --mount-proc --propagation private \
        sh "$TESTBED/$1/init" </dev/null >>"$TESTBED/$1/log" 2>&1 &
    echo $! >"$TESTBED/$1/pid"
    wait_until "the namespaces of $1" own_network "$1"
    on_switch ip link add "v$n" type veth peer name eth0 netns "$(keeper "$1")"
    on_switch ip link set "v$n" master br0 up
}

answers() {
    on_switch sh -c "exec 2>/dev/null; ssh-keyscan -T 1 $NETWORK.0.$(octet "$1")" | grep -q ssh-
}

up() {
    case $1 in '' | *[!0-9]*) usage ;; esac
    if [ "$1" -lt 1 ] || [ "$1" -gt 200 ]; then die "invalid value '$1': expected 1 to 200 client hosts"; fi
    [ "$(id -u)" = 0 ] || die "needs root"
    mkdir "$TESTBED" || die "is there one already?  $0 down"
    trap 'down' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    echo "srv 10" >"$TESTBED/hosts"
    for i in $(seq "$1"); do echo "c$i $((10 + i))" >>"$TESTBED/hosts"; done
    make_switch
    make_keys
    while read -r host n; do make_host "$host" "$n" && boot "$host"; done <"$TESTBED/hosts"
    while read -r host _; do wait_until "sshd of $host" answers "$host"; done <"$TESTBED/hosts"
    trap - EXIT
}

# --- the rest ---

# A process that is not there any more, nor its network.
end() {
    pid=$(keeper "$1") || return 0
    kill -KILL "$pid" 2>/dev/null || true
    wait_until "the end of $1" gone "$pid"
    rm -f "$TESTBED/$1/pid"
}

down() {
    [ -f "$TESTBED/hosts" ] || return 0
    while read -r host _; do end "$host"; done <"$TESTBED/hosts"
    end switch
    rm -rf "$TESTBED"
}

status() {
    while read -r host n; do
        printf '%-6s %-12s %s\n' "$host" "$NETWORK.0.$n" "$(if is_up "$host"; then echo up; else echo down; fi)"
    done <"$TESTBED/hosts"
}

# Each client has three addresses for 10,000 connections and more, and a seed of its own.
inventory() {
    cat <<END
all:
  vars:
    ansible_user: root
    ansible_ssh_common_args: -F $TESTBED/ctl/ssh_config
    ansible_python_interpreter: /usr/bin/python3   # instead of a search on each host, in each run
    clock_error_max: ''           # all hosts have this machine's clock
  children:
    server:
      hosts:
        srv: {ansible_host: $NETWORK.0.10, address: $NETWORK.0.10}
    clients:
      vars:
        device: eth0
        source_ports: 20000-29999
      hosts:
END
    while read -r host n; do
        [ "$host" = srv ] ||
            echo "        $host: {ansible_host: $NETWORK.0.$n, sources: $NETWORK.$n.1-3, seed: $n}"
    done <"$TESTBED/hosts"
}

# The death of the keeper takes the host's end of its cable with it, at some time later.
crash() {
    n=$(octet "$1")
    end "$1"
    on_switch ip link del "v$n" 2>/dev/null || true
}

inside() {
    host=$1
    shift
    if [ "$host" = ctl ]; then
        exec nsenter -t "$(keeper switch)" -n "$@"
    fi
    exec nsenter -t "$(first_process "$host")" -m -n -p -u "$@"
}

[ $# -gt 0 ] || usage
command=$1
shift
case $command in
up) [ $# -le 1 ] || usage ;;
down | status | inventory) [ $# -eq 0 ] || usage ;;
in) [ $# -ge 2 ] || usage ;;
crash | cut | heal | boot) [ $# -eq 1 ] || usage ;;
*) usage ;;
esac
[ "$command" = up ] || [ "$command" = down ] || [ -f "$TESTBED/hosts" ] || die "there is none: $0 up"
case $command in
up) up "${1:-4}" ;;
in) inside "$@" ;;
cut) n=$(octet "$1") && on_switch ip link set "v$n" down ;;
heal) n=$(octet "$1") && on_switch ip link set "v$n" up ;;
boot) boot "$1" && wait_until "sshd of $1" answers "$1" ;;
*) "$command" "$@" ;;
esac
