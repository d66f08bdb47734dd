// The names that queries use: fields of the entity, and of every type on a path.

import DflatSchema

extension Generator {
  func writeQueries(to text: inout SourceText) {
    if let entity {
      writeFields(of: entity, to: &text)
      writeInverses(of: entity, to: &text)
    }
    for name in file.types {
      switch names.definition(name) {
      case .table(let table): writeReference(to: name, fields(of: table), table, to: &text)
      case .structure(let structure): writeReference(to: name, fields(of: structure), to: &text)
      case .union(let union): writeReference(to: union, to: &text)
      case .enumeration, nil: break
      }
    }
  }

  private func writeFields(of entity: TableDefinition, to text: inout SourceText) {
    // An extension at file scope sees the members of the type, but not the other members of its
    // namespace.
    let all = fields(of: entity)
    let scope = TypeNames.Scope(
      type: names.path(entity.name), generated: .entity,
      members: Set(all.map(\.name) + entity.compoundReferences.map(\.name)))
    let fields = all.map { $0.moved(to: scope) }
    let root = names.type(entity.name, in: scope)
    let taken = scope.members.union(names.namesInside(names.path(entity.name)))
    text.gap()
    text.block("nonisolated extension \(names.qualified(entity.name))") { text in
      for field in fields {
        guard let expression = query(field, root: root) else { continue }
        text.documentation(queryDocumentation(field))
        // After the entity's name, Swift reads these as types.
        let isType =
          ["Type", "Protocol"].contains(field.name)
          || GeneratedMembers.entity.types.contains(field.name)
        let isTaken = field.name == "_schema"
        if isType || isTaken {
          documentUnderscore(field.name, isType ? "is a type" : "is Dflat's", &text)
        }
        let name =
          isType || isTaken
          ? Identifier.fresh(after: field.name + "_", avoiding: taken) : field.member
        text.statement("\(access)static let \(name) = \(expression)(\(field.offset))")
      }
      for relation in compoundRelations(of: entity, in: scope, root: root) {
        text.documentation([relation.documentation])
        text.statement(
          "\(access)static let \(Identifier.escaped(relation.name)) = "
            + "\(relation.type)(\(relation.offsets))")
      }
    }
  }

  private func documentUnderscore(
    _ name: String, _ meaning: String, _ text: inout SourceText
  ) {
    text.documentation(["The underscore is there because `\(name)` alone \(meaning)."])
  }

  /// The name of a member of `Reference`, with an underscore behind it if Dflat has the name.
  /// - Parameter others: The names of the fields.
  func referenceMember(
    _ name: String, beside others: Set<String>, _ text: inout SourceText
  ) -> String {
    guard GeneratedMembers.reference.values.contains(name) else { return Identifier.escaped(name) }
    documentUnderscore(name, "asks whether there is a value", &text)
    return Identifier.fresh(after: name + "_", avoiding: others)
  }

  /// The type of a field's query name; nil if queries cannot use the field.
  private func query(_ field: SwiftField, root: String) -> String? {
    if let relation = relation(field, root: root) { return relation }
    let value = field.valueType(field.definition.type)
    return switch field.definition.type {
    case .scalar, .string, .enumeration: "\(names.dflat("Field"))<\(value), \(root)>"
    case .structure, .table: "\(names.dflat("Reference"))<\(value), \(root)>"
    case .union: "\(names.dflat("UnionReference"))<\(value), \(root)>"
    case .vector(let element): query(field, elements: element, root: root)
    case .array: nil
    }
  }

  /// The type of a vector's query name; nil if queries cannot use its elements.
  private func query(_ field: SwiftField, elements: FieldType, root: String) -> String? {
    let value = field.elementType(elements)
    return switch elements {
    case .scalar, .string, .enumeration: "\(names.dflat("VectorField"))<\(value), \(root)>"
    case .structure, .table: "\(names.dflat("VectorReference"))<\(value), \(root)>"
    case .union: "\(names.dflat("UnionVectorReference"))<\(value), \(root)>"
    case .vector, .array: nil
    }
  }

  private func queryDocumentation(_ field: SwiftField) -> [String] {
    let name = "`\(field.definition.name)`"
    if let target = field.definition.reference?.target {
      return ["\(name), and the `\(names.swiftName(target))` that it refers to, for queries."]
    }
    return switch field.definition.type {
    case .structure, .table: ["The fields of \(name), for queries."]
    case .union: ["What \(name) holds, for queries."]
    case .vector: ["The elements of \(name), for queries."]
    default: ["\(name), for queries."]
    }
  }

