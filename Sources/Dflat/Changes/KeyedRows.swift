// The rows of many keys during a bulk change, looked up together where questions cost messages.

/// Looks up the rows of keys, in the order of the keys, while they are changed.
struct KeyedRows {
  private let transaction: Transaction
  private let schema: EntitySchema
  private let keys: KeyList
  /// How many are looked up together.
  private let portion: Int
  private var found: [Row?] = []
  /// The place of the first of these.
  private var start = 0
  /// The version of the transaction for which these are right.
  private var version: TransactionVersion

  init(_ keys: KeyList, of schema: EntitySchema, in transaction: Transaction) {
    self.keys = keys
    self.schema = schema
    self.transaction = transaction
    portion = transaction.workspace.engine.capabilities.keysAtOnce
    version = transaction.version
  }

  /// The row of the key with a place; nil if there is none. No earlier place is asked for later.
  mutating func row(at place: Int) throws -> Row? {
    guard let key = keys[place] else { return nil }
    if portion > 1 {
      if place >= start + found.count { try lookUp(from: place) }
      // If anything else was written, for example by the closure of the change, rows may differ.
      if version == transaction.version { return found[place - start] }
    }
    return try transaction.written { try $0.row(of: schema, with: key) }
  }

  private mutating func lookUp(from place: Int) throws {
    let end = min(keys.count, place + portion)
    let places = (place..<end).filter { keys[$0] != nil }
    let rows = try transaction.written {
      try $0.rows(of: schema, with: places.compactMap { keys[$0] })
    }
    found = Array(repeating: nil, count: end - place)
    start = place
    for (place, row) in zip(places, rows) { found[place - start] = row }
    version = transaction.version
  }

  /// Called after a write that has changed no key, and nothing but the row that was asked for last.
  mutating func noteWrite() { version.count += 1 }
}
