#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs missing dependencies: with apt on Debian 12 and 13 and Ubuntu 22.04 and 24.04; with dnf on Fedora, but only
# those of "build" and "demo".  The tests also need hdrhistogram, which is installed from PyPI into build/python.
#   scripts/install-deps.sh build|demo|test|ci|deep|bench      (each includes those before it)
# PYTHON: the interpreter that hdrhistogram is installed for (default: that of the distribution, which runs the tests).
set -eu

# "a|b": the first that the distribution has
build="gcc libc6-dev cmake ninja-build pkgconf|pkg-config libevent-dev libssl-dev zlib1g-dev libjson-c-dev"
demo="gawk gnuplot-nox"
tests="libcmocka-dev openssl python3 python3-pip python3-jsonschema tcpdump socat netcat-openbsd knot-dnsutils strace iproute2 nftables iptables unbound knot nsd bind9
       haproxy nginx-light libnginx-mod-stream
       procps locales mawk original-awk mandoc default-jre-headless libhdrhistogram-java curl prometheus chromium|chromium-browser
       lintian zsh systemd cron ansible-core python3-venv openssh-server openssh-client
       linux-perf|linux-tools-generic"
ci="clang clang-format clang-tidy shellcheck"
deep="gcovr valgrind llvm"
bench="dnsperf sockperf wrk"
fedora_build="gcc glibc-devel cmake ninja-build pkgconf-pkg-config libevent-devel openssl-devel zlib-devel json-c-devel"
fedora_demo="gawk gnuplot"

fail() {
    echo "$0: $*" >&2
    exit 1
}

case $* in
build) wanted="$build" fedora="$fedora_build" ;;
demo) wanted="$build $demo" fedora="$fedora_build $fedora_demo" ;;
test) wanted="$build $demo $tests" fedora= ;;
ci) wanted="$build $demo $tests $ci" fedora= ;;
deep) wanted="$build $demo $tests $ci $deep" fedora= ;;
bench) wanted="$build $demo $tests $ci $deep $bench" fedora= ;;
*)
    echo "usage: $0 build|demo|test|ci|deep|bench" >&2
    exit 2
    ;;
esac

# HdrHistogram's Python library is not packaged in Debian.
install_hdrhistogram() {
    case $1 in build | demo) return ;; esac
    directory=$(dirname "$0")/../build/python
    python=${PYTHON:-/usr/bin/python3}
    command -v "$python" >/dev/null || python=python3
    PYTHONPATH=$directory "$python" -c 'import hdrh.log' 2>/dev/null ||
        PIP_ROOT_USER_ACTION=ignore "$python" -m pip install -q --disable-pip-version-check \
            --target "$directory" hdrhistogram==0.10.3 >&2 || fail "cannot install hdrhistogram 0.10.3 from PyPI"
}

is_installed() {
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

is_known() {
    [ -n "$(apt-cache madison "$1" 2>/dev/null)" ]
}

as_root=
need_root() {
    [ "$(id -u)" != 0 ] || return 0
    command -v sudo >/dev/null || fail "not root and no sudo; please install:$missing"
    as_root=sudo
}

# --- Fedora ---

if ! command -v apt-get >/dev/null; then
    command -v dnf >/dev/null || fail "neither apt-get nor dnf found; please install: $wanted"
    [ -n "$fedora" ] || fail "'$1' works only on Debian and Ubuntu; for the unit tests, 'dnf install libcmocka-devel python3' is enough"
    missing=
    for package in $fedora; do
        rpm -q --quiet --whatprovides "$package" || missing="$missing $package"
    done
    [ -n "$missing" ] || exit 0
    need_root
    # shellcheck disable=SC2086 # a list of words
    $as_root dnf install -y -q $missing >&2 || fail "dnf cannot install:$missing"
    exit 0
fi

# --- Debian and Ubuntu ---

# For each word with no alternative installed, adds the first alternative that the distribution has to $missing; adds
# words without such an alternative to $unknown.
find_missing() {
    for choice; do
        found=
        for package in $(echo "$choice" | tr '|' ' '); do
            is_installed "$package" && found=installed && break
        done
        [ -z "$found" ] || continue
        for package in $(echo "$choice" | tr '|' ' '); do
            is_known "$package" && found=$package && break
        done
        if [ -n "$found" ]; then
            missing="$missing $found"
        else
            unknown="$unknown $choice"
        fi
    done
}

# The package with the sanitizers' runtime has clang's version in its name; older ones have it in libclang-common.
add_sanitizers() {
    case $1 in ci | deep | bench) ;; *) return ;; esac
    clang=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p' | head -n 1) || true
    [ -z "$clang" ] || wanted="$wanted libclang-rt-$clang-dev|libclang-common-$clang-dev"
}

look() {
    missing='' unknown=''
    # shellcheck disable=SC2086 # a list of words
    find_missing $wanted
}

add_sanitizers "$1"
look
if [ -z "$missing$unknown" ]; then
    install_hdrhistogram "$1"
    exit 0
fi
missing="$missing$unknown" need_root
if [ -n "$unknown" ]; then # lists of packages may be missing
    $as_root apt-get update -q >&2 || fail "apt-get update failed; please install:$missing"
    look
    # shellcheck disable=SC1091
    [ -z "$unknown" ] || fail "no such package in $(. /etc/os-release && echo "$PRETTY_NAME"):$unknown"
fi

# The tests start the DNS servers and sshd themselves: keep Debian from starting its own.
policy=/usr/sbin/policy-rc.d
if [ "$1" != build ] && [ "$1" != demo ]; then
    if [ ! -e $policy ]; then
        trap 'exit 130' INT
        trap 'exit 143' TERM HUP
        trap '$as_root rm -f $policy' EXIT
        printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
        $as_root chmod +x $policy
    fi
fi
failed=
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >&2 || {
    $as_root apt-get update -q >&2 || true
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        $missing >&2 || failed=yes
}
[ -z "$failed" ] || fail "apt-get cannot install:$missing"
install_hdrhistogram "$1"
