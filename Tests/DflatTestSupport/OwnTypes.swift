// OwnTypes: the types of a program that everyday.fbs names.

public import Dflat

/// Has an order.
public struct Price: OrderedStorableValue {
  /// What is stored.
  public var cents: Int64
  /// So many cents.
  public init(stored: Int64) { cents = stored }
  /// The cents.
  public var stored: Int64 { cents }
  /// Nothing.
  public static var unreadable: Price { Price(stored: 0) }
}

/// Has a raw value, and cannot mean every text.
public enum Code: String, StorableValue {
  case none, small, large
  /// None.
  public static var unreadable: Code { .none }
}
