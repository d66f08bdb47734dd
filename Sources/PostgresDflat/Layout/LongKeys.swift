// Primary keys that are too long for the server.

import Dflat
import FlatBuffersRuntime

extension EntitySchema {
  /// The server's indexes have entries of at most 2704 bytes.
  private static let longestKey = 2600

  /// Refuses a key for which no index of the server has room, which would end the transaction.
  func refuseLongKey(of row: TableReader) throws(StorageError) {
    let length = keyReaders.reduce(0) { sum, reader in
      if case .text(let bytes) = reader.read(row) { sum + bytes.count } else { sum + 8 }
    }
    if length <= Self.longestKey { return }
    throw StorageError(
      .invalidValue, table: table,
      message: "the primary key has \(length) bytes, and an index on the server has room for "
        + "\(Self.longestKey)",
      advice: "give the object a shorter key, and store long texts in other fields")
  }
}
