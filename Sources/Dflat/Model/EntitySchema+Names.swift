// The schema's names of fields and values, found by following the storage name through the layout.

extension EntitySchema {
  /// The field's name in conditions, with the schema's names: `likes`, `author.handle`,
  /// `attachment.as(Photo).width`.
  ///
  /// - Parameters:
  ///   - field: A field of the schema.
  ///   - withoutTag: Whether a union's tag gets the name of the union.
  package func name(of field: FieldDescriptor, withoutTag: Bool = false) -> String {
    name(of: field, withoutTag: withoutTag, elements: [])
  }

  /// - Parameter elements: The elements that the field may be a field of: `$0`, `$1`.
  func name(
    of field: FieldDescriptor, withoutTag: Bool, elements: [ElementVariable]
  ) -> String {
    if let related = field.related { return related.name(in: self) }
    let fields = field.alternatives.isEmpty ? [field] : field.alternatives
    var names: [String] = []
    for field in fields {
      let name = walk(field, elements).name + (field.isUnionTag && !withoutTag ? "._type" : "")
      if !names.contains(name) { names.append(name) }
    }
    return names.joined(separator: "|")
  }

  /// A primary key in readable form: `site: "notes", number: 7`.
  func text(ofKey key: KeyValues) -> String {
    primaryKey.enumerated().map { place, field in
      "\(name(of: field)): \(text(of: key[place], in: field))"
    }.joined(separator: ", ")
  }

  /// The schema's name of an enum value, a combination of flags, or a union member.
  func valueName(_ value: Value, of field: FieldDescriptor) -> String? {
    if let target = field.related as? TargetField {
      return target.other.valueName(value, of: target.field)
    }
    let bits = Int64(bitPattern: value.bits)
    switch walk(field.alternatives.first ?? field).kind {
    case .enumeration(let layout, _)?:
      let layout = layout()
      if let name = layout.values.first(where: { $0.value == bits })?.name { return name }
      guard layout.isBitFlags else { return nil }
      let flags = layout.values.filter { $0.value & bits == $0.value }
      let named = flags.reduce(0) { $0 | $1.value }
      return named == bits ? "[\(flags.map(\.name).joined(separator: ", "))]" : nil
    case .union(let layout)? where field.isUnionTag:
      return UInt8(exactly: bits).flatMap { layout().member($0)?.name }
    default: return nil
    }
  }

  /// The name, and the kind of the last field on the path.
  private func walk(
    _ field: FieldDescriptor, _ elements: [ElementVariable] = []
  ) -> (name: String, kind: Property.Kind?) {
    var names = ""
    var properties = layout.properties
    var kind: Property.Kind?
    var parts = field.path.split(separator: "__")[...]
    if let element = field.element {
      names = "$\(elements.lastIndex(of: element) ?? 0)"
      kind = element.kind
      properties = element.kind.properties
      // The path of an element ends with a bracket.
      parts = parts[parts.index(after: parts.lastIndex { $0.last == "]" } ?? parts.startIndex)...]
    }
    for part in parts {
      if part == "type" { break }
      if part.first == "u" {
        guard case .union(let layout)? = kind, let tag = UInt8(part.dropFirst()),
          let member = layout().member(tag)
        else { return (field.path, nil) }
        names += ".as(\(member.name))"
        kind = member.kind
      } else {
        guard let offset = Int(part.dropFirst()),
          let property = properties.first(where: { $0.offset == offset })
        else { return (field.path, nil) }
        names += (names.isEmpty ? "" : ".") + property.name
        kind = property.kind
      }
      properties = kind?.properties ?? []
    }
    return (names, kind)
  }
}

extension Property.Kind {
  /// The fields of a table or struct.
  fileprivate var properties: [Property] {
    switch self {
    case .table(let layout): layout().properties
    case .structure(let layout): layout().properties
    default: []
    }
  }
}

extension FieldDescriptor {
  /// Whether this is the number of elements of a vector.
  var isVectorCount: Bool {
    switch leaf {
    case .vectorCount, .unionCount: true
    default: false
    }
  }

  fileprivate var isUnionTag: Bool {
    switch leaf {
    case .unionTag, .elementTag: true
    default: false
    }
  }
}
