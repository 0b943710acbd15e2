# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Shared by tests/packaging/*: sourced, not run.  A directory of its own for chroots, removed at the end; nothing is mounted
# outside the mount namespaces of single commands.

case ${1-} in
-*)
    sed -n 's|^#   tests/|usage: tests/|p' "$0" >&2
    exit 2
    ;;
esac
source=$(CDPATH='' cd "$(dirname "$0")/../.." && pwd)
program=$(basename "$0")
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$source/debian/changelog")
upstream=${version%-*}
SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct)
export SOURCE_DATE_EPOCH DEBIAN_FRONTEND=noninteractive

die() {
    echo "$program: $*" >&2
    exit 1
}

# need PROGRAM PACKAGE ...
need() {
    while [ $# -gt 0 ]; do
        command -v "$1" >/dev/null || die "cannot find '$1': apt install $2"
        shift 2
    done
}

ok() {
    echo "ok   $*"
}

[ "$(id -u)" = 0 ] || die "needs root, for chroots"
scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/tcpscaler-packaging.XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# make_chroot NAME SUITE [OPTION...]: a new Debian in $scratch/NAME, or what $archive has.
make_chroot() {
    name=$1 suite=$2
    shift 2
    mmdebstrap --quiet --mode=root "$@" "$suite" "$scratch/$name" "${archive:-${MIRROR:-http://deb.debian.org/debian}}" ||
        die "no chroot of $suite: is its archive reachable?"
    online_in_chroot "$name" apt-get -qq update
}

# in_chroot NAME COMMAND...: with processes, mounts and a loopback interface of its own.
in_chroot() {
    root=$scratch/$1
    shift
    # shellcheck disable=SC2016 # expanded inside
    unshare --mount --pid --net --fork --kill-child sh -c '
        mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && ip link set lo up && exec env -u TMPDIR chroot "$0" "$@"' "$root" "$@"
}

# online_in_chroot NAME COMMAND...: the same with the network of the host, for apt.
online_in_chroot() {
    root=$scratch/$1
    shift
    # shellcheck disable=SC2016 # expanded inside
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec env -u TMPDIR chroot "$0" "$@"' "$root" "$@"
}

# source_package DIRECTORY: the source package of HEAD, and its tree in DIRECTORY/tcpscaler-VERSION.
source_package() {
    mkdir -p "$1"
    git -C "$source" archive --prefix="tcpscaler-$upstream/" HEAD ':(exclude)debian' | gzip -n >"$1/tcpscaler_$upstream.orig.tar.gz"
    tar -xzf "$1/tcpscaler_$upstream.orig.tar.gz" -C "$1"
    git -C "$source" archive HEAD debian | tar -x -C "$1/tcpscaler-$upstream"
    (cd "$1/tcpscaler-$upstream" && dpkg-source -b . >/dev/null)
}

# chroot_to_build NAME SUITE: one that has what the source package needs, in /build, and users to build it.
chroot_to_build() {
    need mmdebstrap mmdebstrap dpkg-source dpkg-dev
    make_chroot "$1" "$2" --variant=buildd --include=lintian
    source_package "$scratch/$1/build"
    online_in_chroot "$1" sh -c "cd /build && apt-get -qq build-dep -y ./tcpscaler_$version.dsc >/dev/null" || die "no build dependencies"
    chroot "$scratch/$1" useradd --create-home one
    chroot "$scratch/$1" useradd --create-home two
    chown -R 1000:1000 "$scratch/$1/build" # one
}
