// Optionals, arrays, sets and dictionaries as properties.
//
// Equal values have equal bytes: the elements of sets and dictionaries are written in an order that
// depends on nothing but them.

public import Dflat
public import FlatBuffersRuntime

extension Optional: PersistableProperty where Wrapped: PersistableProperty {
  /// As the wrapped type.
  public static var _form: PropertyForm { Wrapped._form.boxedAsElement }
  /// nil.
  @inlinable
  public static var _absent: Wrapped?? { .some(nil) }
  /// The constant of the value, if there is one.
  public var _constant: Dflat.Value? { self?._constant }

  /// The value, if there is one.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty {
    self?._write(to: builder) ?? .absent
  }

  /// Reads the value, if there is one.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> Wrapped?? {
    guard let value = try Wrapped._read(table, at: field) else { return nil }
    return .some(.some(value))
  }
}

extension Array: PersistableProperty where Element: PersistableProperty {
  /// A vector.
  public static var _form: PropertyForm { .vector(of: Element.self) }
  /// Empty.
  @inlinable
  public static var _absent: [Element]? { [] }

  /// Writes a vector.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty {
    .offset(Element._writeElements(self, to: builder))
  }

  /// Reads a vector.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> [Element]? {
    try Element._readElements(table, at: field)
  }
}

extension Set: PersistableProperty where Element: PersistableProperty {
  /// A vector.
  public static var _form: PropertyForm { .vector(of: Element.self) }
  /// Empty.
  @inlinable
  public static var _absent: Set<Element>? { [] }

  /// Writes a vector.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty {
    .offset(Element._writeElements(Array(self).inCanonicalOrder { $0 }, to: builder))
  }

  /// Reads a vector.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> Set<Element>? {
    try Element._readElements(table, at: field).map { Set($0) }
  }
}

/// A type that the keys of stored dictionaries may have: `String`, integers, and enums without
/// associated values.
public protocol PersistableKey: PersistablePart, Hashable {}

extension String: PersistableKey {}
extension Int: PersistableKey {}
extension Int8: PersistableKey {}
extension Int16: PersistableKey {}
extension Int32: PersistableKey {}
extension Int64: PersistableKey {}
extension UInt: PersistableKey {}
extension UInt8: PersistableKey {}
extension UInt16: PersistableKey {}
extension UInt32: PersistableKey {}
extension UInt64: PersistableKey {}

extension Dictionary: PersistableProperty where Key: PersistableKey, Value: PersistableProperty {
  /// A vector of tables with a key and a value.
  public static var _form: PropertyForm {
    PropertyForm(.vector(.table { Boxes.fields(of: Key.self, Value.self).layout }))
  }
  /// Empty.
  @inlinable
  public static var _absent: [Key: Value]? { [:] }

  /// Writes a vector.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty {
    let fields = Boxes.fields(of: Key.self, Value.self)
    let keys = Array(keys).inCanonicalOrder { $0 }
    let entries = keys.compactMap { key in
      self[key].map { value in
        builder.table(fields) {
          $0.write(key)
          $0.write(value)
        }
      }
    }
    return .offset(builder.builder.vector(entries))
  }

  /// Reads a vector. Of several entries with one key, the last one counts.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> [Key: Value]? {
    let fields = Boxes.fields(of: Key.self, Value.self)
    let entries: [(Key, Value)]? = try table.vector(at: field, stride: 4)?.tables { table in
      let reader = CanonicalReader(table, fields)
      return (try reader.read(0), try reader.read(1))
    }
    return entries.map { Dictionary($0) { _, last in last } }
  }
}

extension Optional: PersistablePart where Wrapped: PersistablePart {}
extension Array: PersistablePart where Element: PersistablePart {}
extension Set: PersistablePart where Element: PersistablePart {}
extension Dictionary: PersistablePart where Key: PersistableKey, Value: PersistablePart {}

extension PropertyForm {
  fileprivate static func vector<P: PersistableProperty>(of type: P.Type) -> PropertyForm {
    let form = type._form
    // Every type can be an element of a vector of tables with one slot.
    if !form.isElement { return PropertyForm(.vector(.table { Boxes.fields(of: type).layout })) }
    return PropertyForm(.vector(form.kind), as: form.form)
  }
}

extension Array {
  /// The elements in the order of their stored bytes.
  @inlinable
  func inCanonicalOrder<P: PersistableProperty>(_ property: (Element) -> P) -> [Element] {
    if count < 2 { return self }
    if P._precedes(property(self[0]), property(self[1])) != nil {
      return sorted { P._precedes(property($0), property($1)) == true }
    }
    return inOrderOfBytes(property)
  }

  /// The same, by comparing the bytes.
  @usableFromInline
  func inOrderOfBytes<P: PersistableProperty>(_ property: (Element) -> P) -> [Element] {
    let keyed = map { element in
      let fields = Boxes.fields(of: P.self)
      let row = DflatRow { builder in
        CanonicalBuilder(builder).table(fields) { $0.write(property(element)) }
      }
      return (row.withBytes { [UInt8]($0) }, element)
    }
    return keyed.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
  }
}
