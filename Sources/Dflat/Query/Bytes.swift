// Byte comparison: the order of strings everywhere in Dflat.

import Platform

/// Negative, zero or positive if `left` comes before, equals or comes after `right`, byte by byte.
@inline(__always)
package func compareBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  let common = Swift.min(left.count, right.count)
  if common > 0, let l = left.baseAddress, let r = right.baseAddress {
    let order = memcmp(l, r, common)
    if order != 0 { return Int(order) }
  }
  return left.count - right.count
}

/// Whether both have the same bytes.
@inline(__always)
func equalBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
  guard left.count == right.count else { return false }
  guard left.count > 0, let l = left.baseAddress, let r = right.baseAddress else { return true }
  return memcmp(l, r, left.count) == 0
}

extension UnsafeRawBufferPointer {
  func hasPrefix(_ prefix: UnsafeRawBufferPointer) -> Bool {
    count >= prefix.count
      && equalBytes(UnsafeRawBufferPointer(rebasing: self[..<prefix.count]), prefix)
  }

  func hasSuffix(_ suffix: UnsafeRawBufferPointer) -> Bool {
    count >= suffix.count
      && equalBytes(UnsafeRawBufferPointer(rebasing: self[(count - suffix.count)...]), suffix)
  }

  func contains(_ part: UnsafeRawBufferPointer) -> Bool {
    guard let first = part.first else { return true }
    var start = 0
    while start <= count - part.count, let base = baseAddress,
      let found = memchr(base + start, Int32(first), count - part.count - start + 1)
    {
      start = UnsafeRawPointer(found) - base
      if equalBytes(UnsafeRawBufferPointer(start: found, count: part.count), part) { return true }
      start += 1
    }
    return false
  }
}

extension String {
  /// Calls `body` with the string's bytes, without a copy if possible.
  @inline(__always)
  func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    let result = utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
    if let result { return result }
    // A bridged string, which is not stored as contiguous UTF-8.
    var copy = self
    return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }
}
