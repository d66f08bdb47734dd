// Row checksums: what may follow the bytes of a row in its blob.
//
//   blob   the finished FlatBuffers buffer, its CRC-32C (4 bytes, little-endian), a mark (1 byte)
//
//  - The builders of FlatBuffers pad a buffer to a multiple of 4 bytes, so a blob of 4n + 1 bytes
//    has a checksum. SQLite keeps the length apart from the bytes: damage to the bytes cannot make
//    a row look as if it had no checksum.
//  - A program may lay out a buffer of 4n + 1 bytes by hand. The last byte belongs to a value then,
//    and is no part of the buffer where a checksum follows. Without mark and checksum, the verifier
//    decides which of them it is.
//  - FlatBuffers are read from their beginning, by offsets: a reader that does not know the
//    checksum does not see it.
//  - All rows are read through `content`, and written through `RowSealer`. Nothing above knows of
//    checksums.

import CSQLiteThreads
package import Dflat
package import FlatBuffersRuntime
import SQLiteAccess

package enum RowChecksum {
  /// The number of bytes that follow the buffer.
  static let size = 5
  private static let mark: UInt8 = 0xC3

  /// The buffer in a stored blob.
  ///
  /// Without a checksum it is the whole blob. If the checksum is not that of the bytes, the result
  /// has a single byte, which no reader accepts; `VerificationError.storedReason` says why.
  /// - Parameter schema: The type of the object; nil if it is not known. Then all blobs of 4n + 1
  ///   bytes must have a checksum.
  @inline(__always)
  package static func content(
    of stored: UnsafeRawBufferPointer, as schema: EntitySchema?
  ) -> UnsafeRawBufferPointer {
    stored.count & 3 == 1 ? verified(stored, schema) : stored
  }

  /// Whether `content` has refused a blob.
  package static func isRefused(_ content: UnsafeRawBufferPointer) -> Bool { content.count == 1 }

  package static var refusalReason: String { "the checksum is not that of the bytes" }

  /// Whether a blob has a checksum, and it is not that of the bytes.
  static func isWrong(_ stored: UnsafeRawBufferPointer) -> Bool {
    stored.count & 3 == 1 && stored.count >= size && look(stored) == (true, false)
  }

  /// Looks at what may be a checksum.
  private static func look(_ stored: UnsafeRawBufferPointer) -> (hasMark: Bool, isSame: Bool) {
    let count = stored.count &- size
    let checksum = stored.loadUnaligned(fromByteOffset: count, as: UInt32.self).littleEndian
    return (stored[count &+ 4] == mark, checksum == csqlite_crc32c(stored.baseAddress, count))
  }

  @inline(never)
  private static func verified(
    _ stored: UnsafeRawBufferPointer, _ schema: EntitySchema?
  ) -> UnsafeRawBufferPointer {
    let refused = UnsafeRawBufferPointer(rebasing: stored[..<1])
    let count = stored.count &- size
    guard count >= 0 else { return refused }
    switch look(stored) {
    case (true, true): return UnsafeRawBufferPointer(start: stored.baseAddress, count: count)
    case (false, false) where schema.map { usesLastByte(stored, $0) } == true: return stored
    default: return refused
    }
  }

  /// Whether a buffer is sound, and would not be without its last byte.
  private static func usesLastByte(_ buffer: UnsafeRawBufferPointer, _ schema: EntitySchema) -> Bool
  {
    !schema.isDamaged(buffer)
      && schema.isDamaged(UnsafeRawBufferPointer(rebasing: buffer[..<(buffer.count - 1)]))
  }

  /// Writes the checksum of the first bytes of a buffer behind them.
  fileprivate static func append(to bytes: UnsafeMutableRawBufferPointer, after count: Int) {
    let checksum = csqlite_crc32c(bytes.baseAddress, count)
    bytes.storeBytes(of: checksum.littleEndian, toByteOffset: count, as: UInt32.self)
    bytes[count &+ 4] = mark
  }

  /// What a verifier says of the single byte.
  fileprivate static let refusal: VerificationError? = {
    var byte: UInt8 = 0
    return withUnsafeBytes(of: &byte) { bytes in
      var verifier = Verifier(bytes)
      do throws(VerificationError) { _ = try verifier.root() } catch { return error }
      return nil
    }
  }()
}

extension VerificationError {
  /// The reason, where the bytes come from `RowChecksum.content`.
  package var storedReason: String {
    self == RowChecksum.refusal ? RowChecksum.refusalReason : reason
  }
}

extension PreparedStatement where Self: ~Copyable {
  /// The bytes of the object in a column, in SQLite's memory; see `RowChecksum.content`.
  @inline(__always)
  func object(_ column: Int, of schema: EntitySchema) -> UnsafeRawBufferPointer {
    RowChecksum.content(of: blob(column), as: schema)
  }
}

/// Puts checksums behind rows before they are written. It is used by the writer, on one thread.
final class RowSealer {
  private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

  deinit { memory.deallocate() }

  /// The blob to store for a buffer; valid until the next call.
  func sealed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    // Bytes that no builder has made may need padding, which readers do not see either.
    let count = (bytes.count + 3) & ~3
    if memory.count < count + RowChecksum.size { grow(to: count + RowChecksum.size) }
    memory.copyMemory(from: bytes)
    for place in bytes.count..<count { memory[place] = 0 }
    RowChecksum.append(to: memory, after: count)
    return UnsafeRawBufferPointer(rebasing: memory[..<(count + RowChecksum.size)])
  }

  private func grow(to count: Int) {
    memory.deallocate()
    memory = .allocate(byteCount: max(count, 2 * memory.count), alignment: 16)
  }
}
