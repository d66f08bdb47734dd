// StorableValue: the program's own Swift types for fields.
//
// A schema declares which type a field has, `price: long (swift: "Price")`; the bytes are those of
// a plain `long`. Invariants:
//
//  - Two values are equal exactly if their stored values are, so conditions need not know the Swift
//    type.
//  - A stored value that cannot be read is never an error: it reads as nil, or as `unreadable` if
//    the field is not optional.

/// A type of the program that fields of a schema may have in Swift.
///
///     struct Price: OrderedStorableValue {
///       var cents: Int64
///       init(stored: Int64) { cents = stored }
///       var stored: Int64 { cents }
///       static let unreadable = Price(stored: 0)
///     }
///
/// With `price: long (indexed, swift: "Price")` in the schema, `Article.price` is a `Price` in
/// properties, initialisers, change requests and conditions: `Article.price == Price(stored: 995)`.
/// Programs in other languages read a `long`. A type with a raw value only needs to provide
/// `unreadable`.
///
/// Two values must be equal exactly if their `stored` values are. For comparison by `<`, and to
/// order results, conform to ``OrderedStorableValue``.
public protocol StorableValue: QueryValue {
  /// The stored type: a string or a scalar of exactly the field's type, such as `Int64` for a
  /// `long`.
  associatedtype Stored: StoredValue
  /// Creates the value with a given stored value; nil if there is none.
  ///
  /// In that case an optional field reads as nil, any other field as ``unreadable``, and an element
  /// of a vector is left out.
  init?(stored: Stored)
  /// The stored form of this value.
  var stored: Stored { get }
  /// The value of a field that is not optional if `init(stored:)` returns nil.
  static var unreadable: Self { get }
}

/// A type of the program whose values are ordered like their stored values.
///
/// Conditions can compare its fields with `<`, and results can be ordered by them.
public protocol OrderedStorableValue: StorableValue, DflatFriendlyValue {}

extension StorableValue {
  /// How values of this type are stored and compared.
  public static var _valueType: ValueType { Stored._valueType }
  /// The untyped form of this value.
  public var _value: Value { stored._value }
  /// The value with an untyped form.
  public static func _reading(_ value: Value) -> Self? {
    Stored(_value: value).flatMap { Self(stored: $0) }
  }
}

extension StorableValue where Self: RawRepresentable, RawValue == Stored {
  /// Creates the value with a raw value, if there is one.
  public init?(stored: Stored) { self.init(rawValue: stored) }
  /// The raw value.
  public var stored: Stored { rawValue }
}

extension OrderedStorableValue {
  /// Compares stored values.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.stored < rhs.stored }
}
