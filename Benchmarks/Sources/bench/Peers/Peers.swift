// Peers: the same tasks with Dflat and with what a program would use instead.
//
//  - Dflat, with everything that it does beside the task: a queue of transactions, observation,
//    indexes that may be added later.
//  - SQLite by hand in Swift, in tables that a person would design, into structs.
//  - Python's sqlite3 module, in the same tables, into tuples; see peers.py.
//
// Each has a file of its own with 100,000 stories. All must give the same answers. GRDB and
// upstream Dflat are not among them: they are not at hand where these figures are made.

import Foundation

enum Peers {
  struct Times {
    let name: String
    /// The median of each task, in milliseconds.
    let milliseconds: [String: Double]
    let answers: [String: Int]
  }

  static func run(_ options: Options, _ fixture: Fixture) throws {
    let all = try measureAll(options, fixture)
    print(pad("task", 68) + all.map { right($0.name, 26) }.joined())
    for task in PeerTask.all {
      let times = all.map { right(decimals($0.milliseconds[task.id] ?? .nan, 2) + " ms", 26) }
      print(pad(task.title, 68) + times.joined())
    }
    let results = try Results(options)
    try results.write(json(all), to: "peers.json")
    try results.write(PeersChart.svg(all), to: "peers.svg")
  }

  /// Measures all ways.
  /// - Throws: Also if two of them give different answers.
  static func measureAll(_ options: Options, _ fixture: Fixture) throws -> [Times] {
    let data = PeerData(few: options.few)
    let ours = try DflatPeer(fixture.path("peer-dflat.db"), data)
    // The folder is removed afterwards, with the files that connections remove when they close.
    defer { ours.close() }
    let hand = try HandPeer(fixture.path("peer-hand.db"), data)
    let all = [
      try measure("Dflat", ours, data, options),
      try measure("SQLite by hand in Swift", hand, data, options),
      try python("Python's sqlite3", data, options, fixture),
    ]
    for task in PeerTask.all {
      let answers = all.map { $0.answers[task.id] ?? -1 }
      guard Set(answers).count == 1 else {
        throw Disagreement(description: "\(task.id): the answers are \(answers)")
      }
    }
    return all
  }

  private static func measure(
    _ name: String, _ peer: any Peer, _ data: PeerData, _ options: Options
  ) throws -> Times {
    var milliseconds: [String: Double] = [:]
    var answers: [String: Int] = [:]
    for task in PeerTask.all {
      var times: [Double] = []
      for run in 0..<options.runs {
        let start = Stopwatch()
        answers[task.id] = try task.work(peer, data, run)
        times.append(Double(start.stop()) / 1e6)
      }
      milliseconds[task.id] = median(times)
    }
    return Times(name: name, milliseconds: milliseconds, answers: answers)
  }

  private static func median(_ times: [Double]) -> Double { times.sorted()[times.count / 2] }

  // MARK: Python

  /// What peers.py reads.
  private struct Tasks: Encodable {
    let stored: Int
    let few: Int
    let someIDs: [Int64]
    let markedIDs: [Int64]
    let shownIDs: [Int64]
    let searches: [String]
  }

  /// What peers.py prints.
  private struct Line: Decodable {
    let id: String
    let milliseconds: [Double]
    let answer: Int
  }

  private static func python(
    _ name: String, _ data: PeerData, _ options: Options, _ fixture: Fixture
  ) throws -> Times {
    let (stories, tasks) = (fixture.path("peer-stories.tsv"), fixture.path("peer-tasks.json"))
    let all = data.stories + (0..<options.runs).flatMap { data.new($0) }
    try Data(all.map(\.line).joined().utf8).write(to: URL(fileURLWithPath: stories))
    try JSONEncoder().encode(
      Tasks(
        stored: data.stories.count, few: data.few, someIDs: data.someIDs,
        markedIDs: data.markedIDs, shownIDs: data.shownIDs, searches: data.searches)
    ).write(to: URL(fileURLWithPath: tasks))
    let script = ["Benchmarks/peers.py", "peers.py"].first {
      FileManager.default.fileExists(atPath: $0)
    }
    guard let script else {
      throw UsageError(description: "peers.py is not here: run it in the repository's folder")
    }
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", script, stories, tasks, fixture.path("peer-python.db"), "\(options.runs)",
    ]
    process.standardOutput = output
    try process.run()
    let printed = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Disagreement(description: "\(script) has failed; see above")
    }
    let lines = try String(decoding: printed, as: UTF8.self).split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
    return Times(
      name: name,
      milliseconds: Dictionary(
        uniqueKeysWithValues: lines.map { ($0.id, median($0.milliseconds)) }),
      answers: Dictionary(uniqueKeysWithValues: lines.map { ($0.id, $0.answer) }))
  }

  private static func json(_ all: [Times]) -> String {
    JSON.list(
      PeerTask.all.map { task in
        let times = all.map {
          "\"\($0.name)\": \(decimals($0.milliseconds[task.id] ?? .nan, 3))"
        }
        return "{\"id\": \"\(task.id)\", \"title\": \"\(task.title)\", \"milliseconds\": {"
          + times.joined(separator: ", ") + "}}"
      })
  }
}
