// Upserts whose unique values are checked at their end, so that objects can exchange values.
//
//  - If a row takes the unique value of another stored object, this object is set aside: it is
//    removed from the storage under its id, and neither rules of references nor observers learn of
//    it.
//  - When its own new values come, it is stored under its id again, which counts as an update.
//  - What was set aside and got no new values is stored again at the end. If that is refused, the
//    row that took the value is what was wrong.
//
// Nothing but these upserts may read or write the type meanwhile.

/// Upserts of one type, among which objects may exchange unique values.
package final class ExchangingUpserts {
  /// A stored object that is not in the storage now.
  private struct SetAside {
    let row: Row
    /// The place of the row that took its value, and what the storage said to this row.
    let place: Int
    let refusal: StorageError
  }

  private let transaction: Transaction
  private let schema: EntitySchema
  private var setAside: [KeyValues: SetAside] = [:]

  init(_ transaction: Transaction, _ schema: EntitySchema) {
    self.transaction = transaction
    self.schema = schema
  }

  /// Stores the values of a row, which replaces the stored object with its key.
  ///
  /// - Parameters:
  ///   - row: A row that was not fetched.
  ///   - place: Identifies it in an `ExchangeRefusal`. Later rows have greater places.
  /// - Returns: What was done.
  /// - Throws: The same errors as `insert(contentsOf:)`. The closure of the transaction passes them
  ///   on.
  package func store(_ row: Row, place: Int) throws -> BulkChange {
    if let failure = transaction.failure { throw failure }
    let type = transaction.changedType(schema)
    let known = setAside.isEmpty ? nil : schema.keyValues(of: row)
    let own = known.flatMap { setAside.removeValue(forKey: $0) }
    var result = BulkChange()
    func attempt() throws {
      guard let own else {
        return try transaction.upsertOneByOne([row], type, &result, losingNothing: true)
      }
      if try transaction.replace(
        own.row, with: row, schema, losingNothing: true, isSetAside: true)
      {
        result.updated += 1
      } else {
        result.unchanged += 1
      }
    }
    do { try attempt() } catch let refusal as StorageError where refusal.cause == .alreadyExists {
      guard try setAsideOwners(ofValuesOf: row, place, refusal) else { throw refusal }
      try attempt()
    }
    return result
  }

  /// Stores new values of the objects that are set aside, and of those that these set aside. Each
  /// is asked for once.
  ///
  /// - Parameter find: Returns the row that replaces an object; nil if there is none, which ends
  ///   the search.
  /// - Returns: What was done.
  /// - Throws: The same errors as `store(_:place:)`; those of `find`.
  package func storeWaiting(_ find: (Row) throws -> Row?) throws -> BulkChange {
    var asked: Set<KeyValues> = []
    var result = BulkChange()
    while let (key, object) = setAside.first(where: { !asked.contains($0.key) }) {
      asked.insert(key)
      guard let row = try find(object.row) else { break }
      let change = try store(row, place: object.place)
      result.updated += change.updated
      result.unchanged += change.unchanged
    }
    return result
  }

  /// Sets aside the objects that have unique values of a row.
  /// - Returns: Whether there are any.
  private func setAsideOwners(
    ofValuesOf row: Row, _ place: Int, _ refusal: StorageError
  ) throws -> Bool {
    let own = try transaction.written { try $0.row(of: schema, keyOf: row) }?.id
    // An index does not find values that this version of the schema does not know.
    for usesIndex in [true, false] {
      var areThere = false
      for index in schema.indexes where index.isUnique {
        let condition = row.read { index.columns.sameValues(as: $0, usingIndex: usesIndex) }
        guard let condition else { continue }
        let query = Query(schema: schema, condition: condition)
        let owners = try transaction.written { try $0.rows(.query(query), mark: .none) }
        for number in 0..<owners.count where owners[number].id != own {
          let owner = owners[number]
          guard let key = schema.keyValues(of: owner) else { continue }
          try transaction.write { writer, _ in try writer.delete(schema, id: owner.id) }
          setAside[key] = SetAside(row: owner, place: place, refusal: refusal)
          areThere = true
        }
      }
      if areThere { return true }
    }
    return false
  }

  /// Stores what was set aside and has its old values.
  func finish() throws {
    for entry in setAside.values.sorted(by: { $0.place < $1.place }) {
      do {
        try transaction.write { writer, _ in
          try writer.insert(schema, keepingIDOf: entry.row)
        }
      } catch let error as StorageError where error.cause == .alreadyExists {
        throw ExchangeRefusal(place: entry.place, error: entry.refusal)
      }
    }
  }
}

/// A row has a unique value that another object has, also at the end.
package struct ExchangeRefusal: Error {
  /// The place of the row.
  package let place: Int
  /// What is wrong.
  package let error: StorageError
}
