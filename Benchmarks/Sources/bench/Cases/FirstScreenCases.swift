// The first screen of a program: the newest 50 of 1,000,000 reports, with their writers.
//
// Each run is a process of its own, so that nothing of the file is in memory but what the kernel
// keeps. `cold-start` is the time from the start of the process until the parent hears that the
// screen is complete; both sides are the same program, so it includes on both what the system and
// Swift's runtime need before `main`. `cold-start-opened` counts from before the file is opened.

import Dflat
import Foundation
import SQLiteDflat

extension Fixture {
  /// A file with this many reports of a thousand writers. Must not be written.
  fileprivate func news(_ count: Int) throws -> String {
    try template("news-\(count)") { store in
      var random = Random(seed: 23)
      let owners = (0..<min(count / 10, 1000)).map { number in
        Owner(
          handle: "owner-\(number)-\(random.text(2...8))", name: "name \(number)",
          text: random.text(20...200))
      }
      try store.workspace.write(Owner.self) { try $0.insert(contentsOf: owners) }
      for first in stride(from: 0, to: count, by: 50_000) {
        let news = (first..<min(first + 50_000, count)).map { number in
          // All dates differ, and come in no order.
          News(
            id: Int64(number), writer: owners[random.number(0...owners.count - 1)].handle,
            date: Int64(number) &* 7_919_999 % 1_000_003 * 100, title: random.text(8...40),
            text: random.text(20...200))
        }
        try store.workspace.write(News.self) { try $0.insert(contentsOf: news) }
      }
    }
  }
}

extension Case {
  private static func firstScreen(
    _ id: String, _ title: String, goal: Double?, _ clock: FirstScreen.Clock
  ) -> Case {
    Case(id: id, title: title, goal: goal) { fixture in
      let path = try fixture.news(fixture.few * 100)
      return (
        ours: { try FirstScreen.measure(.ours, path, clock) },
        floor: { try FirstScreen.measure(.floor, path, clock) }
      )
    }
  }

  static let coldStart = firstScreen(
    "cold-start", "a new process shows the newest 50 of 1,000,000 with their writers", goal: 1.3,
    .process)

  static let coldStartOpened = firstScreen(
    "cold-start-opened", "the same, from the opening of the file", goal: nil, .opening)
}

enum FirstScreen {
  /// From where the time is measured.
  enum Clock {
    case process
    case opening
  }

  /// The median over several processes.
  static func measure(_ side: Opening.Side, _ path: String, _ clock: Clock) throws -> Outcome {
    var times: [Double] = []
    var sum = Checksum()
    for _ in 0..<9 {
      let start = ContinuousClock.now
      var end = start
      let said = try ChildProcess.numbers(["screen", side.rawValue, path]) {
        end = ContinuousClock.now
      }
      guard said.count == 2 else {
        throw Disagreement(description: "screen \(side): the process said \(said)")
      }
      times.append(Double(clock == .process ? Int(nanoseconds(end - start)) : said[0]))
      sum.add(Int64(said[1]))
    }
    return Outcome(nanoseconds: UInt64(median(times)), checksum: sum)
  }

  /// The work of the started process.
  static func runProcess(_ side: Opening.Side, _ path: String) throws {
    var sum = Checksum()
    switch side {
    case .ours:
      var store: Store?
      let nanoseconds = try time {
        let opened = Store(path)
        store = opened
        let screen = try opened.workspace.query(News.self).orderBy(News.date.descending).limit(50)
          .including(News.writer).fetch()
        for index in 0..<screen.count {
          sum.add(screen[index].object._rowid)
          sum.add(screen[index].related?._rowid ?? 0)
        }
      }
      try say(nanoseconds, sum)
      try store?.check()
      store?.close()
    case .floor:
      let nanoseconds = try time {
        let database = try FloorDatabase(path: path, readOnly: true)
        // One state for both tables, as ours.
        try database.execute("BEGIN")
        let news = try FloorQuery(
          database,
          """
          SELECT m.rowid, m.p FROM news__f8 AS s CROSS JOIN news AS m ON m.rowid = s.rowid
          ORDER BY s.f8 DESC LIMIT 50
          """)
        let owner = try FloorQuery(database, "SELECT rowid, p FROM owner WHERE __pk0 = ?")
        var list = FloorList()
        var owners = FloorList()
        try news.fetchAll(into: &list)
        var places: [String: Int] = [:]
        for index in 0..<list.count {
          let key = list[index].reader.newsWriter
          let handle = key.string ?? ""
          sum.add(list[index].id)
          if places[handle] == nil {
            owner.bind(1, text: key)
            if try owner.step() { owners.append(FloorRow(id: owner.int64(0), owner.blob(1))) }
            owner.reset()
            places[handle] = owners.count - 1
          }
          sum.add(owners[places[handle] ?? 0].id)
        }
        try database.execute("COMMIT")
      }
      try say(nanoseconds, sum)
    }
  }

  /// Tells the parent that the screen is complete.
  private static func say(_ nanoseconds: UInt64, _ sum: Checksum) throws {
    let line = "\(nanoseconds) \(Int64(truncatingIfNeeded: sum.value))\n"
    try FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
  }
}

extension FloorReader {
  fileprivate var newsWriter: FloorBytes { bytes(6) }
}
