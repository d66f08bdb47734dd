#!/usr/bin/env bash
# Writes the figures of Benchmarks/results/latest.json into the table of Benchmarks/README.md. `make bench` and
# `make bench-instructions` call it after all cases.
set -euo pipefail
cd "$(dirname "$0")/.."

table=$(awk -F'[:,}]' '
  function value(name,  i) {
    for (i = 1; i < NF; i++) if ($i ~ "\"" name "\"") { gsub(/[ "]/, "", $(i + 1)); return $(i + 1) }
    return ""
  }
  function instructions() { return value("instructionRatio") == "" ? "" : sprintf("%.2f", value("instructionRatio")) }
  BEGIN { print "| case | Dflat | floor | ratio | goal | instructions |"; print "| --- | ---: | ---: | ---: | ---: | ---: |" }
  /"id"/ && value("unit") == "microseconds" {
    printf "| `%s` | %.1f µs | %.1f µs | | %.1f µs | %s |\n", value("id"), value("value"), value("floorValue"), value("goal"), instructions()
  }
  /"id"/ && value("ratio") != "" {
    printf "| `%s` | %.1f ms | %.1f ms | %.2f | %s | %s |\n", value("id"), value("milliseconds"),
      value("floorMilliseconds"), value("ratio"), value("goal") == "" || value("goal") == "null" ? "" : sprintf("%.2f", value("goal")), instructions()
  }' Benchmarks/results/latest.json)

awk -v table="$table" '
  /^<!-- performance:/ { print; print ""; print table; print ""; skipping = 1; next }
  /^<!-- \/performance -->/ { skipping = 0 }
  !skipping { print }' Benchmarks/README.md >Benchmarks/README.md.new
mv Benchmarks/README.md.new Benchmarks/README.md
