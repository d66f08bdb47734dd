// Resident: all objects of a small type in memory.

/// All objects of a type, held in memory and kept current.
///
///     let tags = try await dflat.resident(Tag.self)
///     let tag = tags["swift"]
///     let red = tags.objects(where: Tag.color, is: .red)
///
/// A look-up is synchronous, works on any thread, and takes no storage access. The objects follow
/// every transaction before the transaction's completion handler is called, and before `write`
/// returns. They are kept as long as this object is referenced. For types with some thousand
/// objects: all of them are in memory.
///
/// A look-up sees the newest delivered state, also inside a transaction or a snapshot.
public final class Resident<Element: Atom>: Sendable {
  @usableFromInline let table = ResidentTable(Element._schema)
  /// The fields of the primary key.
  @usableFromInline let keyFields = Element._schema.primaryKey[...]

  fileprivate init() {}

  /// The number of objects.
  public var count: Int { table.count }

  /// Whether there are no objects.
  public var isEmpty: Bool { count == 0 }

  /// All objects, in order of insertion.
  public var all: [Element] { table.rows.map { Element(_row: $0) } }

  /// The object with a primary key; nil if there is none.
  @inlinable
  public subscript(key: Element.ID) -> Element? {
    guard let values = key._keyValues(in: keyFields), let row = table.row(values) else {
      return nil
    }
    return Element(_row: row)
  }

  /// The object with a primary key of several fields; nil if there is none.
  @inlinable
  public subscript<each Part>(
    _ part: repeat each Part
  ) -> Element? where Element.ID == CompositeKey<repeat each Part> {
    self[CompositeKey(repeat each part)]
  }

  /// The objects for which a field has a value, in order of insertion.
  ///
  /// The first call for a field goes through all objects; from then on they are also kept by that
  /// field, whether or not it is indexed in the storage.
  /// - Parameters:
  ///   - field: A field of the object, or of its nested tables and unions.
  ///   - value: The value, compared as `==` does in conditions: an unknown field has none.
  public func objects<Value: QueryValue>(
    where field: some FieldExpression<Value, Element>, is value: Value
  ) -> [Element] {
    let descriptor = field._field.descriptor
    guard let value = descriptor.stored(value) else { return [] }
    return table.rows(descriptor, value).map { Element(_row: $0) }
  }

  fileprivate func load(from core: WorkspaceCore) async throws {
    guard table.follow(in: core) else { throw WorkspaceError.shutDown }
    try await table.load()
  }
}

extension Workspace {
  /// All objects of a small type, held in memory and kept current.
  ///
  /// It takes its position in the order of transactions during this call, and returns when the
  /// objects were read.
  /// - Parameter type: The entity type.
  /// - Throws: `StorageError` if the objects cannot be read; `WorkspaceError.shutDown`.
  public func resident<Element: Atom>(_ type: Element.Type) async throws -> Resident<Element> {
    let resident = Resident<Element>()
    try await resident.load(from: _core)
    return resident
  }
}
