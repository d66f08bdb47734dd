// OwnTypes: the types of a program that everyday.fbs names.

public import Dflat

/// Has an order.
public struct Price: OrderedStorableValue {
  public var cents: Int64
  public init(stored: Int64) { cents = stored }
  public var stored: Int64 { cents }
  public static var unreadable: Price { Price(stored: 0) }
}

/// Has a raw value, and cannot mean every text.
public enum Code: String, StorableValue {
  case none, small, large
  public static var unreadable: Code { .none }
}
