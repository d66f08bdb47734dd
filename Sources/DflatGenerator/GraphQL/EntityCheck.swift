// EntityCheck: whether the command line's names mean something in the schema.

import Diagnostics
import GraphQLSchema

struct EntityCheck {
  let schema: GraphQLSchema.Schema
  let options: EntityOptions
  let sink: DiagnosticSink

  /// The entities in the order of the command line, and the stored types of their keys. Errors
  /// without a place in a file are returned, the others are in the sink.
  func entities() -> (entities: [NamedType], keys: [String: String], errors: [Diagnostic]) {
    var errors: [Diagnostic] = []
    var entities: [NamedType] = []
    var keys: [String: String] = [:]
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
      keys[name] = keyType(of: type)
    }
    for name in options.keys.keys.sorted() {
      let key = options.keys[name] ?? ""
      guard let type = schema.type(named: name), type.isComposite else {
        let guess = nearest(to: name, among: schema.types.filter(\.isComposite).map(\.name))
        errors.append(
          error("--primary-key \(name)=\(key): the schema has no type of this name", guess))
        continue
      }
      // A union has the key of its types, and an entity may get a key that it does not have.
      if type.kind == .union || options.isEntity(type) || type.field(named: key) != nil { continue }
      errors.append(
        error(
          "--primary-key \(name)=\(key): '\(name)' has no field '\(key)'",
          nearest(to: key, among: type.fields.map(\.name))))
    }
    for name in options.scalars.keys.sorted() {
      guard let type = schema.type(named: name), type.kind == .scalar else {
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

  /// The stored type of an entity's key: that of its field, otherwise that of the command line.
  private func keyType(of entity: NamedType) -> String {
    let chosen = options.keyType?.stored
    let key = options.key(of: entity, in: schema)
    if let key, entity.field(named: key) == nil,
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
    return stored
  }
}
