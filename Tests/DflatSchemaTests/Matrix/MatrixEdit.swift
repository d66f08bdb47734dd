// Random edits of a schema, those that the rules allow and those that they forbid.
//
// An edit says nothing about the verdict. It is nil where it cannot be made.

import SeededRandom

enum MatrixEdit: String, CaseIterable {
  // Allowed.
  case appendField, renameField, deprecate, restore, renameType, renameValue, renameMember
  case appendValue, appendMember, changeDefault, addIndex, removeIndex, declareInAnotherOrder
  case addTable, changeVersion
  // Forbidden.
  case insertField, removeField, swapFields, changeScalar, changeKind, addRequired, removeRequired
  case addPrimary, removePrimary, reorderPrimary, renameRoot
  case addStructField, removeStructField, swapStructFields, changeStructScalar, changeArrayLength
  case removeValue, insertValue, renumberValue, widenEnum
  case removeMember, swapMembers, changeMember

  static let allowed = Array(allCases.prefix { $0 != .insertField })
  static let forbidden = Array(allCases.drop { $0 != .insertField })

  /// Makes the edit; false if the schema has nothing to make it on.
  func apply(to schema: inout MatrixSchema, _ random: inout SeededGenerator) -> Bool {
    switch self {
    case .appendField, .renameField, .deprecate, .restore, .changeDefault, .addIndex, .removeIndex,
      .insertField, .removeField, .swapFields, .changeScalar, .changeKind, .addRequired,
      .removeRequired:
      return editTable(&schema, &random)
    case .addStructField, .removeStructField, .swapStructFields, .changeStructScalar,
      .changeArrayLength:
      return editStruct(&schema, &random)
    case .appendValue, .renameValue, .removeValue, .insertValue, .renumberValue, .widenEnum:
      return editEnum(&schema, &random)
    case .appendMember, .renameMember, .removeMember, .swapMembers, .changeMember:
      return editUnion(&schema, &random)
    case .renameType:
      let types = schema.entries.map(\.id).filter { $0 != schema.root }
      guard let type = types.randomElement(using: &random) else { return false }
      schema.entries[schema.place(type)].name = "R\(schema.fresh())"
    case .declareInAnotherOrder:
      let table = schema.tables.randomElement(using: &random)!
      let keys = schema.keys
      var order = schema.fields(table).map(\.id).shuffled(using: &random)
      // Keys stay in order.
      let places = order.indices.filter { keys.contains(order[$0]) }
      if table == schema.root { for (place, key) in zip(places, keys) { order[place] = key } }
      schema.entries[schema.place(table)].declared = order
    case .addTable:
      let table = schema.addTable(fields: [])
      schema.appendField(table, &random)
    case .changeVersion: schema.version = "\(schema.fresh())"
    case .renameRoot: schema.entries[schema.place(schema.root)].name = "R\(schema.fresh())"
    case .addPrimary, .removePrimary, .reorderPrimary: return editKey(&schema, &random)
    }
    return true
  }

  // MARK: Tables

