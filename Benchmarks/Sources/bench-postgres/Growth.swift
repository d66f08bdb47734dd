// How cost grows with the number of objects and of processes: a table, and
// results/postgres-growth.json.
//
// `SIZES=n,n` are the numbers of objects, `RUNS` the number of runs, whose medians are printed.

import Dflat
import Foundation
import PostgresDflat

enum Growth {
  private struct Line {
    let what: String
    let number: Int
    let value: Double
    let unit: String

    var json: String {
      "{\"id\": \"\(what)\", \"number\": \(number), \"value\": \(decimals(value, 1)), "
        + "\"unit\": \"\(unit)\"}"
    }
  }

  static func run() throws {
    let environment = ProcessInfo.processInfo.environment
    let sizes = (environment["SIZES"] ?? "10000,100000,1000000").split(separator: ",")
      .compactMap { Int($0) }
    let runs = environment["RUNS"].flatMap { Int($0) } ?? 3
    let fixture = try Fixture(few: 10_000, many: 33_334)
    defer { fixture.removeSchemas() }
    var lines: [Line] = []
    func add(_ what: String, _ number: Int, _ values: [Double], _ unit: String) {
      let line = Line(what: what, number: number, value: median(values), unit: unit)
      print(pad(what, 36) + right("\(number)", 9) + right(decimals(line.value, 1), 12) + " \(unit)")
      lines.append(line)
    }
    for size in sizes { try measureRows(fixture, size, runs, add) }
    for processes in [1, 2, 4, 8] {
      try measureProcesses(fixture, processes, runs, isWatched: false, add)
      try measureProcesses(fixture, processes, runs, isWatched: true, add)
    }
    let folder =
      environment["OUTPUT"]
      ?? (FileManager.default.fileExists(atPath: "Benchmarks/results")
        ? "Benchmarks/results" : "results")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(JSON.list(lines.map(\.json)).utf8)
      .write(to: URL(fileURLWithPath: folder).appending(path: "postgres-growth.json"))
  }

  private typealias Add = (String, Int, [Double], String) -> Void

  /// Objects are inserted 10,000 at a time, so the table grows to its size.
  private static func measureRows(
    _ fixture: Fixture, _ size: Int, _ runs: Int, _ add: Add
  ) throws {
    let text = String(repeating: "text of a counter ", count: 8)
    func objects(_ range: Range<Int>) -> [Counter] {
      range.map { Counter(number: Int64($0), count: 0, text: text) }
    }
    let schema = try fixture.schema { store in
      for start in stride(from: 0, to: size, by: 10_000) {
        try store.workspace.write(Counter.self) {
          _ = try $0.insert(contentsOf: objects(start..<min(size, start + 10_000)))
        }
      }
    }
    fixture.settle()
    let store = Store(fixture.url, schema)
    let workspace = store.workspace
    var random = Random(seed: 3)
    func key() -> Int64 { Int64(random.number(0...(size - 1))) }
    _ = workspace.fetch(for: Counter.self).where(Counter.number == 0)
    var (inserts, fetches, updates, pages, counts):
      ([Double], [Double], [Double], [Double], [Double])
    (inserts, fetches, updates, pages, counts) = ([], [], [], [], [])
    for run in 0..<runs {
      let new = objects((size + 10_000 * run)..<(size + 10_000 * (run + 1)))
      let inserting = try time {
        try workspace.write(Counter.self) { _ = try $0.insert(contentsOf: new) }
      }
      inserts.append(Double(inserting) / 1e3 / 10_000)
      let fetching = time {
        for _ in 0..<2_000 {
          _ = workspace.fetch(for: Counter.self).where(Counter.number == key())
        }
      }
      fetches.append(Double(fetching) / 1e3 / 2_000)
      let updating = try time {
        for _ in 0..<200 {
          let chosen = key()
          try workspace.write(Counter.self) {
            _ = try $0.update(Counter.self, keys: [chosen]) { $0.count += 1 }
          }
        }
      }
      updates.append(Double(updating) / 1e3 / 200)
      let paging = time {
        for _ in 0..<100 {
          let start = key()
          _ = workspace.fetch(for: Counter.self).where(
            Counter.number >= start, limit: .limit(100), orderBy: [Counter.number.ascending])
        }
      }
      pages.append(Double(paging) / 1e3 / 100)
      let counting = time { _ = workspace.fetch(for: Counter.self).where(Counter.count > 0).count }
      counts.append(Double(counting) / 1e6)
    }
    try store.check()
    store.close()
    try fixture.remove(schema)
    add("insert, of 10,000 at a time", size, inserts, "µs each")
    add("fetch by key", size, fetches, "µs")
    add("transaction of an update", size, updates, "µs")
    add("a page of 100 by key", size, pages, "µs")
    add("look at all objects", size, counts, "ms")
  }

  /// - Parameter isWatched: Whether one more process watches one object, with a live result.
  private static func measureProcesses(
    _ fixture: Fixture, _ processes: Int, _ runs: Int, isWatched: Bool, _ add: Add
  ) throws {
    for (choice, what, objects) in [
      (Worker.Choice.disjoint, "processes, disjoint", 2_500), (.hot, "processes, 10 objects", 10),
    ] {
      var rates: [Double] = []
      for _ in 0..<runs {
        let schema = try fixture.counters(choice == .hot ? objects : processes * objects)
        fixture.settle()
        let watcher = isWatched ? try Watcher(.ours, fixture.url, schema) : nil
        let nanoseconds = try Workers.run(
          (0..<processes).map {
            Worker(
              .ours, choice, fixture.url, schema, number: $0, objects: objects, count: 1_000)
          })
        rates.append(Double(processes * 1_000) / (Double(nanoseconds) / 1e9))
        try watcher?.end()
        try fixture.remove(schema)
      }
      add(what + (isWatched ? ", one watcher" : ""), processes, rates, "transactions/s")
    }
  }
}
