// TypeDigests: the versions of an entity's types, which change with the used fields.
//
// A digest is the SHA-256 of a text that has the digests of the types below in it. Each type is
// digested once, from the root down in the order of names; within a circle of types, the one that
// is being digested already counts as its name.

import GraphQLSchema
import Platform

struct TypeDigests {
  let modeler: EntityModeler
  private var digests: [String: String] = [:]

  init(modeler: EntityModeler) { self.modeler = modeler }

  /// Digests the entity and everything below it.
  mutating func run() {
    var finished: [String: String] = [:]
    visitDepthFirst(
      [modeler.entity.name], children: { below($0).map(\.name) },
      leave: { name in
        guard let type = modeler.schema.type(named: name) else { return }
        finished[name] = SHA256.hexadecimal(text(of: type, finished))
      })
    digests = finished
  }

  /// The version of a type's table.
  func version(of type: NamedType) -> String { String((digests[type.name] ?? "").prefix(16)) }

  /// The version of a table with this text.
  func version(ofText text: String) -> String { String(SHA256.hexadecimal(text).prefix(16)) }

  /// The digest of a field's type.
  func text(of type: StoredType) -> String { text(of: type, digests) }

  // MARK: Texts

  /// The types whose digests are in the text of a type, in the order in which they are there.
  private func below(_ name: String) -> [NamedType] {
    guard let type = modeler.schema.type(named: name) else { return [] }
    if type.isAbstract {
      return modeler.schema.possibleTypes(of: type).filter { !modeler.options.isEntity($0) }
    }
    return modeler.storedFields(of: type).compactMap { modeler.schema.type(in: $0.type) }
      .filter { modeler.hasDeclaration($0) && !modeler.options.isEntity($0) }
  }

  private func text(of type: NamedType, _ digests: [String: String]) -> String {
    let isRoot = type.name == modeler.entity.name
    switch type.kind {
    case .enumeration: return type.values.map { $0.name.lowercased() }.joined(separator: ",")
    case .interface, .union:
      let members = modeler.schema.possibleTypes(of: type).map { member in
        digests[member.name] ?? member.name + modeler.memberKey(of: member)
      }
      let list = members.isEmpty ? "" : "{\(members.joined(separator: ","))},"
      guard let key = modeler.key(of: type) else { return list }
      let isAdded = isRoot && key.plainName != nil && modeler.usedKey == nil
      return list + modeler.text(of: key, modeler.keyTypes(of: type), isAdded ? ": " : ":")
    default:
      var parts = modeler.storedFields(of: type).map { field in
        let stored = modeler.storedType(of: field.type)
        let null = modeler.isKeptApart(stored) ? "?" : ""
        return (field.name, "\(field.name):\(text(of: stored, digests))\(null)")
      }
      if isRoot, let key = modeler.usedKey {
        let place = parts.firstIndex { $0.0 > key.name } ?? parts.count
        parts.insert((key.name, "\(key.name):\(key.type)\(modeler.mappedKey)"), at: place)
      } else if isRoot, let key = modeler.key(of: type) {
        let types = modeler.keyTypes(of: type)
        let text = key.plainName.map { "\($0):\(types[0])" } ?? "key" + modeler.text(of: key, types)
        parts.insert(("", text), at: 0)
      }
      return parts.map(\.1).joined(separator: ",")
    }
  }

  private func text(of type: StoredType, _ digests: [String: String]) -> String {
    switch type {
    case .scalar(let scalar, let stored):
      scalar.isBuiltIn
        ? scalar.name : stored + (modeler.form(of: type).map { ":" + $0 } ?? "")
    case .reference(let entity, let stored): stored + modeler.referredKey(of: entity)
    case .compositeReference(let entity, _): modeler.referenceText(of: entity)
    case .enumeration(let type), .table(let type): digests[type.name] ?? type.name
    case .list(let element): "[\(text(of: element, digests))]"
    case .wrapped(_, let inner): text(of: inner, digests)
    }
  }
}
