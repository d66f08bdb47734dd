// EntityModeler: from the used fields of a GraphQL schema to the model of an entity.
//
// The key is in the root, in the tables of interfaces and unions, and nowhere else. A reference to
// an entity of this run is the key of the other object, as a text or in its own type; a key of
// several fields is a table of its own. Where an entity is a member of an interface or union, such
// a table holds its key.

import DflatSchema
import GraphQLSchema

struct EntityModeler {
  let schema: GraphQLSchema.Schema
  let entity: NamedType
  let used: UsedFields
  let options: EntityOptions
  let sink: DiagnosticSink
  /// The types of the keys of all entities of the run, by name.
  let keys: [String: [String]]
  /// Whether null, nothing, and values that the schema does not have are kept apart from 0, false
  /// and the first value of an enum, unless an earlier schema does not.
  var keepsNull = false

  /// The most members that a union can have.
  private static let memberLimit = 255

  /// The model; errors are in the sink.
  func model() -> EntityModel {
    var types: [String: EntityModel.Declaration] = [:]
    var digests = TypeDigests(modeler: self)
    digests.run()
    var pending = [entity]
    var seen: Set<String> = [entity.name]
    var root = EntityModel.Table(name: entity.name, version: "", fields: [])
    func follow(_ types: [NamedType]) {
      for type in types where seen.insert(type.name).inserted { pending.append(type) }
    }
    while let type = pending.popLast() {
      checkName(of: type)
      switch type.kind {
      case .enumeration: types[type.name] = .enumeration(type.name, values(of: type))
      case .object, .interface, .union:
        checkFieldNames(of: type)
        var table = EntityModel.Table(
          name: type.name, version: digests.version(of: type), fields: fields(of: type))
        if type.name == entity.name {
          table.fields = table.fields.map(referring)
          root = table
        } else {
          types[type.name] = .table(table)
        }
        for field in storedFields(of: type) {
          addTables(of: storedType(of: field.type), &digests, to: &types)
        }
        if type.isAbstract { addSubtype(of: type, &digests, to: &types) }
        follow(neighbours(of: type))
      case .scalar, .inputObject: break
      }
    }
    let others = root.fields.flatMap(\.attributes).filter { $0.name == "references" }
      .compactMap(\.value).filter { $0 != entity.name }
    return EntityModel(
      entity: entity.name, includes: Set(others).sorted().map(Self.fileName(of:)), types: types,
      root: root)
  }

  /// The file of an entity's schema.
  static func fileName(of entity: String) -> String { "\(entity)_generated.fbs" }

  // MARK: Fields

  /// The used fields that a table of the type has, without the key, and none of an interface.
  func storedFields(of type: NamedType) -> [OutputField] {
    guard type.kind == .object else { return [] }
    let key = key(of: type)
    return used.fields(of: type).filter { key?.has($0.name) != true }
  }

  /// The used key field of the root, if that has one field of its own as its key.
  var usedKey: OutputField? {
    key(of: entity)?.plainName.flatMap { key in used.fields(of: entity).first { $0.name == key } }
  }

  /// The fields of a type's table.
  private func fields(of type: NamedType) -> [EntityModel.Field] {
    let isRoot = type.name == entity.name
    var fields = storedFields(of: type).map { field in
      let stored = storedType(of: field.type)
      return EntityModel.Field(
        name: field.storedName(in: type.name), type: stored.value,
        isOptional: stored.isNumericReference || isKeptApart(stored) || isMappedNumber(stored),
        followsEarlier: isKeptApart(stored), attributes: formAttributes(of: stored))
    }
    if let key = key(of: type), isRoot || type.isAbstract {
      let added = zip(key.parts, keyTypes(of: type)).map { part, stored in
        EntityModel.Field(
          name: part.name, type: .scalar(stored),
          attributes: isRoot ? [.init(name: "primary")] : [])
      }
      // Several fields stay in the order of the key, so that programs see it in this order.
      let place =
        isRoot && usedKey != nil ? fields.firstIndex { $0.name > added[0].name } ?? fields.count : 0
      fields.insert(contentsOf: added, at: place)
    }
    if type.isAbstract, !schema.possibleTypes(of: type).isEmpty {
      fields.append(EntityModel.Field(name: "subtype", type: .named(subtypeName(of: type))))
    }
    return fields
  }

