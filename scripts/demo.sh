#!/bin/sh
# SPDX-License-Identifier: MIT
# A demo on one machine: 10,000 connections over loopback, 20,000 queries per second for 5 seconds, the
# summary and a plot of the response times, in the directory of the build or, once installed, in a new one.
# Exit code 0 unless something failed; a noisy machine is no failure.
set -eu
[ $# -eq 0 ] || { echo "usage: $0" >&2; exit 2; }
here=$(dirname "$(readlink -f "$0")") # it may be run through a link
out=

# <source tree>
# In the source tree: install missing packages, build in build/demo and put the plot there.
if [ -e "$here/../CMakeLists.txt" ]; then
    cd "$here/.."
    scripts/install-deps.sh demo
    mkdir -p build
    cmake -S . -B build/demo -G Ninja -DBUILD_TESTING=OFF >build/demo.log
    cmake --build build/demo >>build/demo.log || {
        sed -n '/^FAILED/,$p' build/demo.log >&2
        echo "$0: cannot build: see build/demo.log" >&2
        exit 1
    }
    out=build/demo
    PATH=$PWD/$out:$PATH
fi
# </source tree>
for program in tcpclient tcpserver gnuplot gawk; do
    command -v $program >/dev/null || { echo "$0: $program is not installed" >&2; exit 1; }
done
[ -n "$out" ] || out=$(mktemp -d "${TMPDIR:-/tmp}/tcpscaler-demo.XXXXXX")

tcpserver 0 2>"$out/server.err" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
until port=$(sed -n 's/.*listening on .*:\([0-9]*\),.*/\1/p' "$out/server.err") && [ -n "$port" ]; do
    kill -0 $server || { cat "$out/server.err" >&2; exit 1; }
    sleep 0.1
done

echo "$ tcpclient -p $port -c 10000 -r 20000 -t 5 -o $out/rows.csv 127.0.0.1"
status=0
tcpclient -p "$port" -c 10000 -r 20000 -t 5 -o "$out/rows.csv" --json "$out/result.json" 127.0.0.1 || status=$?

kill $server
wait $server || true
trap - EXIT INT TERM
echo
cat "$out/server.err"

# Whether all reasons for doubt are about the machine.
only_noise() {
    reasons=$(tr -d '\n ' <"$out/result.json" | sed -n 's/.*"reasons":\[\([^]]*\)\].*/\1/p' | tr ',' '\n')
    [ -n "$reasons" ] && ! echo "$reasons" | grep -qvE '^"(host-noise|generator-limited|non-stationary|memory-pressure)"$'
}

# GNUTERM may name a terminal that this gnuplot lacks: it would skip commands; $TMPDIR may have an apostrophe
[ ! -s "$out/rows.csv" ] || (CDPATH='' cd "$out" && GNUTERM=unknown gnuplot -d -e "rows='rows.csv'; picture='rtt.png'" "$here/plot-rtt.gp")
echo
if [ "$status" = 3 ] && only_noise; then
    echo "SUSPECT: this machine was busy: the counts are exact, but the times include its delays: they are upper bounds."
    status=0
fi
[ ! -e "$out/rtt.png" ] || echo "Plot: $out/rtt.png (from $out/rows.csv by $here/plot-rtt.gp)"
exit $status