  private func writeReference(
    to name: QualifiedName, _ fields: [SwiftField], _ table: TableDefinition? = nil,
    to text: inout SourceText
  ) {
    let scope = TypeNames.Scope(
      generated: .reference,
      members: Set(fields.map(\.name) + (table?.compoundReferences.map(\.name) ?? [])))
    let fields = fields.map { $0.moved(to: scope) }
    let members = fields.compactMap { field in query(field, root: "Root").map { (field, $0) } }
    guard !members.isEmpty else { return }
    let target = names.type(name, in: scope)
    text.gap()
    text.extending(names.dflat("Reference"), where: "Target == \(target)") { text in
      for (field, type) in members {
        let method =
          switch field.definition.type {
          case .vector where field.definition.reference != nil: "_relations"
          case _ where field.definition.reference != nil: "_relation"
          case .structure, .table: "_reference"
          case .union: "_union"
          case .vector: "_vector"
          default: "_field"
          }
        text.documentation(queryDocumentation(field))
        let name = referenceMember(field.name, beside: scope.members, &text)
        text.short("\(access)var \(name)", type, "\(method)(\(field.offset))")
      }
      for relation in compoundRelations(of: table, in: scope, root: "Root") {
        text.documentation([relation.documentation])
        let name = referenceMember(relation.name, beside: scope.members, &text)
        text.short(
          "\(access)var \(name)", relation.type, "_compoundRelation(\(relation.offsets))")
      }
    }
  }

  private func writeReference(to union: UnionDefinition, to text: inout SourceText) {
    guard !union.members.isEmpty else { return }
    let scope = TypeNames.Scope(generated: .reference)
    let target = names.type(union.name, in: scope)
    // Several aliases of one type are a single member for the reader of a query.
    var types: [FieldType] = []
    var members: [FieldType: [UnionDefinition.Member]] = [:]
    for member in union.members {
      if members[member.type] == nil { types.append(member.type) }
      members[member.type, default: []].append(member)
    }
    text.gap()
    text.extending(names.dflat("UnionReference"), where: "Target == \(target)") { text in
      for type in types {
        let aliases = members[type] ?? []
        let condition = names.dflat("Condition")
        let tags = aliases.map { "\($0.tag)" }.joined(separator: ", ")
        text.documentation(["Whether it holds \(list(aliases))."])
        text.shortFunction(
          "\(access)func match(_ member: \(metatype(type, in: scope)))", "\(condition)<Root>",
          "_match(\(tags))")
      }
      for type in types {
        let aliases = members[type] ?? []
        let tags = aliases.map { "\($0.tag)" }.joined(separator: ", ")
        let head = "\(access)func `as`(_ member: \(metatype(type, in: scope)))"
        switch type {
        case .table(let name), .structure(let name):
          text.documentation([
            "The fields of \(list(aliases)); unknown while it holds another member."
          ])
          let reference = names.dflat("Reference")
          text.shortFunction(
            head, "\(reference)<\(names.type(name, in: scope)), Root>", "_member(\(tags))")
        default:
          text.documentation(["The string \(list(aliases)); unknown while it holds another member."]
          )
          text.shortFunction(
            head, "\(names.dflat("Field"))<\(names.swift("String")), Root>",
            "_stringMember(\(tags))")
        }
      }
    }
    text.gap()
    text.extending(names.dflat("UnionVectorReference"), where: "Target == \(target)") { text in
      for type in types {
        let aliases = members[type] ?? []
        let tags = aliases.map { "\($0.tag)" }.joined(separator: ", ")
        text.documentation(["Whether an element holds \(list(aliases))."])
        text.shortFunction(
          "\(access)func contains(_ member: \(metatype(type, in: scope)))",
          "\(names.dflat("Condition"))<Root>", "_contains(\(tags))")
      }
    }
    writeCases(of: union, target, to: &text)
  }

  /// Makes `Post.content == .text` an error that names the right form.
  private func writeCases(
    of union: UnionDefinition, _ target: String, to text: inout SourceText
  ) {
    text.gap()
    let type = names.dflat("UnionCase")
    text.extending(type, where: "Target == \(target)") { text in
      for member in union.members where member.swiftName != "_unavailable" {
        text.documentation(["`\(member.name)`, which conditions ask for by `match`."])
        text.short(
          "\(access)static var \(Identifier.escaped(member.swiftName))", "\(type)<Target>",
          "_unavailable")
      }
    }
  }

  private func list(_ aliases: [UnionDefinition.Member]) -> String {
    aliases.map { "`\($0.name)`" }.joined(separator: " or ")
  }

  private func metatype(_ type: FieldType, in scope: TypeNames.Scope) -> String {
    switch type {
    case .table(let name), .structure(let name): names.type(name, in: scope) + ".Type"
    default: names.swift("String") + ".Type"
    }
  }
}
