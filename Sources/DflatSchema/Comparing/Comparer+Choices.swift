// Enums and unions: values are identified by their numbers, members by their tags.

extension Comparer {
  // MARK: Enums

  mutating func compare(_ old: EnumDefinition, _ new: EnumDefinition) {
    compareUnderlying(old, new)
    let byName = Dictionary(new.values.map { (enumCaseName($0.name), $0) }) { first, _ in first }
    let byNumber = Dictionary(new.values.map { ($0.value, $0) }) { first, _ in first }
    let oldNames = Set(old.values.map { enumCaseName($0.name) })
    var matched: Set<String> = []
    for value in old.values {
      let renamed = byNumber[value.value].flatMap {
        oldNames.contains(enumCaseName($0.name)) ? nil : $0
      }
      guard let place = byName[enumCaseName(value.name)] ?? renamed else {
        let occupant = byNumber[value.value]
        report(
          .enumValueRemoved, .incompatible, "\(new.name).\(value.name)", "'\(value.name)' is gone",
          occupant.map { "what is stored as '\(value.name)' reads as '\($0.name)'" }
            ?? "what is stored as '\(value.name)' reads as the default of its field",
          value.position,
          occupant?.position ?? new.position)
        continue
      }
      matched.insert(place.name)
      compare(value, place, new, old, byNumber[value.value])
    }
    for value in new.values where !matched.contains(value.name) { reportAddition(value, old, new) }
    compareAttributes(
      old.attributes, new.attributes, new.name.description, old.position, new.position)
  }

  private mutating func compare(
    _ old: EnumDefinition.Value, _ new: EnumDefinition.Value, _ type: EnumDefinition,
    _ oldType: EnumDefinition, _ occupant: EnumDefinition.Value?
  ) {
    let subject = "\(type.name).\(new.name)"
    if old.value != new.value {
      return report(
        .enumValueRenumbered, .incompatible, subject,
        "'\(new.name)' has changed its number from \(oldType.text(of: old.value)) to \(type.text(of: new.value))",
        "what is stored as '\(old.name)' reads as "
          + (occupant.map { "'\($0.name)'" } ?? "the default of its field")
          + "; append new values, or give every value its number", old.position, new.position)
    }
    guard old.name != new.name else { return }
    report(
      .enumValueRenamed, .compatible, subject, "'\(old.name)' is now called '\(new.name)'",
      enumCaseName(old.name) == enumCaseName(new.name)
        ? "nothing changes: both are '\(enumCaseName(new.name))' in Swift"
        : "nothing changes on disk, where values are numbers; programs use the new name",
      old.position, new.position)
  }

  private mutating func reportAddition(
    _ value: EnumDefinition.Value, _ old: EnumDefinition, _ new: EnumDefinition
  ) {
    let subject = "\(new.name).\(value.name)"
    if let owner = old.values.first(where: { $0.value == value.value }) {
      return report(
        .enumValueAdded, .incompatible, subject,
        "'\(value.name)' is new, with \(new.text(of: value.value)), which was the number of '\(owner.name)'",
        "what is stored as '\(owner.name)' reads as '\(value.name)'; give it a number of its own",
        owner.position, value.position)
    }
    report(
      .enumValueAdded, .compatible, subject, "'\(value.name)' is new",
      new.isBitFlags
        ? "programs of the old version have no name for the bit"
        : "programs of the old version read it as the default of its field, and keep it when they update an object",
      old.position, value.position)
  }

  private mutating func compareUnderlying(_ old: EnumDefinition, _ new: EnumDefinition) {
    let subject = new.name.description
    if old.underlying != new.underlying {
      let isAsWide = old.underlying.size == new.underlying.size
      report(
        .enumTypeChanged, isAsWide ? .compatible : .incompatible, subject,
        "the type under '\(new.name)' has changed from '\(old.underlying)' to '\(new.underlying)'",
        isAsWide
          ? "nothing changes on disk, where both take \(new.underlying.size) bytes; raw values in Swift have another type"
          : "values are stored with \(old.underlying.size) bytes and read with \(new.underlying.size)",
        old.position, new.position)
    }
    guard old.isBitFlags != new.isBitFlags else { return }
    report(
      new.isBitFlags ? .bitFlagsAdded : .bitFlagsRemoved,
      new.isBitFlags ? .caution : .incompatible, subject,
      new.isBitFlags ? "'\(new.name)' is bit flags now" : "'\(new.name)' is no longer bit flags",
      new.isBitFlags
        ? "programs of the old version read combined values as the default of the field"
        : "stored combinations of values read as the default of the field", old.position,
      new.position)
  }

