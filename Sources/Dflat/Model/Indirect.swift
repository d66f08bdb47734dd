// Indirect: a stored property in a box, for recursive tables.
//
// A Swift value cannot contain a value of its own type. In a cycle of tables the generated
// properties are boxed. A box never changes: a copy shares it until one of the two gets another.

/// Stores a property of a recursive generated table behind a reference, with value semantics.
///
/// Generated code uses it; programs see the property as if it were stored directly. It is not a
/// property wrapper because `nonisolated` types cannot have wrapped properties.
@frozen
public struct Indirect<Value> {
  @usableFromInline var box: Box

  @usableFromInline
  final class Box {
    @usableFromInline let value: Value

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
    set { box = Box(newValue) }
  }
}

extension Indirect: Sendable where Value: Sendable {}
extension Indirect.Box: Sendable where Value: Sendable {}
