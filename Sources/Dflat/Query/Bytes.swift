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
