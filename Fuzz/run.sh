#!/bin/sh
# Fuzzes what reads foreign bytes, with libFuzzer and AddressSanitizer: the readers and the verifier of FlatBuffersRuntime
# (buffers), Dflat's checks of stored rows with what reads them (rows), and the values of Empire's records (packed).
#
#   Fuzz/run.sh [seconds] [buffers|rows|packed]   60 seconds each, unless told otherwise
#   Fuzz/run.sh write-corpus                      writes Fuzz/Corpus, Fuzz/RowCorpus and Fuzz/PackedCorpus anew
#
# New inputs go to .build/fuzz/found, found-rows and found-packed; the committed corpora stay as they are. A crash, a read outside the input
# or an input that takes over 10 seconds ends it with a nonzero code and leaves the input in .build/fuzz.
set -eu

fuzz=$(cd "$(dirname "$0")" && pwd)
package=$(dirname "$fuzz")
output="$package/.build/fuzz"
support="$package/Tests/FlatBuffersRuntimeTests/Support"
layouts="$support/Layout.swift $support/Value.swift $support/Encoder.swift $support/Decoder.swift
  $support/Checker.swift $support/Schemas.swift"
strict="-swift-version 6 -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility"
mkdir -p "$output/found" "$output/found-rows" "$output/found-packed"

# module NAME FLAGS...: a library target as a module of its own.
module() {
  name=$1
  shift
  # shellcheck disable=SC2086 # the flags are to be split
  find "$package/Sources/$name" -name '*.swift' -print0 | xargs -0 \
    swiftc -O -wmo -parse-as-library $strict -module-name "$name" -I "$output" "$@" \
    -emit-module -emit-module-path "$output/$name.swiftmodule" -c -o "$output/$name.o"
}

# program PRODUCT FILES-AND-FLAGS...
program() {
  product=$1
  shift
  swiftc -O -wmo -parse-as-library -swift-version 6 -module-name Fuzz -I "$output" "$@" -o "$output/$product"
}

# fuzz NAME FOUND CORPUS
fuzz() {
  (
    cd "$output"
    # Leaks are not looked for: the layouts live as long as the process, behind enum payloads whose
    # pointers carry tag bits, which the leak detector does not recognise as references.
    ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" "./fuzz-$1" -max_total_time="$seconds" -max_len=4096 \
      -timeout=10 -print_final_stats=1 -use_value_profile=1 "$2" "$3"
  )
}

if [ "${1:-}" = write-corpus ]; then
  module FlatBuffersRuntime
  module Dflat -enable-testing
  # shellcheck disable=SC2086 # the list of layouts is to be split
  program write-corpus "$fuzz/WriteCorpus.swift" $layouts "$output/FlatBuffersRuntime.o"
  program write-rows "$fuzz/WriteRows.swift" "$fuzz/RowLayout.swift" "$output/FlatBuffersRuntime.o" "$output/Dflat.o"
  module PackedSerialize -enable-experimental-feature Lifetimes
  program write-packed "$fuzz/WritePacked.swift" "$fuzz/PackedKinds.swift" "$output/PackedSerialize.o"
  "$output/write-corpus" "$fuzz/Corpus"
  "$output/write-rows" "$fuzz/RowCorpus"
  "$output/write-packed" "$fuzz/PackedCorpus"
  exit
fi

seconds=${1:-60}
target=${2:-all}
wanted() { [ "$target" = all ] || [ "$target" = "$1" ]; }
if ! wanted buffers && ! wanted rows && ! wanted packed; then
  echo "run.sh: there is no target '$target'; there are buffers, rows and packed" >&2
  exit 64
fi
if wanted buffers || wanted rows; then module FlatBuffersRuntime -g -sanitize=fuzzer,address; fi
if wanted buffers; then
  # shellcheck disable=SC2086 # the list of layouts is to be split
  program fuzz-buffers "$fuzz/FuzzBuffers.swift" $layouts "$output/FlatBuffersRuntime.o" -g -sanitize=fuzzer,address
  fuzz buffers found "$fuzz/Corpus"
fi
if wanted rows; then
  module Dflat -enable-testing -g -sanitize=fuzzer,address
  program fuzz-rows "$fuzz/FuzzRows.swift" "$fuzz/RowLayout.swift" "$output/FlatBuffersRuntime.o" "$output/Dflat.o" \
    -g -sanitize=fuzzer,address
  fuzz rows found-rows "$fuzz/RowCorpus"
fi
if wanted packed; then
  module PackedSerialize -enable-experimental-feature Lifetimes -g -sanitize=fuzzer,address
  program fuzz-packed "$fuzz/FuzzPacked.swift" "$fuzz/PackedKinds.swift" "$output/PackedSerialize.o" \
    -g -sanitize=fuzzer,address
  fuzz packed found-packed "$fuzz/PackedCorpus"
fi
