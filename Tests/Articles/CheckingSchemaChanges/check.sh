#!/usr/bin/env bash
# Two versions of a schema whose difference is at the lines that the article shows. What the article has in /tmp is beside this script.
mkdir -p Sources/App tmp
schema() { # lines before the table, type of the field
  printf 'namespace Blog;\n'
  for _ in $(seq "$1"); do printf '\n'; done
  printf 'table Post {\n  id: long (primary);\n  likes: %s;\n}\nroot_type Post;\n' "$2"
}
schema 8 int >old.fbs
schema 10 long >Sources/App/post.fbs
git() { cat old.fbs; }
sed 's#/tmp/#tmp/#g' commands.txt >commands.sh
{ . ./commands.sh || true; } | sed 's#tmp/post#/tmp/post#' | diff report.txt -
{ dflatc check --json tmp/post.fbs Sources/App/post.fbs || true; } | sed 's#tmp/post#/tmp/post#' >found.json
python3 -c 'import json, sys; sys.exit(json.load(open("report.json")) != json.load(open("found.json")))'
