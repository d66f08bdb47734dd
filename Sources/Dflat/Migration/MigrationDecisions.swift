// MigrationDecisions: what was decided about new objects while old ones could not be migrated.
//
// An old object that is left out may be migrated much later, by another release of the program. An
// object that was stored or deleted in the meantime under the key of its successor is newer, so
// that the successor must not replace it, or come back.
//
// Keys are noted by the transactions that change their objects, as long as objects are left out, in
// the table of the dictionary: an item for each key, and one for each type that has such items.
// Layers over workspaces may know better, and note nothing here.

/// Knows which successors of old objects are outdated. Called on the threads of migrations and
/// fetches.
package protocol MigrationDecisions: Sendable {
  /// The successors that are not outdated.
  /// - Parameters:
  ///   - conversions: Old objects of one table, and what their migration makes of them.
  ///   - reader: A view of the state in which they are.
  /// - Returns: For each old object those of its successors that are still to be stored.
  func successorsToStore(
    of conversions: [(old: Row, successors: [Row])], in reader: any StorageReader
  ) throws -> [[Row]]
}

/// The keys that were noted, in one state of the storage.
final class KeyDecisions {
  private static let namespace = "dflat.migrations.decided"
  /// Whether keys of a type were noted, as far as that was looked up.
  private var hasKeys: [EntitySchema: Bool] = [:]

  /// The rows whose keys were not noted.
  func current(
    _ rows: [Row], of schema: EntitySchema, _ reader: any StorageReader
  ) throws -> [Row] {
    if rows.isEmpty { return [] }
    let hasKeys = try hasKeys[schema] ?? Self.has(schema.table, reader)
    self.hasKeys[schema] = hasKeys
    if !hasKeys { return rows }
    return try rows.filter { row in
      guard let key = schema.keyValues(of: row) else { return true }
      return try !Self.has(Self.name(of: key, schema), reader)
    }
  }

  private static func has(_ key: String, _ reader: any StorageReader) throws -> Bool {
    let item = DictionaryItem.row(key, in: namespace, .int(1))
    return try reader.row(of: DictionaryItem.schema, keyOf: item) != nil
  }

  /// Notes keys of a type.
  static func note(
    _ keys: Set<KeyValues>, of schema: EntitySchema, _ writer: any StorageWriter
  ) throws {
    for name in [schema.table] + keys.map({ name(of: $0, schema) }) {
      _ = try DictionaryItem.store(name, in: namespace, .int(1), row: -1, writer)
    }
  }

  /// A name that no other key has.
  private static func name(of key: KeyValues, _ schema: EntitySchema) -> String {
    ([key.first] + key.rest).reduce(into: schema.table) { name, value in
      let text =
        switch value {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .real(let value): "\(value.bitPattern)"
        case .string(let value): value
        }
      name += " \(text.utf8.count):\(text)"
    }
  }
}
