// Indirect: a stored property in a box, for tables that contain themselves.
//
// A Swift value cannot store a value of its own type. In a circle of tables the generated properties are boxed, and it
// keeps true: a copy shares the box until one of the two is changed, and changing one never shows in the other.

/// Stores a property of a generated table that is part of a circle behind a reference, with the semantics of a value.
///
/// Generated code uses it; programs see the property as if it were stored directly. It is no property wrapper, because the
/// compiler has no wrapped properties in `nonisolated` types.
@frozen
public struct Indirect<Value> {
  @usableFromInline var box: Box

  /// Never changed while shared: the setters check.
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

  /// The value in the box.
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

// Unchecked, because the box is a mutable class: it is changed only while one value owns it.
extension Indirect: @unchecked Sendable where Value: Sendable {}
