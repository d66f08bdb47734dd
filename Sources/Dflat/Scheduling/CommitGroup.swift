// CommitGroup: transactions that share a commit.
//
// The first transaction that writes opens the storage's transaction; those behind it write into the same one, each inside a
// savepoint of its own. It keeps true:
//
//  - an aborted transaction is undone alone;
//  - nobody is told anything before the commit, and then everybody in the order of the transactions;
//  - if the commit fails, or the storage has given the whole up, everybody in the group is told so;
//  - a transaction that has only read, perhaps what is not committed yet, completes with the group that it read from.
//
// Used by the line only, one thread at a time.

import FlatBuffersRuntime

final class CommitGroup {
  /// A transaction that has run: its outcome as far as it goes, and whom to tell.
  private struct Member {
    let isGood: Bool
    let completion: Workspace.CompletionHandler?
  }

  /// More would make the first one wait too long.
  private static let mostMembers = 128
  private static let longest = ContinuousClock.Duration.milliseconds(10)

  /// The storage's transaction, if somebody has written.
  private(set) var writer: (any StorageWriter)?
  /// The types of those who have written into it.
  private(set) var types: Set<EntitySchema> = []
  /// What rows are encoded with, one after another.
  let builder = FlatBufferBuilder()
  private var members: [Member] = []
  private var began: ContinuousClock.Instant?

  /// The storage's transaction for a transaction that wants to write.
  /// - Returns: It, and whether a savepoint was made for this transaction.
  func open(
    for schemas: Set<EntitySchema>, _ begin: () throws -> any StorageWriter
  ) throws -> (writer: any StorageWriter, hasSavepoint: Bool) {
    if let writer {
      try writer.makeSavepoint()
      types.formUnion(schemas)
      return (writer, true)
    }
    let opened = try begin()
    writer = opened
    types = schemas
    began = .now
    return (opened, false)
  }

  /// Ends a transaction's own part.
  func close(hasSavepoint: Bool, isAborted: Bool) throws {
    guard let writer else { return }
    if !hasSavepoint, isAborted {
      self.writer = nil
      writer.rollback()
    } else if hasSavepoint {
      if isAborted { try writer.undoToSavepoint() } else { try writer.releaseSavepoint() }
    }
  }

  /// The storage has given up everything that is not committed.
  func lose() {
    members = members.map { Member(isGood: false, completion: $0.completion) }
    writer?.rollback()
    writer = nil
  }

  func add(isGood: Bool, _ completion: Workspace.CompletionHandler?) {
    members.append(Member(isGood: isGood, completion: completion))
  }

  /// Whether the group should not grow any more.
  var isDue: Bool {
    guard writer != nil, let began else { return !members.isEmpty }
    return members.count >= Self.mostMembers || .now - began > Self.longest
  }

  /// Commits and tells everybody.
  /// - Parameters:
  ///   - committed: Called with the number of good transactions, before anybody is told.
  ///   - failed: Called if the commit fails.
  func settle(committed: (Int) -> Void, failed: (any Error) -> Void) {
    var isCommitted = true
    if let writer {
      self.writer = nil
      do { try writer.commit() } catch {
        isCommitted = false
        failed(error)
      }
    }
    began = nil
    let ended = members
    members = []
    if isCommitted { committed(ended.count { $0.isGood }) }
    for member in ended { member.completion?(isCommitted && member.isGood) }
  }
}
