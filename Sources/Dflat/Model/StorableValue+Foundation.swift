// UUID, URL and Decimal as fields of type `string`.
//
// `texts.compactMap(UUID.init)` and `texts.compactMap(URL.init)` mean Foundation's initialisers, so
// those here are disfavoured.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Stored as `uuidString`, in upper case; lower case is read as well.
///
/// Conditions, keys and orders compare the stored string: a lower-case string, which other
/// languages may write, equals no `UUID`.
extension UUID: OrderedStorableValue {
  /// Creates a UUID from a string in upper or lower case.
  @_disfavoredOverload
  public init?(stored: String) { self.init(uuidString: stored) }
  /// The string, in upper case.
  public var stored: String { uuidString }
  /// The UUID with all bits zero.
  public static var unreadable: UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  }
}

/// Stored as `absoluteString`.
extension URL: StorableValue {
  /// Creates a URL from its string.
  @_disfavoredOverload
  public init?(stored: String) { self.init(string: stored) }
  /// The absolute string.
  public var stored: String { absoluteString }
  /// `about:invalid`.
  public static var unreadable: URL {
    guard let url = URL(string: "about:invalid") else { preconditionFailure("a constant is a URL") }
    return url
  }
}

/// Stored as `description`: digits with a decimal point, independent of the user's locale, without
/// trailing zeros.
///
/// Conditions compare the stored string. Only comparison for equality is possible, since strings
/// are not ordered like numbers. A string like `1.50`, which other languages may write, can be read
/// but equals no `Decimal`.
extension Decimal: StorableValue {
  /// Creates a number from digits with a decimal point and an exponent, or from `NaN`.
  public init?(stored: String) {
    if stored == "NaN" {
      self = .nan
      return
    }
    guard Self.isNumber(stored) else { return nil }
    self.init(string: stored)
  }
  /// The digits, as `description` gives them.
  public var stored: String { description }
  /// NaN.
  public static var unreadable: Decimal { .nan }

  /// `Decimal(string:)` would accept any string that begins with a number.
  private static func isNumber(_ text: String) -> Bool {
    var rest = Substring(text).utf8
    func sign() { if let first = rest.first, first == 0x2B || first == 0x2D { rest.removeFirst() } }
    func digits() -> Int {
      let count = rest.prefix { 0x30...0x39 ~= $0 }.count
      rest.removeFirst(count)
      return count
    }
    sign()
    var count = digits()
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      count += digits()
    }
    guard count > 0 else { return false }
    if let first = rest.first, first | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      sign()
      guard digits() > 0 else { return false }
    }
    return rest.isEmpty
  }
}
