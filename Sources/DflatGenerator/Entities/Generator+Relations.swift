// Relations: the names that queries use for references, and what deletions need to know about them.

import DflatSchema

extension Generator {
  /// The type of the query name of a field with a reference; nil for all other fields.
  func relation(_ field: SwiftField, root: String) -> String? {
    guard let target = field.definition.reference?.target else { return nil }
    var type = field.definition.type
    var name = "ToOneField"
    if case .vector(let element) = type {
      type = element
      name = "ToManyField"
    }
    let types = [field.valueType(type), names.type(target, in: field.scope), root]
    return "\(names.dflat(name))<\(types.joined(separator: ", "))>"
  }

  /// The query names of the references by several fields of a table.
  /// - Parameter root: The type of the entity that queries are about.
  func compoundRelations(
    of table: TableDefinition?, in scope: TypeNames.Scope, root: String
  ) -> [CompoundRelation] {
    (table?.compoundReferences ?? []).map { relation in
      let target = relation.reference.target
      let types = [names.type(target, in: scope), root].joined(separator: ", ")
      let fields = relation.fields.map { "`\($0)`" }
      let list = fields.dropLast().joined(separator: ", ") + " and " + (fields.last ?? "")
      return CompoundRelation(
        name: relation.name, type: "\(names.dflat("CompoundRelation"))<\(types)>",
        offsets: "\(table?.fields(of: relation).map(\.offset) ?? [])",
        documentation: "The `\(names.swiftName(target))` that \(list) refer to, for queries.")
    }
  }

  /// The query name of a reference by several fields.
  struct CompoundRelation {
    var name: String
    var type: String
    /// The vtable offsets of the fields, as an array.
    var offsets: String
    var documentation: String
  }

  /// A reference with an inverse.
  private struct Inverse {
    var name: String
    var reference: ReferenceDefinition
    /// The vtable offset of the field, or those of several as an array.
    var place: String
    /// The field or the relation, with its verb.
    var origin: String
  }

  private func inverses(of entity: TableDefinition) -> [Inverse] {
    let single = fields(of: entity).compactMap { field -> Inverse? in
      guard let reference = field.definition.reference, let name = reference.inverse else {
        return nil
      }
      return Inverse(
        name: name, reference: reference, place: "\(field.offset)",
        origin: "`\(field.definition.name)` refers to")
    }
    let compound = entity.compoundReferences.compactMap { relation -> Inverse? in
      guard let name = relation.reference.inverse else { return nil }
      let fields = entity.fields(of: relation)
      let names = fields.map { "`\($0.name)`" }
      return Inverse(
        name: name, reference: relation.reference, place: "\(fields.map(\.offset))",
        origin: names.dropLast().joined(separator: ", ") + " and \(names.last ?? "") refer to")
    }
    return single + compound
  }

  /// The inverse relations of an entity's references, as members of the types that these refer to.
  func writeInverses(of entity: TableDefinition, to text: inout SourceText) {
    for inverse in inverses(of: entity) {
      let reference = inverse.reference
      let name = Identifier.escaped(inverse.name)
      let target = names.type(reference.target, in: TypeNames.Scope())
      let scope = TypeNames.Scope(
        type: names.path(reference.target), generated: .entity, members: [inverse.name])
      let source = names.type(entity.name, in: scope)
      let own = names.type(reference.target, in: scope)
      let documentation =
        "The objects of `\(names.swiftName(entity.name))` whose \(inverse.origin)"
      let type = names.dflat("InverseRelation")
      text.gap()
      text.block("nonisolated extension \(target)") { text in
        text.documentation(["\(documentation) an object, for queries."])
        text.statement("\(access)static let \(name) = \(type)<\(source), \(own)>(\(inverse.place))")
        text.gap()
        text.documentation(["\(documentation) this one, as a query."])
        text.short(
          "\(access)var \(name)", "\(names.dflat("RelatedObjects"))<\(source)>",
          "\(names.expression(reference.target, in: scope)).\(name)._objects(of: self)")
      }
      let rootScope = TypeNames.Scope(generated: .reference)
      let origin = names.type(entity.name, in: rootScope)
      text.gap()
      text.extending(
        names.dflat("Reference"), where: "Target == \(names.type(reference.target, in: rootScope))"
      ) { text in
        text.documentation(["\(documentation) it, for queries."])
        let name = referenceMember(inverse.name, beside: fieldNames(reference.target), &text)
        text.short("\(access)var \(name)", "\(type)<\(origin), Root>", "_inverse(\(inverse.place))")
      }
    }
  }

  private func fieldNames(_ table: QualifiedName) -> Set<String> {
    guard case .table(let table)? = names.definition(table) else { return [] }
    return Set(fields(of: table).map(\.name))
  }

  /// The references of an entity, and the types whose rules its deletions follow, as arguments of
  /// its schema.
  func relationArguments(
    of entity: TableDefinition, _ fields: [SwiftField]
  ) -> [(label: String, elements: [String])] {
    func argument(
      _ reference: ReferenceDefinition, _ place: String, in scope: TypeNames.Scope
    ) -> String {
      let target = names.expression(reference.target, in: scope)
      return "\(names.dflat("EntityReference"))(\(place), to: { \(target)._schema }, "
        + "onDeletion: .\(reference.rule.rawValue))"
    }
    let single = fields.compactMap { field in
      field.definition.reference.map { argument($0, "\(field.offset)", in: field.scope) }
    }
    let compound = entity.compoundReferences.map { relation in
      argument(
        relation.reference, "\(entity.fields(of: relation).map(\.offset))",
        in: fields.first?.scope ?? TypeNames.Scope())
    }
    let references = single + compound
    let referrers = (options.referrers[entity.name] ?? []).map {
      "{ \(names.expression($0, in: scope(of: entity)))._schema }"
    }
    return [("references: ", references), ("referrers: ", referrers)].filter { !$0.1.isEmpty }
  }
}
