// SchemaFit: whether objects of one schema can stand beside those of another in one table.

import Dflat

/// Compares a schema that is given with the one that a store has of the same table.
///
/// Fields are compared where both have one at the same place. A field that only one of them has
/// does no harm, nor do other names. Types that are referred to are compared in pairs, each pair
/// once, so circles end.
struct SchemaFit {
  private let given: BinarySchema
  private let stored: BinarySchema
  private var seen: Set<[String]> = []
  private var problem: String?

  /// What makes the objects of one schema unreadable by the other; nil if nothing does.
  static func problem(of given: EntitySchema, beside stored: EntitySchema) -> String? {
    let keys = (given.primaryKey.map(\.path), stored.primaryKey.map(\.path))
    if keys.0 != keys.1 { return "its primary key has other fields" }
    var fit = SchemaFit(given: BinarySchema(given), stored: BinarySchema(stored))
    fit.compareObjects(fit.given.root, fit.stored.root, at: "")
    return fit.problem
  }

  private init(given: BinarySchema, stored: BinarySchema) {
    self.given = given
    self.stored = stored
  }

  private mutating func compareObjects(_ mine: String, _ other: String, at path: String) {
    guard problem == nil, seen.insert([mine, other]).inserted,
      let one = given.objects.first(where: { $0.name == mine }),
      let two = stored.objects.first(where: { $0.name == other })
    else { return }
    if one.isStruct, one.size != two.size {
      problem = "\(path) has \(one.size) bytes, and \(two.size) in the store"
      return
    }
    for field in one.fields where !field.isDeprecated {
      guard let known = two.fields.first(where: { $0.id == field.id }), !known.isDeprecated else {
        continue
      }
      let place = path.isEmpty ? field.name : "\(path).\(field.name)"
      compare(field.type, known.type, at: place)
    }
  }

  private mutating func compare(
    _ mine: BinarySchema.FieldType, _ other: BinarySchema.FieldType, at path: String
  ) {
    guard problem == nil else { return }
    if mine.base != other.base || mine.element != other.element || mine.count != other.count
      || isStruct(mine, in: given) != isStruct(other, in: stored)
    {
      problem = "\(path) is \(text(mine)), and \(text(other)) in the store"
      return
    }
    guard let one = mine.name, let two = other.name else { return }
    if let union = given.enums.first(where: { $0.name == one && $0.isUnion }) {
      let known = stored.enums.first { $0.name == two }
      for member in union.values {
        guard let type = member.type,
          let same = known?.values.first(where: { $0.value == member.value })?.type
        else { continue }
        compare(type, same, at: "\(path).\(member.name)")
      }
    } else {
      compareObjects(one, two, at: path)
    }
  }

  private func isStruct(_ type: BinarySchema.FieldType, in schema: BinarySchema) -> Bool {
    schema.objects.contains { $0.name == type.name && $0.isStruct }
  }

  private func text(_ type: BinarySchema.FieldType) -> String {
    switch type.base {
    case .vector, .array: "\(type.base) of \(type.name ?? "\(type.element)")"
    case .object, .union: type.name ?? "\(type.base)"
    default: "\(type.base)"
    }
  }
}
