// Row: an object as its bytes.
//
// A row is one allocation: a header (row id, clock value, length) followed by the finished
// FlatBuffers buffer. Invariants:
//
//  - The bytes were verified against their layout, or written by our builder, before the row was
//    created.
//  - They never change, so a row may be read on any thread.
//
// The same bytes are bound to the storage engine's statements, compared, and read in place by the
// getters of entities.

public import FlatBuffersRuntime
import Platform

// Unchecked Sendable because a `ManagedBuffer` is mutable in principle; nothing writes to it after
// `RowStorage.make`.

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
  ///   - id: The row id, or −1 if the row is not stored.
  ///   - mark: When the row was read, and by which transaction or workspace.
  @inlinable
  package init(sound bytes: UnsafeRawBufferPointer, id: Int64 = -1, mark: ReadMark = .none) {
    storage = RowStorage.make(bytes, id: id, mark: mark)
  }

  /// Builds a new row with a pooled builder; `encode` writes the root table in canonical form.
  @inlinable @inline(__always)
  public init(_ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset) {
    self = BuilderPool.withBuilder { builder in
      builder.finish(encode(builder))
      return Row(built: builder.bytes, mark: .built, refusal: builder.refusal)
    }
  }

  /// Copies bytes that were just built, together with the reason why they cannot be stored, if any.
  @inlinable @inline(__always)
  init(built bytes: UnsafeRawBufferPointer, mark: ReadMark = .none, refusal: String?) {
    storage =
      refusal.map { RowStorage.make(bytes, refusal: $0) }
      ?? RowStorage.make(bytes, id: -1, mark: mark)
  }

  /// Why the row cannot be stored: a value that it was built from does not fit its field. nil if it
  /// can be stored.
  @inlinable
  var refusal: String? {
    storage.head.reading == ReadMark.refused.reading ? storage.refusal : nil
  }

  /// The object's row id in the storage, or −1.
  @inlinable
  package var id: Int64 { storage.head.id }

  /// The workspace's clock value before the object was read; −1 if it was not fetched.
  @inlinable
  package var timestamp: Int64 { storage.head.timestamp }

  /// When the row was read, and by which transaction or workspace.
  var mark: ReadMark { ReadMark(timestamp: timestamp, reading: storage.head.reading) }

  /// Whether the bytes are known to be written by generated code, in canonical form.
  var isCanonical: Bool { mark == .built }

  /// The length of the buffer in bytes.
  @inlinable
  package var count: Int { Int(storage.head.size) }

  /// Calls `body` with the finished buffer; the pointer is valid only during the call.
  @inlinable @inline(__always)
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let start = storage.bytes
    defer { withExtendedLifetime(storage) {} }
    return try body(UnsafeRawBufferPointer(start: start, count: Int(storage.head.size)))
  }

  /// Calls `body` with the root table; the reader is valid only during the call.
  @inlinable @inline(__always)
  public func read<R>(_ body: (TableReader) -> R) -> R {
    let start = storage.bytes
    defer { withExtendedLifetime(storage) {} }
    guard
      let table = TableReader(
        root: UnsafeRawBufferPointer(start: start, count: Int(storage.head.size)))
    else { preconditionFailure("a row was made from bytes that were not verified") }
    return body(table)
  }

  /// The finished buffer, valid as long as the caller keeps the row. It does not retain the row:
  /// that would write to its header, which slows down traversals of many rows.
  @inline(__always)
  var unretainedBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: storage.bytes, count: Int(storage.head.size))
  }

  /// The root table, valid as long as the caller keeps the row.
  @inline(__always)
  var unretainedTable: TableReader {
    guard let table = TableReader(root: unretainedBytes) else {
      preconditionFailure("a row was made from bytes that were not verified")
    }
    return table
  }

  /// A row with the same id and a copy of the bytes, to which `edit` is applied before the row is
  /// visible to other code.
  func copy(mark: ReadMark, _ edit: (UnsafeMutableRawPointer) -> Void) -> Row {
    let copy = withBytes { RowStorage.make($0, id: id, mark: mark) }
    copy.withUnsafeMutablePointerToElements { edit(UnsafeMutableRawPointer($0)) }
    return Row(storage: copy)
  }

  /// A row with the same bytes and another mark.
  func marked(_ mark: ReadMark) -> Row {
    mark == self.mark ? self : withBytes { Row(sound: $0, id: id, mark: mark) }
  }
}

