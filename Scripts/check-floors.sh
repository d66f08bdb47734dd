#!/usr/bin/env bash
# Fails if a file of Sources/Dflat uses a type that a higher floor declares.
#
# The floors are the folders, from the lowest to the highest. Observation, Dictionary and Migration stand beside each other and may
# use each other in this order. What a file uses is told by the names of types in it, outside of comments and strings.
set -euo pipefail
cd "$(dirname "$0")/../Sources/Dflat"

floors="Model Query Engine Scheduling Changes Observation Dictionary Migration Workspace Publishers Views"
# Two arrows that run up, and why: generic code over entities needs the request that generated code declares for each; and key and
# index values are read by the same program that evaluates conditions, so that they cannot differ.
allowed="Model/Atom.swift:ChangeRequest Model/ColumnReader.swift:Program"

# Comments and strings are left out. Multi-line strings are documentation in attributes.
code() { sed -E 's|//.*||; s|"([^"\\]\|\\.)*"||g' "$1" | awk '/"""/ { quoted = !quoted; next } !quoted'; }

declared=$(mktemp)
trap 'rm -f "$declared"' EXIT
floor=0
for name in $floors; do
  floor=$((floor + 1))
  for file in $(find "$name" -name '*.swift'); do
    code "$file" | grep -oE '^((public|package|private|fileprivate|final|indirect|nonisolated|@[a-zA-Z_]+(\([^)]*\))?) )*(class|struct|enum|protocol|actor|typealias) [A-Z][A-Za-z0-9]*' \
      | grep -vE '^(private|fileprivate) ' | awk -v floor=$floor '{ print $NF, floor }' || true
  done
done | sort -u -k1,1 >"$declared"

faults=0
floor=0
for name in $floors; do
  floor=$((floor + 1))
  for file in $(find "$name" -name '*.swift' | sort); do
    for used in $(code "$file" | grep -oE '\b[A-Z][A-Za-z0-9]*\b' | sort -u | join - "$declared" \
      | awk -v floor=$floor '$2 > floor { print $1 }'); do
      case " $allowed " in *" $file:$used "*) continue ;; esac
      echo "Sources/Dflat/$file uses $used, which a higher floor declares" >&2
      faults=$((faults + 1))
    done
  done
done
if [ "$faults" -gt 0 ]; then
  echo "$faults arrows run up: move the type down, or declare a protocol for it in the lower floor" >&2
  exit 1
fi
