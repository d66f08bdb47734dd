// Dangling references: keys that no object has.

package import FlatBuffersRuntime

/// A key in an object to which no object belongs.
public struct DanglingReference: Sendable, CustomStringConvertible {
  /// The type of the object.
  package let schema: EntitySchema
  /// The id of its row.
  public let id: Int64
  /// The reference, one of the schema's.
  package let reference: EntityReference
  /// The key.
  package let key: KeyValues

  /// The object, the fields and the key, with the schema's names.
  public var description: String {
    let target = reference.target
    let fields = schema.name(ofReference: reference.offsets)
    return
      "\(schema.layout.swiftName), row \(id): \(fields) refers to \(target.layout.swiftName) (\(target.text(ofKey: key))), which is not stored"
  }
}

extension Workspace {
  /// Calls `body` with each key in the references of a type that no object has.
  ///
  /// Nothing forbids such keys: an object may be stored before the one that it refers to, and the
  /// rule of a reference may be to keep the key. Their number, or their absence, is the program's
  /// business.
  ///
  ///     try dflat.danglingReferences(of: Post.self) { print($0) }
  ///
  /// Every key is looked up once; memory depends on the number of different keys.
  /// - Parameters:
  ///   - type: The type whose objects are examined.
  ///   - body: Called in the order of the fields and rows. It must not use the workspace.
  /// - Throws: `StorageError`; `WorkspaceError`; the errors of `body`.
  public func danglingReferences<Element: Atom>(
    of type: Element.Type, _ body: (DanglingReference) throws -> Void
  ) throws {
    try danglingReferences(of: type._schema, body)
  }

  /// The same for a type that is known by its schema only.
  /// - Parameters:
  ///   - schema: The type whose objects are examined.
  ///   - body: Called in the order of the fields and rows. It must not use the workspace.
  /// - Throws: `StorageError`; `WorkspaceError`; the errors of `body`.
  package func danglingReferences(
    of schema: EntitySchema, _ body: (DanglingReference) throws -> Void
  ) throws {
    try _core.forEachDanglingReference(of: schema) { reference in
      try body(reference)
      return true
    }
  }
}

extension WorkspaceCore {
  /// Calls `body` with each key in the references of a type that no object has, from one state.
  /// - Parameter body: Returns whether to go on.
  func forEachDanglingReference(
    of schema: EntitySchema, _ body: (DanglingReference) throws -> Bool
  ) throws {
    try fetchWithinASnapshot { () throws in
      for reference in schema.references {
        let target = reference.target
        let reader = ReferenceReader(schema, reference.offsets)
        // The views of the two types are used one after the other: in a transaction, and while a
        // type is migrated, each is asked for by itself.
        var keys: Set<KeyValues> = []
        try reading(Query(schema: schema)) {
          _ = try $0.forEachKey(of: schema, reader) { _, key in
            keys.insert(key)
            return true
          }
        }
        let missing = try reading(Query(schema: target)) { try $0.missing(keys, of: target) }
        if missing.isEmpty { continue }
        let goesOn = try reading(Query(schema: schema)) {
          try $0.forEachKey(of: schema, reader) { id, key in
            if !missing.contains(key) { return true }
            return try body(
              DanglingReference(schema: schema, id: id, reference: reference, key: key))
          }
        }
        if !goesOn { return }
      }
    }
  }
}

extension StorageReader {
  /// Those of some keys that no object has.
  fileprivate func missing(
    _ keys: Set<KeyValues>, of schema: EntitySchema
  ) throws -> Set<KeyValues> {
    var missing: Set<KeyValues> = []
    var portion: [KeyValues] = []
    func lookUp() throws {
      let ids = try ids(of: schema, with: .values(portion))
      for (key, id) in zip(portion, ids) where id == nil { missing.insert(key) }
      portion.removeAll(keepingCapacity: true)
    }
    for key in keys {
      portion.append(key)
      if portion.count == 10_000 { try lookUp() }
    }
    try lookUp()
    return missing
  }

  /// Calls `body` with the id of each object and each key that it refers to.
  /// - Parameter body: Returns whether to go on.
  /// - Returns: Whether all objects were examined.
  fileprivate func forEachKey(
    of schema: EntitySchema, _ reader: ReferenceReader,
    _ body: (Int64, KeyValues) throws -> Bool
  ) throws -> Bool {
    var goesOn = true
    _ = try scan(.query(Query(schema: schema)), .rows) { row in
      guard let table = TableReader(root: row.bytes) else { return true }
      try reader.forEachKey(table) { values in
        guard goesOn, let key = reader.key(values) else { return }
        goesOn = try body(row.id, key)
      }
      return goesOn
    }
    return goesOn
  }
}

/// The keys in one reference of a type, for engines that look them up themselves.
package struct ReferenceKeys {
  private let schema: EntitySchema
  private let reference: EntityReference
  private let reader: ReferenceReader

  /// - Parameters:
  ///   - reference: One of the references of `schema`.
  ///   - schema: The type that has the reference.
  package init(_ reference: EntityReference, of schema: EntitySchema) {
    self.schema = schema
    self.reference = reference
    reader = ReferenceReader(schema, reference.offsets)
  }

  /// The type that is referred to.
  package var target: EntitySchema { reference.target }

  /// Calls `body` with each key of an object.
  package func forEach(_ object: TableReader, _ body: (KeyValues) throws -> Void) rethrows {
    try reader.forEachKey(object) { values in
      if let key = reader.key(values) { try body(key) }
    }
  }

  /// A key that no object has.
  package func dangling(_ key: KeyValues, inRow id: Int64) -> DanglingReference {
    DanglingReference(schema: schema, id: id, reference: reference, key: key)
  }
}
