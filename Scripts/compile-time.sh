#!/usr/bin/env bash
# Compares release builds of 50 types and 200 queries:
# compile-time.sh
#
#   generated   entities from schemas, compiled by the plugin, and typed conditions
#   values      the same types as structs that are @Persistable, and the same conditions
#   by-hand     structs that read their columns themselves, and SQL in strings, over SQLiteAccess
#
# What both depend on is built before, and each target is built from nothing. Wall seconds are
# comparable only on a machine that does nothing else; CPU seconds, user and system of all
# processes, depend less on what else runs. ENTITIES sets the number of types, BUILD another folder
# for what is built.
set -euo pipefail
cd "$(dirname "$0")/.."

checkout=$PWD
entities=${ENTITIES:-50}
work=$(mktemp -d "${TMPDIR:-/tmp}/dflat-compile.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
built=${BUILD:-.build}

mkdir -p Sources/Generated Sources/Values Sources/ByHand
cat >Package.swift <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Compile", platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Dflat", path: "$checkout")],
  targets: [
    .target(
      name: "Generated", dependencies: [.product(name: "Dflat", package: "Dflat")],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")]),
    .target(name: "Values", dependencies: [.product(name: "Silo", package: "Dflat")]),
    .target(name: "ByHand", dependencies: [.product(name: "SQLiteAccess", package: "Dflat")]),
  ])
SWIFT

# generated NUMBER: a schema, and four queries of its entity.
generated() {
  cat >"Sources/Generated/note$1.fbs" <<FBS
table Note$1 {
  id: long (primary);
  title: string (indexed);
  text: string;
  tag: string;
  priority: int (indexed);
  created: long (indexed);
  score: double;
  is_done: bool;
}
root_type Note$1;
FBS
  cat >"Sources/Generated/Queries$1.swift" <<SWIFT
import Dflat

enum Queries$1 {
  static func important(_ dflat: some Workspace) throws -> FetchedResult<Note$1> {
    try dflat.query(Note$1.self).where(Note$1.priority > 3 && Note$1.isDone == false)
      .orderBy(Note$1.created.descending).limit(20).fetch()
  }

  static func titled(_ title: String, _ dflat: some Workspace) throws -> FetchedResult<Note$1> {
    try dflat.query(Note$1.self).where(Note$1.title == title || Note$1.tag == title).fetch()
  }

  static func number(since date: Int64, _ dflat: some Workspace) throws -> Int {
    try dflat.query(Note$1.self).where(Note$1.created >= date && Note$1.score * 2 > 1).count()
  }

  static func best(_ dflat: some Workspace) throws -> [(String?, Double?)] {
    try dflat.query(Note$1.self).where(Note$1.score.between(0.5, 1))
      .orderBy(Note$1.score.descending, Note$1.title.ascending).limit(10)
      .select(Note$1.title, Note$1.score)
  }
}
SWIFT
}

# values NUMBER: a struct with the same properties, and the same four queries. Silos return whole
# values, so the last query does, too.
values() {
  cat >"Sources/Values/Note$1.swift" <<SWIFT
import Silo

@Persistable(
  version: 1, table: "note$1",
  shape: "id:I64 title:S? text:S? tag:S? priority:I32=0 created:I64=0 score:R=0.0 isDone:B=false")
struct Note$1: Identifiable {
  var id: Int64
  @Indexed var title: String?
  var text: String?
  var tag: String?
  @Indexed var priority: Int32 = 0
  @Indexed var created: Int64 = 0
  var score = 0.0
  var isDone = false
}

enum Queries$1 {
  static func important(_ silos: Silos) async throws -> [Note$1] {
    try await silos[Note$1.self].values(
      where: Note$1.priority > 3 && Note$1.isDone == false,
      orderBy: [Note$1.created.descending], limit: 20)
  }

  static func titled(_ title: String, _ silos: Silos) async throws -> [Note$1] {
    try await silos[Note$1.self].values(where: Note$1.title == title || Note$1.tag == title)
  }

  static func number(since date: Int64, _ silos: Silos) async throws -> Int {
    try await silos[Note$1.self].count(where: Note$1.created >= date && Note$1.score * 2 > 1)
  }

  static func best(_ silos: Silos) async throws -> [Note$1] {
    try await silos[Note$1.self].values(
      where: Note$1.score.between(0.5, 1),
      orderBy: [Note$1.score.descending, Note$1.title.ascending], limit: 10)
  }
}
SWIFT
}

