#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds every target of tests/fuzz into $OUT, with its corpus and regressions as seeds, and the libraries it is linked to.
# ClusterFuzzLite sets CC, CFLAGS, CXXFLAGS and OUT.
set -euo pipefail
CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")"
if [ -d tcpscaler ]; then
    cd tcpscaler # in $SRC
else
    cd ..
fi

# $ORIGIN is for the dynamic linker
cmake -S . -B "${WORK:-build}/fuzzers" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$CFLAGS" \
    -DTCPSCALER_SANITIZE=fuzzer-no-link -DCMAKE_EXE_LINKER_FLAGS="$CXXFLAGS -Wl,-rpath,'\$ORIGIN/lib'"
cmake --build "${WORK:-build}/fuzzers" --target fuzzers

mkdir -p "$OUT/lib"
for program in "${WORK:-build}"/fuzzers/tests/fuzz_*; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    target=${name#fuzz_}
    cp "$program" "$OUT/$name"
    seeds=()
    for directory in tests/fuzz/corpus/"$target" tests/fuzz/regressions/"$target"; do
        [ ! -d "$directory" ] || seeds+=("$directory"/*)
    done
    [ ${#seeds[@]} = 0 ] || python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "${seeds[@]}"
    ldd "$program" | awk '/libevent|libssl|libcrypto|libz\.|libjson-c/ { print $3 }' | xargs -r cp -L -t "$OUT/lib"
done
