// Structs: bytes at fixed offsets, which no change may move.

extension Comparer {
  mutating func compare(_ old: StructDefinition, _ new: StructDefinition) {
    let oldNames = Set(old.fields.map { camel($0.name) })
    let byName = Dictionary(new.fields.map { (camel($0.name), $0) }) { first, _ in first }
    let byOffset = Dictionary(new.fields.map { ($0.offset, $0) }) { first, _ in first }
    var matched: Set<String> = []
    var shifted: [(FieldDefinition, FieldDefinition)] = []
    let findings = changes.count
    for field in old.fields {
      let renamed = byOffset[field.offset].flatMap { oldNames.contains(camel($0.name)) ? nil : $0 }
      guard let place = byName[camel(field.name)] ?? renamed else {
        report(
          .fieldRemoved, .incompatible, "\(new.name).\(field.name)", "'\(field.name)' is gone",
          "the bytes of a struct are what its fields say, for ever; use another struct",
          field.position, new.position)
        continue
      }
      matched.insert(place.name)
      remember(field, place)
      let subject = "\(new.name).\(place.name)"
      if compareTypes(field, place, subject) { compareNames(field, place, subject) }
      compareSwiftTypes(field, place, subject)
      compareAttributes(
        field.attributes, place.attributes, subject, field.position, place.position)
      if place.offset != field.offset { shifted.append((field, place)) }
    }
    for field in new.fields where !matched.contains(field.name) {
      report(
        .fieldAdded, .incompatible, "\(new.name).\(field.name)",
        "'\(field.name)' is new in a struct",
        "objects stored so far have no bytes for it, and programs of the old version drop them; use a table, or another "
          + "struct", old.position, field.position)
    }
    // Changes reported so far shift the other fields. A new offset is only reported if it is the
    // cause.
    let isCause = !changes[findings...].contains { $0.severity == .incompatible }
    if isCause || isReordered(old, new) {
      for (field, place) in shifted { reportShift(field, place, new) }
    }
    compareLayouts(old, new, isTold: !isCause || !shifted.isEmpty)
    compareVersions(old.version, new.version, new.name, old.position, new.position)
    compareAttributes(
      old.attributes, new.attributes, new.name.description, old.position, new.position)
  }

  /// Whether fields of both versions are in a different order.
  private func isReordered(_ old: StructDefinition, _ new: StructDefinition) -> Bool {
    let (left, right) = (old.fields.map { camel($0.name) }, new.fields.map { camel($0.name) })
    let common = Set(left).intersection(right)
    return left.filter(common.contains) != right.filter(common.contains)
  }

  private mutating func reportShift(
    _ old: FieldDefinition, _ new: FieldDefinition, _ structure: StructDefinition
  ) {
    report(
      .fieldMoved, .incompatible, "\(structure.name).\(new.name)",
      "'\(new.name)' has moved from byte \(old.offset) to byte \(new.offset)",
      "it reads what is stored as something else; a struct keeps the order and the sizes of its fields",
      old.position, new.position)
  }

  private mutating func compareLayouts(
    _ old: StructDefinition, _ new: StructDefinition, isTold: Bool
  ) {
    if old.size != new.size {
      if isTold { return }
      return report(
        .structLayoutChanged, .incompatible, new.name.description,
        "'\(new.name)' has changed its size from \(old.size) to \(new.size) bytes",
        "in a vector of this struct, all elements after the first are misread", old.position,
        new.position
      )
    }
    guard old.alignment != new.alignment else { return }
    report(
      .structLayoutChanged, .caution, new.name.description,
      "'\(new.name)' has changed its alignment from \(old.alignment) to \(new.alignment)",
      "Dflat reads it all the same; readers of other languages may ask for the alignment",
      old.position, new.position)
  }
}
