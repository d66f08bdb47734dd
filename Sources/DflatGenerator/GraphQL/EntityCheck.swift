// EntityCheck: whether the command line's names mean something in the schema.

import Diagnostics
import GraphQLSchema

struct EntityCheck {
  let schema: GraphQLSchema.Schema
  let options: EntityOptions
  let sink: DiagnosticSink

  /// The entities in the order of the command line, and the stored types of their keys' fields.
  /// Errors without a place in a file are returned, the others are in the sink.
  func entities() -> (entities: [NamedType], keys: [String: [String]], errors: [Diagnostic]) {
    var errors: [Diagnostic] = []
    var entities: [NamedType] = []
    var keys: [String: [String]] = [:]
    for name in options.entities {
      guard let type = schema.type(named: name) else {
        let guess = nearest(
          to: name, among: schema.types.filter(\.isComposite).map(\.name))
        errors.append(
          error(
            "--entity \(name): the schema has no type of this name", guess))
        continue
      }
      guard type.isComposite, !type.isBuiltIn else {
        sink.error(
          "'\(name)' cannot be an entity: it has no fields", at: type.range,
          notes: [.hint("an entity is an object type, an interface or a union")])
        continue
      }
      entities.append(type)
      keys[name] = keyTypes(of: type)
    }
    for (name, key) in options.keys.sorted(by: { $0.key < $1.key }) {
      guard let type = schema.type(named: name), type.isComposite else {
        let guess = nearest(to: name, among: schema.types.filter(\.isComposite).map(\.name))
        errors.append(
          error("--primary-key \(name)=\(key.text): the schema has no type of this name", guess))
        continue
      }
      // An entity is checked by itself.
      if options.isEntity(type) { continue }
      // An interface or union may have the key of its types.
      let bearers = [type] + (type.isAbstract ? schema.possibleTypes(of: type) : [])
      for part in key.parts where bearers.allSatisfy({ part.resolve(in: $0, schema) == nil }) {
        errors.append(
          error(
            "--primary-key \(name)=\(key.text): '\(name)' has no field '\(part.text)'",
            nearest(to: part.path[0], among: Set(bearers.flatMap(\.fields).map(\.name)))))
      }
    }
    for name in options.scalars.keys.sorted() {
      let type = schema.type(named: name)
      if let type, type.kind == .enumeration, let mapping = options.mapping(type) {
        if options.scalars[name] != "string", mapping.stored != "string" || mapping.form == nil {
          errors.append(
            error(
              "--scalar \(name): the values of an enum are stored as 'string', or not mapped", nil))
        }
        continue
      }
      guard let type, type.kind == .scalar else {
        let guess = nearest(
          to: name,
          among: schema.types.filter { $0.kind == .scalar && !$0.isBuiltIn }.map(\.name))
        errors.append(error("--scalar \(name): the schema has no scalar of this name", guess))
        continue
      }
      if type.isBuiltIn {
        errors.append(error("--scalar \(name): its stored type is fixed", nil))
      }
    }
    return (entities, keys, errors)
  }

  private func error(_ message: String, _ guess: String?) -> Diagnostic {
    Diagnostic(
      severity: .error, message: message, position: nil,
      notes: guess.map { [.hint("did you mean '\($0)'?")] } ?? [])
  }

  /// The stored types of an entity's key.
  private func keyTypes(of entity: NamedType) -> [String] {
    let key = options.key(of: entity, in: schema)
    guard let key, key.plainName == nil else { return [keyType(of: entity, key?.plainName)] }
    return key.parts.map { keyType(of: entity, $0, key) }
  }

  /// The stored type of a key of one field: that of the field, otherwise that of the command line.
  private func keyType(of entity: NamedType, _ key: String?) -> String {
    let chosen = options.keyType?.stored
    // The root of queries is stored under the name of its type.
    let isRoot =
      entity.name == schema.rootType(of: .query)?.name && (chosen ?? "string") == "string"
    if let key, !isRoot, entity.field(named: key) == nil,
      let guess = nearest(to: key, among: entity.fields.map(\.name))
    {
      sink.warning(
        "'\(entity.name)' has no field '\(key)': its objects get this key, and responses cannot be "
          + "stored", at: entity.range, notes: [.hint("did you mean '\(guess)'?")])
    }
    guard let field = key.flatMap(entity.field(named:)),
      let type = schema.type(in: field.type)
    else { return chosen ?? "string" }
    guard type.kind == .scalar, field.type.element == nil else {
      sink.error(
        "'\(field.name)' cannot be the primary key of '\(entity.name)': it is '\(field.type)'",
        at: field.range, notes: [.hint("a key is a scalar")])
      return "string"
    }
    let stored = options.stored(type)
    refuseMappedNumber(type, field, of: entity)
    if let chosen, chosen != stored {
      sink.error(
        "the primary key '\(field.name)' is '\(type.name)', which is stored as '\(stored)', not as "
          + "'\(chosen)'", at: field.range,
        notes: [
          .hint(
            EntityOptions.KeyType(stored: stored).map {
              "leave --primary-key-type out, or give \($0.rawValue)"
            } ?? "leave --primary-key-type out")
        ])
    }
    warnIfNullable(field.name, !field.type.isNonNull, of: entity, field)
    return stored
  }

  /// The stored type of a field of a key, which has several or is inside of another object.
  private func keyType(of entity: NamedType, _ part: EntityKey.Part, _ key: EntityKey) -> String {
    // A union has the fields of its types.
    let bearers = entity.kind == .union ? schema.possibleTypes(of: entity) : [entity]
    var types: Set<String> = []
    for bearer in bearers {
      guard let found = part.resolve(in: bearer, schema) else {
        sink.error(
          "'\(bearer.name)' has no field '\(part.text)', which is in the primary key of "
            + "'\(entity.name)'", at: bearer.range,
          notes: nearest(to: part.path[0], among: bearer.fields.map(\.name))
            .map { part.path.count == 1 ? [.hint("did you mean '\($0)'?")] : [] } ?? [])
        continue
      }
      guard let type = schema.type(in: found.field.type), type.kind == .scalar,
        found.field.type.element == nil
      else {
        sink.error(
          "'\(part.text)' cannot be in the primary key of '\(entity.name)': it is "
            + "'\(found.field.type)'", at: found.field.range,
          notes: [.hint("a key is made of scalars; a field of an object is 'object.field'")])
        continue
      }
      warnIfNullable(part.text, found.isNullable, of: entity, found.field)
      refuseMappedNumber(type, found.field, of: entity)
      types.insert(options.stored(type))
    }
    return types.count == 1 ? types.first ?? "string" : "string"
  }

  /// Reports a key whose values are numbers that operations have in another type.
  private func refuseMappedNumber(_ type: NamedType, _ field: OutputField, of entity: NamedType) {
    guard let mapping = options.mapping(type), let form = mapping.form, mapping.stored != "string"
    else { return }
    sink.error(
      "'\(field.name)' cannot be in the primary key of '\(entity.name)': '\(type.name)' is stored "
        + "as '\(mapping.stored)' and is '\(form)' in Swift", at: field.range,
      notes: [.hint("map it to '\(mapping.stored)', or to 'string'")])
  }

  private func warnIfNullable(
    _ name: String, _ isNullable: Bool, of entity: NamedType, _ field: OutputField
  ) {
    guard isNullable else { return }
    sink.warning(
      "'\(name)' is in the primary key of '\(entity.name)' and may be null: objects without it are "
        + "not stored", at: field.range)
  }
}
