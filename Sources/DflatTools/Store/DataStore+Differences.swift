// The differences of two files or databases.

import Dflat

/// An object, or an entry of the dictionary, in which two files differ.
public struct ObjectDifference: Sendable, Encodable {
  /// How they differ.
  public enum Kind: String, Sendable, Encodable {
    /// Only the first file has the object.
    case onlyInFirst
    /// Only the second file has the object.
    case onlyInSecond
    /// Both have it, with different values.
    case changed
  }

  /// A field with different values, as JSON.
  public struct Field: Sendable, Encodable {
    /// The name of the field.
    public let name: String
    /// The value in the first file.
    public let first: String
    /// The value in the second file.
    public let second: String
  }

  /// The name of the type; `dictionary` for entries of the dictionary.
  public let type: String
  /// The values of the key as text, in the order of its fields. For an entry, its key, and the
  /// dictionary that it is in unless that is the workspace's.
  public let key: [String]
  /// How they differ.
  public let kind: Kind
  /// The fields that differ, in the order of their names; empty unless the object was changed.
  public let fields: [Field]
}

extension DataStore {
  /// Compares the objects of this file with those of another one, by their keys, field by field,
  /// and the entries of the dictionaries. Of each file one state is compared, whatever programs
  /// commit meanwhile.
  ///
  /// Types are the same if their tables have the same name. Fields of one file that the schema of
  /// the other lacks count as null there.
  ///
  /// - Parameters:
  ///   - other: The second file.
  ///   - names: The types that are compared; nil for all, and the dictionary.
  ///   - body: Called with each difference: for each type those of the first file's objects, then
  ///     what only the second one has; those of the dictionary at the end. An error that it throws
  ///     ends the comparison.
  /// - Returns: The number of differences.
  /// - Throws: ``ToolError`` if a type is not there, nothing is known of it but its bytes, or a file
  ///   cannot be read; the errors of `body`.
  public func differences(
    from other: any DataStore, types names: [String]? = nil,
    _ body: (ObjectDifference) throws -> Void
  ) throws -> Int {
    let wanted = try names.map { names in
      Set(
        try names.map { name in
          if let mine = try? type(named: name) { return mine.table }
          return try other.type(named: name).table
        })
    }
    var count = 0
    func report(_ difference: ObjectDifference) throws {
      count += 1
      try body(difference)
    }
    let tables = Set(types.map(\.table)).union(other.types.map(\.table)).sorted()
    try withToolErrors {
      try core.fetchWithinASnapshot { () throws in
        try other.core.fetchWithinASnapshot { () throws in
          for table in tables where wanted?.contains(table) ?? true {
            try compare(table, with: other, report)
          }
          if names == nil {
            try compare(.dictionary, with: .dictionary, in: other, isSecond: false, report)
            try other.compare(.dictionary, with: .dictionary, in: self, isSecond: true, report)
          }
        }
      }
    }
    return count
  }

  private func compare(
    _ table: String, with other: any DataStore, _ report: (ObjectDifference) throws -> Void
  ) throws {
    let mine = types.first { $0.table == table }
    let theirs = other.types.first { $0.table == table }
    if let mine { try compare(mine, with: theirs, in: other, isSecond: false, report) }
    if let theirs { try other.compare(theirs, with: mine, in: self, isSecond: true, report) }
  }

  /// Looks each object of a type up in another file.
  /// - Parameter isSecond: Whether this is the second file. Then only the objects that the other
  ///   one lacks are reported.
  private func compare(
    _ type: StoredType, with otherType: StoredType?, in other: any DataStore, isSecond: Bool,
    _ body: (ObjectDifference) throws -> Void
  ) throws {
    let entity = try type.requireEntity()
    let otherEntity = try otherType?.requireEntity()
    let keyNames = entity.primaryKey.map { entity.name(of: $0) }
    var last = Int64.min
    while true {
      let rows = try core.rows(of: entity, after: last, limit: 500)
      if rows.count == 0 { return }
      for index in 0..<rows.count {
        let row = rows[index]
        let found = try otherEntity.flatMap { try other.row(with: row, of: entity, as: $0) }
        if let found, isSecond || row.hasSameBytes(as: found) { continue }
        let values = try StoredObject(row, of: entity).values()
        var key = keyNames.map { (values[$0] ?? .null).text }
        if entity === DictionaryItem.schema, key.last == "" { key.removeLast() }
        guard let found, let otherEntity else {
          try body(
            ObjectDifference(
              type: type.name, key: key, kind: isSecond ? .onlyInSecond : .onlyInFirst,
              fields: []))
          continue
        }
        let fields = try StoredObject.differences(
          StoredObject(row, of: entity), StoredObject(found, of: otherEntity)
        ).map {
          ObjectDifference.Field(name: $0.name, first: $0.first.json, second: $0.second.json)
        }
        if fields.isEmpty { continue }
        try body(
          ObjectDifference(type: type.name, key: key, kind: .changed, fields: fields))
      }
      last = rows[rows.count - 1].id
    }
  }

  /// The row of this file with the key that a row of another one has.
  func row(
    with other: Row, of entity: EntitySchema, as mine: EntitySchema
  ) throws -> Row? {
    try core.row(with: other, of: entity, as: mine)
  }
}

extension WorkspaceCore {
  /// The row with the key that a row of another workspace has.
  func row(
    with other: Row, of entity: EntitySchema, as mine: EntitySchema
  ) throws -> Row? {
    let key = RowValues(entity.primaryKey.map { (.field($0), $0.type) })
      .values(of: other, as: entity.primaryKey.map(\.type))
    guard key.count == mine.primaryKey.count else { return nil }
    var condition: Node?
    for (field, value) in zip(mine.primaryKey, key) {
      guard let value else { return nil }
      let node = Node.comparison(
        .equal, .field(field), .constant(value, field.type), field.type)
      condition = condition.map { .conjunction($0, node) } ?? node
    }
    let rows = try fetch(Query(schema: mine, condition: condition, limit: 1))
    return rows.count > 0 ? rows[0] : nil
  }
}

extension Row {
  func hasSameBytes(as other: Row) -> Bool {
    withBytes { bytes in
      other.withBytes { bytes.count == $0.count && bytes.elementsEqual($0) }
    }
  }
}
