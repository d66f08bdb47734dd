// StoredField: what is known of a field of a stored type, to be shown.

import Dflat

/// A field of the objects of a type.
public struct StoredField: Sendable, Hashable, Encodable {
  /// Its name in the schema.
  public let name: String
  /// Its type as people read it: `string`, `int32`, `Status`, `[Author]`.
  public let type: String
  /// Whether it is a union, or a vector of them. Objects as JSON have the names of the members in
  /// an entry of their own, `attachment_type`.
  public let isUnion: Bool
  /// Whether it belongs to the primary key.
  public let isKey: Bool
  /// Whether an index begins with it.
  public let isIndexed: Bool
  /// Whether queries can sort by it.
  public let isSortable: Bool
  /// The table of the type whose keys it has; nil if it is no reference.
  public let reference: String?
}

extension StoredType {
  /// The fields, in the order of the schema; none if nothing is known of the type but its bytes.
  public var fields: [StoredField] {
    guard let entity else { return [] }
    let keys = Set(entity.primaryKey.map { entity.name(of: $0) })
    let indexed = Set(
      entity.indexes.compactMap { index in
        entity.fieldNames(ofIndex: index.table).split(separator: ",").first
          .map { String($0.split(separator: " ")[0]) }
      })
    return entity.layout.properties.map { property in
      StoredField(
        name: property.name, type: property.kind.described, isUnion: property.columns.count > 1,
        isKey: keys.contains(property.name), isIndexed: indexed.contains(property.name),
        isSortable: property.kind.isSortable,
        reference: entity.reference(at: property.offset)?.target.table)
    }
  }

  /// The names of the fields of the primary key; of its columns, if nothing else is known.
  public var keyFields: [String] {
    entity.map { entity in entity.primaryKey.map { entity.name(of: $0) } } ?? keyColumns
  }
}

extension Property.Kind {
  fileprivate var isSortable: Bool {
    switch self {
    case .scalar, .enumeration, .string: true
    default: false
    }
  }

  fileprivate var described: String {
    switch self {
    case .scalar(let type, _): "\(type)"
    case .enumeration(let layout, _): layout().name
    case .string: "string"
    case .structure(let layout): layout().name
    case .table(let layout): layout().name
    case .union(let layout): layout().name
    case .vector(let element): "[\(element.described)]"
    case .array(let element, let count): "[\(element.described):\(count)]"
    }
  }
}
