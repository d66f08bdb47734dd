// Maps that have to grow because another process has let the file grow.

import Foundation
import LMDB
import Platform
import Testing

struct MapGrowthTests {
  @Test("A map grows ahead of a file that others write, so that readers begin beside a long one")
  func longReader() throws {
    try withTemporaryDirectory { directory in
      // Without the lock file, two environments of this process are as those of two processes.
      func open() throws -> Environment {
        try Environment(
          url: directory, maxDatabases: 1, locking: false, mapSize: .growing(from: 1 << 20))
      }
      let other = try open()
      func write(_ numbers: Range<Int>) throws {
        let large = String(repeating: "x", count: 100_000)
        for number in numbers {
          try Transaction.with(env: other) {
            try $0.set(dbi: $0.open(name: "a"), key: "\(number)", value: large)
          }
        }
      }
      try write(0..<1)
      let environment = try open()
      func count() throws -> Int {
        try Transaction.with(env: environment, readOnly: true) {
          try $0.count(dbi: $0.open(name: "a"))
        }
      }
      #expect(try count() == 1)
      try write(1..<7)
      #expect(try count() == 7)
      #expect(environment.maximumDatabaseSize == 2 << 20)
      let long = try Transaction(env: environment, readOnly: true)
      try write(7..<16)
      #expect(try count() == 16)
      // More than there is room for. A thread with an open reader cannot wait for itself.
      try write(16..<40)
      let error = #expect(throws: MDBError.failure(-30785, "")) { try count() }
      #expect(error?.recoverySuggestion?.contains("mapSize") == true)
      long.abort()
      #expect(try count() == 40)
    }
  }

  @Test("Readers begin beside a map whose size changes")
  func changes() throws {
    try withTemporaryDirectory { directory in
      let environment = try Environment(url: directory, maxDatabases: 1, mapSize: .fixed(1 << 20))
      let isDone = Atomic(false)
      let readers = DispatchGroup()
      for _ in 0..<6 {
        readers.enter()
        Thread.detachNewThread {
          defer { readers.leave() }
          while !isDone.load(ordering: .acquiring) {
            do { try Transaction(env: environment, readOnly: true).abort() } catch {
              Issue.record(error)
              return
            }
          }
        }
      }
      defer {
        isDone.store(true, ordering: .releasing)
        readers.wait()
      }
      for round in 1...2000 { try environment.setMaxDatabaseSize((1 + round % 2) << 20) }
    }
  }
}
