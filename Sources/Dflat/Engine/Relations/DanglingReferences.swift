// Dangling references: keys that no object has.

import FlatBuffersRuntime

/// A key in an object to which no object belongs.
public struct DanglingReference: Sendable, CustomStringConvertible {
  /// The type of the object.
  public let schema: EntitySchema
  /// The id of its row.
  public let id: Int64
  /// The reference, one of the schema's.
  public let reference: EntityReference
  /// The key.
  public let key: Value

  /// The object, the field and the key, with the schema's names.
  public var description: String {
    let target = reference.target
    let field = target.primaryKey[0]
    return
      "\(schema.layout.swiftName), row \(id): \(schema.name(of: reference)) refers to \(target.layout.swiftName) (\(target.name(of: field)): \(target.text(of: key, in: field))), which is not stored"
  }
}

extension StorageReader {
  /// Calls `body` with each key in the references of a type that no object has.
  ///
  /// Every key is looked up once. Memory depends on the number of different keys.
  /// - Parameters:
  ///   - schema: The type whose objects are examined.
  ///   - body: Called in the order of the fields and rows. It does not use the storage.
  public func forEachDanglingReference(
    of schema: EntitySchema, _ body: (DanglingReference) throws -> Void
  ) throws {
    for reference in schema.references {
      let target = reference.target
      let reader = ReferenceReader(schema, reference.offset)
      var keys: Set<StoredKey> = []
      try forEachKey(of: schema, reader) { _, key in keys.insert(key) }
      let all = Array(keys)
      let ids = try ids(
        of: target, with: all.map { KeyValues(first: $0.value, rest: []) })
      for (key, id) in zip(all, ids) where id != nil { keys.remove(key) }
      if keys.isEmpty { continue }
      try forEachKey(of: schema, reader) { id, key in
        if !keys.contains(key) { return }
        try body(
          DanglingReference(schema: schema, id: id, reference: reference, key: key.value))
      }
    }
  }

  private func forEachKey(
    of schema: EntitySchema, _ reader: ReferenceReader,
    _ body: (Int64, StoredKey) throws -> Void
  ) throws {
    try scanRows(Query(schema: schema)) { id, bytes in
      guard let table = TableReader(root: bytes) else { return true }
      try reader.forEachKey(table) { value in
        if let key = value.constant(reader.type) { try body(id, StoredKey(key)) }
      }
      return true
    }
  }
}
