// Which transactions wait for which, and what happens when a commit fails.

import Empire
import Foundation
import Testing

@IndexKeyRecord(keyPrefix: 901, fieldsVersion: 1, "id")
private struct Before { let id: Int }

@IndexKeyRecord(keyPrefix: 901, fieldsVersion: 2, "id")
private struct After: Equatable {
  let id: Int
  var note: String

  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending After {
    After(id: try Before.deserialize(with: deserializer).id, note: "new")
  }
}

struct WaitingTests {
  /// A log of events, in order.
  private final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    func add(_ line: String) { lock.withLock { lines.append(line) } }
    var all: [String] { lock.withLock { lines } }
  }

  /// Holds a writing transaction open on another thread while a closure runs.
  private func whileWriting<R>(_ store: Store, _ log: Log, _ body: () throws -> R) throws -> R {
    let (begun, goOn, ended) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    Thread {
      try? store.withTransaction { context in
        try context.insert(Tree(name: "written"))
        begun.signal()
        goOn.wait()
        log.add("writer ends")
      }
      ended.signal()
    }.start()
    begun.wait()
    defer {
      goOn.signal()
      ended.wait()
    }
    return try body()
  }

  @Test("Selecting by key does not wait for a writer, unless a migrated record must be stored")
  func selectByKey() throws {
    try withTemporaryDirectory { directory in
      let database = try LockingDatabase(url: directory)
      let (writer, reader) = (Store(database: database), Store(database: database))
      try writer.withTransaction { context in
        try context.insert(After(id: 1, note: "a"))
        try context.insert(Before(id: 2))
      }
      let log = Log()
      let migrated = DispatchSemaphore(value: 0)
      try whileWriting(writer, log) {
        // If it waited, it would deadlock.
        let record: After? = try reader.select(key: Tuple(1))
        #expect(record == After(id: 1, note: "a"))
        let none: Tree? = try reader.select(key: Tuple("written"))
        #expect(none == nil)
        #expect(log.all.isEmpty)
        Thread {
          let record: After? = try? reader.select(key: Tuple(2))
          log.add(record?.note ?? "nothing")
          migrated.signal()
        }.start()
      }
      migrated.wait()
      #expect(log.all == ["writer ends", "new"])
    }
  }

  @Test("Writing on the main store waits for the background store")
  func mainWaits() async throws {
    try await withTemporaryDirectory { directory in
      let (store, main) = try await MainActor.run {
        let store = try BackgroundableStore(url: directory)
        return (store, store.main)
      }
      let log = Log()
      let done = DispatchSemaphore(value: 0)
      try await store.background.withTransaction { context in
        try context.insert(Tree(name: "background"))
        let begun = DispatchSemaphore(value: 0)
        Thread {
          begun.signal()
          try? main.withTransaction { context in
            log.add("main sees \(try context.count(of: Tree.self))")
            try context.insert(Tree(name: "main"))
          }
          done.signal()
        }.start()
        begun.wait()
        log.add("background ends")
      }
      await withCheckedContinuation { continuation in
        Thread {
          done.wait()
          continuation.resume()
        }.start()
      }
      #expect(log.all == ["background ends", "main sees 1"])
      #expect(try main.withTransaction(readOnly: true) { try $0.count(of: Tree.self) } == 2)
    }
  }

  @Test("A reader without the lock file keeps its state when the database with it is released")
  func releasedBesideReader() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      try store.insert(Person(city: "a", name: "b", age: 0))
      var locking: LockingDatabase? = try LockingDatabase(url: directory)
      #expect(locking != nil)
      let written = DispatchSemaphore(value: 0)
      try store.withTransaction(readOnly: true) { context in
        func age() throws -> Int? {
          let person: Person? = try context.select(key: Person.IndexKey("a", "b"))
          return person?.age
        }
        let before = try age()
        #expect(before == 0)
        locking = nil
        Thread {
          // Would use the pages that only this reader needs.
          for age in 1...20 { try? store.insert(Person(city: "a", name: "b", age: age)) }
          written.signal()
        }.start()
        // It either waits for the reader, or writes elsewhere.
        let isWritten = written.wait(timeout: .now() + .milliseconds(200)) == .success
        let after = try age()
        #expect(after == 0)
        if isWritten { written.signal() }
      }
      written.wait()
      #expect(
        try store.select(key: Person.IndexKey("a", "b")) == Person(city: "a", name: "b", age: 20))
    }
  }

  @Test("A directory that is made anew while it is open is another one")
  func removedWhileOpen() throws {
    try withTemporaryDirectory { directory in
      let old = Store(database: try LockingDatabase(url: directory))
      try old.insert(Tree(name: "old"))
      for file in ["data.mdb", "lock.mdb"] {
        try FileManager.default.removeItem(at: directory.appending(path: file))
      }
      let new = try Store(url: directory)
      #expect(try new.count(of: Tree.self) == 0)
      try new.insert(Tree(name: "new"))
      #expect(try Store(url: directory).count(of: Tree.self) == 1)
      let kept: Tree? = try old.select(key: Tree.IndexKey("old"))
      #expect(kept != nil)
    }
  }

  @Test("A commit that fails throws its error and stores nothing; the store remains usable")
  func failingCommit() throws {
    try withTemporaryDirectory { directory in
      let store = Store(database: try LockingDatabase(url: directory, mapSize: .fixed(1 << 17)))
      try store.insert(Tree(name: "before"))
      for _ in 0..<3 {
        #expect {
          try store.withTransaction { context in
            for number in 0..<1_000 {
              // The closure catches the error of the full map, so the commit must fail.
              try? context.insert(
                Triple(a: number, b: 0, c: "", note: String(repeating: "x", count: 1_000)))
            }
            // A failed read is not mistaken for a missing record.
            #expect(throws: MDBError.self) { try Tree.select(in: context, name: .greaterThan("")) }
            #expect(throws: MDBError.self) { try context.count(of: Tree.self) }
          }
        } throws: {
          if case MDBError.failure = $0 { true } else { false }
        }
      }
      #expect(try store.withTransaction { try $0.count(of: Triple.self) } == 0)
      try store.insert(Tree(name: "behind"))
      #expect(try Tree.select(in: store, name: .greaterThan("")).count == 2)
    }
  }

  @Test(
    "Values around and far beyond 32 KiB", arguments: [32_766, 32_767, 32_768, 65_537, 3 << 20])
  func largeValues(size: Int) throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      let large = Triple(a: size, b: 0, c: "", note: String(repeating: "ab", count: size / 2))
      try store.insert(large)
      try store.insert(Triple(a: size + 1, b: 0, c: "", note: "small"))
      #expect(try Triple.select(in: store, a: .greaterOrEqual(0)).first == large)
      let again: Triple? = try Store(url: directory).select(key: large.indexKey)
      #expect(again == large)
      try store.delete(large)
      #expect(try Triple.select(in: store, a: .greaterOrEqual(0)).map(\.note) == ["small"])
    }
  }
}
