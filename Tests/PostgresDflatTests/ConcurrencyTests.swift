// Several workspaces on one database: they are like several programs.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Several workspaces on one server")
struct ConcurrencyTests {
  @Test("No increment of several writers is lost, and none is done twice")
  func lostUpdates() async throws {
    try await withSchema { schema in
      let workspaces = (0..<4).map { _ in postgresWorkspace(schema: schema) }
      try await withThrowingTaskGroup { group in
        for dflat in workspaces {
          group.addTask { for _ in 0..<15 { try await increment(7, in: dflat) } }
        }
        try await group.waitForAll()
      }
      #expect(workspaces[0].fetch(for: Note.self).all().map { $0.text?.count } == [60])
      for dflat in workspaces { await dflat.shutdown() }
    }
  }

  @Test("Two transactions that each read what the other writes are not both committed")
  func writeSkew() async throws {
    try await withSchema { schema in
      let left = postgresWorkspace(schema: schema)
      let right = postgresWorkspace(schema: schema)
      for round in 0..<20 as Range<UInt64> {
        // Of two notes, at least one must stay: each transaction removes one if both are there.
        try await left.write(Note.self) { txn in
          try txn.upsert(Note(key: 2 * round))
          try txn.upsert(Note(key: 2 * round + 1))
        }
        @Sendable func leave(_ key: UInt64, _ dflat: PostgresWorkspace) async throws {
          try await dflat.write(Note.self, attempts: 100) { txn in
            let notes = try txn.fetch(for: Note.self)
              .where(Note.key == 2 * round || Note.key == 2 * round + 1)
            guard notes.count == 2 else { return }
            try txn.delete(notes.filter { $0.key == key }[0])
          }
        }
        async let one: Void = leave(2 * round, left)
        async let other: Void = leave(2 * round + 1, right)
        _ = try await (one, other)
      }
      #expect(left.fetch(for: Note.self).all().count == 20)
      await left.shutdown()
      await right.shutdown()
    }
  }

  @Test("Two programs may create the tables at the same moment")
  func creation() async throws {
    for _ in 0..<5 {
      try await withSchema { schema in
        let workspaces = (0..<4).map { _ in postgresWorkspace(schema: schema) }
        try await withThrowingTaskGroup { group in
          for (number, dflat) in workspaces.enumerated() {
            group.addTask {
              try await dflat.write(Post.self, Note.self, attempts: 100) { txn in
                try txn.insert(Note(key: UInt64(number)))
                try txn.insert(post(Int32(number)))
              }
            }
          }
          try await group.waitForAll()
        }
        for dflat in workspaces {
          #expect(dflat.fetch(for: Note.self).all().count == 4)
          #expect(dflat.fetch(for: Post.self).where(Post.likes >= 0).count == 4)
          await dflat.shutdown()
        }
      }
    }
  }

  @Test("A unique value that two programs insert at the same time belongs to one object")
  func uniqueValues() async throws {
    try await withSchema { schema in
      let workspaces = (0..<4).map { _ in postgresWorkspace(schema: schema) }
      for round in 0..<10 {
        let refused = try await withThrowingTaskGroup { group in
          for (number, dflat) in workspaces.enumerated() {
            group.addTask {
              do {
                try await dflat.write(Post.self, attempts: 100) { txn in
                  _ = try txn.insert(post(Int32(10 * round + number), photo: "p\(round)"))
                }
                return 0
              } catch let error as StorageError where error.cause == .alreadyExists {
                return 1
              }
            }
          }
          return try await group.reduce(0, +)
        }
        #expect(refused == 3)
      }
      #expect(workspaces[0].fetch(for: Post.self).all().count == 10)
      for dflat in workspaces { await dflat.shutdown() }
    }
  }

  @Test("A row id is never used again, also after a rollback and after the end of the program")
  func rowIDs() async throws {
    try await withSchema { schema in
      var seen: Set<Int64> = []
      for round in 0..<3 as Range<UInt64> {
        let dflat = postgresWorkspace(schema: schema)
        let undone = Mutex<Int64>(-1)
        await #expect(throws: CancellationError.self) {
          try await dflat.write(Note.self) { txn in
            let note = try txn.insert(Note(key: 1000 + round))
            undone.withLock { $0 = note._rowid }
            throw CancellationError()
          }
        }
        #expect(seen.insert(undone.withLock { $0 }).inserted)
        let note = try await dflat.write(Note.self) { try $0.insert(Note(key: round)) }
        #expect(seen.insert(note._rowid).inserted)
        try await dflat.write(Note.self) { try $0.delete(note) }
        await dflat.shutdown()
      }
    }
  }

  @Test("Observers are told what other programs have committed")
  func otherWriters() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      let other = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      let seen = DispatchSemaphore(value: 0)
      let subscription = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) {
        if $0.count == 2 { seen.signal() }
      }
      dflat.lookForOtherWriters(every: .milliseconds(10))
      try await other.write(Note.self) { try $0.insert(Note(key: 2)) }
      seen.expect("the news of another program")
      subscription.cancel()
      await dflat.shutdown()
      await other.shutdown()
    }
  }
}
