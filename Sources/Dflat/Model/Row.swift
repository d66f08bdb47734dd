// Row: an object as its bytes.
//
// A row is one allocation: a header (row id, clock value, length) and right behind it the finished FlatBuffers buffer.
// It keeps true:
//
//  - the bytes were verified against their layout, or were written by our builder, before the row was made;
//  - they never change, so a row may be read from any thread.
//
// The same bytes are bound to the storage engine, compared, and read in place by the getters of entities.

public import FlatBuffersRuntime

// Unchecked Sendable, because a `ManagedBuffer` is mutable in principle: nothing writes to one after `RowStorage.make`.

/// The bytes of one stored or new object, with its row id and the clock value it was read at.
///
/// Entities wrap a row; programs use the entity. A copy shares the bytes.
@frozen
public struct Row: @unchecked Sendable {
  @usableFromInline let storage: RowStorage

  @inlinable
  init(storage: RowStorage) {
    self.storage = storage
  }

  /// Copies bytes that are known to be sound: verified by `TableLayout.verify`, or just built.
  ///
  /// - Parameters:
  ///   - bytes: A finished buffer.
  ///   - id: The row id, −1 if it is not stored.
  ///   - timestamp: The workspace's clock when the row was read; −1 if it was not read.
  @inlinable
  public init(sound bytes: UnsafeRawBufferPointer, id: Int64 = -1, timestamp: Int64 = -1) {
    storage = RowStorage.make(bytes, id: id, timestamp: timestamp)
  }

  /// Builds a new row with a builder that is reused; `encode` writes the root table.
  @inlinable
  public init(_ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset) {
    storage = BuilderPool.withBuilder { builder in
      builder.finish(encode(builder))
      return RowStorage.make(builder.bytes, id: -1, timestamp: -1)
    }
  }

  /// −1, or the object's row id in the storage.
  @inlinable
  public var id: Int64 { storage.header.id }

  /// The workspace's clock value before the object was read, −1 if it was not read by a fetch.
  @inlinable
  public var timestamp: Int64 { storage.header.timestamp }

  /// The length of the buffer in bytes.
  @inlinable
  public var count: Int { storage.header.count }

  /// Calls `body` with the finished buffer; the pointer is valid inside only.
  @inlinable @inline(__always)
  public func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let start = storage.bytes
    defer { withExtendedLifetime(storage) {} }
    return try body(UnsafeRawBufferPointer(start: start, count: storage.header.count))
  }

  /// Calls `body` with the root table; the reader is valid inside only.
  @inlinable @inline(__always)
  public func read<R>(_ body: (TableReader) -> R) -> R {
    let start = storage.bytes
    defer { withExtendedLifetime(storage) {} }
    guard
      let table = TableReader(
        root: UnsafeRawBufferPointer(start: start, count: storage.header.count))
    else { preconditionFailure("a row was made from bytes that were not verified") }
    return body(table)
  }

  /// The same bytes under another row id and clock value.
  func stored(as id: Int64, timestamp: Int64 = -1) -> Row {
    withBytes { Row(sound: $0, id: id, timestamp: timestamp) }
  }
}

@usableFromInline
struct RowHeader {
  @usableFromInline let id: Int64
  @usableFromInline let timestamp: Int64
  @usableFromInline let count: Int

  @inlinable
  init(id: Int64, timestamp: Int64, count: Int) {
    self.id = id
    self.timestamp = timestamp
    self.count = count
  }
}

/// Header and bytes.
@usableFromInline
final class RowStorage: ManagedBuffer<RowHeader, UInt8> {
  @inlinable
  static func make(_ bytes: UnsafeRawBufferPointer, id: Int64, timestamp: Int64) -> RowStorage {
    let buffer = RowStorage.create(minimumCapacity: bytes.count) { _ in
      RowHeader(id: id, timestamp: timestamp, count: bytes.count)
    }
    if let source = bytes.baseAddress {
      buffer.withUnsafeMutablePointerToElements {
        UnsafeMutableRawPointer($0).copyMemory(from: source, byteCount: bytes.count)
      }
    }
    return unsafeDowncast(buffer, to: RowStorage.self)
  }

  @inlinable
  var bytes: UnsafeRawPointer {
    withUnsafeMutablePointerToElements { UnsafeRawPointer($0) }
  }
}
