#!/bin/sh
# Fuzzes the readers and the verifier of FlatBuffersRuntime with libFuzzer and AddressSanitizer.
#
#   Fuzz/run.sh [seconds] [corpus]    60 seconds from Fuzz/Corpus, unless told otherwise
#   Fuzz/run.sh write-corpus          writes Fuzz/Corpus anew
#
# New inputs go to .build/fuzz/found; the committed corpus stays as it is. A crash, a read outside
# the input or an input that takes over 10 seconds ends it with a nonzero code and leaves the input
# in .build/fuzz.
set -eu

fuzz=$(cd "$(dirname "$0")" && pwd)
package=$(dirname "$fuzz")
output="$package/.build/fuzz"
support="$package/Tests/FlatBuffersRuntimeTests/Support"
layouts="$support/Layout.swift $support/Value.swift $support/Encoder.swift $support/Decoder.swift
  $support/Checker.swift $support/Schemas.swift"
mkdir -p "$output/found"

# build TARGET-FILE PRODUCT FLAGS...: the runtime as a module of its own, then the target with the
# layouts of the tests.
build() {
  target=$1
  product=$2
  shift 2
  find "$package/Sources/FlatBuffersRuntime" -name '*.swift' -print0 | xargs -0 \
    swiftc -O -wmo -parse-as-library -swift-version 6 -module-name FlatBuffersRuntime "$@" \
    -emit-module -emit-module-path "$output/FlatBuffersRuntime.swiftmodule" \
    -c -o "$output/FlatBuffersRuntime.o"
  # shellcheck disable=SC2086 # the list of layouts is to be split
  swiftc -O -wmo -parse-as-library -swift-version 6 -module-name Fuzz "$@" -I "$output" \
    "$target" $layouts "$output/FlatBuffersRuntime.o" -o "$product"
}

if [ "${1:-}" = write-corpus ]; then
  build "$fuzz/WriteCorpus.swift" "$output/write-corpus"
  "$output/write-corpus" "$fuzz/Corpus"
  exit
fi

seconds=${1:-60}
corpus=${2:-"$fuzz/Corpus"}
build "$fuzz/FuzzBuffers.swift" "$output/fuzz-buffers" -g -sanitize=fuzzer,address
cd "$output"
# Leaks are not looked for: the layouts live as long as the process, behind enum payloads whose
# pointers carry tag bits, which the leak detector does not recognise as references.
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
exec ./fuzz-buffers -max_total_time="$seconds" -max_len=4096 -timeout=10 -print_final_stats=1 \
  -use_value_profile=1 found "$corpus"
