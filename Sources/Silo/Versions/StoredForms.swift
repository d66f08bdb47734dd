// Stored forms: values as a store has them, on their way to another one.
//
// They contain what only a newer release of the program knows: properties that it has appended. The
// values of this release do not, so values are copied in their stored form. Stores of other
// libraries have values only. What they could not keep is refused.

import Dflat

extension StoreDomain {
  /// Reads values of some types as they are at one moment.
  func readAtOnce<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any StoreTransaction) throws -> R
  ) async throws -> R {
    guard let domain = self as? any VersionedDomain else { return try await write(types, body) }
    return try await domain.read(types, body)
  }
}

extension StoreTransaction {
  /// All values of a type in their stored form, in the order of insertion.
  /// - Throws: `UnreadableValue` if one of them cannot be read; the errors of the storage.
  func storedForms<V: Persistable>(of type: V.Type) throws -> [Canonical<V>] {
    // Decoding all of them finds those that cannot be read.
    let values = try values(ValueQuery<V>())
    guard let retaining = self as? any RetainingTransaction else {
      return values.map { Canonical($0) }
    }
    return try retaining.rows(of: type, limit: nil)
  }

  /// Saves values in their stored form.
  /// - Throws: `SiloError.unknownProperties` if the store cannot keep what they contain;
  ///   `UnreadableValue`; the errors of the storage.
  func save<V: Persistable>(storedForms rows: [Canonical<V>]) throws {
    if rows.isEmpty { return }
    if let retaining = self as? any RetainingTransaction { return try retaining.save(rows: rows) }
    let layout = Canonical<V>._schema.layout
    if let row = rows.first(where: { !$0._row.isKnown(to: layout) }) {
      throw SiloError.unknownProperties(type: "\(V.self)", id: "\(row.id)")
    }
    try save(rows.map { try $0.value() })
  }
}
