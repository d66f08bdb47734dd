// The program's types that everyday.fbs names.

public import Dflat

/// A type with an order.
public struct Price: OrderedStorableValue {
  /// The stored value.
  public var cents: Int64
  /// Creates a price from cents.
  public init(stored: Int64) { cents = stored }
  /// The cents.
  public var stored: Int64 { cents }
  /// Zero.
  public static var unreadable: Price { Price(stored: 0) }
}

/// A type with a raw value that does not accept every text.
public enum Code: String, StorableValue {
  case none, small, large
  /// None.
  public static var unreadable: Code { .none }
}