  // MARK: Unions

  mutating func compare(_ old: UnionDefinition, _ new: UnionDefinition) {
    let byName = Dictionary(new.members.map { (unionCaseName($0.name), $0) }) { first, _ in first }
    let byTag = Dictionary(new.members.map { ($0.tag, $0) }) { first, _ in first }
    let oldNames = Set(old.members.map { unionCaseName($0.name) })
    var matched: Set<Int> = []
    for member in old.members {
      let renamed = byTag[member.tag].flatMap {
        oldNames.contains(unionCaseName($0.name)) ? nil : $0
      }
      guard let place = byName[unionCaseName(member.name)] ?? renamed else {
        let occupant = byTag[member.tag]
        report(
          .unionMemberRemoved, .incompatible, "\(new.name).\(member.name)",
          "'\(member.name)' is gone",
          (occupant.map { "what is stored as '\(member.name)' is read as '\($0.name)'" }
            ?? "what is stored as '\(member.name)' reads as an empty union") + "; keep the member",
          member.position, occupant?.position ?? new.position)
        continue
      }
      matched.insert(place.tag)
      compare(member, place, new, byTag[member.tag])
    }
    for member in new.members where !matched.contains(member.tag) {
      reportAddition(member, old, new)
    }
    compareAttributes(
      old.attributes, new.attributes, new.name.description, old.position, new.position)
  }

  private mutating func compare(
    _ old: UnionDefinition.Member, _ new: UnionDefinition.Member, _ type: UnionDefinition,
    _ occupant: UnionDefinition.Member?
  ) {
    let subject = "\(type.name).\(new.name)"
    if old.tag != new.tag {
      return report(
        .unionMemberRenumbered, .incompatible, subject,
        "'\(new.name)' has changed its tag from \(old.tag) to \(new.tag)",
        "what is stored as '\(old.name)' is read as "
          + (occupant.map { "'\($0.name)'" } ?? "an empty union")
          + "; append new members, or give every member its tag", old.position, new.position)
    }
    switch relate(old.type, new.type) {
    case .same, .length: break
    case .alike(let reason):
      reportMemberType(.compatible, old, new, subject, reason)
    case .differs(let reason):
      reportMemberType(.incompatible, old, new, subject, reason)
    }
    // A member without an alias has the name of its type, whose renaming is reported separately.
    guard old.name != new.name, !isNamedByType(old, new) else { return }
    report(
      .unionMemberRenamed, .compatible, subject, "'\(old.name)' is now called '\(new.name)'",
      "nothing changes on disk, where members are tags; programs use the new name",
      old.position, new.position)
  }

  private func isNamedByType(_ old: UnionDefinition.Member, _ new: UnionDefinition.Member) -> Bool {
    func hasTypeName(_ member: UnionDefinition.Member) -> Bool {
      switch member.type {
      case .table(let name), .structure(let name): name.name == member.name
      default: false
      }
    }
    return hasTypeName(old) && hasTypeName(new)
  }

  private mutating func reportMemberType(
    _ severity: SchemaChange.Severity, _ old: UnionDefinition.Member,
    _ new: UnionDefinition.Member, _ subject: String, _ effect: String
  ) {
    report(
      .unionMemberTypeChanged, severity, subject,
      "'\(new.name)' has changed its type from '\(old.type)' to '\(new.type)'", effect,
      old.position, new.position)
  }

  private mutating func reportAddition(
    _ member: UnionDefinition.Member, _ old: UnionDefinition, _ new: UnionDefinition
  ) {
    let subject = "\(new.name).\(member.name)"
    if let owner = old.members.first(where: { $0.tag == member.tag }) {
      return report(
        .unionMemberAdded, .incompatible, subject,
        "'\(member.name)' is new, with tag \(member.tag), which was that of '\(owner.name)'",
        "what is stored as '\(owner.name)' is read as '\(member.name)'; append new members",
        owner.position, member.position)
    }
    report(
      .unionMemberAdded, .compatible, subject, "'\(member.name)' is new",
      "programs of the old version read it as an empty union, and keep it when they update an object",
      old.position, member.position)
  }
}

extension EnumDefinition {
  /// A value as written in schemas; bits for flags.
  fileprivate func text(of value: Int64) -> String {
    underlying.isUnsigned ? "\(UInt64(bitPattern: value))" : "\(value)"
  }
}
