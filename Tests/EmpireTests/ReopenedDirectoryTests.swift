// A directory that one process opens more than once with the lock file.

import Empire
import Foundation
import LMDB
import Testing

@Suite("A directory that is opened again")
struct ReopenedDirectoryTests {
  private static let key = Person.IndexKey("a", "b")

  private func write(_ store: Store, age: Int) throws {
    try store.insert(Person(city: "a", name: "b", age: age))
  }

  /// Expects that a reader of the first value sees one state while another thread uses the
  /// directory.
  private func expectOneState(
    whileRunning other: @escaping @Sendable (URL, Store) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let store = Store(database: try LockingDatabase(url: directory))
      try write(store, age: 0)
      try store.withTransaction(readOnly: true) { context in
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          do { try other(directory, store) } catch { Issue.record(error) }
          ended.signal()
        }
        ended.wait()
        let person: Person? = try context.select(key: Self.key)
        #expect(person?.age == 0)
      }
      let person: Person? = try store.select(key: Self.key)
      #expect(person?.age == 20)
    }
  }

  @Test("A reader keeps its state when another value of the directory is opened, and writes")
  func opened() throws {
    try expectOneState { directory, _ in
      let other = Store(database: try LockingDatabase(url: directory))
      for age in 1...20 { try other.insert(Person(city: "a", name: "b", age: age)) }
    }
  }

  @Test("A reader keeps its state when another value of the directory is opened and released")
  func released() throws {
    try expectOneState { directory, store in
      _ = try LockingDatabase(url: directory)
      for age in 1...20 { try store.insert(Person(city: "a", name: "b", age: age)) }
    }
  }

  @Test("Stores without the lock file use it after another value with it was released")
  func plain() throws {
    try expectOneState { directory, _ in
      let plain = try Store(url: directory)
      _ = try LockingDatabase(url: directory)
      for age in 1...20 { try plain.insert(Person(city: "a", name: "b", age: age)) }
    }
  }

  /// How many readers a process can have that asks for 200.
  static func printReaders(_ directory: String) throws {
    let environment = try Environment(path: directory, maxDatabases: 1, maxReaders: 200)
    FileHandle.standardOutput.write(Data("\nreaders=\(environment.maxReaders)\n".utf8))
  }

  @Test("Other processes still see that the directory is open after a second value was released")
  func otherProcess() throws {
    try withTemporaryDirectory { directory in
      let store = Store(database: try LockingDatabase(url: directory))
      try write(store, age: 0)
      _ = try LockingDatabase(url: directory)
      let output = Pipe()
      let child = try ChildProcess.start("readers", directory, output)
      let text = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      child.waitUntilExit()
      // Only a process that has the directory for itself makes the lock file anew.
      #expect(text.contains("readers=126"), "\(text)")
      try write(store, age: 1)
    }
  }

  @Test("The larger of two maximum sizes holds")
  func mapSize() throws {
    try withTemporaryDirectory { directory in
      func fill(_ store: Store) throws {
        try store.withTransaction { context in
          for number in 0..<500 {
            try context.insert(
              Triple(a: number, b: 0, c: "", note: String(repeating: "x", count: 1000)))
          }
        }
      }
      let small = Store(database: try LockingDatabase(url: directory, mapSize: .fixed(1 << 17)))
      #expect(throws: MDBError.failure(-30792, "")) { try fill(small) }
      let large = Store(database: try LockingDatabase(url: directory, mapSize: .fixed(1 << 22)))
      try fill(small)
      #expect(try large.count(of: Triple.self) == 500)
      let smaller = Store(database: try LockingDatabase(url: directory, mapSize: .fixed(1 << 16)))
      try fill(smaller)
    }
  }

  @Test("A directory can be opened as soon as the last value of it was released")
  func again() throws {
    try withTemporaryDirectory { directory in
      for age in 0..<50 {
        let store = Store(database: try LockingDatabase(url: directory))
        try write(store, age: age)
        let person: Person? = try store.select(key: Self.key)
        #expect(person?.age == age)
      }
    }
  }

  @Test("Values that are opened and released on many threads are one database")
  func threads() async throws {
    try await withTemporaryDirectory { directory in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            for number in 0..<20 {
              let store = Store(database: try LockingDatabase(url: directory))
              try store.insert(Tree(name: "\(task) \(number)"))
            }
          }
        }
        try await group.waitForAll()
      }
      let store = Store(database: try LockingDatabase(url: directory))
      #expect(try store.count(of: Tree.self) == 160)
    }
  }
}
