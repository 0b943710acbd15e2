#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs missing dependencies with apt on Debian 12 or later; for the tests also hdrhistogram from PyPI,
# into build/python.
#   scripts/install-deps.sh build|demo|test|ci|deep      (each includes those before it)
set -eu

build="gcc libc6-dev cmake ninja-build pkg-config libevent-dev libssl-dev"
demo="gawk gnuplot-nox"
tests="libcmocka-dev zlib1g-dev libjson-c-dev openssl python3 python3-pip python3-jsonschema tcpdump socat netcat-openbsd knot-dnsutils strace iproute2 nftables iptables unbound knot nsd bind9
       haproxy nginx-light libnginx-mod-stream
       procps mandoc default-jre-headless libhdrhistogram-java curl prometheus chromium
       lintian zsh systemd cron ansible-core python3-venv openssh-server openssh-client"
# the name of the package with the sanitizers' runtime contains clang's version
clang_version=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p' | head -n 1) || true
ci="clang clang-format clang-tidy shellcheck${clang_version:+ libclang-rt-$clang_version-dev}"
deep="gcovr valgrind"

case ${1:-} in
build) wanted="$build" ;;
demo) wanted="$build $demo" ;;
test) wanted="$build $demo $tests" ;;
ci) wanted="$build $demo $tests $ci" ;;
deep) wanted="$build $demo $tests $ci $deep" ;;
*)
    echo "usage: $0 build|demo|test|ci|deep" >&2
    exit 2
    ;;
esac

# HdrHistogram's Python library is not packaged in Debian.
install_hdrhistogram() {
    directory=$(dirname "$0")/../build/python
    PYTHONPATH=$directory python3 -c 'import hdrh.log' 2>/dev/null ||
        python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore \
            --target "$directory" hdrhistogram==0.10.3 >&2
}

missing=
for package in $wanted; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
        missing="$missing $package"
done
if [ -z "$missing" ]; then
    [ "$1" = build ] || [ "$1" = demo ] || install_hdrhistogram
    exit 0
fi

if ! command -v apt-get >/dev/null; then
    echo "$0: apt-get not found; please install:$missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
        echo "$0: not root and no sudo; please install:$missing" >&2
        exit 1
    }
    as_root=sudo
fi

# The tests start the DNS servers and sshd themselves: keep Debian from starting its own.
policy=/usr/sbin/policy-rc.d
made_policy=
if [ "$1" != build ] && [ "$1" != demo ]; then
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
        $as_root chmod +x $policy
        made_policy=yes
    fi
fi
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2 || {
    $as_root apt-get update -q >&2
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        $missing >&2
}
[ -z "$made_policy" ] || $as_root rm -f $policy
[ "$1" = build ] || [ "$1" = demo ] || install_hdrhistogram
