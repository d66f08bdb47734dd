#!/usr/bin/env bash
# Builds the DocC pages of every library into .build/docs/<library>, with the toolchain's own tools and no package plugin.
#
# A warning of DocC (a dead link, a missing parameter) fails the script.
set -euo pipefail
cd "$(dirname "$0")/.."

libraries=(FlatBuffersRuntime Dflat MemoryDflat DflatGraphQL SQLiteAccess SQLiteDflat PostgresDflat Diagnostics DflatSchema GraphQLSchema DflatGenerator PackedSerialize LMDB Empire Silo EmpireSilo)

tool() { if command -v xcrun >/dev/null 2>&1; then xcrun "$@"; else "$@"; fi; }

swift build
modules=$(swift build --show-bin-path)/Modules
triple=$(swift -print-target-info | sed -n 's/.*"triple" *: *"\(.*\)".*/\1/p' | head -n 1)
sdk=()
if command -v xcrun >/dev/null 2>&1; then sdk=(-sdk "$(xcrun --show-sdk-path)"); fi

rm -rf .build/docs .build/symbol-graphs
status=0
for library in "${libraries[@]}"; do
  graphs=.build/symbol-graphs/$library
  mkdir -p "$graphs" .build/docs
  tool swift-symbolgraph-extract -module-name "$library" -target "$triple" ${sdk[@]+"${sdk[@]}"} \
    -I "$modules" -I Sources/CSQLite -I Sources/CSQLiteThreads/include -I Sources/CLMDB -I Sources/CPostgres -I "$(pkg-config --variable=includedir libpq)" -minimum-access-level public -output-dir "$graphs"
  tool docc convert "Sources/$library/$library.docc" --additional-symbol-graph-dir "$graphs" \
    --fallback-display-name "$library" --fallback-bundle-identifier "dflat.$library" \
    --warnings-as-errors --output-path ".build/docs/$library" || status=1
  echo "docs: .build/docs/$library"
done
exit $status
