// SQL functions written in Swift.
//
// SQLite owns the closure. It holds one reference, which it releases when the function is replaced
// or removed, when the connection closes, and also if creating the function fails.

import CSQLite

/// The arguments of one call of an SQL function. It is valid during the call.
public struct FunctionContext: ~Copyable {
  private let values: UnsafeMutablePointer<OpaquePointer?>?
  /// The number of arguments.
  public let count: Int

  fileprivate init(values: UnsafeMutablePointer<OpaquePointer?>?, count: Int) {
    self.values = values
    self.count = count
  }

  private func argument(_ index: Int) -> OpaquePointer {
    guard let values, index >= 0, index < count, let value = values[index] else {
      preconditionFailure("an SQL function has no argument \(index) of \(count)")
    }
    return value
  }

  /// The type of an argument.
  public func type(_ index: Int) -> SQLType {
    SQLType(rawValue: sqlite3_value_type(argument(index))) ?? .null
  }

  /// Whether an argument is `NULL`.
  public func isNull(_ index: Int) -> Bool { type(index) == .null }

  /// An argument as an integer; 0 for `NULL`.
  public func int64(_ index: Int) -> Int64 { sqlite3_value_int64(argument(index)) }

  /// An argument as a floating-point number; 0 for `NULL`.
  public func double(_ index: Int) -> Double { sqlite3_value_double(argument(index)) }

  /// An argument as text; nil for `NULL`.
  public func string(_ index: Int) -> String? {
    let value = argument(index)
    guard let text = sqlite3_value_text(value) else { return nil }
    return String(
      decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))),
      as: UTF8.self)
  }

  /// An argument's bytes in SQLite's own memory. They are valid during the call, until the argument
  /// is read as another type. Empty for `NULL`.
  public func blob(_ index: Int) -> UnsafeRawBufferPointer {
    let value = argument(index)
    let bytes = sqlite3_value_blob(value)
    return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value)))
  }

  /// A copy of an argument.
  public subscript(index: Int) -> SQLValue {
    switch type(index) {
    case .integer: .integer(int64(index))
    case .real: .real(double(index))
    case .text: .text(string(index) ?? "")
    case .blob: .blob([UInt8](blob(index)))
    case .null: .null
    }
  }
}

extension Connection {
  /// Creates a function that SQL on this connection can call. It replaces a function with the same
  /// name and argument count.
  ///
  ///     try connection.createFunction("half", argumentCount: 1, deterministic: true) { call in
  ///       .real(call.double(0) / 2)
  ///     }
  ///
  /// - Parameters:
  ///   - name: Up to 255 bytes.
  ///   - argumentCount: Up to 127; nil for any number.
  ///   - deterministic: Whether the same arguments always give the same result. SQLite may then
  ///     call it less often, and allows it in indexes.
  ///   - isDirectOnly: Whether only the program's own statements and temporary views may call it,
  ///     and nothing that is stored in the file: no view, trigger, index or constraint.
  ///   - body: Called on the connection's thread while a statement runs. If it throws, the
  ///     statement fails: an ``SQLiteError`` keeps its code, any other error becomes
  ///     ``ResultCode/error`` with its description as message. It must not close the connection.
  /// - Throws: ``SQLiteError``: ``ResultCode/misuse`` for a bad name or count, ``ResultCode/busy``
  ///   if a running statement uses the function.
  public func createFunction(
    _ name: String, argumentCount: Int?, deterministic: Bool = false, isDirectOnly: Bool = false,
    _ body: @escaping (borrowing FunctionContext) throws -> SQLValue
  ) throws(SQLiteError) {
    let database = try open()
    let box = Unmanaged.passRetained(FunctionBox(body))
    let result = sqlite3_create_function_v2(
      database, name, Int32(clamping: argumentCount ?? -1),
      SQLITE_UTF8 | (deterministic ? SQLITE_DETERMINISTIC : 0)
        | (isDirectOnly ? SQLITE_DIRECTONLY : 0), box.toOpaque(),
      { context, count, values in
        guard let context, let data = sqlite3_user_data(context) else { return }
        let box = Unmanaged<FunctionBox>.fromOpaque(data).takeUnretainedValue()
        box.call(context, FunctionContext(values: values, count: Int(count)))
      }, nil, nil,
      { data in
        if let data { Unmanaged<FunctionBox>.fromOpaque(data).release() }
      })
    if result != SQLITE_OK { throw SQLiteError(result: result, database: database, path: path) }
  }

  /// Removes a function that was created with the same name and argument count.
  public func removeFunction(_ name: String, argumentCount: Int?) throws(SQLiteError) {
    let database = try open()
    let result = sqlite3_create_function_v2(
      database, name, Int32(clamping: argumentCount ?? -1), SQLITE_UTF8, nil, nil, nil, nil, nil)
    if result != SQLITE_OK { throw SQLiteError(result: result, database: database, path: path) }
  }
}

/// Holds a function's closure; SQLite retains this object.
private final class FunctionBox {
  private let body: (borrowing FunctionContext) throws -> SQLValue

  init(_ body: @escaping (borrowing FunctionContext) throws -> SQLValue) {
    self.body = body
  }

  func call(_ context: OpaquePointer, _ arguments: borrowing FunctionContext) {
    do {
      switch try body(arguments) {
      case .null: sqlite3_result_null(context)
      case .integer(let value): sqlite3_result_int64(context, value)
      case .real(let value): sqlite3_result_double(context, value)
      case .text(var text):
        text.withUTF8 {
          csqlite_result_text_copying(context, $0.baseAddress, UInt64($0.count))
        }
      case .blob(let bytes):
        bytes.withUnsafeBytes {
          csqlite_result_blob_copying(context, $0.baseAddress, UInt64($0.count))
        }
      }
    } catch {
      let known = error as? SQLiteError
      let message = known?.message ?? String(describing: error)
      sqlite3_result_error(context, message, -1)
      // This library's own codes mean nothing to SQLite.
      if let known, known.code.rawValue > 0 {
        sqlite3_result_error_code(context, known.extendedCode)
      }
    }
  }
}
