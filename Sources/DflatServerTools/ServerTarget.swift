// Storing in a database on a server: copies and imports into it, and its dictionary.

public import DflatTools
import PostgresDflat

extension StoreTarget {
  /// A database on a server. Its tables are created with the first transaction if they are not
  /// there.
  /// - Parameter address: As `DataServer.open` takes it.
  /// - Throws: `ToolError`, as `DataServer.open`; a PostgreSQL schema need not be there.
  public static func server(_ address: String) throws -> StoreTarget {
    let address = try ParsedAddress(address)
    let workspace = address.workspace { $0.isReadOnly = true }
    defer { workspace.shutdown() }
    let isThere = try address.withToolErrors { try workspace.hasSchema() }
    return StoreTarget(
      path: address.shown, isThere: isThere, isOnServer: true,
      openStore: { try DataServer.open(address, given: $0) },
      openWorkspace: { address.workspace() })
  }
}

extension DataServer {
  /// Sets or removes an entry of the dictionary, in a transaction that running programs see.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value; nil to remove the entry.
  ///   - address: As `open` takes it.
  /// - Throws: `ToolError` if it cannot be written.
  public static func setDictionaryValue(
    _ key: String, to value: DictionaryInput?, onServer address: String
  ) throws {
    let address = try ParsedAddress(address)
    let workspace = address.workspace()
    defer { workspace.shutdown() }
    try address.withToolErrors {
      try workspace.write { $0.setDictionaryValue(key, to: value) }
    }
  }
}
