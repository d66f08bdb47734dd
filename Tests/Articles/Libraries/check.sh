#!/usr/bin/env bash
# A message of the schema compiler.
mkdir schema
cd schema
printf 'table Post {\n  images: [string] (indexed);\n}\n' >post.fbs
{ dflatc compile -o . post.fbs 2>&1 || true; } | diff ../report.txt -
