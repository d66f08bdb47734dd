// Opening a large file, and querying by an index after commits of other processes.
//
// `open-indexed`: each run is a process of its own, so that nothing but the kernel's file cache is
// in memory. The time is measured from before the file is opened until fifty objects have been
// fetched.
//
// `indexed-after-foreign-commit`: the same query after each commit of another process; the floor is
// the same query without those commits. After a commit SQLite reads all pages again, in C as well:
// in `indexed-beside-process` the floor is C with the same commits.

import Dflat
import Foundation
import SQLiteDflat

extension Fixture {
  /// The number of objects in a file to open: a million in full runs.
  fileprivate var opened: Int { few * 100 }
}

extension Case {
  static let openIndexed = Case(
    id: "open-indexed", title: "a new process opens 1,000,000 objects, first 50 by an index",
    goal: 1.5
  ) { fixture in
    let path = try fixture.scaleTemplate(fixture.opened)
    return (
      ours: { try Opening.measure(.ours, path) },
      floor: { try Opening.measure(.floor, path) }
    )
  }

  static let indexedAfterForeignCommit = Case(
    id: "indexed-after-foreign-commit",
    title: "200 queries by an index, a commit of another process before each", goal: 1.3,
    floor: .without
  ) { fixture in
    let template = try fixture.scaleTemplate(fixture.opened)
    return (
      ours: { try ours(fixture, template, isBesideOther: true) },
      floor: { try ours(fixture, template, isBesideOther: false) }
    )
  }

  static let indexedBesideProcess = Case(
    id: "indexed-beside-process", title: "the same; floor: C, with the same commits before each",
    goal: 1.3
  ) { fixture in
    let template = try fixture.scaleTemplate(fixture.opened)
    return (
      ours: { try ours(fixture, template, isBesideOther: true) },
      floor: {
        let path = try fixture.copy(of: template)
        defer { fixture.discard(path) }
        let select = try Opening.floorQuery(try FloorDatabase(path: path, readOnly: true))
        return try asking(OtherProcess(path)) { try Opening.floorFirst(select) }
      }
    )
  }

  private static func ours(
    _ fixture: Fixture, _ template: String, isBesideOther: Bool
  ) throws -> Outcome {
    let path = try fixture.copy(of: template)
    defer { fixture.discard(path) }
    let store = Store(path, walLimit: Store.noCheckpoints)
    let outcome = try asking(isBesideOther ? OtherProcess(path) : nil) { Opening.first(store) }
    try store.check()
    store.close()
    return outcome
  }

  /// Queries 200 times, each time after the other process has committed.
  private static func asking(
    _ other: OtherProcess?, _ query: () throws -> Checksum
  ) throws -> Outcome {
    var nanoseconds: UInt64 = 0
    var sum = Checksum()
    // The first queries fill the caches.
    for number in -10..<200 {
      try other?.commit(number.isMultiple(of: 2) ? .sameTable : .otherTable)
      var found = Checksum()
      let time = try time { found = try query() }
      if number < 0 { continue }
      nanoseconds += time
      sum.add(Int64(truncatingIfNeeded: found.value))
    }
    try other?.end()
    return Outcome(nanoseconds: nanoseconds, checksum: sum)
  }
}

/// The first fifty objects in the order of an index.
enum Opening {
  enum Side: String {
    case ours, floor
  }

  private static let wanted = 50

  static func first(_ store: Store) -> Checksum {
    var sum = Checksum()
    let found = store.workspace.fetch(for: ScaleDoc.self).all(
      limit: .limit(wanted), orderBy: [ScaleDoc.bucket.ascending])
    for doc in found { sum.add(doc._rowid) }
    return sum
  }

  static func floorQuery(_ database: FloorDatabase) throws -> FloorQuery {
    try FloorQuery(
      database,
      """
      SELECT m.rowid, m.p FROM scaledoc__f6 AS s CROSS JOIN scaledoc AS m ON m.rowid = s.rowid
      ORDER BY s.f6, s.rowid LIMIT \(wanted)
      """)
  }

  static func floorFirst(_ select: FloorQuery) throws -> Checksum {
    var list = FloorList()
    try select.fetchAll(into: &list)
    var sum = Checksum()
    for index in 0..<list.count { sum.add(list[index].id) }
    return sum
  }

  /// The median over several processes.
  static func measure(_ side: Side, _ path: String) throws -> Outcome {
    var times: [Double] = []
    var sum = Checksum()
    for _ in 0..<9 {
      let said = try ChildProcess.numbers(["open", side.rawValue, path])
      guard said.count == 2 else {
        throw Disagreement(description: "open \(side): the process said \(said)")
      }
      times.append(Double(said[0]))
      sum.add(Int64(said[1]))
    }
    return Outcome(nanoseconds: UInt64(median(times)), checksum: sum)
  }

  /// The work of the started process.
  static func runProcess(_ side: Side, _ path: String) throws {
    var sum = Checksum()
    switch side {
    case .ours:
      var store: Store?
      let nanoseconds = time {
        let opened = Store(path)
        store = opened
        sum = first(opened)
      }
      try store?.check()
      print(nanoseconds, Int64(truncatingIfNeeded: sum.value))
      store?.close()
    case .floor:
      let nanoseconds = try time {
        sum = try floorFirst(try floorQuery(try FloorDatabase(path: path, readOnly: true)))
      }
      print(nanoseconds, Int64(truncatingIfNeeded: sum.value))
    }
  }
}

/// Another process that uses a file with Dflat.
final class OtherProcess {
  enum Change: String {
    case sameTable = "same"
    case otherTable = "other"
  }

  private let process: Process
  private let input = Pipe()
  private let output: FileHandle

  init(_ path: String) throws {
    let (process, output) = try ChildProcess.make(["commit", path])
    self.process = process
    self.output = output.fileHandleForReading
    process.standardInput = input
    try process.run()
  }

  /// Makes it commit a change, and waits for the commit.
  func commit(_ change: Change) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((change.rawValue + "\n").utf8))
    let answer = try output.read(upToCount: 3)
    guard answer == Data("ok\n".utf8) else {
      throw Disagreement(description: "the other process did not commit")
    }
  }

  func end() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// The work of the started process. New objects are not among the first ones of the index: as
  /// many other objects have the same value and come first.
  static func runProcess(_ path: String) throws {
    let store = Store(path, walLimit: Store.noCheckpoints)
    var number = ScaleSample.firstNew
    var random = Random(seed: 11)
    while let line = readLine() {
      switch Change(rawValue: line) {
      case .sameTable: try store.insert([ScaleSample(number, buckets: 1)])
      case .otherTable: try store.insert([Sample(Int(number), &random)])
      case nil: throw UsageError(description: "there is no change '\(line)'")
      }
      number += 1
      try FileHandle.standardOutput.write(contentsOf: Data("ok\n".utf8))
    }
    store.close()
  }
}
