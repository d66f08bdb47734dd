// Keys for which the server's index has no room.
//
// An entry of an index may have a third of a page. In the columns of a longer key each long text is
// shortened: to its beginning, the byte 0xFF, which is in no UTF-8 text, and the SHA-256 of all of
// it. So different keys are different there, too, and an object is found by its key as any other.
//
// But shortened texts have neither the values nor the order of the whole ones. The first
// transaction that writes one takes away the mark of the table itself. From then on queries do not
// use the columns of the table's key (see `QueryCapabilities.usesKeys`): they look at the objects.

import Dflat
import FlatBuffersRuntime

/// What the columns of a long key have instead of its texts.
struct ShortenedKey {
  /// The texts by their places in the key; nil for values that stay as they are.
  fileprivate let texts: [[UInt8]?]

  /// The greatest number of bytes of a key that is not shortened: an entry of an index has at most
  /// 2704.
  fileprivate static let longest = 2600
  /// The number of bytes behind the beginning of a shortened text.
  private static let digestSize = 33
  private static let selectDigest = StatementText("SELECT sha256($1)")

  /// Has the server compute the digests, since Foundation cannot.
  /// - Parameter texts: Those of the key, by place; nil for other values.
  fileprivate init(_ texts: [[UInt8]?], on connection: Connection) throws(PostgresError) {
    let count = texts.count { $0 != nil }
    let most = (Self.longest - 8 * (texts.count - count)) / max(1, count)
    var shortened: [[UInt8]?] = []
    for text in texts {
      guard let text, text.count > most else {
        shortened.append(nil)
        continue
      }
      connection.parameters.begin(1)
      text.withUnsafeBytes { connection.parameters.set(0, copying: $0) }
      let digest = try connection.run(Self.selectDigest)
      shortened.append(text.prefix(most - Self.digestSize) + [0xFF] + digest.bytes(0, 0))
    }
    self.texts = shortened
  }
}

extension EntityTable {
  /// Whether the key of a row has to be shortened.
  func hasLongKey(_ row: TableReader) -> Bool {
    guard hasTextKey else { return false }
    let size = schema.keyReaders.reduce(0) { size, reader in
      if case .text(let bytes) = reader.read(row) { size + bytes.count } else { size + 8 }
    }
    return size > ShortenedKey.longest
  }

  /// What the columns have for the key of a row; nil for its values. To be called before the
  /// parameters of a statement are set.
  func shortenedKey(
    of row: TableReader, on connection: Connection
  ) throws(PostgresError) -> ShortenedKey? {
    guard hasLongKey(row) else { return nil }
    let texts = schema.keyReaders.map { reader -> [UInt8]? in
      if case .text(let bytes) = reader.read(row) { Array(bytes) } else { nil }
    }
    return try ShortenedKey(texts, on: connection)
  }

  /// The same for a key.
  func shortened(
    _ key: KeyValues, on connection: Connection
  ) throws(PostgresError) -> ShortenedKey? {
    guard hasTextKey else { return nil }
    let size = key.rest.reduce(key.first.size) { $0 + $1.size }
    if size <= ShortenedKey.longest { return nil }
    let texts = ([key.first] + key.rest).map { value -> [UInt8]? in
      if case .string(let text) = value { Array(text.utf8) } else { nil }
    }
    return try ShortenedKey(texts, on: connection)
  }

  /// Makes a key the parameters of a statement.
  func bind(_ key: KeyValues, to connection: Connection) throws(PostgresError) {
    let short = try shortened(key, on: connection)
    let parameters = connection.parameters
    parameters.begin(1 + key.rest.count)
    parameters.set(0, key.first)
    for (place, value) in key.rest.enumerated() { parameters.set(place + 1, value) }
    if let short { parameters.replace(with: short, from: 0) }
  }

  /// Makes the key of a row the parameters of a statement.
  func bindKey(of row: TableReader, to connection: Connection) throws(PostgresError) {
    let short = try shortenedKey(of: row, on: connection)
    connection.parameters.begin(schema.keyReaders.count)
    connection.parameters.set(keyOf: row, schema, short, from: 0)
  }

  /// Makes keys the parameters of a statement: an array for each field.
  func bind(_ keys: [KeyValues], to connection: Connection) throws(PostgresError) {
    var replaced = [[Int: [UInt8]]](repeating: [:], count: schema.primaryKey.count)
    if hasTextKey {
      for (index, key) in keys.enumerated() {
        guard let short = try shortened(key, on: connection) else { continue }
        for (place, text) in short.texts.enumerated() { replaced[place][index] = text }
      }
    }
    connection.parameters.begin(schema.primaryKey.count)
    for (place, field) in schema.primaryKey.enumerated() {
      connection.parameters.set(
        place, keys.map { $0.value(at: place) }, field.type, replacing: replaced[place])
    }
  }
}

extension Parameters {
  /// The key of a row.
  /// - Parameter first: The place of its first value.
  func set(
    keyOf row: TableReader, _ schema: EntitySchema, _ short: ShortenedKey?, from first: Int
  ) {
    for (place, reader) in schema.keyReaders.enumerated() {
      set(first + place, reader.read(row), reader.field.type)
    }
    if let short { replace(with: short, from: first) }
  }

  fileprivate func replace(with short: ShortenedKey, from first: Int) {
    for (place, text) in short.texts.enumerated() {
      text?.withUnsafeBytes { set(first + place, copying: $0) }
    }
  }
}

extension KeyValues {
  fileprivate func value(at place: Int) -> Value { place == 0 ? first : rest[place - 1] }
}

extension Value {
  fileprivate var size: Int {
    if case .string(let text) = self { text.utf8.count } else { 8 }
  }
}
