#!/usr/bin/env bash
# Fails if a comment is wider than 100 columns, or has an actor without a name: who, nobody, somebody, whoever. Fails if
# Markdown is wider than 120 columns, or has words that this project avoids.
#
# Symbol links of DocC, rows of tables and addresses cannot be broken. Left out are files that programs write and the
# tests' corpora. `make format` wraps Markdown.
set -euo pipefail
cd "$(dirname "$0")/.."

files=$(git ls-files 'Sources/*.swift' 'Tests/*.swift' 'Benchmarks/*.swift' 'Plugins/*.swift' 'Fuzz/*.swift' \
  | grep -vE '/(Generated|Golden|Corpus|Programs)/|_generated\.swift$')
status=0
# Characters are counted, not bytes.
export LC_ALL=C.UTF-8
# shellcheck disable=SC2086 # names without blanks
if grep -nE '^.{101,}$' $files | grep -E '^[^:]*:[0-9]+: *//' |
  grep -v '``'; then
  echo "lint: comments keep to 100 columns" >&2
  status=1
fi
# shellcheck disable=SC2086
if grep -niE '^ *//.*\b(who|nobody|somebody|whoever)\b' $files | grep -v '/// Who wrote it'; then
  echo "lint: name the actor: reader, writer, connection, caller, observer, engine" >&2
  status=1
fi

pages=$(git ls-files '*.md')
# shellcheck disable=SC2086
if grep -nE '^.{121,}$' $pages | grep -vE '^[^:]*:[0-9]+: *\||https?://'; then
  echo "lint: lines of Markdown keep to 120 columns; make format wraps them" >&2
  status=1
fi
# shellcheck disable=SC2086
if grep -niE '\b(told|tells|anew|for ever|needs not|whoever)\b' $pages; then
  echo "lint: say notify, report, say, show; again; permanently; does not need; and name the actor" >&2
  status=1
fi
exit $status
