// The types of fields, elements and members: whether the bytes of one type can be read as another.

extension Comparer {
  /// The relation of two types in the same position.
  enum Relation {
    /// The same, or two declared types whose differences are reported separately.
    case same
    /// Different, but compatible; with the reason.
    case alike(String)
    case differs(String)
    /// Only the length of a fixed array differs.
    case length(Int, Int)
  }

  /// Compares the types, and schedules the comparison of declared types.
  mutating func relate(_ old: FieldType, _ new: FieldType) -> Relation {
    switch (old, new) {
    case (.scalar(let left), .scalar(let right)) where left == right: return .same
    case (.string, .string): return .same
    case (.vector(let left), .vector(let right)): return relate(left, right)
    case (.array(let left, let count), .array(let right, let length)):
      guard count == length else { return .length(count, length) }
      return relate(left, right)
    case (.enumeration(let name), .scalar(let scalar)):
      guard case .enumeration(let definition) = self.old.types[name],
        definition.underlying == scalar
      else { return misread(old, new) }
      return .alike(
        "the same numbers are read; programs of the old version read one that '\(name)' has no "
          + "value for as the default")
    case (.scalar(let scalar), .enumeration(let name)):
      guard case .enumeration(let definition) = self.new.types[name],
        definition.underlying == scalar
      else { return misread(old, new) }
      return .differs("stored numbers that '\(name)' has no value for read as the default")
    default:
      guard let left = old.declared, let right = new.declared else { return misread(old, new) }
      return relate(old, new, Pair(old: left, new: right))
    }
  }

  private mutating func relate(_ old: FieldType, _ new: FieldType, _ pair: Pair) -> Relation {
    // If a type has changed from a table to a struct, that is reported once, at the type.
    if pair.old == pair.new || (old.isKind(of: new) && isRenaming(pair)) {
      follow(pair)
      return .same
    }
    guard old.isKind(of: new) else { return misread(old, new) }
    if let obstacle = obstacle(pair) {
      return .differs(
        "what is stored as '\(pair.old)' is misread as '\(pair.new)': \(obstacle.message)")
    }
    return .alike("'\(pair.new)' reads what is stored as '\(pair.old)'")
  }

  private func misread(_ old: FieldType, _ new: FieldType) -> Relation {
    .differs("what is stored as '\(old)' is misread as '\(new)', or refused as damaged")
  }
}

extension FieldType {
  /// The declared type that this type names.
  fileprivate var declared: QualifiedName? {
    switch self {
    case .enumeration(let name), .structure(let name), .table(let name), .union(let name): name
    case .scalar, .string, .vector, .array: nil
    }
  }

  fileprivate func isKind(of other: FieldType) -> Bool {
    switch (self, other) {
    case (.enumeration, .enumeration), (.structure, .structure), (.table, .table), (.union, .union):
      true
    default: false
    }
  }
}
