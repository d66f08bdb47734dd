// What a transaction has changed, by the types of the objects.

extension Transaction {
  /// The changes of a type; nil if there are none.
  func changed(_ schema: EntitySchema) -> ChangedType? {
    schema === latest?.schema ? latest : others.first { $0.schema === schema }
  }

  func recent(_ schema: EntitySchema) -> RecentChanges {
    changed(schema)?.recent ?? workspace.recentChanges.of(schema)
  }

  /// Records a change for observers and for checks whether a row is current.
  func record(
    _ schema: EntitySchema, _ id: Int64, old: Row?, new: Row?, changing fields: FieldSet = .all
  ) {
    changedType(schema).record(id, old: old, new: new, changing: fields)
  }

  /// The record of the changes of a type.
  @inline(__always)
  func changedType(_ schema: EntitySchema) -> ChangedType {
    if let latest, latest.schema === schema { latest } else { choose(schema) }
  }

  /// Makes a type the one that was changed last.
  func choose(_ schema: EntitySchema) -> ChangedType {
    let place = others.firstIndex { $0.schema === schema }
    let chosen = place.map { others.remove(at: $0) } ?? begin(schema)
    if let latest { others.append(latest) }
    latest = chosen
    return chosen
  }

  func begin(_ schema: EntitySchema) -> ChangedType {
    let recent = workspace.recentChanges.of(schema)
    if let lease { recent.enter(lease.group, workspace.clock) }
    return ChangedType(
      schema, place: others.count + (latest == nil ? 0 : 1), workspace.changeObserver(of: schema),
      recent, journal, notesKeys: noter?.notesKeys(of: schema) ?? false)
  }

  /// Notes that no object is to have a key, if keys are noted.
  func noteAbsence(of key: KeyValues?, _ schema: EntitySchema) {
    if let key, noter?.notesKeys(of: schema) == true { changedType(schema).note(key) }
  }

  /// Notes the keys of changes, before the transaction ends.
  func noteKeys() {
    guard let noter, let latest, failure == nil else { return }
    do {
      for type in others + [latest] {
        guard let keys = type.keys, !keys.isEmpty else { continue }
        try noter.note(keys, of: type.schema, in: self)
      }
    } catch { fail(error) }
  }
}
