// ChangeJournal: what a part of a transaction has changed, so that it can be taken back.
//
//  - Each row has one entry, with its state before and after that part, as in a write set.
//  - Rows are recorded for types without observers, too.
//  - What a part within the part has changed belongs to both.
//  - An object that was deleted and stored again counts as changed: it is known by its key.

/// The rows that were changed while the journal was a transaction's current one.
final class ChangeJournal {
  /// The journal of the part around this one.
  let outer: ChangeJournal?
  /// The changes by types, in the order in which these were first changed.
  private var types: [(schema: EntitySchema, changes: TypeChanges)] = []

  init(in outer: ChangeJournal?) { self.outer = outer }

  /// Records a write. An inserted row has no `old`, a deleted one no `new`.
  func record(
    _ schema: EntitySchema, _ id: Int64, old: Row?, new: Row?, changing fields: FieldSet
  ) {
    let changes: TypeChanges
    if let known = types.first(where: { $0.schema === schema }) {
      changes = known.changes
    } else {
      changes = TypeChanges(schema.layout)
      types.append((schema, changes))
    }
    changes.record(id, old: old, new: new, changing: fields)
  }

  /// Ends the record, and adds it to that of the part around it.
  func close() -> [RevertibleChanges.Change] {
    types.flatMap { schema, changes in
      changes.close()
      for row in changes.rows {
        outer?.record(schema, row.id, old: row.old, new: row.new, changing: .all)
      }
      return Self.objects(schema, changes.rows)
    }
  }

  /// The changes of objects that the changes of rows are.
  private static func objects(
    _ schema: EntitySchema, _ rows: [RowChange]
  ) -> [RevertibleChanges.Change] {
    var deleted: [KeyValues: Row] = [:]
    for row in rows where row.new == nil {
      if let old = row.old, let key = schema.keyValues(of: old) { deleted[key] = old }
    }
    var changes: [RevertibleChanges.Change] = []
    for row in rows {
      guard let new = row.new else { continue }
      var old = row.old
      if old == nil, !deleted.isEmpty, let key = schema.keyValues(of: new) {
        old = deleted.removeValue(forKey: key)
        if let old, old.equals(new, as: schema.layout) { continue }
      }
      changes.append(RevertibleChanges.Change(schema: schema, old: old, new: new))
    }
    for row in rows where row.new == nil {
      guard let old = row.old else { continue }
      // A key that is no longer among the deleted ones is stored again.
      if let key = schema.keyValues(of: old), deleted[key] == nil { continue }
      changes.append(RevertibleChanges.Change(schema: schema, old: old, new: nil))
    }
    return changes
  }
}

extension Transaction {
  /// Makes changes, and returns what they were. What is thrown ends the record only.
  func recording(_ body: () throws -> Void) throws -> RevertibleChanges {
    let journal = ChangeJournal(in: journal)
    use(journal)
    let result = Result { try body() }
    use(journal.outer)
    // A later transaction finds the objects by their row ids, whatever their keys are then.
    let changes = journal.close().map { change in
      RevertibleChanges.Change(
        schema: change.schema, old: change.old.map(own), new: change.new.map(own))
    }
    try result.get()
    return RevertibleChanges(changes: changes)
  }

  private func use(_ journal: ChangeJournal?) {
    self.journal = journal
    latest?.journal = journal
    for type in others { type.journal = journal }
  }
}
