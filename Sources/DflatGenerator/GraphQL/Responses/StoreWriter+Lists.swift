// Lists: how they are merged into stored ones, and the paths of those that page.
//
// A list pages if its elements have keys: entities, whose keys are stored; objects of interfaces
// and unions with the key; and edges, which are the nodes that they have. An object with such a
// list called `edges` or `nodes` is a connection, and stands for it.

import DflatSchema
import GraphQLSchema

extension StoreWriter {
  /// An expression that merges a list into a stored one; nil if the types do not fit.
  func mergedList(
    _ expression: String, _ isOptional: Bool, _ type: TypeReference, _ object: SelectedObject?,
    _ stored: FieldType, as form: SwiftType?, _ entity: EntityTables, _ merging: Merging
  ) -> String? {
    guard let element = type.element,
      let conversion = elementConversion(
        element, object, stored, as: form, entity,
        merging: Merging(stored: "stored", rules: "rules"))
    else { return nil }
    let isLeaf = object == nil && element.nullable.element == nil
    // Elements that are not null have no errors of their own.
    if isLeaf, element.isNonNull, !conversion.isFailable {
      let base = isOptional ? expression + "?" : expression
      let list = conversion.apply.map { "\(base).map { \($0("$0")) }" } ?? expression
      return isOptional ? "\(list) ?? []" : list
    }
    func call(_ function: String, _ parameters: String, _ key: String = "") -> String {
      let item = parameters.isEmpty ? "$0" : "selected"
      var value = item
      if element.isNonNull {
        value = conversion.apply?(item) ?? item
      } else if let apply = conversion.apply {
        value = "\(item).\(conversion.isFailable ? "flatMap" : "map") { \(apply("$0")) }"
      }
      return "\(merging.rules).\(function)(\(expression), \(merging.stored)\(key)) "
        + "{ \(parameters)\(value) }"
    }
    if isLeaf { return call("list", "") }
    let parameters = "selected, stored, rules in "
    guard let object, element.nullable.element == nil else { return call("lists", parameters) }
    if isReference(stored, entity) {
      pageable.insert(ObjectIdentifier(object))
      return call("references", "")
    }
    guard let key = elementKey(of: object, stored, entity) else {
      return call("objects", parameters)
    }
    pageable.insert(ObjectIdentifier(object))
    let place =
      object.type.isAbstract
      ? ""
      : node(of: object).map {
        ", in: \(Literal.string($0.key))"
      } ?? ""
    return call("objects", parameters, ", by: { \(key) }\(place)")
  }

  /// Whether a stored value is the key of an entity.
  func isReference(_ stored: FieldType, _ entity: EntityTables) -> Bool {
    switch stored {
    case .string, .scalar: true
    default: entity.table(stored).flatMap { compositeTarget(of: $0, in: entity) } != nil
    }
  }

  /// The key of a stored object `$0`; nil if it has none that the selection always has. Objects of
  /// different types are different, whatever their ids are.
  private func elementKey(
    of object: SelectedObject, _ stored: FieldType, _ entity: EntityTables
  ) -> String? {
    guard let table = entity.table(stored) else { return nil }
    if object.type.isAbstract {
      let keys = keyFields(of: table, object, entity)
      let isSelected = keys.allSatisfy { key in
        object.fields.contains {
          $0.definition.name == key.part.path[0] && !$0.isConditional
        } || keyOfViews(key, of: object, "obj", entity, object.possible) != nil
      }
      if keys.isEmpty || !isSelected { return nil }
      let parts = keys.map { key in "$0.\(key.field.memberName)" }.joined(separator: ", ")
      let type =
        EntityTables.subtype(of: table).map { subtype in ", type: $0.\(subtype.memberName)?._tag" }
        ?? ""
      return "\(types.known("GraphQLElementKey"))(\(parts)\(type))"
    }
    guard let node = table.fields.first(where: { $0.name == "node" && !$0.isDeprecated }),
      let selected = self.node(of: object), let inner = selected.object
    else { return nil }
    if isReference(node.type, entity) {
      return conversion(selected.definition.type.nullable, inner, node.type, entity) == nil
        ? nil : "$0.\(node.memberName)"
    }
    return elementKey(of: inner, node.type, entity)
      .map { key in "$0.\(node.memberName).flatMap { \(key) }" }
  }

  /// The field of an edge that has its key.
  private func node(of object: SelectedObject) -> SelectedField? {
    object.fields.first { $0.definition.name == "node" && !$0.isConditional }
  }

  // MARK: Connections

  /// An object that has a page of a list.
  private struct Connection {
    let lists: [SelectedField]
    let info: SelectedField?
    let start: [String]
    let end: [String]
  }

  /// The page that an object has; nil if it has none.
  private func connection(_ object: SelectedObject) -> Connection? {
    let lists = object.fields.filter { field in
      ["edges", "nodes"].contains(field.definition.name)
        && field.object.map { pageable.contains(ObjectIdentifier($0)) } == true
    }
    if lists.isEmpty || object.type.isAbstract { return nil }
    let info = object.fields.first { $0.definition.name == "pageInfo" && $0.object != nil }
    func keys(_ names: [String]) -> [String] {
      (info?.object?.fields ?? []).filter { names.contains($0.definition.name) }.map(\.key)
    }
    return Connection(
      lists: lists, info: info, start: keys(["startCursor", "hasPreviousPage"]),
      end: keys(["endCursor", "hasNextPage"]))
  }

