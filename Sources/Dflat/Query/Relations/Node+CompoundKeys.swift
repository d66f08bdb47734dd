// Conditions on keys of one or several fields.
//
// A key of one field is tested by a membership. One of several fields is tested by a function,
// since the fields belong together: {(1, 2), (3, 4)} does not contain (1, 4). The function tells
// the planner the values of each field, so that indexes narrow the rows that it is called for.

extension Node {
  /// Whether some fields have the values of one of some keys. Unknown if a field is.
  /// - Parameter negated: Whether they must have those of none, and be known.
  static func membership(
    _ fields: [FieldDescriptor], _ keys: [KeyValues], negated: Bool = false
  ) -> Node {
    if fields.count == 1 {
      let field = fields[0]
      return .membership(.field(field), keys.map(\.first), field.type, negated: negated)
    }
    let wanted = Set(keys)
    let candidates = fields.indices.map { place in
      Set(keys.map { StoredKey($0[place]) }).map(\.value)
    }
    let call = FunctionCall(
      name: "isOneOfKeys", isDeterministic: true,
      arguments: fields.map { FunctionArgument(.field($0), $0.type) }, type: .bool,
      candidates: candidates
    ) { values in
      KeyValues(count: values.count) { values[$0] }.map { .bool(wanted.contains($0)) }
    }
    return negated ? .not(.call(call)) : .call(call)
  }

  /// Whether some fields have the values of one of some keys, at least one.
  static func key(_ fields: [FieldDescriptor], isOneOf keys: [KeyValues]) -> Node {
    keys.count == 1 ? .equality(fields, keys[0]) : .membership(fields, keys)
  }

  /// Whether some fields have the values of a key.
  static func equality(_ fields: [FieldDescriptor], _ key: KeyValues) -> Node {
    let parts = fields.enumerated().map { place, field in
      Node.comparison(.equal, .field(field), .constant(key[place], field.type), field.type)
    }
    return parts.count == 1 ? parts[0] : .and(NodeParts(parts))
  }
}

extension EntitySchema {
  /// Whether the reference by some fields has one of some keys.
  func condition(thatRefersBy offsets: [Int], to keys: [KeyValues]) -> Node {
    if let fields = fields(ofReference: offsets) {
      return .key(fields, isOneOf: keys)
    }
    let element = ElementVariable([root], offsets[0])
    return .quantified(.any, element, .membership([element.value], keys))
  }
}
