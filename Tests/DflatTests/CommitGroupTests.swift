// What a group tells its members when the storage fails.

import FlatBuffersRuntime
import Testing

@testable import Dflat

/// A storage's transaction that notes what is asked of it, and fails where it is told to.
private final class NotingWriter: StorageWriter {
  var notes: [String] = []
  var failsCommit = false
  let isAlive = true
  var losesSavepoint = false

  func makeSavepoint() { notes.append("savepoint") }
  func releaseSavepoint() { notes.append("release") }
  func undoToSavepoint() throws {
    notes.append("undo")
    if losesSavepoint { throw StorageError(.other, message: "no such savepoint") }
  }
  func commit() throws {
    notes.append("commit")
    if failsCommit { throw StorageError(.diskFull, message: "disk full") }
  }
  func rollback() { notes.append("rollback") }

  func insert(_ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer) -> Int64 { 1 }
  func update(_ schema: EntitySchema, from old: Row, to new: Row) {}
  func delete(_ schema: EntitySchema, id: Int64) {}
  func rows(_ query: Query, mark: ReadMark) -> RowBuffer { RowBuffer() }
  func row(of schema: EntitySchema, id: Int64) -> Row? { nil }
  func row(of schema: EntitySchema, keyOf row: Row) -> Row? { nil }
  func explain(_ query: Query) throws -> QueryExplanation {
    throw StorageError(.other, message: "nothing to explain")
  }
}

/// Collects what members are told; used by one thread.
private final class Told: @unchecked Sendable {
  var outcomes: [Bool] = []
}

@Suite("Groups that share a commit")
struct CommitGroupTests {
  private let group = CommitGroup()
  private let writer = NotingWriter()
  private let told = Told()

  /// A transaction that writes and ends.
  private func run(isAborted: Bool = false) throws {
    let opened = try group.open(for: []) { writer }
    try group.close(hasSavepoint: opened.hasSavepoint, isAborted: isAborted)
    add(isGood: !isAborted)
  }

  private func add(isGood: Bool) {
    group.add(isGood: isGood) { [told] in told.outcomes.append($0) }
  }

  @Test("One commit for all, a savepoint for each but the first")
  func commit() throws {
    try run()
    try run()
    try run(isAborted: true)
    add(isGood: true)
    #expect(told.outcomes == [])
    var good = 0
    group.settle(committed: { good = $0 }, failed: { _ in })
    #expect(told.outcomes == [true, true, false, true])
    #expect(good == 3)
    #expect(writer.notes == ["savepoint", "release", "savepoint", "undo", "commit"])
  }

  @Test("A commit that fails is told to everybody, those included that only read")
  func failedCommit() throws {
    try run()
    add(isGood: true)
    writer.failsCommit = true
    var errors: [any Error] = []
    group.settle(
      committed: { _ in Issue.record("nothing is committed") }, failed: { errors.append($0) })
    #expect(told.outcomes == [false, false])
    #expect(errors.count == 1)
    // The next group starts anew.
    writer.failsCommit = false
    try run()
    group.settle(committed: { _ in }, failed: { Issue.record($0) })
    #expect(told.outcomes == [false, false, true])
  }

  @Test("If the storage gives the whole up, those who were good so far are told so")
  func lost() throws {
    try run()
    writer.losesSavepoint = true
    #expect(throws: StorageError.self) { try run(isAborted: true) }
    group.lose()
    add(isGood: false)
    group.settle(committed: { _ in }, failed: { _ in })
    #expect(told.outcomes == [false, false])
    #expect(writer.notes.last == "rollback")
  }

  @Test("A first transaction that is aborted leaves no transaction open")
  func abortedFirst() throws {
    try run(isAborted: true)
    #expect(group.writer == nil)
    #expect(writer.notes == ["rollback"])
  }
}
