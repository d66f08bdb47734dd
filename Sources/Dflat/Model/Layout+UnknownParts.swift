// What an object has that its schema does not know, because a newer schema has written it: fields
// behind those that are known, values of enums, and members of unions.
//
// Programs read it as absent, or as a default, and keep it when they change other fields. What is
// written from JSON does not have it.

import FlatBuffersRuntime

extension EntitySchema {
  /// The first part of an object that this schema does not know, as `author.kind`; nil if there is
  /// none.
  package func unknownPart(of row: Row) -> String? {
    row.read { layout.unknownPart($0) }
  }

  /// The first such part in some of the fields.
  package func unknownPart(of row: Row, in isMeant: (Property) -> Bool) -> String? {
    row.read { table in
      layout.properties.lazy.filter(isMeant).compactMap { table.unknownPart($0) }.first
    }
  }
}

extension TableLayout {
  fileprivate func unknownPart(_ table: TableReader) -> String? {
    let known = (0..<slotCount).count { table.contains(4 + 2 * $0) }
    if table.fieldCount > known {
      // A field without a name is called by its offset, as in objects without a schema.
      var offset = 4 + 2 * slotCount
      while !table.contains(offset), offset < 1 << 16 { offset += 2 }
      return "f\(offset)"
    }
    return properties.lazy.compactMap { table.unknownPart($0) }.first
  }
}

extension TableReader {
  fileprivate func unknownPart(_ property: Property) -> String? {
    let field = property.offset
    let part: UnknownPart?
    switch property.kind {
    case .enumeration(let layout, let standard):
      let layout = layout()
      let position = locate(field, size: layout.type.size)
      let raw = position > 0 ? integer(layout.type, at: position) : standard ?? 0
      // The default of a field need not have a name.
      part = position > 0 && raw != standard && !layout.knows(raw) ? .itself : nil
    case .union(let layout): part = unionReader(at: field)?.unknownPart(layout())
    case .vector(.union(let layout)):
      guard let tags = vector(at: field - 2, stride: 1), let values = vector(at: field, stride: 4)
      else { return nil }
      let layout = layout()
      part =
        (0..<min(tags.count, values.count)).lazy.compactMap { index in
          UnionReader(tag: tags.scalar(index), in: self, at: values.position(of: index))
            .unknownPart(layout)
        }.first
    case .vector(let kind):
      guard kind.mayHaveUnknownParts, let vector = vector(at: field, stride: kind.inlineSize)
      else { return nil }
      part =
        (0..<vector.count).lazy.compactMap { index -> UnknownPart? in
          guard case .table(let layout) = kind else {
            return vector.structure(index).unknownPart(kind, at: 0)
          }
          return vector.table(index).flatMap { UnknownPart(within: layout().unknownPart($0)) }
        }.first
    default: part = value(of: property).unknownPart
    }
    return part?.path(in: property.name)
  }
}

/// Where something unknown is, seen from a field.
private enum UnknownPart {
  case itself
  case within(String)

  init?(within path: String?) {
    guard let path else { return nil }
    self = .within(path)
  }

  func path(in field: String) -> String {
    switch self {
    case .itself: field
    case .within(let path): "\(field).\(path)"
    }
  }
}

extension Property.Kind {
  /// Whether an element of a vector can have something that is not known.
  fileprivate var mayHaveUnknownParts: Bool {
    switch self {
    case .scalar, .string: false
    default: true
    }
  }
}

extension LayoutValue {
  /// In a value that is known itself.
  fileprivate var unknownPart: UnknownPart? {
    switch self {
    case .table(let layout, let table): UnknownPart(within: layout.unknownPart(table))
    case .structure(let layout, let structure): UnknownPart(within: layout.unknownPart(structure))
    default: nil
    }
  }
}

extension UnionReader {
  fileprivate func unknownPart(_ layout: UnionLayout) -> UnknownPart? {
    if tag == 0 { return nil }
    guard let member = layout.member(tag) else { return .itself }
    return value(member.kind).unknownPart
  }
}

extension StructLayout {
  fileprivate func unknownPart(_ structure: StructReader) -> String? {
    properties.lazy.compactMap { property in
      structure.unknownPart(property.kind, at: property.offset)?.path(in: property.name)
    }.first
  }
}

extension StructReader {
  fileprivate func unknownPart(_ kind: Property.Kind, at offset: Int) -> UnknownPart? {
    switch kind {
    case .enumeration(let layout, let standard):
      let layout = layout()
      let raw = integer(layout.type, at: offset)
      return raw == standard || raw == 0 || layout.knows(raw) ? nil : .itself
    case .structure(let layout):
      let layout = layout()
      return UnknownPart(within: layout.unknownPart(structure(at: offset, size: layout.size)))
    case .array(let kind, let count):
      return (0..<count).lazy.compactMap { index in
        unknownPart(kind, at: offset + index * kind.inlineSize)
      }.first
    case .scalar, .string, .table, .union, .vector: return nil
    }
  }
}
