// Defaults: the value of an absent field.
//
// A value that equals the default is not stored, so another default changes the value of the
// objects without it. An index is rebuilt for the new default; the columns of a key are not.

extension Comparer {
  mutating func compareDefaults(
    _ old: FieldDefinition, _ new: FieldDefinition, _ subject: String, isRoot: Bool
  ) {
    let (left, right) = (meaning(of: old), meaning(of: new))
    guard old.type.hasTag == new.type.hasTag, left != right else { return }
    // A field that is neither a scalar nor a string has no default except absence, and its type has
    // changed.
    guard old.type.hasDefault, new.type.hasDefault else { return }
    let (before, after) = (absent(old, in: self.old), absent(new, in: self.new))
    // The default of an enum is the same name, and the name has another number.
    let numbers = before == after ? (number(of: old), number(of: new)) : nil
    let message =
      switch (old.defaultValue, new.defaultValue) {
      case (_, .null):
        "'\(new.name)' has become optional, with nil instead of the default \(before)"
      case (.null, _): "'\(new.name)' is no longer optional, and its default is \(after)"
      default:
        numbers.map {
          "the default of '\(new.name)', \(after), has changed its number from \($0) to \($1)"
        } ?? "the default of '\(new.name)' has changed from \(before) to \(after)"
      }
    let reading =
      numbers == nil
      ? "defaults are not stored: objects that hold no value read as \(after) instead of \(before), and for programs of "
        + "the old version it is the other way round"
      : "defaults are not stored: objects that hold no value read as \(after), as before"
    if isRoot, old.isPrimary, new.isPrimary {
      return report(
        .defaultChanged, .incompatible, subject, message,
        "the key columns of such objects go on saying \(numbers?.0 ?? before) while the objects read as \(numbers?.1 ?? after)",
        old.position, new.position)
    }
    let index = keptIndexes[new.position].map { tables in
      ". The side table \(listed(tables)) was filled with \(numbers?.0 ?? before) for them, and is built again"
    }
    report(
      .defaultChanged, .caution, subject, message, reading + (index ?? ""), old.position,
      new.position)
  }

  /// What an object without the field reads, worded for a message.
  func absent(_ field: FieldDefinition, in schema: Schema) -> String {
    switch field.type {
    case .vector: return "[]"
    case .string where field.isPrimary && field.defaultValue == nil: return "\"\""
    default: break
    }
    switch field.defaultValue {
    case nil, .null: return "nil"
    case .bool(let value): return "\(value)"
    case .integer(let value): return name(of: value, field.type, in: schema) ?? "\(value)"
    case .unsigned(let value):
      return name(of: Int64(bitPattern: value), field.type, in: schema) ?? "\(value)"
    case .real(let value): return "\(value)"
    case .string(let value): return "\"\(value)\""
    }
  }

  /// The default of an integer or enum as a number.
  private func number(of field: FieldDefinition) -> String {
    switch field.defaultValue {
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    default: "nil"
    }
  }

  private func name(of value: Int64, _ type: FieldType, in schema: Schema) -> String? {
    guard case .enumeration(let name) = type, case .enumeration(let definition) = schema.types[name]
    else { return nil }
    return definition.values.first { $0.value == value }?.name
  }

  /// The comparable form of a field's default: enums and integers by their bits, reals by their
  /// stored value.
  private enum Meaning: Equatable {
    case nothing
    case integer(Int64)
    case real(UInt64)
    case text(String)
  }

  private func meaning(of field: FieldDefinition) -> Meaning {
    switch field.defaultValue {
    case nil, .null: .nothing
    case .bool(let value): .integer(value ? 1 : 0)
    case .integer(let value): .integer(value)
    case .unsigned(let value): .integer(Int64(bitPattern: value))
    case .real(let value):
      .real((field.type == .scalar(.float) ? Double(Float(value)) : value).bitPattern)
    case .string(let value): .text(value)
    }
  }
}

/// The first few names, and the number of the others.
func listed(_ names: [String]) -> String {
  let more = names.count > 1 ? " (and \(names.count - 1) more)" : ""
  return "'\(names.first ?? "")'\(more)"
}

extension FieldType {
  fileprivate var hasDefault: Bool {
    switch self {
    case .scalar, .enumeration, .string: true
    case .structure, .table, .union, .vector, .array: false
    }
  }
}
