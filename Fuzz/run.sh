#!/bin/sh
# Fuzzes what reads foreign bytes, with libFuzzer and AddressSanitizer: the readers and the verifier
# of FlatBuffersRuntime (buffers), Dflat's checks of stored rows with what reads them (rows), the
# values of Empire's records (packed), backups of changed pages (pages), and schemas and operations
# of GraphQL (graphql). It also compares verifier and readers with those of FlatBuffers for C++ over
# random buffers (differences), if flatc and libflatbuffers-dev are there.
#
#   Fuzz/run.sh [seconds] [buffers|rows|packed|pages|graphql|differences]
#       60 seconds each, and 1,000,000 buffers compared, unless told otherwise
#       without a name all but pages, for which SQLiteDflat is compiled, too
#   Fuzz/run.sh write-corpus
#       writes Fuzz/Corpus, Fuzz/RowCorpus and Fuzz/PackedCorpus again; Fuzz/PagesCorpus was written
#       by hand
#
# New inputs go to .build/fuzz/found, found-rows, found-packed, found-pages and found-graphql; the
# committed corpora stay as they are. A crash, a read outside the input or an input that takes over
# 10 seconds ends it with a nonzero code and leaves the input in .build/fuzz.
set -eu

fuzz=$(cd "$(dirname "$0")" && pwd)
package=$(dirname "$fuzz")
output="$package/.build/fuzz"
support="$package/Tests/FlatBuffersRuntimeTests/Support"
layouts="$support/Layout.swift $support/Value.swift $support/Encoder.swift $support/Decoder.swift
  $support/Checker.swift $support/Schemas.swift"
strict="-swift-version 6 -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility"
mkdir -p "$output/found" "$output/found-rows" "$output/found-packed" "$output/found-pages" "$output/found-graphql"

# module NAME FLAGS...: a library target as a module of its own.
module() {
  name=$1
  shift
  # shellcheck disable=SC2086 # the flags are to be split
  find "$package/Sources/$name" -name '*.swift' -print0 | xargs -0 \
    swiftc -O -wmo -parse-as-library $strict -package-name dflat -module-name "$name" -I "$output" "$@" \
    -emit-module -emit-module-path "$output/$name.swiftmodule" -c -o "$output/$name.o"
}

