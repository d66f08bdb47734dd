// Difference: a quick look at two rows that are not the same bytes.
//
// Two objects that differ mostly do so in an integer or a string of the root table. Those are
// compared first, without asking what the bytes mean; only rows that are alike in all of them are
// compared by value. Floats are left out, since different bits may be equal values, and so are
// Booleans and enums, where this holds of unknown values.

import FlatBuffersRuntime

extension LayoutPlan {
  /// A field in which rows are compared by their bytes.
  struct Marker {
    let offset: Int32
    /// Of an integer; 0 for a string.
    let size: Int32

    /// Those of a table's checks: integers first, which need no second look into the row.
    static func list(_ checks: ArraySlice<Check>) -> [Marker] {
      let integers = checks.filter(\.isInteger).map { Marker(offset: $0.offset, size: $0.size) }
      let strings = checks.filter { $0.operation == .string }
      return integers + strings.map { Marker(offset: $0.offset, size: 0) }
    }
  }

  /// Whether two root tables certainly differ: an integer or string that both have is not the same.
  /// False means that a closer look is needed.
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
  /// The bytes of a located integer, as a number.
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
