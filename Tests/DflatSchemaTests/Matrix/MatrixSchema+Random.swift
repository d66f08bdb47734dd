// Random schemas for the test matrix of changes.

import SeededRandom

extension MatrixSchema {
  static let integers = ["byte", "ubyte", "short", "ushort", "int", "uint", "long", "ulong"]
  static let scalars = integers + ["bool", "float", "double"]

  /// A schema in which everything is stored somewhere. All types are elements of vectors in the
  /// root, where sizes matter.
  static func random(_ random: inout SeededGenerator) -> MatrixSchema {
    var schema = MatrixSchema()
    schema.addEnum(isFlags: false, &random)
    schema.addEnum(isFlags: true, &random)
    for _ in 0..<2 { schema.addStruct(&random) }
    let tables = (0..<3).map { _ in schema.addTable(fields: []) }
    let union = schema.fresh()
    schema.entries.append(
      Entry(
        id: union, name: "T\(union)",
        content: .union(
          tables.prefix(2).enumerated().map { index, table in
            let id = schema.fresh()
            return Member(id: id, name: "M\(id)", type: table, tag: index + 1)
          })))
    for table in tables {
      for _ in 0..<Int.random(in: 2...4, using: &random) { schema.appendField(table, &random) }
    }
    schema.addRoot(union: union, &random)
    return schema
  }

  private mutating func addRoot(union: Int, _ random: inout SeededGenerator) {
    var fields = [newField(.string), newField(.scalar("int"))]
    fields[0].isPrimary = true
    fields[1].isPrimary = true
    fields += (enums + structs).map { newField(.vector(.type($0))) }
    fields.append(newField(.type(union)))
    fields.append(newField(.type(structs[0])))
    fields += [newField(.scalar("long")), newField(.scalar("long"))]
    fields += tables.map { newField(.vector(.type($0))) }
    root = addTable(fields: fields)
    for _ in 0..<Int.random(in: 3...5, using: &random) { appendField(root, &random) }
    if Bool.random(using: &random) { version = "1" }
  }

  private mutating func addEnum(isFlags: Bool, _ random: inout SeededGenerator) {
    let id = fresh()
    let underlying = isFlags ? "ubyte" : ["byte", "short", "int"].randomElement(using: &random)!
    let values = (0..<Int.random(in: 3...4, using: &random)).map { number in
      let id = fresh()
      return Value(id: id, name: "V\(id)", number: number)
    }
    entries.append(
      Entry(
        id: id, name: "T\(id)",
        content: .enumeration(underlying: underlying, isFlags: isFlags, values)))
  }

  private mutating func addStruct(_ random: inout SeededGenerator) {
    let others = structs
    var fields = (0..<Int.random(in: 2...3, using: &random)).map { _ in
      newField(.scalar(Self.scalars.randomElement(using: &random)!))
    }
    fields.append(newField(.array(.scalar("short"), Int.random(in: 2...3, using: &random))))
    if let other = others.first, Bool.random(using: &random) {
      fields.append(newField(.type(other)))
    }
    let id = fresh()
    entries.append(Entry(id: id, name: "T\(id)", content: .structure(fields)))
  }

  @discardableResult
  mutating func addTable(fields: [Field]) -> Int {
    let id = fresh()
    entries.append(Entry(id: id, name: "T\(id)", content: .table(fields)))
    return id
  }

  mutating func newField(_ kind: Kind) -> Field {
    let id = fresh()
    return Field(id: id, name: "f\(id)", kind: kind)
  }

  mutating func appendField(_ table: Int, _ random: inout SeededGenerator) {
    let field = randomField(&random)
    edit(table) { $0.append(field) }
  }

  mutating func randomField(_ random: inout SeededGenerator) -> Field {
    let scalar = Kind.scalar(Self.scalars.randomElement(using: &random)!)
    let kinds: [Kind] = [
      scalar, scalar, .string, .type(enums.randomElement(using: &random)!),
      .type(structs.randomElement(using: &random)!), .type(tables.randomElement(using: &random)!),
      unions.randomElement(using: &random).map { .type($0) } ?? .string,
      .vector(scalar), .vector(.string), .vector(.type(tables.randomElement(using: &random)!)),
    ]
    var field = newField(kinds.randomElement(using: &random)!)
    field.standard = randomStandard(field.kind, &random)
    if case .string = field.kind, Int.random(in: 0..<4, using: &random) == 0 {
      field.isRequired = true
    }
    switch field.kind {
    case .scalar, .string:
      if Int.random(in: 0..<4, using: &random) == 0 { field.index = "indexed" }
    default: break
    }
    return field
  }

  /// A default for a field of the kind, perhaps none.
  func randomStandard(_ kind: Kind, _ random: inout SeededGenerator) -> Standard? {
    switch kind {
    case .scalar("bool"), .scalar("float"), .scalar("double"):
      return Int.random(in: 0..<3, using: &random) == 0 ? .null : nil
    case .scalar:
      return [nil, .null, .integer(Int.random(in: 1...9, using: &random))].randomElement(
        using: &random)!
    case .type(let id) where enums.contains(id) && !isFlags(id):
      return [nil, .value(values(id).randomElement(using: &random)!.id)].randomElement(
        using: &random)!
    default: return nil
    }
  }
}
