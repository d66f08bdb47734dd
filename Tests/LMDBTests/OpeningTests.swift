// Named databases that are opened by transactions at the same time.

import Foundation
import LMDB
import Testing

@Suite("Opening databases in transactions that are open at the same time")
struct OpeningTests {
  private let names = ["words", "names", "o\u{308}", "\u{F6}"]

  /// Calls a closure with an environment in whose file some databases are, none of which is open.
  private func withEnvironment<R>(_ body: (Environment) throws -> R) throws -> R {
    try withTemporaryDirectory { directory in
      try Transaction.with(env: Environment(url: directory, maxDatabases: 4)) { transaction in
        for name in names {
          try transaction.set(dbi: transaction.open(name: name), key: "k", value: "of \(name)")
        }
      }
      return try body(try Environment(url: directory, maxDatabases: 4))
    }
  }

  private func value(_ environment: Environment, _ name: String) throws -> String? {
    try Transaction.with(env: environment, readOnly: true) {
      try $0.getString(dbi: $0.open(name: name), key: "k")
    }
  }

  private func expectBusy(
    location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let error = #expect(
      throws: MDBError.failure(Int(EBUSY), ""), sourceLocation: location, performing: body)
    #expect(error?.description.contains("begin it again") == true, sourceLocation: location)
  }

  @Test(
    "Two transactions get no handle for two databases",
    arguments: [true, false], [true, false])
  func twoNames(secondReads: Bool, commits: Bool) throws {
    try withEnvironment { environment in
      let first = try Transaction(env: environment, readOnly: true)
      let second = try Transaction(env: environment, readOnly: secondReads)
      let words = try first.open(name: "words")
      expectBusy { _ = try second.open(name: "names") }
      if commits { try first.commit() } else { first.abort() }
      // Its part of LMDB's table ends where the first one has opened a database.
      if commits {
        expectBusy { _ = try second.open(name: "names") }
        expectBusy { _ = try second.open(name: "words") }
      } else {
        let names = try second.open(name: "names")
        #expect(try second.getString(dbi: names, key: "k") == "of names")
        try second.commit()
      }
      second.abort()
      for name in names { #expect(try value(environment, name) == "of \(name)") }
      if commits {
        let value = try Transaction.with(env: environment, readOnly: true) {
          try $0.getString(dbi: words, key: "k")
        }
        #expect(value == "of words")
      }
    }
  }

  @Test("A database stays open when another transaction that opens it later is aborted")
  func oneName() throws {
    try withEnvironment { environment in
      let first = try Transaction(env: environment, readOnly: true)
      let second = try Transaction(env: environment, readOnly: true)
      let words = try first.open(name: "words")
      expectBusy { _ = try second.open(name: "words") }
      try first.commit()
      second.abort()
      let (value, handle) = try Transaction.with(env: environment, readOnly: true) {
        (try $0.getString(dbi: words, key: "k"), try $0.open(name: "words"))
      }
      #expect(value == "of words" && handle == words)
    }
  }

  @Test(
    "A transaction that finds no database, and a child that is aborted, do not keep others from opening"
  )
  func nothingOpened() throws {
    try withEnvironment { environment in
      let reader = try Transaction(env: environment, readOnly: true)
      #expect(try reader.openIfPresent(name: "absent") == nil)
      let writer = try Transaction(env: environment)
      let child = try Transaction(env: environment, parent: writer)
      _ = try child.open(name: "names")
      child.abort()
      let words = try writer.open(name: "words")
      expectBusy { _ = try reader.open(name: "names") }
      try writer.commit()
      reader.abort()
      for name in names { #expect(try value(environment, name) == "of \(name)") }
      let value = try Transaction.with(env: environment, readOnly: true) {
        try $0.getString(dbi: words, key: "k")
      }
      #expect(value == "of words")
    }
  }

  @Test("Closures that open databases run again until they have the right ones")
  func closures() throws {
    for round in 0..<20 {
      try withEnvironment { environment in
        DispatchQueue.concurrentPerform(iterations: 16) { number in
          let name = names[(number + round) % names.count]
          do {
            if number == 5 {
              try Transaction.with(env: environment) { transaction in
                let words = try transaction.open(name: "words")
                try transaction.set(dbi: words, key: "\(number)", value: "x")
              }
            } else {
              #expect(try value(environment, name) == "of \(name)")
            }
          } catch { Issue.record(error) }
        }
      }
    }
  }

  @Test("A writer that has waited for another one finds what that one has opened, and opens more")
  func waitingWriters() throws {
    for _ in 0..<20 {
      try withEnvironment { environment in
        DispatchQueue.concurrentPerform(iterations: 8) { number in
          do {
            let transaction = try Transaction(env: environment)
            let database = try transaction.open(name: names[number % names.count])
            try transaction.set(dbi: database, key: "\(number)", value: "x")
            try transaction.commit()
          } catch { Issue.record(error) }
        }
        for name in names {
          let stored = try value(environment, name)
          #expect(stored == "of \(name)")
        }
      }
    }
  }

  @Test("A closure beside a transaction of its own thread that opens databases is not repeated")
  func sameThread() throws {
    try withEnvironment { environment in
      let first = try Transaction(env: environment, readOnly: true)
      _ = try first.open(name: "words")
      expectBusy { _ = try value(environment, "names") }
      try first.commit()
      #expect(try value(environment, "names") == "of names")
    }
  }
}
