#!/usr/bin/env bash
# Checks the sources as `make lint` does; with --format it formats them instead.
#
# Left out are files that programs write or that are broken on purpose: generated Swift and the tests' corpora.
set -euo pipefail
cd "$(dirname "$0")/.."

folders=()
for folder in Sources Plugins Tests Examples Benchmarks Fuzz; do
  if [ -d "$folder" ]; then folders+=("$folder"); fi
done

sources() {
  find Package.swift "${folders[@]}" \
    \( -name '.build*' -o -name Golden -o -name Corpus -o -name Generated \) -prune \
    -o -name '*.swift' ! -name '*_generated.swift' -print0
}

if [ "${1:-}" = --format ]; then
  sources | xargs -0 swift format format --in-place --parallel
  git ls-files -z '*.md' | xargs -0 Scripts/wrap-markdown.py
else
  sources | xargs -0 swift format lint --strict --parallel
  # ThreadSanitizer needs the Mutex of Platform, and the C library has a name of its own on each system.
  if grep -rnE '^ *([a-z@_]+ )*import (Synchronization|Glibc|Musl|Darwin)$' Sources Tests --include='*.swift' |
    grep -v '^Sources/Platform/'; then
    echo "lint: import Platform instead" >&2
    exit 1
  fi
  Scripts/check-floors.py
  Scripts/check-comments.sh
  Scripts/check-paths.sh
fi
