// Rules about `schema { … }` (3.3).

import Diagnostics

extension SchemaBuilder {
  func checkRoots() {
    let definitions = schemas.filter { !$0.isExtension }
    for definition in definitions.dropFirst() {
      sink.error(
        "there is a second definition of the schema", at: definition.keywordRange,
        rule: "LoneSchemaDefinition",
        notes: [definitions[0].keywordRange.note("the first one is here")])
    }
    var first: [OperationKind: SchemaDefinitionSyntax.RootType] = [:]
    for root in rootTypes {
      if let earlier = first[root.operation] {
        sink.error(
          "there is a second type for \(root.operation.plural)", at: root.operationRange,
          rule: "UniqueOperationTypes",
          notes: [earlier.operationRange.note("the first one is here")])
      } else {
        first[root.operation] = root
      }
    }
    checkRootNames(definitions.first)
  }

  private func checkRootNames(_ definition: SchemaDefinitionSyntax?) {
    let names = rootNames
    if names[.query] == nil {
      let place = definition?.keywordRange ?? types.first?.definition.name.range
      guard let place, place.file.index >= 0 else { return }
      sink.error(
        "a schema has a type for queries", at: place, rule: "TypeValidation",
        notes: [.hint("call it 'Query', or name it: schema { query: … }")])
    }
    var kinds: [String: OperationKind] = [:]
    for root in rootTypes {
      if let other = kinds[root.type.text], other != root.operation {
        sink.error(
          "'\(root.type.text)' is the type for \(other.plural) already", at: root.type.range,
          rule: "TypeValidation")
      }
      kinds[root.type.text] = root.operation
    }
    guard definition == nil else { return }
    // Without a definition the types that have the usual names are roots.
    for (kind, name) in names {
      guard let type = declaration(named: name)?.definition, type.kind != .object else { continue }
      sink.error(
        "'\(name)' is the type for \(kind.plural), so it must be an object type",
        at: type.name.range, rule: "TypeValidation")
    }
  }
}

extension OperationKind {
  fileprivate var plural: String {
    switch self {
    case .query: "queries"
    case .mutation: "mutations"
    case .subscription: "subscriptions"
    }
  }
}
