// Indirect: a stored property in a box, for recursive tables.
//
// A Swift value cannot contain a value of its own type. In a cycle of tables the generated
// properties are boxed. A copy shares the box until one of the two is changed, and changes to one
// never show in the other.

/// Stores a property of a recursive generated table behind a reference, with value semantics.
///
/// Generated code uses it; programs see the property as if it were stored directly. It is not a
/// property wrapper because `nonisolated` types cannot have wrapped properties.
@frozen
public struct Indirect<Value> {
  @usableFromInline var box: Box

  /// Never changed while shared; the setters check this.
  @usableFromInline
  final class Box {
    @usableFromInline var value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
  }

  /// Boxes a value.
  @inlinable
  public init(_ value: Value) {
    box = Box(value)
  }

  /// The boxed value.
  @inlinable
  public var value: Value {
    get { box.value }
    set {
      if isKnownUniquelyReferenced(&box) {
        box.value = newValue
      } else {
        box = Box(newValue)
      }
    }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }
}

// Unchecked, because the box is a mutable class: it is changed only while it has a single owner.
extension Indirect: @unchecked Sendable where Value: Sendable {}
