// How a result across relations is maintained, if it is.
//
// A relation leads from an object to at most one other. So a change of the other object concerns
// the objects that refer to it, and an index on the reference finds them.

extension Query {
  /// Why the result has to be asked again, in words; nil if it is maintained.
  var reasonToAskAgain: String? {
    if !followsRelations { return nil }
    let nodes = expressions
    for node in nodes {
      if !node.isDeterministic { return "its order or condition may change without a transaction" }
      if node.callsFunctions { return "a function of the program may fail for a related object" }
      if node.searchesRelated { return "it searches texts of related objects" }
    }
    var reason: String?
    for node in nodes {
      node.forEachRelated { related in
        if reason == nil { reason = self.reason(to: related) }
      }
      node.forEachElement { element in
        if element.relation != nil { reason = "it depends on the elements of a related vector" }
      }
    }
    return reason
  }

  private func reason(to related: any RelatedValue) -> String? {
    guard let target = related as? TargetField else {
      return "it depends on all objects of \(related.other.layout.swiftName) that refer to one"
    }
    if target.key.related != nil {
      return "\(target.name(in: schema)) is reached over several objects"
    }
    if target.key.element != nil { return "it depends on a relation to several objects" }
    if !schema.hasIndex(of: target.path) {
      return "\(schema.name(ofKey: target.keys)) has no index, which would find the objects"
        + " that refer to a changed one"
    }
    return nil
  }

  /// The condition and the sort keys.
  private var expressions: [Node] { (condition.map { [$0] } ?? []) + order.map(\.node) }

  /// The part of the condition that needs no other object; nil for all objects.
  var ownCondition: Node? { .conjunction(of: parts.filter { !$0.followsRelations }) }

  /// The parts of the condition that must all be true.
  private var parts: [Node] {
    switch condition {
    case nil: []
    case .and(let parts)?: parts.array
    case let other?: [other]
    }
  }

  /// The values of the objects that each relation leads to. The result is maintained.
  func makeRelatedValues() -> [RelatedValues] {
    var fields: [(path: TargetPath, fields: [FieldDescriptor])] = []
    for node in expressions {
      node.forEachRelated { related in
        guard let target = related as? TargetField else { return }
        let place = fields.firstIndex { $0.path.leads(to: target.path) } ?? fields.count
        if place == fields.count { fields.append((target.path, [])) }
        if !fields[place].fields.contains(target.field) {
          fields[place].fields.append(target.field)
        }
      }
    }
    return fields.map { path, fields in
      let demands = parts.filter { part in
        part.followsRelations && part.onlyTarget?.leads(to: path) == true
          && part.isUntrueWithoutFields
      }
      return RelatedValues(path, fields, .conjunction(of: demands.map(\.onTarget)))
    }
  }
}

extension Node {
  fileprivate static func conjunction(of parts: [Node]) -> Node? {
    parts.first.map { parts.dropFirst().reduce($0) { .conjunction($0, $1) } }
  }

  /// The same value, with related values looked up in what is known of the other objects.
  func lookingUp(_ values: [RelatedValues], of schema: EntitySchema) -> Node {
    replacingFields { field in
      guard let target = field.related as? TargetField else { return nil }
      return values.first { $0.path.leads(to: target.path) }?.lookUp(target, of: schema)
    }
  }

  /// Whether the condition is not true if its fields are unknown.
  fileprivate var isUntrueWithoutFields: Bool {
    combined(leaf: \.isStrict) { connective, parts in
      switch connective {
      case .and: parts.contains(true)
      case .or: parts.allSatisfy(\.self)
      case .not: false
      }
    }
  }
}

extension EntitySchema {
  /// Whether a key or an index narrows the objects that refer to one.
  fileprivate func hasIndex(of path: TargetPath) -> Bool {
    path.keys.contains { field in
      switch field.column {
      case .index?, .key(0)?: true
      default:
        indexes.contains { !$0.columns[0].isFolded && $0.columns[0].reader.field == field }
      }
    }
  }
}