  /// Writes that the first page of a list has both ends of it, and that what is said about the ends
  /// stays where the list stays, if a table has a list that pages.
  func writePage(
    _ table: TableDefinition, _ entity: EntityTables, _ object: SelectedObject,
    to text: inout SourceText
  ) {
    let choices = choices(object.fields)
    let info = (choices["pageInfo"] ?? []).filter { $0.object != nil }
    if object.type.isAbstract || info.isEmpty { return }
    let lists = table.fields.compactMap { field -> (FieldDefinition, [SelectedField])? in
      guard ["edges", "nodes"].contains(field.name), !field.isDeprecated,
        case .vector = field.type
      else { return nil }
      let selected = (choices[field.name] ?? []).filter { $0.object != nil }
      return selected.isEmpty ? nil : (field, selected)
    }
    if lists.isEmpty { return }
    let empty = lists.map { "self.\($0.0.memberName).isEmpty" }.joined(separator: " && ")
    let conditions = lists.flatMap { field, selected in
      selected.compactMap { keepingCondition(of: $0, in: field, entity) }
    }
    let kept = conditions.filter { $0.body != nil } + conditions.filter { $0.body == nil }
    if kept.isEmpty { return text.line("let rules = rules.page(isFirst: \(empty))") }
    let keys = info.map { Literal.string($0.key) }.joined(separator: ", ")
    for (index, condition) in kept.enumerated() {
      let variable = kept.count == 1 ? "let isKept = " : "var isKept = "
      let call = (index == 0 ? variable : "isKept = isKept || ") + condition.call
      guard let body = condition.body else {
        text.statement(call)
        continue
      }
      text.block(call) { $0.statement(body) }
    }
    text.statement("let rules = rules.page(isFirst: \(empty), keeping: [\(keys)], if: isKept)")
  }

  /// The condition under which a list stays as it is stored: a call, and the closure behind it; nil
  /// if it never does.
  private func keepingCondition(
    of selected: SelectedField, in field: FieldDefinition, _ entity: EntityTables
  ) -> (call: String, body: String?)? {
    guard let object = selected.object, let element = selected.definition.type.nullable.element,
      case .vector(let stored) = field.type
    else { return nil }
    let list = "\(Literal.string(selected.key)), obj.\(selected.property)"
    guard let table = entity.table(stored), let isKnown = keyCondition(of: object, table, entity)
    else { return selected.isOptional ? ("rules.keeps(\(list))", nil) : nil }
    let body = element.isNonNull ? "obj in \(isKnown)" : "$0.map { obj in \(isKnown) } ?? true"
    return ("rules.keeps(\(list), self.\(field.memberName))", body)
  }

  // MARK: Paths

  /// Writes the properties that key paths to lists that page are made of.
  func writeLists(
    _ data: SelectedObject, _ access: AccessLevel, to text: inout SourceText
  ) {
    guard !pageable.isEmpty else { return }
    var body = SourceText()
    // A property for each list, and for what has lists inside.
    func members(of object: SelectedObject) -> [(String, String, String)] {
      var members: [(String, String, String)] = []
      for field in object.fields {
        guard let inner = field.object else { continue }
        let hasLists = write(inner)
        let key = Literal.string(field.key)
        let property = Identifier.escaped(field.property)
        if pageable.contains(ObjectIdentifier(inner)) {
          members.append(
            (property, "\(types.known("GraphQLList"))<\(inner.path)>", "_list(\(key))"))
        } else if let connection = connection(inner) {
          members.append(
            (property, "\(types.known("GraphQLList"))<\(inner.path)>", call(key, connection)))
        } else if hasLists {
          let levels = field.definition.type.listLevels
          members.append(
            (
              property, "\(types.known("GraphQLLists"))<\(inner.path)>",
              levels == 0 ? "_object(\(key))" : "_object(\(key), levels: \(levels))"
            ))
        }
      }
      for view in object.views where write(view.object) {
        members.append(
          (
            Identifier.escaped(view.property),
            "\(types.known("GraphQLLists"))<\(view.object.path)>", "_view()"
          ))
      }
      return members
    }
    func call(_ key: String, _ connection: Connection) -> String {
      func list(_ keys: [String]) -> String {
        "[\(keys.map(Literal.string).joined(separator: ", "))]"
      }
      return "_connection(\(key), \(list(connection.lists.map(\.key))), "
        + "\(connection.info.map { Literal.string($0.key) } ?? "nil"), "
        + "start: \(list(connection.start)), end: \(list(connection.end)))"
    }
    /// Whether anything was written.
    func write(_ object: SelectedObject) -> Bool {
      let members = members(of: object)
      if members.isEmpty { return false }
      body.gap()
      body.extending(types.known("GraphQLLists"), where: "Part == \(object.path)") { text in
        for (name, type, value) in members {
          text.documentation(["Where `\(name)` is."])
          text.short("\(access.modifier)var \(name)", type, value)
        }
      }
      return true
    }
    if write(data) {
      text.gap()
      text.append(body)
    }
  }
}

extension TypeReference {
  /// How many lists are around the type.
  var listLevels: Int { element.map { 1 + $0.listLevels } ?? 0 }
}