# by_hand NUMBER: a struct that is stored and read by hand, and the same four queries.
by_hand() {
  cat >"Sources/ByHand/Note$1.swift" <<SWIFT
import SQLiteAccess

struct Note$1 {
  var id: Int64
  var title: String?
  var text: String?
  var tag: String?
  var priority: Int32
  var created: Int64
  var score: Double
  var isDone: Bool

  static let columns = "id, title, text, tag, priority, created, score, is_done"

  init(_ row: Statement) {
    id = row.int64(0)
    title = row.string(1)
    text = row.string(2)
    tag = row.string(3)
    priority = Int32(truncatingIfNeeded: row.int64(4))
    created = row.int64(5)
    score = row.double(6)
    isDone = row.int64(7) != 0
  }

  static func createTable(_ connection: Connection) throws {
    try connection.execute(
      """
      CREATE TABLE note$1 (id INTEGER PRIMARY KEY, title TEXT, text TEXT, tag TEXT, priority INT,
        created INT, score REAL, is_done INT);
      CREATE INDEX note$1_title ON note$1 (title);
      CREATE INDEX note$1_priority ON note$1 (priority);
      CREATE INDEX note$1_created ON note$1 (created)
      """)
  }

  func insert(_ connection: Connection) throws {
    try connection.execute(
      "INSERT INTO note$1 (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      [
        .integer(id), title.map { .text(\$0) } ?? .null, text.map { .text(\$0) } ?? .null,
        tag.map { .text(\$0) } ?? .null, .integer(Int64(priority)), .integer(created), .real(score),
        .integer(isDone ? 1 : 0),
      ])
  }
}

enum Queries$1 {
  static func important(_ connection: Connection) throws -> [Note$1] {
    let rows = try connection.statement(
      "SELECT \(Note$1.columns) FROM note$1 WHERE priority > 3 AND NOT is_done "
        + "ORDER BY created DESC LIMIT 20")
    var notes: [Note$1] = []
    while try rows.step() { notes.append(Note$1(rows)) }
    return notes
  }

  static func titled(_ title: String, _ connection: Connection) throws -> [Note$1] {
    let rows = try connection.statement(
      "SELECT \(Note$1.columns) FROM note$1 WHERE title = ?1 OR tag = ?1")
    try rows.bind(1, title)
    var notes: [Note$1] = []
    while try rows.step() { notes.append(Note$1(rows)) }
    return notes
  }

  static func number(since date: Int64, _ connection: Connection) throws -> Int {
    let rows = try connection.statement(
      "SELECT count(*) FROM note$1 WHERE created >= ? AND score * 2 > 1")
    try rows.bind(1, date)
    return try rows.step() ? Int(rows.int64(0)) : 0
  }

  static func best(_ connection: Connection) throws -> [(String?, Double)] {
    let rows = try connection.statement(
      "SELECT title, score FROM note$1 WHERE score BETWEEN 0.5 AND 1 "
        + "ORDER BY score DESC, title LIMIT 10")
    var notes: [(String?, Double)] = []
    while try rows.step() { notes.append((rows.string(0), rows.double(1))) }
    return notes
  }
}
SWIFT
}

for number in $(seq $entities); do
  generated "$number"
  values "$number"
  by_hand "$number"
done

# What a build says that fails, also one whose time is taken.
exec 3>&2

build() {
  swift build -c release --scratch-path "$built" --manifest-cache local ${DFLAT_BUILD_OPTIONS:-} "$@" >build.log 2>&1 || {
    cat build.log >&3
    exit 1
  }
}

# Prints how long a build of a target from nothing takes.
measure() { # name, target
  # SwiftPM does not write its own lists in this folder again.
  find "$built/release/$2.build/" -type f ! -name output-file-map.json ! -name sources -delete
  rm -rf "$built"/release/Modules/"$2".*
  local times lines TIMEFORMAT='%R %U %S'
  lines=$(find "Sources/$2" "$built/plugins" -path "*$2*" -name '*.swift' -exec cat {} + | wc -l)
  times=$({ time build --target "$2"; } 2>&1)
  awk -v name="$1" -v lines="$lines" \
    '{ printf "%-10s %9d %9.1f %9.1f\n", name, lines, $1, $2 + $3 }' <<<"$times"
}

build
printf '%-10s %9s %9s %9s\n' target lines 'wall (s)' 'CPU (s)'
measure generated Generated
measure values Values
measure by-hand ByHand
