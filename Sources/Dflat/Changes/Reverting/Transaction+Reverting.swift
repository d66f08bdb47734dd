// How a transaction takes changes back.
//
// Objects that were inserted are deleted first, then fields go back, then deleted objects are
// stored again: each may need a key or a unique value that the one before gives up. What is refused
// is tried again as long as something else goes back.

import FlatBuffersRuntime

extension Transaction {
  func revert(_ changes: RevertibleChanges) throws -> Reversal {
    for change in changes.changes { try requireListed(change.schema, for: "revert(_:)") }
    var result = Reversal()
    var open = changes.changes.sorted { $0.rank < $1.rank }
    while !open.isEmpty {
      var refused: [(change: RevertibleChanges.Change, reason: Reversal.Reason)] = []
      for change in open {
        do {
          let remainder = try revert(change)
          if let remainder { result.remainders.append(remainder) } else { result.reverted += 1 }
        } catch let error as StorageError where error.isRefusal {
          refused.append((change, .refused(error)))
        } catch let error as DeletionDenied {
          refused.append((change, .refused(error)))
        }
      }
      if refused.count == open.count {
        result.remainders += refused.map { $0.change.remainder($0.change.changedFields, $0.reason) }
        break
      }
      open = refused.map(\.change)
    }
    return result
  }

  /// Takes one change back.
  /// - Returns: What is not as before; nil if everything is.
  private func revert(_ change: RevertibleChanges.Change) throws -> Reversal.Remainder? {
    let schema = change.schema
    let known = change.new ?? change.old
    let stored = try known.flatMap { try lookUp(objectOf: $0, schema, for: "revert(_:)") }
    switch (change.old, change.new, stored) {
    case (nil, _, nil): return nil
    case (nil, let new?, let stored?):
      if !stored.equals(new, as: schema.layout) {
        let fields = schema.layout.differences(new, stored).map(\.swiftName)
        return change.remainder(fields, .changed)
      }
      try deleteFollowingRules(stored, schema)
      return nil
    case (let old?, nil, nil):
      _ = try storeAgain(old, schema)
      return nil
    case (let old?, nil, let stored?):
      return stored.equals(old, as: schema.layout) ? nil : change.remainder([], .replaced)
    case (_?, _?, nil): return change.remainder([], .deleted)
    case (let old?, let new?, let stored?):
      let version = version
      var finder = ReversalFinder()
      let fields = old.read { old in
        new.read { new in
          stored.read { finder.fields(schema.layout, old: old, new: new, stored: $0) }
        }
      }
      if !fields.isEmpty { try putBack(fields, of: old, into: stored, at: version, schema) }
      let changed = finder.changedSince
      return changed.isEmpty
        ? nil : change.remainder(changed, .changed, reverted: finder.reverted)
    case (nil, nil, _?): return nil
    }
  }

  private func putBack(
    _ fields: [Int: FieldReversal], of old: Row, into stored: Row, at version: TransactionVersion,
    _ schema: EntitySchema
  ) throws {
    var set = FieldSet.none
    for offset in fields.keys { set.insert(offset) }
    var change = PendingChange.update(
      ofCurrent: stored, at: version, setting: set, refusal: old.refusal)
    _ = try carryOut(&change, of: schema) { builder in
      schema.layout.write(to: builder) { property in
        guard let reversal = fields[property.offset] else { return .none }
        return old.read { old in
          stored.read { stored in
            builder.encode(
              reversal, old: old.value(of: property), stored: stored.value(of: property))
          }
        }
      }
    }
  }
}

extension RevertibleChanges.Change {
  /// What is taken back first.
  fileprivate var rank: Int { old == nil ? 0 : new == nil ? 2 : 1 }

  /// The Swift names of the fields that were changed.
  fileprivate var changedFields: [String] {
    guard let old, let new else { return [] }
    return schema.layout.differences(old, new).map(\.swiftName)
  }

  fileprivate func remainder(
    _ fields: [String], _ reason: Reversal.Reason, reverted: [String] = []
  ) -> Reversal.Remainder {
    Reversal.Remainder(
      entity: schema.layout.swiftName,
      key: (new ?? old)?.read { schema.describeKey(of: $0) } ?? "", fields: fields,
      revertedFields: reverted, reason: reason)
  }
}
