// FieldSet: which fields of a table were set.
//
// Most tables have few fields, so the set is a word of bits; the last bit stands for all further
// fields.

/// Fields of a root table, by their vtable offsets. A union is identified by the offset of its
/// value.
@usableFromInline package struct FieldSet: Sendable {
  /// One bit for each of the first 63 slots; the last bit is set if there are others.
  @usableFromInline var bits: UInt64
  /// The other slots. nil, with the last bit set, means all of them.
  @usableFromInline var others: Set<Int>?

  @inlinable
  init(bits: UInt64) {
    self.bits = bits
    others = nil
  }

  /// The empty set.
  @inlinable
  package static var none: FieldSet { FieldSet(bits: 0) }

  /// All fields.
  @inlinable
  package static var all: FieldSet { FieldSet(bits: .max) }

  /// Whether the set is empty.
  var isEmpty: Bool { bits == 0 }

  /// The set as bits, of which the last one stands for all slots from 63 on. Sets without a common
  /// bit have no common field.
  var mask: UInt64 { bits }

  /// Whether the set contains a field.
  @inlinable @inline(__always)
  package func contains(_ field: Int) -> Bool {
    let slot = (field &- 4) &>> 1
    if slot < 63 { return bits & (1 &<< UInt64(truncatingIfNeeded: slot)) != 0 }
    return containsOther(slot)
  }

  /// Whether the sets have no common field. May be false for disjoint sets if both have fields from
  /// slot 63 on.
  package func isDisjoint(with other: FieldSet) -> Bool { bits & other.bits == 0 }

  /// Adds a field.
  @inlinable @inline(__always)
  package mutating func insert(_ field: Int) {
    let slot = (field &- 4) &>> 1
    if slot < 63 {
      bits |= 1 &<< UInt64(truncatingIfNeeded: slot)
    } else {
      insertOther(slot)
    }
  }

  /// Adds the fields of another set.
  package mutating func formUnion(_ other: FieldSet) {
    if (bits | other.bits) >> 63 != 0 {
      func hasAll(_ set: FieldSet) -> Bool { set.bits >> 63 != 0 && set.others == nil }
      others =
        hasAll(self) || hasAll(other) ? nil : (others ?? []).union(other.others ?? [])
    }
    bits |= other.bits
  }

  @usableFromInline @inline(never)
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
