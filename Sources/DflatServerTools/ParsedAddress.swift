// ParsedAddress: the address of a database and of the PostgreSQL schema with the tables.

import Dflat
import DflatTools
import Foundation
import PostgresDflat

/// The address of a database, which can be shown without what is secret in it.
struct ParsedAddress: Sendable {
  private let url: String
  private let parts: ServerAddress
  /// The PostgreSQL schema of the tables.
  let schema: String

  /// The characters that are percent-encoded in the name of a PostgreSQL schema.
  private static let special = "@/?&=#%"

  /// - Throws: `ToolError` if it is no connection string. The error does not show it: where a
  ///   password begins and ends is not known then.
  init(_ address: String) throws {
    var url = address
    var schema: String? = PostgresWorkspace.Configuration().schema
    if let mark = address.lastIndex(of: "#") {
      let name = address[address.index(after: mark)...]
      if !name.contains(where: { Self.special.contains($0) && $0 != "%" }) {
        schema = name.removingPercentEncoding
        url = String(address[..<mark])
      }
    }
    guard let parts = ServerAddress(url), let schema, !schema.isEmpty else {
      throw ToolError(
        .usage, "the address of the server cannot be read",
        advice: "write postgresql://USER@HOST/DATABASE, and special characters as %40")
    }
    self.url = url
    self.parts = parts
    self.schema = schema
  }

  /// The address without what is secret. It is an address, too.
  var shown: String {
    let shown = AddressSecrets(in: [url]).removed(from: url)
    if schema == PostgresWorkspace.Configuration().schema { return shown }
    let allowed = CharacterSet(charactersIn: Self.special).inverted
    return "\(shown)#\(schema.addingPercentEncoding(withAllowedCharacters: allowed) ?? schema)"
  }

  /// A workspace for the database.
  func workspace(
    _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in }
  ) -> PostgresWorkspace {
    var configuration = PostgresWorkspace.Configuration()
    configuration.schema = schema
    configuration.followsOtherWriters = false
    configure(&configuration)
    return PostgresWorkspace(url, configuration: configuration)
  }

  /// Calls `body`, whose errors of the storage become errors of tools.
  func withToolErrors<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as StorageError {
      let text = parts.withoutSecrets("\(error)")
      let isMissing =
        error.cause == .cannotOpen && text.contains("database \"")
        && text.contains("does not exist")
      throw ToolError(isMissing ? .noSuchFile : .storage, text)
    }
  }
}
