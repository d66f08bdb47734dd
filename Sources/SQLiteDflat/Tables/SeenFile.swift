// SeenFile: where something about tables was found right, so that readers need not look again.

import Platform
import SQLiteAccess

/// The file in which something was found right, perhaps at one of SQLite's schema versions. Another
/// file may take its place.
final class SeenFile: Sendable {
  /// A number of the file and version; 0 for none.
  private let number = Atomic<UInt64>(0)

  /// Whether it is the file of a connection, at a version.
  @inline(__always)
  func isFile(of connection: Connection, at version: Int64 = 0) -> Bool {
    number.load(ordering: .relaxed) == Self.number(of: connection, version)
  }

  func note(_ connection: Connection, at version: Int64 = 0) {
    number.store(Self.number(of: connection, version), ordering: .relaxed)
  }

  /// Forgets the file.
  func forget() { number.store(0, ordering: .relaxed) }

  /// A number other than 0 that in practice no other file and version have. Versions have 32 bits.
  private static func number(of connection: Connection, _ version: Int64) -> UInt64 {
    let file = connection.openFile?.number ?? 1 << 63
    return (file ^ UInt64(truncatingIfNeeded: version) &* 0xD6E8_FEB8_6659_FD93) | 1 << 63
  }
}
