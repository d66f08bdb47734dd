#!/usr/bin/env bash
# Measures the first release build of a program that uses Dflat:
# clean-build-time.sh [sqlite|dflat|empire]...
#
# Each variant is a package in a temporary folder, built once; only the toolchain is there already.
#
#   sqlite   a program that calls SQLite's C interface; the others are given as ratios to it
#   dflat    a program with one schema, compiled by the plugin, that stores and fetches
#   empire   the same program, and one record of Empire
#
# Wall seconds are comparable only on a machine that does nothing else. CPU seconds, user and
# system of all processes, depend less on what else runs. TIMELINE=1 adds how long each step of the
# build took; it needs the command sqlite3.
set -euo pipefail
cd "$(dirname "$0")/.."

checkout=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/dflat-clean-build.XXXXXX")
trap 'rm -rf "$work"' EXIT

# manifest NAME DEPENDENCIES TARGETS
manifest() {
  cat <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "$1", platforms: [.macOS(.v15)],
  dependencies: [$2],
  targets: [$3])
SWIFT
}

dflat_package=".package(name: \"Dflat\", path: \"$checkout\")"
plugin='plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]'
sqlite_dflat='.product(name: "SQLiteDflat", package: "Dflat")'
empire='.product(name: "Empire", package: "Dflat")'

write_sqlite() {
  mkdir -p Sources/App Sources/CSystemSQLite
  manifest App "" '.systemLibrary(name: "CSystemSQLite", pkgConfig: "sqlite3"),
    .executableTarget(name: "App", dependencies: ["CSystemSQLite"])' >Package.swift
  cat >Sources/CSystemSQLite/module.modulemap <<'MAP'
module CSystemSQLite [system] {
  header "shim.h"
  link "sqlite3"
}
MAP
  echo '#include <sqlite3.h>' >Sources/CSystemSQLite/shim.h
  cat >Sources/App/App.swift <<'SWIFT'
import CSystemSQLite

@main
struct App {
  static func main() {
    var database: OpaquePointer?
    precondition(sqlite3_open(CommandLine.arguments[1] + "/notes", &database) == SQLITE_OK)
    let create = "CREATE TABLE note (title TEXT PRIMARY KEY, priority INT)"
    precondition(sqlite3_exec(database, create, nil, nil, nil) == SQLITE_OK)
    let insert = "INSERT INTO note VALUES ('first', 1), ('second', 2)"
    precondition(sqlite3_exec(database, insert, nil, nil, nil) == SQLITE_OK)

    var statement: OpaquePointer?
    let select = "SELECT title FROM note WHERE priority > 1"
    precondition(sqlite3_prepare_v2(database, select, -1, &statement, nil) == SQLITE_OK)
    while sqlite3_step(statement) == SQLITE_ROW {
      print(String(cString: sqlite3_column_text(statement, 0)))
    }
    sqlite3_finalize(statement)
    sqlite3_close(database)
  }
}
SWIFT
}

# Writes the main program of dflat and empire, which ends with the line that is given.
program() {
  cat >Sources/App/App.swift <<SWIFT
import SQLiteDflat

@main
struct App {
  static func main() async {
    let dflat = SQLiteWorkspace(
      filePath: CommandLine.arguments[1] + "/notes", fileProtectionLevel: .noProtection)
    await dflat.performChanges([Note.self]) { txn in
      for (title, priority) in [("first", 1), ("second", 2)] as [(String, Int32)] {
        let request = NoteChangeRequest.creationRequest()
        request.title = title
        request.priority = priority
        txn.try(submit: request)
      }
    }
    for note in dflat.fetch(for: Note.self).where(Note.priority > 1) { print(note.title) }
    await dflat.shutdown()
$1
  }
}
SWIFT
}

write_dflat() {
  mkdir -p Sources/App
  manifest App "$dflat_package" \
    ".executableTarget(name: \"App\", dependencies: [$sqlite_dflat], $plugin)" >Package.swift
  cat >Sources/App/note.fbs <<'FBS'
table Note {
  title: string (primary);
  priority: int (indexed);
}
root_type Note;
FBS
  program ''
}

write_empire() {
  write_dflat
  manifest App "$dflat_package" \
    ".executableTarget(name: \"App\", dependencies: [$sqlite_dflat, $empire], $plugin)" \
    >Package.swift
  cat >Sources/App/Person.swift <<'SWIFT'
import Empire

@IndexKeyRecord("city", "name")
struct Person {
  let city: String
  let name: String
  var age: Int
}

func storePerson(directory: String) throws {
  let store = try Store(path: directory)
  try store.withTransaction { context in
    try context.insert(Person(city: "Kyoto", name: "Aoi", age: 41))
  }
  let found = try Person.select(in: store, city: "Kyoto", name: .greaterThan("A"))
  precondition(found.map(\.age) == [41])
}
SWIFT
  program '    try! storePerson(directory: CommandLine.arguments[1])'
}

# Prints the longest steps. SwiftPM builds the plugin's tool first, with a database of its own.
timeline() {
  local database
  for database in plugin-tools build; do
    [ -e .build/$database.db ] || continue
    echo "  $database:"
    sqlite3 .build/$database.db "
      SELECT printf('  %6.1f s from %6.1f  %s', end - start,
        start - (SELECT min(start) FROM rule_results), substr(key, 2))
      FROM rule_results JOIN key_names ON key_names.id = key_id
      WHERE end - start >= 0.5 AND key LIKE 'C%' ORDER BY end - start DESC"
  done
}

# Builds a variant in $work, checks that it works, and sets wall and cpu.
measure() {
  mkdir -p "$work/$1/data"
  cd "$work/$1"
  "write_$1"
  local times user system TIMEFORMAT='%R %U %S'
  times=$({ time swift build -c release --manifest-cache local >build.log 2>&1; } 2>&1) || {
    cat build.log >&2
    echo "clean-build-time: $1 does not build" >&2
    exit 1
  }
  [ "$(.build/release/App "$work/$1/data")" = second ] || {
    echo "clean-build-time: $1 was built and does not work" >&2
    exit 1
  }
  read -r wall user system <<<"$times"
  cpu=$(awk "BEGIN { print $user + $system }")
  cd "$checkout"
}

ratio() { # value, base
  if [ -n "$2" ]; then awk "BEGIN { printf \"%.1f\", $1 / $2 }"; else echo -; fi
}

if [ $# -eq 0 ]; then set -- sqlite dflat empire; fi
base_wall='' base_cpu='' missed=()
printf '%-8s %9s %9s %6s %9s %6s\n' variant 'wall (s)' 'goal (s)' ratio 'CPU (s)' ratio
for variant in "$@"; do
  case $variant in
    sqlite) goal=- ;;
    dflat) goal=70 ;;
    empire) goal=90 ;;
    *) echo "clean-build-time: known are sqlite, dflat and empire, not '$variant'" >&2 && exit 2 ;;
  esac
  measure "$variant"
  if [ "$variant" = sqlite ]; then base_wall=$wall base_cpu=$cpu; fi
  printf '%-8s %9.1f %9s %6s %9.1f %6s\n' "$variant" "$wall" "$goal" \
    "$(ratio "$wall" "$base_wall")" "$cpu" "$(ratio "$cpu" "$base_cpu")"
  if [ -n "${TIMELINE:-}" ]; then (cd "$work/$variant" && timeline); fi
  if [ $goal != - ] && awk "BEGIN { exit !($wall > $goal) }"; then missed+=("$variant"); fi
done
if [ ${#missed[@]} -gt 0 ]; then echo "above the goal: ${missed[*]}"; fi
