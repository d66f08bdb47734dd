// How a transaction takes changes back.
//
//  1. Fields go back, so that objects which the changes have moved leave the inserted ones.
//  2. Inserted objects are deleted, each by itself: the rules of references would delete or change
//     objects that the changes have not. One that such an object refers to stays.
//  3. What is refused is tried again as long as anything else goes back: each may need a key or a
//     unique value that another one gives up. Objects that have exchanged such values go back
//     together.
//  4. Deleted objects are stored again. That makes nothing else possible, so it comes last.

import FlatBuffersRuntime

extension Transaction {
  func revert(_ changes: RevertibleChanges) throws -> Reversal {
    for change in changes.changes { try requireListed(change.schema, for: "revert(_:)") }
    var reverting = Reverting(changes.changes, in: self)
    return try reverting.run()
  }
}

/// Changes that are being taken back.
private struct Reverting {
  private let transaction: Transaction
  private var updates: [Update] = []
  private var insertions: [Insertion] = []
  private let deletions: [RevertibleChanges.Change]
  /// The keys that objects had before the changes.
  private let earlierKeys: [EntitySchema: Set<KeyValues>]
  /// The objects whose fields go back, as they were.
  private let earlierRows: [ObjectName: Row]
  private var result = Reversal()

  /// An object whose fields are not back yet.
  private struct Update {
    let change: RevertibleChanges.Change
    /// The Swift names of the fields that were to go back at first; nil if it was not tried yet.
    var wanted: [String]?
    /// Those that are not as before after the last attempt, and why.
    var refused: [String] = []
    var refusal: StorageError?
  }

  /// An inserted object that is not deleted yet.
  private struct Insertion {
    let change: RevertibleChanges.Change
    /// Why not.
    var refusal: DeletionDenied?
  }

  init(_ changes: [RevertibleChanges.Change], in transaction: Transaction) {
    self.transaction = transaction
    deletions = changes.filter { $0.new == nil }
    var keys: [EntitySchema: Set<KeyValues>] = [:]
    var rows: [ObjectName: Row] = [:]
    for change in changes {
      guard let old = change.old else {
        insertions.append(Insertion(change: change))
        continue
      }
      if let new = change.new {
        updates.append(Update(change: change))
        rows[ObjectName(change.schema, new.id)] = old
      }
      if let key = change.schema.keyValues(of: old) { keys[change.schema, default: []].insert(key) }
    }
    earlierKeys = keys
    earlierRows = rows
  }

  mutating func run() throws -> Reversal {
    while !updates.isEmpty || !insertions.isEmpty {
      let fieldsWentBack = try putBackFields()
      let objectsWentBack = try deleteInserted()
      if fieldsWentBack || objectsWentBack { continue }
      if try !putBackTogether() { break }
    }
    for update in updates {
      guard let refusal = update.refusal else { continue }
      let reverted = (update.wanted ?? []).filter { !update.refused.contains($0) }
      result.remainders.append(
        update.change.remainder(update.refused, .refused(refusal), reverted: reverted))
    }
    for insertion in insertions {
      guard let refusal = insertion.refusal else { continue }
      result.remainders.append(insertion.change.remainder([], .refused(refusal)))
    }
    for change in deletions { note(try storeAgain(change), change) }
    return result
  }

  /// Notes what became of a change.
  /// - Parameter reason: Why the object is not as before; nil if it is.
  private mutating func note(
    _ reason: Reversal.Reason?, _ change: RevertibleChanges.Change, fields: [String] = [],
    reverted: [String] = []
  ) {
    guard let reason else { return result.reverted += 1 }
    result.remainders.append(change.remainder(fields, reason, reverted: reverted))
  }

  private func stored(_ change: RevertibleChanges.Change) throws -> Row? {
    try (change.new ?? change.old).flatMap {
      try transaction.lookUp(objectOf: $0, change.schema, for: "revert(_:)")
    }
  }

  // MARK: Fields

  /// - Returns: Whether anything went back, or is known to stay.
  private mutating func putBackFields() throws -> Bool {
    var waiting: [Update] = []
    var isAnyBack = false
    for var update in updates {
      if try putBack(&update, &isAnyBack) { isAnyBack = true } else { waiting.append(update) }
    }
    updates = waiting
    return isAnyBack
  }

