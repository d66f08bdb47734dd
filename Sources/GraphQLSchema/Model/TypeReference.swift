// Types as fields and arguments refer to them.

/// A reference to a type: a name, a list of something, or something that is never null.
public enum TypeReference: Hashable, Sendable, CustomStringConvertible {
  /// The type of this name.
  case named(String)
  /// A list.
  indirect case list(TypeReference)
  /// Never null; what it contains is not `nonNull` itself.
  indirect case nonNull(TypeReference)

  /// The name inside all lists.
  public var name: String {
    switch self {
    case .named(let name): name
    case .list(let element), .nonNull(let element): element.name
    }
  }

  /// Whether null is excluded.
  public var isNonNull: Bool { if case .nonNull = self { true } else { false } }

  /// The same without the outermost `!`.
  public var nullable: TypeReference {
    if case .nonNull(let inner) = self { inner } else { self }
  }

  /// The type of the elements if it is a list, which may be non-null; otherwise nil.
  public var element: TypeReference? {
    if case .list(let element) = nullable { element } else { nil }
  }

  /// As schemas have it: `[T!]!`.
  public var description: String {
    switch self {
    case .named(let name): name
    case .list(let element): "[\(element)]"
    case .nonNull(let inner): "\(inner)!"
    }
  }
}
