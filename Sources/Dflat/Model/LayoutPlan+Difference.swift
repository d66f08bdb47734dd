// Difference: a quick comparison of two rows whose bytes differ.
//
// Two objects that differ mostly do so in an integer or a string of the root table. Those fields
// are compared first, byte by byte. Only rows in which all of them are the same are compared by
// value. Floats are left out because different bits may be equal values, and so are Booleans and
// enums, for which this is true of unknown values.

import FlatBuffersRuntime

extension LayoutPlan {
  /// A field that is compared by its bytes.
  struct Marker {
    let offset: Int32
    /// The size of an integer; 0 for a string.
    let size: Int32

    /// The markers for a table's checks. Integers come first, since they need no further memory
    /// access.
    static func list(_ checks: ArraySlice<Check>) -> [Marker] {
      let integers = checks.filter(\.isInteger).map { Marker(offset: $0.offset, size: $0.size) }
      let strings = checks.filter { $0.operation == .string }
      return integers + strings.map { Marker(offset: $0.offset, size: 0) }
    }
  }

  /// Whether two root tables certainly differ, in an integer or string that both contain. False
  /// means that they must be compared by value.
  @inline(__always)
  func differs(_ left: TableReader, _ right: TableReader) -> Bool {
    for marker in markers {
      let offset = Int(marker.offset)
      if marker.size == 0 {
        if let l = left.utf8(at: offset), let r = right.utf8(at: offset), !equalBytes(l, r) {
          return true
        }
        continue
      }
      let size = Int(marker.size)
      let l = left.locate(offset, size: size)
      let r = right.locate(offset, size: size)
      if l > 0, r > 0, left.bits(at: l, size) != right.bits(at: r, size) { return true }
    }
    return false
  }
}

extension TableReader {
  /// The bytes of an integer at a position, as a number.
  @inline(__always)
  fileprivate func bits(at position: Int, _ size: Int) -> UInt64 {
    let place = bytes.baseAddress.unsafelyUnwrapped + position
    return switch size {
    case 1: UInt64(place.load(as: UInt8.self))
    case 2: UInt64(place.loadUnaligned(as: UInt16.self))
    case 4: UInt64(place.loadUnaligned(as: UInt32.self))
    default: place.loadUnaligned(as: UInt64.self)
    }
  }
}
