// StorableValue: Swift types that stand for what fields store.
//
// A schema says which type a field has, `price: long (swift: "Price")`; the bytes are those of a plain `long`. It keeps true:
//
//  - values are equal exactly if what is stored for them is, so conditions need to know nothing of the Swift type;
//  - what is stored and cannot be read is never an error: it reads as nil, or as `unreadable` where a field is not optional.

/// A type of a program's own that fields of a schema may have in Swift.
///
///     struct Price: OrderedStorableValue {
///       var cents: Int64
///       init(stored: Int64) { cents = stored }
///       var stored: Int64 { cents }
///       static let unreadable = Price(stored: 0)
///     }
///
/// With `price: long (indexed, swift: "Price")` in the schema, `Article.price` is a `Price` in properties, initialisers, change
/// requests and conditions, `Article.price == Price(stored: 995)`. Other languages read a `long`. A type with a raw value needs
/// to state `unreadable` alone.
///
/// Two values must be equal exactly if their `stored` values are. For comparison by `<`, and to order results, conform to
/// ``OrderedStorableValue``.
public protocol StorableValue: QueryValue {
  /// What is stored: a string or a scalar of the field's very type, `Int64` for a `long`.
  associatedtype Stored: StoredValue
  /// The value that is stored so; nil if there is none.
  ///
  /// An optional field then reads as nil, any other as ``unreadable``, and an element of a vector is left out.
  init?(stored: Stored)
  /// What is stored for the value.
  var stored: Stored { get }
  /// What a field that is not optional reads as, where `init(stored:)` gives nil.
  static var unreadable: Self { get }
}

/// A type of a program's own whose values are ordered as what is stored for them.
///
/// Conditions compare its fields by `<`, and results are ordered by them.
public protocol OrderedStorableValue: StorableValue, DflatFriendlyValue {}

extension StorableValue {
  /// How values of this type are stored and compared.
  public static var _valueType: ValueType { Stored._valueType }
  /// This value without its type.
  public var _value: Value { stored._value }
}

extension StorableValue where Self: RawRepresentable, RawValue == Stored {
  /// The value with a raw value, if there is one.
  public init?(stored: Stored) { self.init(rawValue: stored) }
  /// The raw value.
  public var stored: Stored { rawValue }
}

extension OrderedStorableValue {
  /// By what is stored.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.stored < rhs.stored }
}
