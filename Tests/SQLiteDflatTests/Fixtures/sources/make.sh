#!/usr/bin/env bash
# Made the databases of this folder once, with SQLite's command and FlatBuffers' own compiler; nothing of Dflat is in them.
# They are kept as they are. Who changes a source makes a new file beside the old ones: make.sh NAME [PRAGMA …] < more.sql
set -euo pipefail
cd "$(dirname "$0")"
database=../$1.db
[ -e "$database" ] && { echo "$database is there, and stays" >&2; exit 1; }
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

objects() { # schema, list of objects: one line of hexadecimal digits for each
  python3 -c 'import json, sys
for number, item in enumerate(json.load(open(sys.argv[1]))):
    json.dump(item, open(f"{sys.argv[2]}/{number:03}.json", "w"))' "$2" "$work"
  for file in "$work"/*.json; do
    flatc --binary -o "$work" "$1" "$file"
    xxd -p "${file%.json}.bin" | tr -d '\n'
    echo
    rm "$file" "${file%.json}.bin"
  done
}

{
  for pragma in "$@"; do echo "PRAGMA $pragma;"; done
  cat tables.sql
  row=0
  objects blog.fbs posts.json | while read -r bytes; do
    row=$((row + 1))
    [ $row -eq 6 ] && row=7 # the sixth was deleted long ago
    key=$(python3 -c 'import json, sys
item = [p for p in json.load(open("posts.json"))][int(sys.argv[1])]
print("\x27" + item["site"] + "\x27, " + str(item["number"]))' $((row > 6 ? row - 2 : row - 1)))
    echo "INSERT INTO blog__post_v1_0 VALUES ($row, $key, x'$bytes');"
  done
  row=0
  objects dictionary.fbs dictionary.json | while read -r bytes; do
    key=$(python3 -c 'import json, sys
print(json.load(open("dictionary.json"))[int(sys.argv[1])]["key"])' $row)
    echo "INSERT INTO dictitem_v_dflat_internal__ (__pk0, __pk1, p) VALUES ('$key', '', x'$bytes');"
    row=$((row + 1))
  done
  cat
} | sqlite3 "$database"
sqlite3 "$database" 'PRAGMA integrity_check'
