// The names of a record's parts, for errors. `@IndexKeyRecord` generates them.

/// The names of a record's properties, and the origin of its tag.
///
/// Errors use it to name the property that they concern. A record that conforms by hand may provide
/// it as well.
public struct RecordDescription: Sendable, Hashable {
  /// The names of the key's components, in order.
  public let keys: [String]
  /// The names of the fields, in order.
  public let fields: [String]
  /// The names of the components of each index, in the order of `indexTags`.
  public let indexes: [[String]]
  /// Whether the type's tag is a hash of its name, so that no other type in a store may have it.
  public let hasHashedPrefix: Bool

  /// Creates a description.
  ///
  /// - Parameters:
  ///   - keys: The names of the key's components, in order.
  ///   - fields: The names of the fields, in order.
  ///   - indexes: The names of the components of each index.
  ///   - hasHashedPrefix: Whether the type's tag is a hash of its name.
  public init(
    keys: [String] = [], fields: [String] = [], indexes: [[String]] = [],
    hasHashedPrefix: Bool = false
  ) {
    self.keys = keys
    self.fields = fields
    self.indexes = indexes
    self.hasHashedPrefix = hasHashedPrefix
  }

  /// The names of the components of the key or of an index.
  func names(_ order: ComponentOrder) -> [String] {
    switch order {
    case .key: keys
    case .index(let position): indexes.indices.contains(position) ? indexes[position] : []
    }
  }
}

/// The order of a type's records that components belong to.
@usableFromInline
enum ComponentOrder: Sendable, Hashable {
  case key
  case index(Int)
}