  private func editTable(_ schema: inout MatrixSchema, _ random: inout SeededGenerator) -> Bool {
    let table =
      self == .swapFields && Bool.random(using: &random)
      ? schema.root : schema.tables.randomElement(using: &random)!
    let fields = schema.fields(table)
    func pick(_ isWanted: (MatrixSchema.Field) -> Bool) -> Int? {
      fields.indices.filter { !fields[$0].isPrimary && isWanted(fields[$0]) }
        .randomElement(using: &random)
    }
    let at: Int?
    switch self {
    case .appendField:
      var field = schema.randomField(&random)
      field.isRequired = false
      schema.edit(table) { $0.append(field) }
      return true
    case .insertField:
      guard !fields.isEmpty else { return false }
      var field = schema.randomField(&random)
      field.isRequired = false
      let place = Int.random(in: 0..<fields.count, using: &random)
      schema.edit(table) { $0.insert(field, at: place) }
      return true
    case .renameField: at = fields.indices.randomElement(using: &random)
    case .deprecate: at = pick { !$0.isDeprecated && !$0.isRequired }
    case .restore: at = pick(\.isDeprecated)
    case .changeDefault: at = pick { schema.isScalar($0.kind) && !$0.isDeprecated }
    case .addIndex:
      at = pick {
        if case .vector = $0.kind { return false }
        return (schema.isScalar($0.kind) || $0.kind == .string) && !$0.isDeprecated
      }
    case .removeIndex: at = pick { $0.index != nil }
    case .removeField: at = pick { _ in fields.count > 1 }
    case .swapFields:
      let pairs = fields.indices.dropLast()
      // Two of one kind are what a comparison of types would miss, but two of a few values may be
      // the same in all objects.
      let alike = pairs.filter { fields[$0].kind == fields[$0 + 1].kind }
      at =
        alike.filter { !schema.isScalar(fields[$0].kind) || MatrixSchema.isNumber(fields[$0].kind) }
        .randomElement(using: &random)
        ?? pairs.filter { !alike.contains($0) }.randomElement(using: &random)
    case .changeScalar:
      at = pick { if case .scalar = $0.kind { true } else { false } }
    case .changeKind: at = pick { _ in true }
    case .addRequired:
      // Tables that need themselves would have no end.
      at = pick {
        !$0.isRequired && !$0.isDeprecated && ($0.kind == .string || $0.kind == .vector(.string))
      }
    case .removeRequired: at = pick { $0.isRequired && !$0.isDeprecated }
    default: return false
    }
    guard let at else { return false }
    let number = schema.fresh()
    let field = changed(fields[at], number, schema, &random)
    schema.edit(table) { fields in
      switch self {
      case .removeField: fields.remove(at: at)
      case .swapFields: fields.swapAt(at, at + 1)
      default: fields[at] = field
      }
    }
    return true
  }

  private func changed(
    _ old: MatrixSchema.Field, _ number: Int, _ schema: MatrixSchema,
    _ random: inout SeededGenerator
  ) -> MatrixSchema.Field {
    var field = old
    switch self {
    case .renameField: field.name = "g\(number)"
    case .deprecate: field.isDeprecated = true
    case .restore: field.isDeprecated = false
    case .changeDefault: field.standard = schema.randomStandard(field.kind, &random)
    case .addIndex: field.index = ["indexed", "unique"].randomElement(using: &random)
    case .removeIndex: field.index = nil
    case .addRequired: field.isRequired = true
    case .removeRequired: field.isRequired = false
    case .changeScalar:
      let others = MatrixSchema.scalars.filter { .scalar($0) != field.kind }
      field.kind = .scalar(others.randomElement(using: &random)!)
      field.standard = nil
    case .changeKind:
      let kinds: [MatrixSchema.Kind] = [
        .scalar("long"), .string, .vector(.string), .type(schema.structs[0]),
        .type(schema.tables[0]),
      ]
      field.kind = kinds.filter { $0 != field.kind }.randomElement(using: &random)!
      (field.standard, field.isRequired, field.index) = (nil, false, nil)
    default: break
    }
    return field
  }

  private func editKey(_ schema: inout MatrixSchema, _ random: inout SeededGenerator) -> Bool {
    let fields = schema.fields(schema.root)
    if self == .reorderPrimary {
      var order = schema.entry(schema.root).declared ?? fields.map(\.id)
      let places = order.indices.filter { schema.keys.contains(order[$0]) }
      guard places.count > 1 else { return false }
      order.swapAt(places[0], places[1])
      schema.entries[schema.place(schema.root)].declared = order
      return true
    }
    let candidates = fields.indices.filter { place in
      let field = fields[place]
      guard self == .addPrimary else { return field.isPrimary && field.kind != .string }
      return !field.isPrimary && !field.isDeprecated && field.standard != .null
        && (field.kind == .string || schema.isScalar(field.kind))
    }
    guard let at = candidates.randomElement(using: &random) else { return false }
    schema.edit(schema.root) { $0[at].isPrimary.toggle() }
    return true
  }

  // MARK: Structs

