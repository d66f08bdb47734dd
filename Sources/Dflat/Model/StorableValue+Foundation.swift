// UUID, URL and Decimal as fields of type `string`.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Stored as `uuidString` gives it, in capital letters; small ones are read as well.
///
/// Conditions, keys and orders compare what is stored: a text in small letters, as other languages may write it, equals no `UUID`.
extension UUID: OrderedStorableValue {
  /// The UUID with this text, in capital or small letters.
  public init?(stored: String) { self.init(uuidString: stored) }
  /// The text, in capital letters.
  public var stored: String { uuidString }
  /// The UUID of zeros.
  public static var unreadable: UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  }
}

/// Stored as `absoluteString`.
extension URL: StorableValue {
  /// The URL with this text.
  public init?(stored: String) { self.init(string: stored) }
  /// The whole text.
  public var stored: String { absoluteString }
  /// `about:invalid`.
  public static var unreadable: URL {
    guard let url = URL(string: "about:invalid") else { preconditionFailure("a constant is a URL") }
    return url
  }
}

/// Stored as `description` gives it: digits with a point, whatever the user's language, without zeros at the end.
///
/// Conditions compare what is stored, as text: for equality only, since texts of numbers are not ordered as the numbers are. A text like
/// `1.50`, as other languages may write it, is read, and equals no `Decimal`.
extension Decimal: StorableValue {
  /// The number with this text: digits with a point and an exponent, or `NaN`.
  public init?(stored: String) {
    if stored == "NaN" {
      self = .nan
      return
    }
    guard Self.isNumber(stored) else { return nil }
    self.init(string: stored)
  }
  /// The digits.
  public var stored: String { description }
  /// Not a number.
  public static var unreadable: Decimal { .nan }

  /// `Decimal(string:)` reads the beginning of any text.
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
