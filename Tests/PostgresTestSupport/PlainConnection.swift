// PlainConnection: a connection of another program, for plain SQL.

import CPostgres
import Dflat

/// A connection of another program, for plain SQL.
public final class PlainConnection {
  private let handle: OpaquePointer?

  /// Connects to the tests' server, or to another one.
  public init(_ url: String? = nil) throws {
    handle = PQconnectdb(try url ?? TestCluster.shared().url)
    if PQstatus(handle) != CONNECTION_OK {
      throw StorageError(.cannotOpen, message: String(cString: PQerrorMessage(handle)))
    }
    // Warnings, for example of a server that ends, are not for the standard error stream.
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
  }

  deinit { PQfinish(handle) }

  /// Runs statements, and returns the rows of the last one as text.
  @discardableResult
  public func run(_ sql: String) throws -> [[String?]] {
    let result = PQexec(handle, sql)
    defer { PQclear(result) }
    let status = PQresultStatus(result)
    guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
      throw StorageError(.other, message: String(cString: PQerrorMessage(handle)))
    }
    return (0..<PQntuples(result)).map { row in
      (0..<PQnfields(result)).map { column in
        PQgetisnull(result, row, column) != 0
          ? nil : String(cString: PQgetvalue(result, row, column))
      }
    }
  }

  /// The texts of the notifications that were committed before this call, on the channel that this
  /// connection listens to.
  public func notifications(on channel: String) throws -> [String] {
    // Notifications come in the order of commits, so nothing is behind the own one.
    try run("NOTIFY \"\(channel)\", 'end'")
    var texts: [String] = []
    while texts.last != "end" {
      PQconsumeInput(handle)
      while let notification = PQnotifies(handle) {
        texts.append(String(cString: notification.pointee.extra))
        PQfreemem(notification)
      }
      if texts.last != "end" { try run("SELECT 1") }
    }
    return texts.dropLast()
  }
}
