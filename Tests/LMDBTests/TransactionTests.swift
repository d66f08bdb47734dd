// Transactions: what is committed, what is discarded, and that nothing is used after its end.

import Foundation
import LMDB
import Testing

struct TransactionTests {
  @discardableResult
  private func withEnvironment<R>(
    mapSize: MapSize = .standard, locking: Bool = true, _ body: (Environment) throws -> R
  ) throws -> R {
    try withTemporaryDirectory { directory in
      try body(
        try Environment(url: directory, maxDatabases: 2, locking: locking, mapSize: mapSize))
    }
  }

  @Test("Values are set, read, replaced and deleted", arguments: [true, false])
  func access(locking: Bool) throws {
    try withEnvironment(locking: locking) { environment in
      try Transaction.with(env: environment) { transaction in
        let dbi = try transaction.open(name: "a")
        try transaction.set(dbi: dbi, key: "k", value: "one")
        try transaction.set(dbi: dbi, key: "k", value: "two")
        #expect(try transaction.getString(dbi: dbi, key: "k") == "two")
        #expect(try transaction.getString(dbi: dbi, key: "l") == nil)
        try "room".withMDBVal { key in
          let room = try transaction.reserve(dbi: dbi, key: key, size: 3)
          room.copyBytes(from: [0xFF, 1, 2])
          let first = try transaction.withBytes(dbi: dbi, key: key) { $0.byteCount }
          #expect(first == 3)
          #expect(throws: MDBError.problem) { try transaction.getString(dbi: dbi, key: key) }
        }
        #expect(
          try transaction.get(dbi: dbi, key: "room").map { Data(mdbVal: $0) } == Data([255, 1, 2]))
        #expect(try transaction.count(dbi: dbi) == 2)
        try transaction.delete(dbi: dbi, key: "k")
        #expect(throws: MDBError.recordNotFound) { try transaction.delete(dbi: dbi, key: "k") }
      }
      #expect(environment.maximumKeySize == 511)
    }
  }

  @Test("Errors of a missing directory and of writing in a read-only transaction")
  func errors() throws {
    #expect {
      try Environment(path: "/nowhere/at/all")
    } throws: {
      if case MDBError.failure(2, _) = $0 { true } else { false }
    }
    try withEnvironment { environment in
      let dbi = try Transaction.with(env: environment) { try $0.open(name: "a") }
      try Transaction.with(env: environment, readOnly: true) { transaction in
        #expect(throws: MDBError.permissionDenied) {
          try transaction.set(dbi: dbi, key: "k", value: "v")
        }
        #expect(throws: MDBError.recordNotFound) { try transaction.open(name: "b") }
      }
    }
  }

  @Test("A handle that a read-only transaction has opened stays open")
  func handleOfReader() throws {
    try withTemporaryDirectory { directory in
      try Transaction.with(env: Environment(url: directory, maxDatabases: 1)) {
        try $0.set(dbi: $0.open(name: "a"), key: "k", value: "v")
      }
      let environment = try Environment(url: directory, maxDatabases: 1)
      let dbi = try Transaction.with(env: environment, readOnly: true) { try $0.open(name: "a") }
      for readOnly in [true, false] {
        let value = try Transaction.with(env: environment, readOnly: readOnly) {
          try $0.getString(dbi: dbi, key: "k")
        }
        #expect(value == "v")
      }
    }
  }

  struct Refusal: Error, Equatable {}

  @Test("An error, a cancelled task and a released transaction store nothing")
  func aborting() async throws {
    try withEnvironment { environment in
      let dbi = try Transaction.with(env: environment) { try $0.open(name: "a") }
      func count() throws -> Int {
        try Transaction.with(env: environment, readOnly: true) { try $0.count(dbi: dbi) }
      }
      #expect(throws: Refusal()) {
        try Transaction.with(env: environment) { transaction in
          try transaction.set(dbi: dbi, key: "k", value: "v")
          throw Refusal()
        }
      }
      #expect(try count() == 0)
      do {
        let transaction = try Transaction(env: environment)
        try transaction.set(dbi: dbi, key: "k", value: "v")
      }
      #expect(try count() == 0)
      let transaction = try Transaction(env: environment)
      try transaction.set(dbi: dbi, key: "k", value: "v")
      try transaction.commit()
      #expect(try count() == 1)
    }
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try withEnvironment { environment in
        try Transaction.with(env: environment, readOnly: true) { _ in }
      }
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  @Test("A transaction that has ended throws, and so do its cursors and children")
  func useAfterEnd() throws {
    try withEnvironment { environment in
      let dbi = try Transaction.with(env: environment) { transaction in
        let dbi = try transaction.open(name: "a")
        try transaction.set(dbi: dbi, key: "k", value: "v")
        return dbi
      }
      func expectEnded(_ body: () throws -> Void, location: SourceLocation = #_sourceLocation) {
        #expect(sourceLocation: location) {
          try body()
        } throws: {
          if case MDBError.failure(-30782, _) = $0 { true } else { false }
        }
      }
      for readOnly in [true, false] {
        let transaction = try Transaction(env: environment, readOnly: readOnly)
        var cursor = try "".withMDBVal {
          try Cursor(
            transaction: transaction, dbi: dbi,
            query: Query(comparison: .greaterOrEqual(nil), key: $0))
        }
        let child = readOnly ? nil : try Transaction(env: environment, parent: transaction)
        if child != nil {
          expectEnded { _ = try transaction.get(dbi: dbi, key: "k") }
        }
        transaction.abort()
        transaction.abort()
        expectEnded { _ = try transaction.get(dbi: dbi, key: "k") }
        expectEnded { try transaction.commit() }
        expectEnded { _ = try cursor.advance() }
        #expect(cursor.next() == nil)
        #expect(cursor.error != nil)
        cursor.close()
        if let child { expectEnded { try child.commit() } }
      }
    }
  }

  @Test("A cursor ends with its transaction, even if the reader is restarted")
  func cursorOfReader() throws {
    try withEnvironment { environment in
      let dbi = try Transaction.with(env: environment) { transaction in
        let dbi = try transaction.open(name: "a")
        for key in ["k", "l", "m"] { try transaction.set(dbi: dbi, key: key, value: "v") }
        return dbi
      }
      func cursor(_ transaction: Transaction) throws -> Cursor {
        try "k".withMDBVal {
          try Cursor(
            transaction: transaction, dbi: dbi,
            query: Query(comparison: .greaterOrEqual(nil), key: $0))
        }
      }
      let first = try Transaction(env: environment, readOnly: true)
      var (fresh, used) = (try cursor(first), try cursor(first))
      #expect(try used.advance() != nil)
      first.abort()
      // LMDB's reader is reused, so a cursor that was not closed would return entries.
      try Transaction.with(env: environment, readOnly: true) { second in
        for isFresh in [true, false] {
          #expect {
            _ = isFresh ? try fresh.advance() : try used.advance()
          } throws: {
            if case MDBError.failure(-30782, _) = $0 { true } else { false }
          }
        }
        var own = try cursor(second)
        #expect(try own.advance() != nil)
      }
    }
  }

  @Test("A child becomes part of its parent or is rolled back")
  func children() throws {
    try withEnvironment { environment in
      try Transaction.with(env: environment) { parent in
        let dbi = try parent.open(name: "a")
        try Transaction.with(env: environment, parent: parent) {
          try $0.set(dbi: dbi, key: "kept", value: "")
        }
        #expect(throws: Refusal()) {
          try Transaction.with(env: environment, parent: parent) { child in
            try child.set(dbi: dbi, key: "dropped", value: "")
            throw Refusal()
          }
        }
        #expect(try parent.count(dbi: dbi) == 1)
        #expect {
          try Transaction(env: environment, parent: parent, readOnly: true)
        } throws: {
          if case MDBError.failure(-30782, _) = $0 { true } else { false }
        }
      }
      let reader = try Transaction(env: environment, readOnly: true)
      #expect {
        try Transaction(env: environment, parent: reader)
      } throws: {
        if case MDBError.failure(Int(EINVAL), _) = $0 { true } else { false }
      }
    }
  }

  @Test("A parent of another environment is refused")
  func otherParent() throws {
    try withEnvironment { environment in
      try withEnvironment { other in
        try Transaction.with(env: other) { parent in
          let error = #expect(throws: MDBError.failure(Int(EINVAL), "")) {
            try Transaction(env: environment, parent: parent)
          }
          #expect(error?.description.contains("another environment") == true)
          _ = try parent.open(name: "a")
        }
      }
    }
  }

  @Test("A full map is an error, or it grows and the closure runs again")
  func growth() throws {
    let large = String(repeating: "x", count: 100_000)
    func fill(_ environment: Environment) throws -> Int {
      var runs = 0
      try Transaction.with(env: environment) { transaction in
        runs += 1
        let dbi = try transaction.open(name: "a")
        for number in 0..<40 { try transaction.set(dbi: dbi, key: "\(number)", value: large) }
      }
      return runs
    }
    try withEnvironment(mapSize: .fixed(1 << 20)) { environment in
      #expect {
        try fill(environment)
      } throws: {
        if case MDBError.failure(-30792, _) = $0 { true } else { false }
      }
    }
    for first in [MapSize.standard, .growing(from: 1 << 20)] {
      try withEnvironment(mapSize: first) { environment in
        try environment.setMaxDatabaseSize(1 << 20)
        var runs = 0
        #expect {
          try Transaction.with(env: environment) { transaction in
            runs += 1
            let dbi = try transaction.open(name: "a")
            for number in 0..<40 { try transaction.set(dbi: dbi, key: "\(number)", value: large) }
          }
        } throws: {
          if case MDBError.failure(-30792, _) = $0 { true } else { false }
        }
        #expect(runs == 1)
      }
    }
    try withEnvironment(mapSize: .growing(from: 1 << 20, to: 2 << 20)) { environment in
      #expect(throws: MDBError.self) { try fill(environment) }
      #expect(environment.maximumDatabaseSize == 2 << 20)
    }
    try withEnvironment(mapSize: .growing(from: 1 << 20)) { environment in
      #expect(try fill(environment) == 3)
      #expect(environment.maximumDatabaseSize == 4 << 20)
      // A thread with an open reader cannot wait for itself.
      try Transaction.with(env: environment, readOnly: true) { _ -> Void in
        #expect(throws: MDBError.self) { try environment.setMaxDatabaseSize(1 << 30) }
      }
      try environment.setMaxDatabaseSize(1 << 24)
      #expect(environment.maximumDatabaseSize == 1 << 24)
    }
  }

  @Test("The map grows while other threads read")
  func growthBesideReaders() async throws {
    try await withTemporaryDirectory { directory in
      let environment = try Environment(
        url: directory, maxDatabases: 1, mapSize: .growing(from: 1 << 20))
      let dbi = try Transaction.with(env: environment) { try $0.open(name: "a") }
      let large = String(repeating: "x", count: 10_000)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          group.addTask {
            var previous = 0
            while previous < 1_000 {
              let (count, bytes) = try Transaction.with(env: environment, readOnly: true) {
                let count = try $0.count(dbi: dbi)
                return (count, try $0.get(dbi: dbi, key: "\(count - 1)")?.bufferPointer.count)
              }
              #expect(count >= previous && (bytes == 10_000) == (count > 0))
              previous = count
              await Task.yield()
            }
          }
        }
        group.addTask {
          for number in 0..<1_000 {
            try Transaction.with(env: environment) { transaction in
              try transaction.set(dbi: dbi, key: "\(number)", value: large)
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(environment.maximumDatabaseSize >= 1 << 23)
    }
  }

  @Test("Many read-only transactions do not use up the reader slots")
  func readers() throws {
    try withEnvironment { environment in
      let dbi = try Transaction.with(env: environment) { try $0.open(name: "a") }
      for _ in 0..<1_000 {
        try Transaction.with(env: environment, readOnly: true) { _ = try $0.count(dbi: dbi) }
      }
      var open: [Transaction] = []
      for _ in 0..<120 { open.append(try Transaction(env: environment, readOnly: true)) }
      #expect(try environment.clearStaleReaders() == 0)
    }
  }

  @Test("While no transaction is open, an environment keeps few reader slots")
  func idle() throws {
    try withTemporaryDirectory { directory in
      let environment = try Environment(url: directory, maxReaders: 10)
      let readers = try (0..<10).map { _ in try Transaction(env: environment, readOnly: true) }
      for reader in readers { reader.abort() }
      // `mdb_stat -r` writes a line for each slot in use, after a line of titles.
      let output = Pipe()
      let tool = Process()
      tool.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      tool.arguments = ["mdb_stat", "-r", directory.path]
      tool.standardOutput = output
      try tool.run()
      let text = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      tool.waitUntilExit()
      if tool.terminationStatus == 127 { return }
      let process = "\(ProcessInfo.processInfo.processIdentifier)"
      let slots = text.split(separator: "\n").filter {
        $0.split(separator: " ").first.map(String.init) == process
      }
      #expect(slots.count <= 2, "\(text)")
    }
  }

  @Test("No space is reserved in a database with duplicates")
  func reservation() throws {
    try withEnvironment { environment in
      try Transaction.with(env: environment) { transaction in
        let dbi = try transaction.openWithDuplicates(name: "a")
        try transaction.set(dbi: dbi, key: "k", value: "one")
        let error = #expect(throws: MDBError.failure(Int(EINVAL), "")) {
          _ = try "k".withMDBVal { try transaction.reserve(dbi: dbi, key: $0, size: 3) }
        }
        #expect(error?.description.contains("duplicates") == true)
        #expect(try transaction.count(dbi: dbi) == 1)
      }
    }
  }

  @Test("In a database with duplicates a key has several values, each an entry")
  func duplicates() throws {
    try withEnvironment { environment in
      try Transaction.with(env: environment) { transaction in
        #expect(try transaction.openIfPresent(name: "many") == nil)
        let dbi = try transaction.openWithDuplicates(name: "many")
        for value in ["b", "a", "b", "c"] { try transaction.set(dbi: dbi, key: "k", value: value) }
        try transaction.set(dbi: dbi, key: "j", value: "z")
        func entries(_ comparison: LMDB.ComparisonOperator) throws -> [String] {
          try "k".withMDBVal { key in
            let query = Query(comparison: comparison, key: key, truncating: true)
            var cursor = try Cursor(transaction: transaction, dbi: dbi, query: query)
            var found: [String] = []
            while let (_, value) = try cursor.advance() {
              found.append(String(mdbVal: value) ?? "")
            }
            return found
          }
        }
        #expect(try entries(.greaterOrEqual(nil)) == ["a", "b", "c"])
        #expect(try entries(.lessOrEqual(nil)) == ["c", "b", "a", "z"])
        try "k".withMDBVal { key in
          try "b".withMDBVal { try transaction.delete(dbi: dbi, key: key, value: $0) }
          #expect(throws: MDBError.recordNotFound) {
            try "b".withMDBVal { try transaction.delete(dbi: dbi, key: key, value: $0) }
          }
        }
        #expect(try entries(.greaterOrEqual(nil)) == ["a", "c"])
        #expect(try transaction.openIfPresent(name: "many") == dbi)
        try transaction.removeAll(dbi: dbi)
        #expect(try transaction.count(dbi: dbi) == 0)
      }
      let ids = try [false, true, false, true].map { readOnly in
        try Transaction.with(env: environment, readOnly: readOnly) { transaction in
          if !readOnly {
            try transaction.set(dbi: try transaction.open(name: "many"), key: "k", value: "v")
          }
          #expect(transaction.isReadOnly == readOnly)
          return transaction.id
        }
      }
      #expect(ids == [ids[0], ids[0], ids[0] + 1, ids[0] + 1])
    }
  }
}
