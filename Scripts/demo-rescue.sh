#!/usr/bin/env bash
# Damages copies of a file in four ways, and shows what `dflat check` finds, and what `dflat repair` saves: demo-rescue.sh DFLAT FILE FOLDER
set -uo pipefail
dflat=$1 file=$2 folder=$3
rm -rf "$folder" && mkdir -p "$folder"

# A whole copy in one file, whatever is in the log.
"$dflat" backup "$file" "$folder/whole.db" > /dev/null || exit 1
"$dflat" info "$folder/whole.db" || exit 1
pages=$(($(stat -c %s "$folder/whole.db" 2> /dev/null || stat -f %z "$folder/whole.db") / 4096))

rescue() {
  local name=$1 broken="$folder/$1.db" saved="$folder/$1-saved.db"
  echo
  echo "── $2"
  echo "\$ dflat check $broken"
  "$dflat" check --limit 2 "$broken" 2>&1 | cut -c1-140 | tail -3
  echo "\$ dflat repair $broken -o $saved"
  "$dflat" repair "$broken" -o "$saved" | grep -v '^damage' | cut -c1-140
  echo "\$ dflat check $saved"
  "$dflat" check "$saved" | tail -1
  echo "\$ dflat diff $folder/whole.db $saved"
  # It ends with 1 if the files differ, as they may.
  "$dflat" diff "$folder/whole.db" "$saved" 2>&1 > /dev/null | tail -1 || true
}

zero() { dd if=/dev/zero of="$1" bs="$2" seek="$3" count="$4" conv=notrunc 2> /dev/null; }

cp "$folder/whole.db" "$folder/header.db"
zero "$folder/header.db" 4096 0 1
rescue header "the first page is gone: SQLite does not take it for a database any more"

cp "$folder/whole.db" "$folder/block.db"
zero "$folder/block.db" 65536 $((pages / 32)) 1
rescue block "64 KiB in the middle are zero"

cp "$folder/whole.db" "$folder/sectors.db"
for part in 1 2 3 4 5 6; do zero "$folder/sectors.db" 512 $((pages * part + part)) 1; done
rescue sectors "six bad sectors"

head -c $((pages * 4096 * 3 / 4)) "$folder/whole.db" > "$folder/cut.db"
rescue cut "the last quarter was not copied"
