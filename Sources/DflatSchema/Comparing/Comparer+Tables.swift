// Tables: fields are identified by their slots.
//
// A slot keeps its type for ever, deprecated or not: older rows and older programs use it. If a
// name is found in another slot than before, the field has moved, because programs that use the
// name read that slot. Only the name of a deprecated field may be reused for a new one.

extension Comparer {
  mutating func compare(_ old: TableDefinition, _ new: TableDefinition, as pair: Pair) {
    let places = TablePlaces(old, new)
    let isRoot = entities.contains(pair) || renamedRoots.contains(pair)
    for (field, match) in zip(old.fields, places.matches) {
      switch match {
      case .moved(let place):
        remember(field, place)
        // The declared types of both versions are compared nevertheless.
        _ = relate(field.type, place.type)
        reportMove(field, place, places, new)
      case .same(let place):
        remember(field, place)
        compare(field, place, new, isRoot: isRoot)
      case .gone:
        reportRemoval(field, places, new)
      }
    }
    for field in new.fields where !places.isMatched(field) {
      reportAddition(field, places, old, new, isRoot: isRoot)
    }
    if !renamedRoots.contains(pair) {
      compareVersions(old.version, new.version, new.name, old.position, new.position)
    }
    compareAttributes(
      old.attributes, new.attributes, new.name.description, old.position, new.position)
    if isRoot { compareKeys(old, new, places) }
  }

  mutating func remember(_ old: FieldDefinition, _ new: FieldDefinition) {
    oldPositions[new.position] = old.position
    newPositions[old.position] = new.position
  }

  // MARK: Positions

  private mutating func reportMove(
    _ field: FieldDefinition, _ place: FieldDefinition, _ places: TablePlaces,
    _ table: TableDefinition
  ) {
    let occupant = places.occupant(of: field)
    let instead = occupant.map { "is read as '\($0.name)'" } ?? "is no longer read"
    report(
      .fieldMoved, .incompatible, "\(table.name).\(place.name)",
      "'\(place.name)' has moved from slot \(field.slot) to slot \(place.slot)",
      "what is stored as '\(field.name)' \(instead); keep the order of the fields and append new ones, or give "
        + "every field its old slot with 'id'", field.position, place.position)
  }

  private mutating func reportRemoval(
    _ field: FieldDefinition, _ places: TablePlaces, _ table: TableDefinition
  ) {
    let occupant = places.occupant(of: field)
    let subject = "\(table.name).\(field.name)"
    let what = field.isDeprecated ? "the deprecated '\(field.name)'" : "'\(field.name)'"
    let slot =
      occupant.map { "'\($0.name)' reads what is stored in its slot" }
      ?? "the next field that is appended would read what is stored in its slot"
    report(
      .fieldRemoved, .incompatible, subject, "\(what) is gone",
      "\(slot); mark it 'deprecated' instead of removing it", field.position,
      occupant?.position ?? table.position)
  }

  private mutating func reportAddition(
    _ field: FieldDefinition, _ places: TablePlaces, _ old: TableDefinition,
    _ new: TableDefinition, isRoot: Bool
  ) {
    let subject = "\(new.name).\(field.name)"
    if let displaced = places.displaced(by: field) {
      return report(
        .fieldInserted, .incompatible, subject,
        "'\(field.name)' is new, in slot \(field.slot), which was that of '\(displaced.name)'",
        "it reads what is stored as '\(displaced.name)'; append it behind all others, or give it the next free 'id'",
        displaced.position, field.position)
    }
    guard !field.isDeprecated else {
      return report(
        .fieldAdded, .compatible, subject, "'\(field.name)' is new and deprecated",
        "it takes a slot and nothing else", old.position, field.position)
    }
    if field.isRequired {
      reportRequired(field, "'\(field.name)' is new and required", subject, old.position)
    } else {
      report(
        .fieldAdded, .compatible, subject, "'\(field.name)' is new",
        "objects stored so far read it as \(absent(field, in: self.new)); programs of the old version keep it when "
          + "they update an object", old.position, field.position)
    }
    if field.isPrimary, !isRoot {
      reportPrimaryOfValue(.primaryAdded, field, subject, old.position, field.position)
    }
  }

  // MARK: One field