  /// Whether a stored value has a null of its own.
  func isKeptApart(_ stored: StoredType) -> Bool {
    switch stored {
    case .scalar(_, let name):
      keepsNull && name != "string" && form(of: stored) == nil
    case .enumeration: keepsNull
    default: false
    }
  }

  /// The Swift type that the field of a scalar, or of a list of them, has by its mapping.
  func form(of stored: StoredType) -> String? {
    switch stored {
    case .scalar(let type, _): options.mapping(type)?.form
    case .list(let element): form(of: element)
    default: nil
    }
  }

  /// Whether it is a number that has another type in Swift: there is no value of that for null.
  private func isMappedNumber(_ stored: StoredType) -> Bool {
    guard case .scalar(_, let name) = stored else { return false }
    return name != "string" && form(of: stored) != nil
  }

  private func formAttributes(of stored: StoredType) -> [EntityModel.Attribute] {
    form(of: stored).map { [.init(name: "swift", value: $0)] } ?? []
  }

  /// With the attribute that makes a key of another object a relation.
  private func referring(_ field: EntityModel.Field) -> EntityModel.Field {
    guard let key = key(of: entity),
      let definition = storedFields(of: entity).first(where: {
        $0.storedName(in: entity.name) == field.name
      }), !key.parts.contains(where: { $0.name == field.name }),
      field.name != "subtype" || entity.kind == .object,
      let target = storedType(of: definition.type).referredEntity,
      // A relation compares keys, so they are of one type.
      [referenceType(of: target)] == keys[target.name]
    else { return field }
    var field = field
    field.attributes.append(.init(name: "references", value: target.name))
    return field
  }

  // MARK: Types

  /// How values of a type are stored.
  func storedType(of reference: TypeReference) -> StoredType {
    var levels = 0
    var element = reference
    while let inner = element.element {
      levels += 1
      element = inner
    }
    guard let type = schema.type(in: reference) else { preconditionFailure("a checked schema") }
    var stored: StoredType =
      switch type.kind {
      case .scalar: .scalar(type, options.stored(type))
      case .enumeration:
        options.mapping(type).map { .scalar(type, $0.stored) } ?? .enumeration(type)
      default:
        if !options.isEntity(type) {
          .table(type)
        } else if (keys[type.name]?.count ?? 1) > 1 {
          .compositeReference(type, memberName(of: type))
        } else {
          .reference(type, referenceType(of: type))
        }
      }
    for level in 0..<levels {
      let name = free(type.name + String(repeating: "List", count: level))
      stored = .list(level == 0 ? stored : .wrapped(name, stored))
    }
    return stored
  }

  /// The type of references to an entity.
  private func referenceType(of entity: NamedType) -> String {
    options.refersByText ? "string" : keys[entity.name]?.first ?? "string"
  }

  /// The union of the types that an interface's or union's values have.
  func subtypeName(of type: NamedType) -> String {
    type.name == entity.name ? free("Subtype") : free(type.name + "Subtype")
  }

  /// The table of an object type as a member of a union: that of an entity has its key.
  func memberName(of type: NamedType) -> String {
    options.isEntity(type) ? Self.referenceName(of: type.name, in: schema) : type.name
  }

  /// A name that no type of the schema has.
  private func free(_ name: String) -> String { Self.free(name, in: schema) }

  /// The table that stands for an entity in unions, and has its key.
  static func referenceName(of entity: String, in schema: GraphQLSchema.Schema) -> String {
    free(entity + "Reference", in: schema)
  }

  private static func free(_ name: String, in schema: GraphQLSchema.Schema) -> String {
    var name = name
    while schema.type(named: name) != nil { name += "_" }
    return name
  }

  /// The types of the namespace to which a table refers.
  private func neighbours(of type: NamedType) -> [NamedType] {
    type.isAbstract
      ? schema.possibleTypes(of: type).filter { !options.isEntity($0) }
      : storedFields(of: type).compactMap { schema.type(in: $0.type) }
        .filter { !options.isEntity($0) && hasDeclaration($0) }
  }

