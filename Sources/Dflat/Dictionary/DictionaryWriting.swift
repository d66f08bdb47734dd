// Writing the dictionary: pending changes in memory are written to the disk.
//
//  - At most one job that has not begun is in the queue of the dictionary's table. It writes
//    everything that is pending when it runs, in one transaction of the workspace, which may share
//    a commit with other transactions.
//  - Batches are taken with the right to write the tables of all types, so they are written in the
//    order in which they were taken.
//  - A batch that could not be written becomes pending again; the next `set`, or `synchronize`,
//    retries it. After a conflict with another connection it is retried without being asked.

import Dispatch
import FlatBuffersRuntime
import Platform

/// Changes that are written together.
final class DictionaryBatch: Sendable {
  let store: DictionaryStore
  let group: CommitGroup
  let erases: Bool
  let writes: [DictionaryStore.Write]
  private let outcome = Mutex(Outcome())

  private struct Outcome {
    var rows: [Int64] = []
    var failure: (any Error)?
  }

  /// The rows of the values that were written, in the order of `writes`.
  var rows: [Int64] { outcome.withLock { $0.rows } }

  /// Why the batch could not be written, if it could not.
  var failure: (any Error)? {
    get { outcome.withLock { $0.failure } }
    set { outcome.withLock { $0.failure = newValue } }
  }

  init(
    _ store: DictionaryStore, _ group: CommitGroup, erases: Bool, _ writes: [DictionaryStore.Write]
  ) {
    self.store = store
    self.group = group
    self.erases = erases
    self.writes = writes
  }

  func write(to writer: any StorageWriter) throws {
    if erases { try DictionaryItem.eraseAll(in: store.namespace, writer) }
    let rows = try writes.map { write in
      try DictionaryItem.store(
        write.key.text, in: store.namespace, write.contents, row: erases ? -1 : write.row, writer)
    }
    outcome.withLock { $0.rows = rows }
  }
}

extension DictionaryItem {
  static func eraseAll(in namespace: String, _ writer: any StorageWriter) throws {
    // By their ids: damaged ones are keys, too.
    for id in try writer.ids(query(in: namespace)) { try writer.delete(schema, id: id) }
  }

  /// Writes a value, or removes it.
  ///
  /// - Parameter known: The row that the key had when it was last seen; -1 if that is not known.
  /// - Returns: The row; -1 if the key was removed.
  static func store(
    _ key: String, in namespace: String, _ contents: DictionaryContents, row known: Int64,
    _ writer: any StorageWriter
  ) throws -> Int64 {
    if contents.isAbsent {
      if let id = try rowID(of: row(key, in: namespace, contents), writer) {
        try writer.delete(schema, id: id)
      }
      return -1
    }
    let new = row(key, in: namespace, contents)
    if let refusal = new.refusal { throw StorageError(refused: refusal, schema) }
    // Another connection may have removed it.
    if known >= 0, try update(row(key, in: namespace, contents, id: known), writer) { return known }
    do { return try new.withBytes { try writer.insert(schema, $0) } } catch let error
      as StorageError where error.cause == .alreadyExists
    {
      guard let id = try rowID(of: new, writer) else { throw error }
      guard try update(row(key, in: namespace, contents, id: id), writer) else { throw error }
      return id
    }
  }

  /// The row that has a key, even if the row is damaged.
  private static func rowID(of item: Row, _ writer: any StorageWriter) throws -> Int64? {
    do { return try writer.row(of: schema, keyOf: item)?.id } catch let error as StorageError
      where error.cause == .corruptRow
    {
      return error.rowid
    }
  }

  /// Replaces a row by one with the same key, so that only its bytes change.
  /// - Returns: False if there is no such row.
  private static func update(_ row: Row, _ writer: any StorageWriter) throws -> Bool {
    try writer.update(schema, ifStored: row, changing: values)
  }
}
