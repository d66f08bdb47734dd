// Whether objects of one schema can be read by another, slot by slot.
//
//  - Names are not compared: they may change. So may whether a field is required, its default, and
//    the sign of an integer.
//  - Fields that only one of the two schemas has, and deprecated ones, are left out.

import Dflat

extension BinarySchema {
  /// What would be misread if objects of this schema were read by another; nil if nothing.
  func misreading(by other: BinarySchema) -> String? {
    if keyBases != other.keyBases { return "the primary keys are not of the same types" }
    var comparison = Misreading(old: self, new: other)
    return comparison.objects(root, other.root)
  }

  /// What the fields of the primary key are, by their slots.
  private var keyBases: [Int: BaseType] {
    let keys = object(root)?.fields.filter { $0.attributes["primary"] != nil } ?? []
    return Dictionary(keys.map { ($0.id, $0.type.base) }) { first, _ in first }
  }

  fileprivate func object(_ name: String) -> Object? { objects.first { $0.name == name } }

  fileprivate func union(_ name: String?) -> Enumeration? { enums.first { $0.name == name } }
}

/// A comparison of two schemas. Objects may contain each other, and each pair is compared once.
private struct Misreading {
  let old: BinarySchema
  let new: BinarySchema
  private var compared: Set<[String]> = []

  init(old: BinarySchema, new: BinarySchema) {
    self.old = old
    self.new = new
  }

  mutating func objects(_ oldName: String, _ newName: String) -> String? {
    guard compared.insert([oldName, newName]).inserted, let before = old.object(oldName),
      let after = new.object(newName)
    else { return nil }
    if before.isStruct != after.isStruct || before.size != after.size {
      return "'\(oldName)' and '\(newName)' are not of the same size"
    }
    for field in before.fields where !field.isDeprecated {
      guard
        let other = after.fields.first(where: { $0.offset == field.offset && !$0.isDeprecated })
      else { continue }
      if !types(field.type, other.type) {
        return "'\(oldName).\(field.name)' and '\(newName).\(other.name)' have one slot and are "
          + "not of the same type"
      }
      if let found = parts(field.type, other.type) { return found }
    }
    return nil
  }

  /// Whether values of two types have the same form.
  private func types(_ before: BinarySchema.FieldType, _ after: BinarySchema.FieldType) -> Bool {
    before.base.form == after.base.form && before.element.form == after.element.form
      && before.count == after.count
  }

  /// What would be misread inside values of two types of the same form.
  private mutating func parts(
    _ before: BinarySchema.FieldType, _ after: BinarySchema.FieldType
  ) -> String? {
    guard let oldName = before.name, let newName = after.name else { return nil }
    if before.base == .object || before.element == .object { return objects(oldName, newName) }
    guard let union = old.union(oldName), let other = new.union(newName), union.isUnion else {
      return nil
    }
    for member in union.values {
      guard let type = member.type,
        let otherType = other.values.first(where: { $0.value == member.value })?.type
      else { continue }
      if !types(type, otherType) {
        return "the members \(member.value) of '\(oldName)' and '\(newName)' are not of the same "
          + "type"
      }
      if let found = parts(type, otherType) { return found }
    }
    return nil
  }
}

extension BinarySchema.BaseType {
  /// One of the types that are stored alike.
  fileprivate var form: Self {
    switch self {
    case .bool, .byte, .ubyte: .byte
    case .short, .ushort: .short
    case .int, .uint: .int
    case .long, .ulong: .long
    default: self
    }
  }
}