  /// Whether a type is declared in the schema of an entity; otherwise its values are scalars.
  func hasDeclaration(_ type: NamedType) -> Bool {
    type.kind != .scalar && options.mapping(type) == nil
  }

  /// Adds the tables that no type of GraphQL has: for lists in lists, and for keys.
  private func addTables(
    of type: StoredType, _ digests: inout TypeDigests,
    to types: inout [String: EntityModel.Declaration]
  ) {
    switch type {
    case .scalar, .enumeration, .table, .reference: break
    case .compositeReference(let entity, _): addReference(to: entity, digests, to: &types)
    case .list(let element): addTables(of: element, &digests, to: &types)
    case .wrapped(let name, let inner):
      let field = EntityModel.Field(
        name: StoredType.values, type: inner.value, attributes: formAttributes(of: inner))
      types[name] = .table(
        EntityModel.Table(
          name: name, version: digests.version(ofText: "\(field.name):\(digests.text(of: inner))"),
          fields: [field]))
      addTables(of: inner, &digests, to: &types)
    }
  }

  /// Adds the table with the key of an entity.
  private func addReference(
    to entity: NamedType, _ digests: TypeDigests,
    to types: inout [String: EntityModel.Declaration]
  ) {
    let key = options.key(of: entity, in: schema)
    let fields = zip(key?.parts ?? [], keys[entity.name] ?? ["string"]).map { part, stored in
      EntityModel.Field(name: part.name, type: .scalar(stored))
    }
    let name = memberName(of: entity)
    types[name] = .table(
      EntityModel.Table(
        name: name, version: digests.version(ofText: key == nil ? "" : referenceText(of: entity)),
        fields: fields))
  }

  private func addSubtype(
    of type: NamedType, _ digests: inout TypeDigests,
    to types: inout [String: EntityModel.Declaration]
  ) {
    let members = schema.possibleTypes(of: type)
    guard members.count <= Self.memberLimit else {
      sink.error(
        "'\(type.name)' cannot be stored: it has \(members.count) types, and a union has at most "
          + "\(Self.memberLimit) members", at: type.range,
        notes: [.hint("select fields of a narrower interface or union, or of the objects")])
      return
    }
    guard !members.isEmpty else { return }
    let name = subtypeName(of: type)
    types[name] = .union(name, members.map(memberName))
    for member in members where options.isEntity(member) {
      addReference(to: member, digests, to: &types)
    }
  }

  /// Reports a type whose name would mean another one in the schema.
  private func checkName(of type: NamedType) {
    guard type.name == "string" || ScalarType(schemaName: type.name) != nil else { return }
    sink.error(
      "'\(type.name)' cannot be stored: FlatBuffers has a scalar of this name", at: type.range,
      notes: [.hint("select no fields of this type")])
  }

  /// Reports fields that would be one in Swift.
  private func checkFieldNames(of type: NamedType) {
    var seen: [String: OutputField] = [:]
    let keyParts = type.name == entity.name ? key(of: type)?.parts ?? [] : []
    for field in storedFields(of: type) {
      let name = camel(field.storedName(in: type.name))
      if let part = keyParts.first(where: { camel($0.name) == name }) {
        sink.error(
          "'\(type.name)' cannot be stored: '\(field.name)' and its key '\(part.text)' are the same "
            + "in Swift", at: field.range, notes: [.hint("do not select '\(field.name)'")])
      }
      guard let other = seen.updateValue(field, forKey: name) else { continue }
      sink.error(
        "'\(type.name)' cannot be stored: '\(other.name)' and '\(field.name)' are the same in "
          + "Swift", at: field.range, notes: [other.range.note("the other one is here")])
    }
  }

  private func values(of type: NamedType) -> [EntityModel.EnumValue] {
    var seen: [String: EnumValue] = [:]
    for value in type.values {
      guard let other = seen.updateValue(value, forKey: value.name.lowercased()) else { continue }
      sink.error(
        "'\(type.name)' cannot be stored: '\(other.name)' and '\(value.name)' are the same in "
          + "lower case", at: value.range, notes: [other.range.note("the other one is here")])
    }
    return type.values.enumerated().map {
      EntityModel.EnumValue(name: $1.name.lowercased(), number: Int64($0))
    }
  }
}
