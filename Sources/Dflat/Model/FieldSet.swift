// FieldSet: which fields of a table were set.
//
// Most tables have few fields, so they are bits of one word; the last bit stands for all fields from there on.

/// Fields of a root table, by their vtable offsets. A union is the offset of its value.
public struct FieldSet: Sendable {
  /// One bit for each of the first 63 slots; the last one if there are others.
  @usableFromInline var bits: UInt64
  /// The other slots; nil with the last bit set for all of them.
  @usableFromInline var others: Set<Int>?

  @inlinable
  init(bits: UInt64) {
    self.bits = bits
    others = nil
  }

  /// No field.
  @inlinable
  public static var none: FieldSet { FieldSet(bits: 0) }

  /// Every field.
  @inlinable
  public static var all: FieldSet { FieldSet(bits: .max) }

  /// Whether there is no field in it.
  var isEmpty: Bool { bits == 0 }

  /// Its fields as bits, of which the last one stands for all that are far behind. Sets without a common bit have no common field.
  var mask: UInt64 { bits }

  /// Whether a field is in it.
  @inlinable @inline(__always)
  public func contains(_ field: Int) -> Bool {
    let slot = (field &- 4) &>> 1
    if slot < 63 { return bits & (1 &<< UInt64(truncatingIfNeeded: slot)) != 0 }
    return containsOther(slot)
  }

  /// Whether no field is in both; of fields far behind in wide tables, it may be false without one.
  public func isDisjoint(with other: FieldSet) -> Bool { bits & other.bits == 0 }

  /// Puts a field into it.
  @inlinable @inline(__always)
  public mutating func insert(_ field: Int) {
    let slot = (field &- 4) &>> 1
    if slot < 63 {
      bits |= 1 &<< UInt64(truncatingIfNeeded: slot)
    } else {
      insertOther(slot)
    }
  }

  @usableFromInline
  func containsOther(_ slot: Int) -> Bool {
    bits >> 63 != 0 && others?.contains(slot) != false
  }

  @usableFromInline
  mutating func insertOther(_ slot: Int) {
    if bits >> 63 == 0 {
      bits |= 1 << 63
      others = [slot]
    } else {
      others?.insert(slot)
    }
  }
}
