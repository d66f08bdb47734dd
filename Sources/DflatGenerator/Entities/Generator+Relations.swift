// Relations: the names that queries use for references, and what deletions need to know about them.

import DflatSchema

extension Generator {
  /// The type of the query name of a field with a reference; nil for all other fields.
  func relation(_ field: SwiftField, root: String) -> String? {
    guard let target = field.definition.reference?.target else { return nil }
    var type = field.definition.type
    var name = "RelationField"
    if case .vector(let element) = type {
      type = element
      name = "RelationsField"
    }
    let types = [field.valueType(type), names.type(target, in: field.scope), root]
    return "\(names.dflat(name))<\(types.joined(separator: ", "))>"
  }

  /// The inverse relations of an entity's references, as members of the types that these refer to.
  func writeInverses(of entity: TableDefinition, to text: inout SourceText) {
    for field in fields(of: entity) {
      guard let reference = field.definition.reference, let inverse = reference.inverse else {
        continue
      }
      let name = Identifier.escaped(inverse)
      let target = names.type(reference.target, in: TypeNames.Scope())
      let scope = TypeNames.Scope(
        type: names.path(reference.target), hiddenTypes: ["ID", "Element"])
      let source = names.type(entity.name, in: scope)
      let own = names.type(reference.target, in: scope)
      let documentation =
        "The objects of `\(names.swiftName(entity.name))` whose `\(field.definition.name)` refers to"
      let type = names.dflat("InverseRelation")
      text.gap()
      text.block("nonisolated extension \(target)") { text in
        text.documentation(["\(documentation) an object, for queries."])
        text.statement("public static let \(name) = \(type)<\(source), \(own)>(\(field.offset))")
        text.gap()
        text.documentation(["\(documentation) this one, as a query."])
        text.short(
          "public var \(name)", "\(names.dflat("RelatedObjects"))<\(source)>",
          "\(own).\(name)._objects(of: self)")
      }
      let rootScope = TypeNames.Scope(hiddenTypes: ["Root", "Target"])
      let origin = names.type(entity.name, in: rootScope)
      text.gap()
      text.extending(
        names.dflat("Reference"), where: "Target == \(names.type(reference.target, in: rootScope))"
      ) { text in
        text.documentation(["\(documentation) it, for queries."])
        text.short("public var \(name)", "\(type)<\(origin), Root>", "_inverse(\(field.offset))")
      }
    }
  }

  /// The references of an entity, and the types whose rules its deletions follow, as arguments of
  /// its schema.
  func relationArguments(
    of entity: TableDefinition, _ fields: [SwiftField]
  ) -> [(label: String, elements: [String])] {
    let references = fields.compactMap { field -> String? in
      guard let reference = field.definition.reference else { return nil }
      let target = names.expression(reference.target, in: field.scope)
      return "\(names.dflat("EntityReference"))(\(field.offset), to: { \(target)._schema }, "
        + "onDeletion: .\(reference.rule.rawValue))"
    }
    let referrers = (options.referrers[entity.name] ?? []).map { "{ \($0)._schema }" }
    return [("references: ", references), ("referrers: ", referrers)].filter { !$0.1.isEmpty }
  }
}