# dflat FLAGS...: Dflat, and what it is built on beside FlatBuffersRuntime.
dflat() {
  module Platform "$@"
  module StandardConformances "$@"
  module Dflat -enable-testing "$@"
}
# packed FLAGS...: PackedSerialize, and what it is built on.
packed() {
  module Platform "$@"
  module StandardConformances "$@"
  module PackedSerialize -enable-experimental-feature Lifetimes "$@"
}
# sqlite FLAGS...: SQLiteDflat, and what it is built on beside Dflat. It is not optimised, so that it
# compiles soon.
sqlite() {
  for source in "$package"/Sources/CSQLiteThreads/*.c; do
    clang -O -c -I "$package/Sources/CSQLiteThreads/include" "$source" -o "$output/$(basename "$source").o"
  done
  # shellcheck disable=SC2086 # the list of flags is to be split
  module SQLiteAccess $sqlite_headers "$@"
  # shellcheck disable=SC2086
  module SQLiteDflat -enable-testing $sqlite_headers "$@" -Onone -gline-tables-only
}
sqlite_headers="-I $package/Sources/CSQLite -I $package/Sources/CSQLiteThreads/include"
sqlite_objects="$output/SQLiteDflat.o $output/SQLiteAccess.o $output/CRC32C.c.o $output/CSQLiteThreads.c.o"
packed_objects="$output/Platform.o $output/StandardConformances.o $output/PackedSerialize.o"
dflat_objects="$output/FlatBuffersRuntime.o $output/Platform.o $output/StandardConformances.o $output/Dflat.o"

# program PRODUCT FILES-AND-FLAGS...
program() {
  product=$1
  shift
  swiftc -O -wmo -parse-as-library -swift-version 6 -package-name dflat -module-name Fuzz -I "$output" "$@" \
    -o "$output/$product"
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
  dflat
  # shellcheck disable=SC2086 # the list of layouts is to be split
  program write-corpus "$fuzz/WriteCorpus.swift" $layouts "$output/FlatBuffersRuntime.o"
  # shellcheck disable=SC2086 # the list of objects is to be split
  program write-rows "$fuzz/WriteRows.swift" "$fuzz/RowLayout.swift" $dflat_objects
  packed
  # shellcheck disable=SC2086 # the list of objects is to be split
  program write-packed "$fuzz/WritePacked.swift" "$fuzz/PackedKinds.swift" $packed_objects
  "$output/write-corpus" "$fuzz/Corpus"
  "$output/write-rows" "$fuzz/RowCorpus"
  "$output/write-packed" "$fuzz/PackedCorpus"
  exit
fi

seconds=${1:-60}
least=$([ $# -ge 1 ] && echo 0 || echo 1000000)
target=${2:-all}
case $target in all | buffers | rows | packed | pages | graphql | differences) ;; *)
  echo "run.sh: there is no target '$target'; there are buffers, rows, packed, pages, graphql and differences" >&2
  exit 64
  ;;
esac
wanted() { [ "$target" = all ] || [ "$target" = "$1" ]; }
if wanted buffers || wanted rows || [ "$target" = pages ]; then module FlatBuffersRuntime -g -sanitize=fuzzer,address; fi
if wanted buffers; then
  # shellcheck disable=SC2086 # the list of layouts is to be split
  program fuzz-buffers "$fuzz/FuzzBuffers.swift" $layouts "$output/FlatBuffersRuntime.o" -g -sanitize=fuzzer,address
  fuzz buffers found "$fuzz/Corpus"
fi
if wanted rows || [ "$target" = pages ]; then dflat -g -sanitize=fuzzer,address; fi
if wanted rows; then
  # shellcheck disable=SC2086 # the list of objects is to be split
  program fuzz-rows "$fuzz/FuzzRows.swift" "$fuzz/RowLayout.swift" $dflat_objects -g -sanitize=fuzzer,address
  fuzz rows found-rows "$fuzz/RowCorpus"
fi
if wanted packed; then
  packed -g -sanitize=fuzzer,address
  # shellcheck disable=SC2086 # the list of objects is to be split
  program fuzz-packed "$fuzz/FuzzPacked.swift" "$fuzz/PackedKinds.swift" $packed_objects -g -sanitize=fuzzer,address
  fuzz packed found-packed "$fuzz/PackedCorpus"
fi
if [ "$target" = pages ]; then
  sqlite -g -sanitize=fuzzer,address
  # shellcheck disable=SC2086 # the lists of objects and flags are to be split
  program fuzz-pages "$fuzz/FuzzPages.swift" $dflat_objects $sqlite_objects $sqlite_headers -Onone -gline-tables-only -sanitize=fuzzer,address -lsqlite3
  fuzz pages found-pages "$fuzz/PagesCorpus"
fi
if wanted graphql; then
  module Diagnostics -g -sanitize=fuzzer,address
  module GraphQLSchema -g -sanitize=fuzzer,address
  program write-graphql "$fuzz/WriteGraphQL.swift"
  program fuzz-graphql "$fuzz/FuzzGraphQL.swift" "$output/Diagnostics.o" "$output/GraphQLSchema.o" -g -sanitize=fuzzer,address
  # The cases of the tests are the seeds.
  "$output/write-graphql" "$package/Tests/GraphQLSchemaTests/Corpus" "$output/graphql-corpus"
  fuzz graphql found-graphql graphql-corpus
fi
if wanted differences; then
  module FlatBuffersRuntime
  dflat
  support="$package/Tests/SeededRandom/SeededGenerator.swift"
  swiftc -O -wmo -parse-as-library -swift-version 6 -module-name DflatTestSupport "$support" \
    -emit-module -emit-module-path "$output/DflatTestSupport.swiftmodule" -c -o "$output/DflatTestSupport.o"
  differences="$package/Tests/DflatTests/Differences"
  # shellcheck disable=SC2086 # the list of objects is to be split
  program fuzz-differences "$fuzz/FuzzDifferences.swift" "$differences/JudgedSchemas.swift" "$differences/CxxSource.swift" \
    "$differences/CxxJudge.swift" "$differences/ReadValues.swift" "$differences/WildBuffer.swift" \
    "$differences/Differences.swift" $dflat_objects "$output/DflatTestSupport.o"
  "$output/fuzz-differences" "$seconds" "$least"
fi
