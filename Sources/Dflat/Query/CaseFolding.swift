// Case folding: texts in which upper and lower case are equal.
//
// Each scalar is replaced by its lowercase mapping (`Unicode.Scalar.Properties.lowercaseMapping`).
// That depends on no language, no neighbouring scalars and no locale, and nothing is normalised:
// "É" as one scalar and "É" as two remain different, and so do "ß" and "ss", "ς" and "σ".
// Invariants:
//
//  - Folding twice gives the same text as folding once.
//  - The folded form of a concatenation is the concatenation of the folded forms. So prefixes,
//    suffixes and parts of a text remain such in its folded form.
//  - Bytes that are not UTF-8 remain as they are.

import Platform

/// Case folding of texts, by which conditions ignore case.
package enum CaseFolding {
  /// The text with each scalar replaced by its lowercase mapping.
  package static func fold(_ text: String) -> String {
    var text = text
    return text.withUTF8 { source in
      let source = UnsafeRawBufferPointer(source)
      return String(unsafeUninitializedCapacity: capacity(for: source.count)) { target in
        fold(source, into: target.baseAddress.unsafelyUnwrapped)
      }
    }
  }

  /// Calls `body` with the folded form of a text. The memory is valid until `body` returns.
  package static func withFolded<R>(
    _ text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity(for: text.count)) {
      let count = fold(text, into: $0.baseAddress.unsafelyUnwrapped)
      return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer($0)[..<count]))
    }
  }

  /// The greatest size of the folded form of a text with `count` bytes.
  ///
  /// No lowercase mapping has more than three times the bytes of its scalar; at least one byte, so
  /// that there is an address.
  static func capacity(for count: Int) -> Int { 3 * count + 1 }

  /// Writes the folded form of a text.
  /// - Parameter target: Memory for `capacity(for:)` bytes.
  /// - Returns: The number of bytes written.
  static func fold(_ text: UnsafeRawBufferPointer, into target: UnsafeMutablePointer<UInt8>) -> Int
  {
    var position = 0
    while position &+ 8 <= text.count, foldASCII(text, position, into: target + position) == 8 {
      position &+= 8
    }
    return position == text.count
      ? position : foldScalars(text, from: position, into: target, position)
  }

  /// Folds the bytes of ASCII with which the next eight bytes begin. It writes eight bytes.
  /// - Returns: The number of the bytes of ASCII.
  @inline(__always)
  private static func foldASCII(
    _ text: UnsafeRawBufferPointer, _ position: Int, into target: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let bytes = UInt64(
      littleEndian: text.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    // A byte from A on has its upper bit in the first sum, one behind Z in both. What a byte that
    // is not ASCII adds to those behind it does not count.
    let fromA = bytes &+ 0x3F3F_3F3F_3F3F_3F3F
    let behindZ = bytes &+ 0x2525_2525_2525_2525
    let capitals = (fromA ^ behindZ) & 0x8080_8080_8080_8080
    UnsafeMutableRawPointer(target).storeBytes(
      of: (bytes | capitals >> 2).littleEndian, as: UInt64.self)
    return (bytes & 0x8080_8080_8080_8080).trailingZeroBitCount >> 3
  }

  /// Folds the rest of a text that is not ASCII.
  @inline(never)
  private static func foldScalars(
    _ text: UnsafeRawBufferPointer, from start: Int, into target: UnsafeMutablePointer<UInt8>,
    _ written: Int
  ) -> Int {
    var position = start
    var written = written
    let mappings = LowercaseTable.shared
    while position < text.count {
      let byte = text[position]
      if byte < 0x80 {
        // The target has room for three times the bytes that are left.
        if position &+ 8 <= text.count {
          let count = foldASCII(text, position, into: target + written)
          position &+= count
          written &+= count
        } else {
          target[written] = byte &- 0x41 < 26 ? byte | 0x20 : byte
          position &+= 1
          written &+= 1
        }
        continue
      }
      if byte &- 0xC2 < 0x1E, position &+ 1 < text.count, text[position &+ 1] & 0xC0 == 0x80,
        let code = mappings.lowercase(
          UInt32(byte & 0x1F) << 6 | UInt32(text[position &+ 1] & 0x3F))
      {
        written &+= SearchFolding.write(code, to: target + written)
        position &+= 2
        continue
      }
      if LowercaseTable.hasNoCase(byte), position &+ 2 < text.count,
        text[position &+ 1] & 0xC0 == 0x80, text[position &+ 2] & 0xC0 == 0x80
      {
        for index in 0..<3 { target[written &+ index] = text[position &+ index] }
        position &+= 3
        written &+= 3
        continue
      }
      guard let (scalar, size) = scalar(in: text, at: position) else {
        target[written] = byte
        position &+= 1
        written &+= 1
        continue
      }
      if let code = mappings.lowercase(scalar.value) {
        written &+= SearchFolding.write(code, to: target + written)
      } else {
        for byte in scalar.properties.lowercaseMapping.utf8 {
          target[written] = byte
          written &+= 1
        }
      }
      position &+= size
    }
    return written
  }

  /// The scalar at a position and its size in bytes; nil if there is no valid UTF-8.
  @inline(__always)
  static func scalar(
    in text: UnsafeRawBufferPointer, at position: Int
  ) -> (scalar: Unicode.Scalar, size: Int)? {
    let first = text[position]
    let size = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    guard size > 0, first < 0xF5, size <= text.count - position else { return nil }
    if size == 1 { return (Unicode.Scalar(first), 1) }
    var value = UInt32(first) & (0x7F >> UInt32(size))
    for index in 1..<size {
      let byte = text[position + index]
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    // Overlong forms and surrogates are not UTF-8.
    guard value >= (size == 2 ? 0x80 : size == 3 ? 0x800 : 0x10000) else { return nil }
    return Unicode.Scalar(value).map { ($0, size) }
  }
}

/// The form of constants that a folded text is compared with: they are folded, too.
enum FoldedForm: StoredForm {
  static func value(_ stored: String) -> String? { stored }
  static func stored(_ value: String) -> String? { CaseFolding.fold(value) }
  static var unreadable: String { "" }
  static func conversionFailure(_ value: String) -> ConversionFailure { .unordered }
  static func text(_ value: String) -> String { String(reflecting: value) }
}
