// What is known about external commits, in each phase of the writer.

import DflatTestSupport
import Foundation
import SQLiteAccess
@testable import SQLiteDflat
import Testing

@Suite("External commits")
struct ExternalChangesTests {
  /// Calls `body` with a writer and another connection to the same file, after one unsuccessful
  /// query for the generation.
  private func withConnections(
    _ body: (ExternalChanges, _ writer: Connection, _ foreign: Connection) throws -> Void
  ) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/test.db"
    let writer = try Connection(path: path)
    try writer.prepareDatabaseFile()
    try writer.execute("CREATE TABLE t (a)")
    let changes = ExternalChanges { try Connection.openForReading(path: path) }
    try changes.writerOpened(writer)
    changes.writerChanges()
    #expect(try changes.generation() == nil, "nothing was noted yet")
    changes.writerEnded()
    try body(changes, writer, Connection(path: path))
    changes.close()
  }

  @Test("The writer's first transaction notices an external change, and only a real one")
  func firstTransaction() throws {
    try withConnections { changes, writer, foreign in
      let opened = changes.lastGeneration
      for expected in [opened, opened + 1] {
        changes.writerChanges()
        try writer.begin(.immediate)
        #expect(try changes.writerBegan() == expected)
        changes.writerChanges()
        try writer.commit()
        changes.writerEnded()
        try foreign.execute("INSERT INTO t VALUES (1)")
      }
    }
  }

  @Test("A connection to another file says nothing of the writer's")
  func otherFile() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let paths = [directory + "/test.db", directory + "/other.db"]
    for path in paths {
      let connection = try Connection(path: path)
      try connection.prepareDatabaseFile()
      try connection.execute("CREATE TABLE t (a)")
      try connection.close()
    }
    let changes = ExternalChanges { try Connection.openForReading(path: paths[0]) }
    let first = try changes.generation()
    let others = changes.otherCommits
    let writer = try Connection(path: paths[1])
    try writer.prepareDatabaseFile()
    try changes.writerOpened(writer)
    #expect(changes.otherCommits == others + 1)
    #expect(try changes.generation() != first)
    changes.close()
  }

  @Test("While the writer begins, the generation is known until another connection commits")
  func beginning() throws {
    try withConnections { changes, writer, foreign in
      let first = try #require(try changes.generation())
      changes.writerChanges()
      #expect(try changes.generation() == first)
      try foreign.execute("INSERT INTO t VALUES (1)")
      #expect(try changes.generation() == nil)
      #expect(changes.lastGeneration == first)
      try writer.begin(.immediate)
      #expect(try changes.writerBegan() == first + 1)
      try writer.rollback()
      changes.writerEnded()
      #expect(try changes.generation() == first + 1)
    }
  }

  @Test("While the writer commits, the generation is known until the commit is complete")
  func ending() throws {
    try withConnections { changes, writer, foreign in
      let first = try #require(try changes.generation())
      changes.writerChanges()
      try writer.begin(.immediate)
      #expect(try changes.writerBegan() == first)
      try writer.execute("INSERT INTO t VALUES (1)")
      changes.writerChanges()
      #expect(try changes.generation() == first)
      try writer.commit()
      #expect(try changes.generation() == nil, "somebody may have come after it")
      try foreign.execute("INSERT INTO t VALUES (2)")
      #expect(try changes.generation() == nil)
      changes.writerEnded()
      #expect(try changes.generation() == first + 1)
    }
  }

  @Test("Moments are recorded only while they are needed")
  func unwanted() throws {
    try withConnections { changes, writer, _ in
      let first = try changes.generation()
      for _ in 0..<64 {
        changes.writerChanges()
        changes.writerEnded()
      }
      changes.writerChanges()
      #expect(try changes.generation() == nil)
      changes.writerEnded()
      changes.writerChanges()
      #expect(try changes.generation() == first)
      changes.writerEnded()
    }
  }
}
