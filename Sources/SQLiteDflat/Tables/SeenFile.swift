// SeenFile: where something about a table was found right, so that readers need not look again.

import Platform
import SQLiteAccess

/// The file in which something was found right. Another one may take its place.
final class SeenFile: Sendable {
  /// 0 for none.
  private let number = Atomic<UInt64>(0)

  /// Whether it is the file of a connection.
  @inline(__always)
  func isFile(of connection: Connection) -> Bool {
    number.load(ordering: .relaxed) == Self.number(of: connection)
  }

  /// - Parameter connection: One to the file; nil if no file is known.
  func note(_ connection: Connection?) {
    number.store(connection.map(Self.number) ?? 0, ordering: .relaxed)
  }

  private static func number(of connection: Connection) -> UInt64 {
    connection.openFile?.number ?? 1
  }
}