/// When a row was read, and in which workspace. A row id means something in that workspace only.
@frozen
@usableFromInline package struct ReadMark: Sendable, Equatable {
  /// The workspace's clock before the read, or its substitute inside a transaction.
  @usableFromInline package let timestamp: Int64
  /// The number of the workspace in which the row was read outside of transactions, or
  /// `readingInside` of it; 0 if it was not read in any.
  @usableFromInline let reading: UInt32

  @inlinable
  init(timestamp: Int64, reading: UInt32) {
    self.timestamp = timestamp
    self.reading = reading
  }

  /// A new number of a workspace, unique in the process. The next number belongs to it, too.
  static func newReading() -> UInt32 {
    let (_, number) = readings.add(2, ordering: .relaxed)
    // 0 and the two greatest numbers are reserved.
    return number == 0 || number == .max - 1 ? newReading() : number
  }

  /// What marks the rows that transactions of a workspace have read, and those of the workspace
  /// that were not read.
  static func readingInside(_ reading: UInt32) -> UInt32 { reading + 1 }

  /// The number of the workspace in which the row was read or written; nil if none is known.
  var workspace: UInt32? {
    // The numbers of workspaces are even.
    reading == 0 || reading >= Self.refused.reading ? nil : reading & ~1
  }

  private static let readings = Atomic<UInt32>(0)

  /// The mark of rows of a workspace that were not fetched: those that a transaction has written,
  /// and those that subscribers get.
  static func unread(in reading: UInt32) -> ReadMark {
    ReadMark(timestamp: -1, reading: readingInside(reading))
  }

  /// The mark of rows that were not fetched, and of which the workspace is not known.
  @inlinable
  package static var none: ReadMark { ReadMark(timestamp: -1, reading: 0) }

  /// The mark of rows that generated code has built.
  @inlinable
  static var built: ReadMark { ReadMark(timestamp: -1, reading: .max) }

  /// The mark of rows that were built from values that do not fit.
  @inlinable
  static var refused: ReadMark { ReadMark(timestamp: -1, reading: .max - 1) }
}

@usableFromInline
struct RowHeader {
  @usableFromInline let id: Int64
  @usableFromInline let timestamp: Int64
  /// The length of the buffer; FlatBuffers are smaller than 2 GiB.
  @usableFromInline let size: UInt32
  @usableFromInline let reading: UInt32

  @inlinable
  init(id: Int64, timestamp: Int64, size: UInt32, reading: UInt32) {
    self.id = id
    self.timestamp = timestamp
    self.size = size
    self.reading = reading
  }
}

/// The header and the bytes.
@usableFromInline
final class RowStorage: ManagedBuffer<RowHeader, UInt8> {
  @inlinable
  static func make(
    _ bytes: UnsafeRawBufferPointer, id: Int64, mark: ReadMark
  ) -> RowStorage {
    let buffer = RowStorage.create(minimumCapacity: bytes.count) { _ in
      RowHeader(
        id: id, timestamp: mark.timestamp, size: UInt32(bytes.count), reading: mark.reading)
    }
    if let source = bytes.baseAddress {
      buffer.withUnsafeMutablePointerToElements {
        UnsafeMutableRawPointer($0).copyMemory(from: source, byteCount: bytes.count)
      }
    }
    return unsafeDowncast(buffer, to: RowStorage.self)
  }

  /// Stores bytes that must not be written to the storage, followed by the reason and a NUL.
  @usableFromInline
  static func make(_ bytes: UnsafeRawBufferPointer, refusal: String) -> RowStorage {
    let reason = refusal.utf8CString.map { UInt8(bitPattern: $0) }
    let buffer = RowStorage.create(minimumCapacity: bytes.count + reason.count) { _ in
      RowHeader(
        id: -1, timestamp: ReadMark.refused.timestamp, size: UInt32(bytes.count),
        reading: ReadMark.refused.reading)
    }
    buffer.withUnsafeMutablePointerToElements { start in
      let memory = UnsafeMutableRawBufferPointer(start: start, count: bytes.count + reason.count)
      memory.copyBytes(from: bytes)
      UnsafeMutableRawBufferPointer(rebasing: memory[bytes.count...]).copyBytes(from: reason)
    }
    return unsafeDowncast(buffer, to: RowStorage.self)
  }

  /// The reason that follows the bytes of such a row.
  @usableFromInline
  var refusal: String {
    withUnsafeMutablePointers { header, elements in
      String(cString: elements + Int(header.pointee.size))
    }
  }

  /// The header. It is never written, so it is read without the exclusivity check that stored
  /// properties of classes have.
  @inlinable @inline(__always)
  var head: RowHeader { withUnsafeMutablePointerToHeader { $0.pointee } }

  @inlinable
  var bytes: UnsafeRawPointer {
    withUnsafeMutablePointerToElements { UnsafeRawPointer($0) }
  }
}