  /// Puts the fields of an object back, or at least those that are no part of a key or of a unique
  /// value.
  /// - Parameter isPartlyBack: Is set if some went back.
  /// - Returns: Whether the change is done with.
  private mutating func putBack(_ update: inout Update, _ isPartlyBack: inout Bool) throws -> Bool {
    let change = update.change
    guard let stored = try stored(change) else {
      note(.deleted, change)
      return true
    }
    guard let plan = FieldsToPutBack(change, stored) else {
      note(nil, change)
      return true
    }
    let wanted = update.wanted ?? plan.finder.reverted
    update.wanted = wanted
    do { try transaction.putBack(plan.fields, plan) } catch let error as StorageError
      where error.isRefusal
    {
      let isFirstAttempt = update.refusal == nil
      update.refusal = error
      update.refused = plan.finder.concerned
      guard isFirstAttempt, error.cause == .alreadyExists else { return false }
      let distinguishing = change.schema.distinguishingFields
      let others = plan.fields.filter { !distinguishing.contains($0.key) }
      if !others.isEmpty {
        try transaction.putBack(others, plan)
        let finder = try self.stored(change).flatMap { FieldsToPutBack(change, $0) }?.finder
        update.refused = finder?.concerned ?? []
        isPartlyBack = true
      }
      return false
    }
    let changed = plan.finder.changedSince
    note(changed.isEmpty ? nil : .changed, change, fields: changed, reverted: wanted)
    return true
  }

  /// Puts the fields of objects back that have each other's keys or unique values.
  /// - Returns: Whether any went back.
  private mutating func putBackTogether() throws -> Bool {
    var isAnyBack = false
    for schema in Set(updates.map(\.change.schema)) {
      let plans = try updates.compactMap { update -> FieldsToPutBack? in
        guard update.change.schema === schema, update.refusal?.cause == .alreadyExists else {
          return nil
        }
        return try stored(update.change).flatMap { FieldsToPutBack(update.change, $0) }
      }
      if try transaction.exchange(plans, schema) { isAnyBack = true }
    }
    return isAnyBack
  }

  // MARK: Objects

  /// - Returns: Whether any object was deleted, or is known to stay.
  private mutating func deleteInserted() throws -> Bool {
    var found: [(change: RevertibleChanges.Change, row: Row)] = []
    for change in insertions.map(\.change) {
      guard let stored = try stored(change), let new = change.new else {
        note(nil, change)
        continue
      }
      if stored.equals(new, as: change.schema.layout) {
        found.append((change, stored))
      } else {
        let fields = change.schema.layout.differences(new, stored).map(\.swiftName)
        note(.changed, change, fields: fields)
      }
    }
    let refusals = try transaction.refusals(
      toDelete: found.map { ($0.row, $0.change.schema) }, exempting: earlierKeys, earlierRows)
    var waiting: [Insertion] = []
    for (place, (change, row)) in found.enumerated() {
      if let refusal = refusals[place] {
        waiting.append(Insertion(change: change, refusal: refusal))
      } else {
        try transaction.remove(row, change.schema)
        note(nil, change)
      }
    }
    let isAnyGone = waiting.count < insertions.count
    insertions = waiting
    return isAnyGone
  }

  /// Stores a deleted object again.
  /// - Returns: Why it is not as before; nil if it is.
  private func storeAgain(_ change: RevertibleChanges.Change) throws -> Reversal.Reason? {
    guard let old = change.old else { return nil }
    if let stored = try stored(change) {
      return stored.equals(old, as: change.schema.layout) ? nil : .replaced
    }
    do { _ = try transaction.storeAgain(old, change.schema) } catch let error as StorageError
      where error.isRefusal
    {
      return .refused(error)
    }
    return nil
  }
}

extension RevertibleChanges.Change {
  fileprivate func remainder(
    _ fields: [String], _ reason: Reversal.Reason, reverted: [String] = []
  ) -> Reversal.Remainder {
    Reversal.Remainder(
      entity: schema.layout.swiftName,
      key: (new ?? old)?.read { schema.describeKey(of: $0) } ?? "", fields: fields,
      revertedFields: reverted, reason: reason)
  }
}
