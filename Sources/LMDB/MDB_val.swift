// LMDB's byte buffers: an address and a length.
//
// The bytes that a transaction returns are in the memory map: they are valid until the transaction
// writes or ends.

public import CLMDB
public import Foundation

/// A reference to bytes: an address and a length.
public typealias MDB_val = CLMDB.MDB_val

/// The handle of a database in an environment.
public typealias MDB_dbi = CLMDB.MDB_dbi

extension MDB_val {
  /// Refers to the bytes of a buffer, which must outlive the value.
  ///
  /// - Parameter buffer: The bytes.
  @inlinable
  public init(buffer: UnsafeMutableRawBufferPointer) {
    self.init(mv_size: buffer.count, mv_data: buffer.baseAddress)
  }

  /// Refers to the bytes of a buffer, which must outlive the value. The bytes are not written to.
  ///
  /// - Parameter buffer: The bytes.
  @inlinable
  public init(buffer: UnsafeRawBufferPointer) {
    self.init(mv_size: buffer.count, mv_data: UnsafeMutableRawPointer(mutating: buffer.baseAddress))
  }

  /// The bytes.
  @inlinable public var bufferPointer: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: mv_data, count: mv_size)
  }

  /// The bytes, while the value is borrowed.
  @inlinable public var span: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      _overrideLifetime(RawSpan(_unsafeBytes: bufferPointer), borrowing: self)
    }
  }
}

extension MDB_val {
  /// The description of a key in errors: its text or its bytes, shortened if the key is long.
  var name: String {
    let bytes = bufferPointer
    if bytes.isEmpty { return "an empty key" }
    let beginning = bytes.prefix(40)
    let rest = bytes.count > beginning.count ? "… of \(bytes.count) bytes" : ""
    if let text = String(validating: beginning, as: UTF8.self), text.allSatisfy({ !$0.isControl }) {
      return "the key '\(text)'\(rest)"
    }
    func hexadecimal(_ byte: UInt8) -> String {
      (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return "the key \(beginning.map(hexadecimal).joined(separator: " "))\(rest)"
  }
}

extension Character {
  fileprivate var isControl: Bool {
    unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}

extension String {
  /// Copies UTF-8 bytes.
  ///
  /// - Parameter mdbVal: The bytes. The result is nil if they are not UTF-8.
  public init?(mdbVal: MDB_val) {
    self.init(validating: mdbVal.bufferPointer, as: UTF8.self)
  }

  /// Calls a closure with the string's UTF-8 bytes, without a terminator.
  ///
  /// - Parameter block: Receives bytes that are valid until it returns.
  /// - Returns: What the closure returns.
  public func withMDBVal<T>(_ block: (MDB_val) throws -> T) rethrows -> T {
    var text = self
    return try text.withUTF8 { try block(MDB_val(buffer: UnsafeRawBufferPointer($0))) }
  }
}

extension Data {
  /// Copies bytes.
  ///
  /// - Parameter mdbVal: The bytes.
  public init(mdbVal: MDB_val) {
    self.init(mdbVal.bufferPointer)
  }
}