  private func editStruct(_ schema: inout MatrixSchema, _ random: inout SeededGenerator) -> Bool {
    let id = schema.structs.randomElement(using: &random)!
    let fields = schema.fields(id)
    let scalars = fields.indices.filter {
      if case .scalar = fields[$0].kind { true } else { false }
    }
    let arrays = fields.indices.filter { if case .array = fields[$0].kind { true } else { false } }
    switch self {
    case .addStructField:
      let field = schema.newField(.scalar("long"))
      schema.edit(id) { $0.append(field) }
    case .removeStructField:
      guard fields.count > 1 else { return false }
      schema.edit(id) { $0.remove(at: 0) }
    case .swapStructFields:
      guard fields[0].kind != .scalar("bool") || fields[1].kind != .scalar("bool") else {
        return false
      }
      schema.edit(id) { $0.swapAt(0, 1) }
    case .changeStructScalar:
      let at = scalars.randomElement(using: &random)!
      let others = MatrixSchema.scalars.filter { .scalar($0) != fields[at].kind }
      let kind = MatrixSchema.Kind.scalar(others.randomElement(using: &random)!)
      schema.edit(id) { $0[at].kind = kind }
    default:
      guard let at = arrays.first, case .array(let element, let count) = fields[at].kind else {
        return false
      }
      schema.edit(id) { $0[at].kind = .array(element, count + 1) }
    }
    return true
  }

  // MARK: Enums and unions

  private func editEnum(_ schema: inout MatrixSchema, _ random: inout SeededGenerator) -> Bool {
    let id = schema.enums.randomElement(using: &random)!
    let values = schema.values(id)
    let number = schema.fresh()
    let value = MatrixSchema.Value(id: number, name: "V\(number)", number: values.last!.number + 1)
    // Defaults and the value 0, which is the first, stay, or other values would be defaults.
    let used = Set(
      schema.tables.flatMap(schema.fields).compactMap { field -> Int? in
        if case .value(let id) = field.standard { id } else { nil }
      })
    let free = values.indices.dropFirst().filter { !used.contains(values[$0].id) }
    switch self {
    case .appendValue:
      guard values.count < 7 else { return false }
      schema.edit(values: id) { $0.append(value) }
    case .renameValue:
      let at = values.indices.randomElement(using: &random)!
      schema.edit(values: id) { $0[at].name = "W\(number)" }
    case .removeValue:
      guard let at = free.randomElement(using: &random) else { return false }
      schema.edit(values: id) { $0.remove(at: at) }
    case .insertValue:
      guard values.count < 7 else { return false }
      schema.edit(values: id) { values in
        values.insert(value, at: 1)
        for place in values.indices { values[place].number = place }
      }
    case .renumberValue:
      guard values.last!.number < 6 else { return false }
      schema.edit(values: id) { $0[$0.count - 1].number += 1 }
    default:
      let place = schema.place(id)
      guard case .enumeration(let underlying, let isFlags, _) = schema.entries[place].content else {
        return false
      }
      let wider = ["byte": "short", "short": "int", "int": "long", "ubyte": "ushort"][underlying]
      guard let wider else { return false }
      schema.entries[place].content = .enumeration(underlying: wider, isFlags: isFlags, values)
    }
    return true
  }

  private func editUnion(_ schema: inout MatrixSchema, _ random: inout SeededGenerator) -> Bool {
    let id = schema.unions.randomElement(using: &random)!
    let members = schema.members(id)
    let number = schema.fresh()
    let at = members.indices.randomElement(using: &random)!
    switch self {
    case .appendMember:
      let type = schema.tables.filter { $0 != schema.root }.randomElement(using: &random)!
      let tag = members.map(\.tag).max()! + 1
      schema.edit(members: id) {
        $0.append(MatrixSchema.Member(id: number, name: "M\(number)", type: type, tag: tag))
      }
    case .renameMember: schema.edit(members: id) { $0[at].name = "N\(number)" }
    case .removeMember:
      guard members.count > 1 else { return false }
      schema.edit(members: id) { $0.remove(at: at) }
    case .swapMembers:
      schema.edit(members: id) { members in
        (members[0].tag, members[1].tag) = (members[1].tag, members[0].tag)
        members.sort { $0.tag < $1.tag }
      }
    default:
      // Another table, whose first field is of another kind.
      let isText = schema.fields(members[at].type).first?.kind == .string
      let field = schema.newField(isText ? .scalar("long") : .string)
      let type = schema.addTable(fields: [field])
      schema.edit(members: id) { $0[at].type = type }
    }
    return true
  }
}
