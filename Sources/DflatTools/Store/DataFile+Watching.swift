// Watching a file: what was committed since the last look.
//
//  - A look costs a lock. Only if anything was committed, the watched types are read again and
//    compared with what is in memory: their rows as they were.
//  - All types are read in one state. Several transactions between two looks are one difference.

import Dflat
import SQLiteDflat

extension DataFile {
  /// Reports what programs commit, until a signal is given. Nothing is written.
  ///
  /// What several transactions have changed between two looks is reported as one change, and what
  /// was undone in between is not seen. The objects of the types are kept in memory.
  ///
  /// - Parameters:
  ///   - names: The types; nil for all of which something is known.
  ///   - milliseconds: The time between two looks.
  ///   - stop: Ends the watch.
  ///   - began: Called once everything was read that later states are compared with.
  ///   - body: Called with each change: by type, in the order in which the objects were stored, the
  ///     deleted ones first. An error that it throws ends the watch.
  /// - Throws: ``ToolError`` if a type is not there, nothing is known of it but its bytes, or the
  ///   file cannot be read; the errors of `body`.
  public func watch(
    types names: [String]? = nil, every milliseconds: Int = 100, until stop: StopSignal,
    began: () throws -> Void = {}, _ body: (ObjectChange) throws -> Void
  ) throws {
    let wanted = try names?.map { try type(named: $0) } ?? types.filter { $0.entity != nil }
    var watched = try wanted.map { WatchedType(name: $0.name, entity: try $0.requireEntity()) }
    try atEachCommit(every: milliseconds, until: stop) { isFirst in
      var changes: [ObjectChange] = []
      try workspace._core.fetchWithinASnapshot { () throws in
        for place in watched.indices {
          changes += try watched[place].read(workspace, comparing: !isFirst)
        }
      }
      if isFirst { try began() }
      for change in changes { try body(change) }
    }
  }

  /// Answers a query now, and again whenever its answer has changed, until a signal is given.
  ///
  /// - Parameters:
  ///   - milliseconds: The time between two looks.
  ///   - stop: Ends the watch.
  ///   - ask: Asks this file.
  ///   - body: Called with each answer that differs from the one before.
  /// - Throws: The errors of `ask` and `body`; ``ToolError`` if the file cannot be read.
  public func watch<Answer: Equatable>(
    every milliseconds: Int = 100, until stop: StopSignal, asking ask: () throws -> Answer,
    _ body: (Answer) throws -> Void
  ) throws {
    var last: Answer?
    try atEachCommit(every: milliseconds, until: stop) { _ in
      let answer = try ask()
      if answer != last { try body(answer) }
      last = answer
    }
  }

  /// Calls `body` now, and after commits.
  private func atEachCommit(
    every milliseconds: Int, until stop: StopSignal, _ body: (_ isFirst: Bool) throws -> Void
  ) throws {
    var seen: CommitToken?
    var isFirst = true
    repeat {
      // Asked before reading: what is committed meanwhile is seen by the next look.
      let now = try withToolErrors { try workspace.commitToken() }
      if isFirst || now == nil || now != seen {
        try withToolErrors { try body(isFirst) }
        isFirst = false
        seen = now
      }
    } while !stop.wait(milliseconds: milliseconds)
  }
}

/// The rows of a type as they were at the last look.
private struct WatchedType {
  let name: String
  let entity: EntitySchema
  /// In the order of their ids.
  private var rows: [Row] = []

  init(name: String, entity: EntitySchema) {
    self.name = name
    self.entity = entity
  }

  /// Reads all rows again.
  /// - Returns: How they differ from what they were.
  mutating func read(
    _ workspace: SQLiteWorkspace, comparing isComparing: Bool
  ) throws -> [ObjectChange] {
    var deleted: [ObjectChange] = []
    var changed: [ObjectChange] = []
    var now: [Row] = []
    now.reserveCapacity(rows.count)
    var place = 0
    /// Reports the rows before an id, which are not there any more.
    func leave(before id: Int64) throws {
      while place < rows.count, rows[place].id < id {
        deleted.append(try change(.deleted, rows[place]))
        place += 1
      }
    }
    var last = Int64.min
    while true {
      let portion = try workspace._core.rows(of: entity, after: last, limit: 500)
      if portion.count == 0 { break }
      for index in 0..<portion.count {
        let row = portion[index]
        try leave(before: row.id)
        if place < rows.count, rows[place].id == row.id {
          let old = rows[place]
          place += 1
          if old.hasSameBytes(as: row) {
            now.append(old)
            continue
          }
          let fields = try self.fields(old, row)
          if !fields.isEmpty { changed.append(try change(.updated, row, fields)) }
        } else if isComparing {
          changed.append(try change(.inserted, row))
        }
        now.append(row)
      }
      last = portion[portion.count - 1].id
    }
    // No row has an id above this one.
    while place < rows.count {
      deleted.append(try change(.deleted, rows[place]))
      place += 1
    }
    rows = now
    return deleted + changed
  }

  private func change(
    _ kind: ObjectChange.Kind, _ row: Row, _ fields: [ObjectChange.Field] = []
  ) throws -> ObjectChange {
    let values = try StoredObject(row, of: entity).values()
    let key = entity.primaryKey.map { (values[entity.name(of: $0)] ?? .null).text }
    return ObjectChange(kind: kind, type: name, key: key, fields: fields)
  }

  private func fields(_ old: Row, _ new: Row) throws -> [ObjectChange.Field] {
    try StoredObject.differences(
      StoredObject(old, of: entity), StoredObject(new, of: entity)
    ).map { ObjectChange.Field(name: $0.name, old: $0.first.json, new: $0.second.json) }
  }
}
