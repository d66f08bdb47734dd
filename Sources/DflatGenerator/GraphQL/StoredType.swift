// StoredType: how the values of a GraphQL type are stored.

import GraphQLSchema

/// The stored form of a type reference; nullability does not matter.
indirect enum StoredType {
  /// A scalar of GraphQL and its type in the schema.
  case scalar(NamedType, String)
  case enumeration(NamedType)
  /// An object, interface or union, as a table of the namespace.
  case table(NamedType)
  /// An entity, as its key of this type.
  case reference(NamedType, String)
  /// An entity whose key has several fields, as the table of this name that has them.
  case compositeReference(NamedType, String)
  case list(StoredType)
  /// A list in a list, as a table of this name with the field `values`.
  case wrapped(String, StoredType)

  /// The name of the only field of a wrapping table.
  static let values = "values"

  /// The field's type in the schema.
  var value: EntityModel.Value {
    switch self {
    case .scalar(_, let name), .reference(_, let name): .scalar(name)
    case .enumeration(let type), .table(let type): .named(type.name)
    case .list(let element): .list(element.value)
    case .compositeReference(_, let name), .wrapped(let name, _): .named(name)
    }
  }

  /// Whether it is a key that is no text: 0 is a key, so no reference at all is something else.
  var isNumericReference: Bool {
    if case .reference(_, let type) = self { type != "string" } else { false }
  }

  /// The entity to which it refers by a key of one field, if it does.
  var referredEntity: NamedType? {
    switch self {
    case .reference(let entity, _): entity
    case .list(let element): element.referredEntity
    case .scalar, .enumeration, .table, .compositeReference, .wrapped: nil
    }
  }

  /// Whether it is made of the fields of an object, and not of its key alone.
  var hasTable: Bool {
    switch self {
    case .table: true
    case .list(let element), .wrapped(_, let element): element.hasTable
    case .scalar, .enumeration, .reference, .compositeReference: false
    }
  }
}
