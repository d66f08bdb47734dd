// Boxes: the tables with one slot, or two, that contain what a vector cannot contain directly.
//
// Layouts are compared by identity, also to recognise that types contain each other. Generic types
// have no static properties, so that the layouts are kept here, one for each type.

import Platform

@usableFromInline
enum Boxes {
  private static let known = Mutex<[ObjectIdentifier: CanonicalFields]>([:])

  /// The table with one value.
  @usableFromInline
  static func fields<P: PersistableProperty>(of type: P.Type) -> CanonicalFields {
    fields(ObjectIdentifier(type), "Box") { [CanonicalProperty("value", P.self)] }
  }

  /// The table with a key and a value.
  @usableFromInline
  static func fields<K: PersistableProperty, P: PersistableProperty>(
    of key: K.Type, _ type: P.Type
  ) -> CanonicalFields {
    fields(ObjectIdentifier((K, P).self), "Entry") {
      [CanonicalProperty("key", K.self), CanonicalProperty("value", P.self)]
    }
  }

  /// Forms contain layouts as closures, so no form asks for another box while it is made.
  private static func fields(
    _ id: ObjectIdentifier, _ name: String, _ make: () -> [CanonicalProperty]
  ) -> CanonicalFields {
    if let fields = known.withLock({ $0[id] }) { return fields }
    let made = CanonicalFields(name, make())
    return known.withLock { known in
      if let fields = known[id] { return fields }
      known[id] = made
      return made
    }
  }
}
