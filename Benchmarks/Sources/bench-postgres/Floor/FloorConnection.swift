// The floor: PostgreSQL's client library called directly, with statements prepared once, values in
// the binary format, and the same settings of the session as Dflat's connections.

import CPostgresFloor
import Foundation

struct FloorError: Error, CustomStringConvertible {
  let description: String
  /// The server's code of the error.
  var state = ""

  /// Whether the transaction has to run again.
  var isConflict: Bool { state == "40001" || state == "40P01" }
}

/// How a connection is used.
enum FloorPurpose {
  case reading, writing

  /// As in Dflat's `Connector`.
  fileprivate var settings: String {
    "SET default_transaction_isolation = 'serializable'; SET jit = off; "
      + "SET max_parallel_workers_per_gather = 0; SET lock_timeout = 30000; "
      + (self == .reading
        ? "SET default_transaction_read_only = on" : "SET enable_seqscan = off")
  }
}

final class FloorConnection {
  let handle: OpaquePointer
  fileprivate var statements = 0

  init(_ url: String, _ purpose: FloorPurpose? = nil) throws {
    guard let handle = PQconnectdb(url), PQstatus(handle) == CONNECTION_OK else {
      throw FloorError(description: "there is no connection to \(url)")
    }
    self.handle = handle
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    if let purpose { try execute(purpose.settings) }
  }

  deinit { PQfinish(handle) }

  /// Runs statements without parameters.
  func execute(_ sql: String) throws { PQclear(try check(PQexec(handle, sql))) }

  /// Throws if a result is an error; the caller clears it otherwise.
  @inline(__always)
  func check(_ result: OpaquePointer?) throws -> OpaquePointer? {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_COPY_IN, PGRES_PIPELINE_SYNC: return result
    default: break
    }
    let state = PQresultErrorField(result, 0x43).map { String(cString: $0) } ?? ""
    let text = result.flatMap { PQresultErrorMessage($0) } ?? PQerrorMessage(handle)
    let message = text.map { String(cString: $0) } ?? ""
    PQclear(result)
    throw FloorError(description: message, state: state)
  }
}

/// The rows that a statement has given; valid until the closure that received them returns.
struct FloorRows {
  let result: OpaquePointer?

  var count: Int { Int(PQntuples(result)) }

  @inline(__always)
  func bytes(_ row: Int, _ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(row), column),
      count: Int(PQgetlength(result, Int32(row), column)))
  }

  @inline(__always)
  func int64(_ row: Int, _ column: Int32) -> Int64 {
    Int64(bigEndian: bytes(row, column).loadUnaligned(as: Int64.self))
  }
}

/// A text that stays in place.
final class FloorText {
  let bytes: UnsafeRawBufferPointer

  init(_ text: String) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
    copy.copyBytes(from: text.utf8)
    bytes = UnsafeRawBufferPointer(copy)
  }

  deinit { bytes.deallocate() }
}

/// A prepared statement.
final class FloorStatement {
  /// The server's numbers of its types.
  static let bytes: Oid = 17
  static let integer: Oid = 20
  static let text: Oid = 25
  static let integers: Oid = 1016

  private let connection: FloorConnection
  private let name: String
  private let count: Int
  private let values: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private let lengths: UnsafeMutablePointer<Int32>
  private let formats: UnsafeMutablePointer<Int32>
  private let numbers: UnsafeMutablePointer<Int64>

  init(_ connection: FloorConnection, _ sql: String, _ types: [Oid]) throws {
    self.connection = connection
    connection.statements += 1
    name = "f\(connection.statements)"
    count = types.count
    values = .allocate(capacity: max(1, count))
    lengths = .allocate(capacity: max(1, count))
    formats = .allocate(capacity: max(1, count))
    formats.initialize(repeating: 1, count: max(1, count))
    numbers = .allocate(capacity: max(1, count))
    PQclear(
      try connection.check(PQprepare(connection.handle, name, sql, Int32(types.count), types)))
  }

  deinit {
    values.deallocate()
    lengths.deallocate()
    formats.deallocate()
    numbers.deallocate()
  }

  /// The bytes stay in place until the statement has been sent.
  @inline(__always)
  func bind(_ place: Int, _ bytes: UnsafeRawBufferPointer) {
    values[place] = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    lengths[place] = Int32(bytes.count)
  }

  @inline(__always)
  func bind(_ place: Int, _ number: Int64) {
    numbers[place] = number.bigEndian
    values[place] = UnsafeRawPointer(numbers + place).assumingMemoryBound(to: CChar.self)
    lengths[place] = 8
  }

  @inline(__always)
  func bindNull(_ place: Int) { values[place] = nil }

  /// Runs the statement and passes its rows on.
  @inline(__always)
  func run<R>(_ body: (FloorRows) throws -> R) throws -> R {
    let result = try connection.check(
      PQexecPrepared(connection.handle, name, Int32(count), values, lengths, formats, 1))
    defer { PQclear(result) }
    return try body(FloorRows(result: result))
  }

  @inline(__always)
  func run() throws { try run { _ in } }

  /// Sends the statement in pipeline mode.
  @inline(__always)
  func send() throws {
    guard
      PQsendQueryPrepared(connection.handle, name, Int32(count), values, lengths, formats, 1) == 1
    else { throw FloorError(description: String(cString: PQerrorMessage(connection.handle))) }
  }
}
