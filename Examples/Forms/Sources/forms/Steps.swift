// The same values without a store, in memory, on disk and in LMDB.

import Empire
import EmpireSilo
import Foundation
import SQLiteDflat
import Silo

enum Steps {
  /// The values of all steps.
  static let forms = (0..<100).map { number in
    Form(
      id: number, title: "form \(number)", author: .unresolved(id: number % 6),
      questions: [Question(text: "Where?", kind: .text), Question(text: "When?", kind: .date)])
  }
  static let answers = (0..<1000).map { number in
    Answer(
      id: UUID(), form: .unresolved(id: number % 100), texts: ["here", "\(number)"],
      isFinal: number % 10 == 0)
  }

  static func run(in directory: URL) async throws {
    print("1  no store:      \(answers.filter(\.isFinal).count) final answers in an array")
    try await use("in memory", Silos(.memory))
    try await use(
      "SQLite",
      Silos(
        in: SQLiteWorkspace(
          filePath: directory.appending(path: "forms.db").path(percentEncoded: false))))
    let lmdb = directory.appending(path: "lmdb")
    try FileManager.default.createDirectory(at: lmdb, withIntermediateDirectories: true)
    let store = Store(database: try LockingDatabase(url: lmdb))
    try await use(
      "LMDB",
      Silos(
        EmpireValueStore<Form>(store), EmpireValueStore<Answer>(store),
        EmpireValueStore<User>(store)))
  }

  private static func use(_ name: String, _ silos: Silos) async throws {
    let clock = ContinuousClock()
    let saving = try await clock.measure {
      try await silos.write { txn in
        try txn[Form.self].save(forms)
        try txn[Answer.self].save(answers)
      }
    }
    var final: [Answer] = []
    let asking = try await clock.measure {
      final = try await silos[Answer.self].values(where: Answer.isFinal)
    }
    var loaded: [Answer] = []
    let loading = try await clock.measure {
      loaded = try await silos[Answer.self].load(final.map(\.id), resolving: \.form)
    }
    let titles = Set(loaded.compactMap(\.form.value?.title))
    let number = ["in memory": 2, "SQLite": 3][name] ?? 4
    print(
      "\(number)  \(name):".padding(toLength: 18, withPad: " ", startingAt: 0)
        + "1,100 values saved in \(saving.inMilliseconds), "
        + "\(final.count) final answers in \(asking.inMilliseconds), "
        + "loaded with \(titles.count) forms in \(loading.inMilliseconds)")
  }
}