  private mutating func compare(
    _ old: FieldDefinition, _ new: FieldDefinition, _ table: TableDefinition, isRoot: Bool
  ) {
    let subject = "\(table.name).\(new.name)"
    guard compareTypes(old, new, subject) else { return }
    compareNames(old, new, subject)
    if old.isDeprecated != new.isDeprecated { reportDeprecation(old, new, subject) }
    if !old.isDeprecated, !new.isDeprecated {
      compareDefaults(old, new, subject, isRoot: isRoot)
      if !isRoot, old.isPrimary != new.isPrimary {
        reportPrimaryOfValue(
          new.isPrimary ? .primaryAdded : .primaryRemoved, new, subject, old.position, new.position)
      }
      compareSwiftTypes(old, new, subject)
      compareAttributes(old.attributes, new.attributes, subject, old.position, new.position)
    }
    switch (old.demandsValue, new.demandsValue) {
    case (false, true):
      reportRequired(new, "'\(new.name)' has become required", subject, old.position)
    case (true, false):
      report(
        .requiredRemoved, .incompatible, subject, "'\(new.name)' is no longer required",
        "programs of the old version, and others that ask for it, refuse buffers without it as damaged",
        old.position, new.position)
    default: break
    }
  }

  /// Names of fields of tables and structs.
  mutating func compareNames(_ old: FieldDefinition, _ new: FieldDefinition, _ subject: String) {
    guard old.name != new.name, !old.isDeprecated || !new.isDeprecated else { return }
    report(
      .fieldRenamed, .compatible, subject, "'\(old.name)' is now called '\(new.name)'",
      old.swiftName == new.swiftName
        ? "nothing changes: both are '\(new.swiftName)' in Swift"
        : "nothing changes on disk, where fields have no names; programs use the new name",
      old.position, new.position)
  }

  /// - Returns: Whether stored values keep their meaning.
  mutating func compareTypes(
    _ old: FieldDefinition, _ new: FieldDefinition, _ subject: String
  ) -> Bool {
    let (left, right) = ("'\(old.type)'", "'\(new.type)'")
    switch relate(old.type, new.type) {
    case .same: return true
    case .alike(let reason):
      report(
        .fieldTypeChanged, .compatible, subject,
        "'\(new.name)' has changed its type from \(left) to \(right)", reason, old.position,
        new.position)
      return true
    case .differs(let reason):
      report(
        .fieldTypeChanged, .incompatible, subject,
        old.swiftName == new.swiftName
          ? "'\(new.name)' has changed its type from \(left) to \(right)"
          : "'\(new.name)' of type \(right) is where '\(old.name)' of type \(left) was",
        reason
          + (new.isDeprecated ? "; a deprecated field keeps its type, it could come back" : ""),
        old.position, new.position)
    case .length(let count, let length):
      report(
        .arrayLengthChanged, .incompatible, subject,
        "'\(new.name)' has changed its length from \(count) to \(length)",
        "a struct has no room to grow: what lies behind it, and the struct itself, is misread",
        old.position, new.position)
    }
    return false
  }

  private mutating func reportDeprecation(
    _ old: FieldDefinition, _ new: FieldDefinition, _ subject: String
  ) {
    guard new.isDeprecated else {
      return report(
        .fieldRestored, .caution, subject, "'\(new.name)' is no longer deprecated",
        "objects stored before it was deprecated have their old values again", old.position,
        new.position)
    }
    report(
      .fieldDeprecated, .compatible, subject, "'\(new.name)' is deprecated now",
      "its slot stays and stored values stay in their rows; programs can no longer name it",
      old.position, new.position)
  }

  private mutating func reportRequired(
    _ field: FieldDefinition, _ message: String, _ subject: String, _ old: SourcePosition
  ) {
    report(
      .requiredAdded, .incompatible, subject, message,
      "objects without it are read with an empty value; buffers without it, such as dictionary values and what "
        + "'from(data:)' takes, do not verify any more, and other readers of the file refuse such objects",
      old, field.position)
  }

  private mutating func reportPrimaryOfValue(
    _ kind: SchemaChange.Kind, _ field: FieldDefinition, _ subject: String,
    _ old: SourcePosition, _ new: SourcePosition
  ) {
    report(
      kind, .compatible, subject,
      kind == .primaryAdded
        ? "'\(field.name)' is primary now" : "'\(field.name)' is no longer primary",
      "nothing changes on disk, since its table is no root; in Swift a string is "
        + (kind == .primaryAdded ? "no longer optional" : "optional"), old, new)
  }
}

extension FieldDefinition {
  /// The position in the vtable, from 0; for a union, that of the value.
  var slot: Int { (offset - 4) / 2 }

  /// Whether a buffer without it fails verification.
  var demandsValue: Bool { isRequired && !isDeprecated }
}

extension FieldDefinition {
  /// The vtable offsets that it occupies.
  var places: [Int] { type.hasTag ? [offset - 2, offset] : [offset] }
}
