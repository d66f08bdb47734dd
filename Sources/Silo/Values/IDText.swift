// IDText: ids of several parts as one string.
//
// The parts are separated by '/'; in a part, '/' and '%' are escaped. So different ids have
// different strings, and people can read them.

public import Foundation

/// The parts of an id as one string. For generated code.
public struct IDText {
  private var parts: [Substring]

  /// The string of some parts.
  public static func text(_ parts: any IDPart...) -> String {
    parts.map { part in
      part._idText.replacingOccurrences(of: "%", with: "%25", options: .literal)
        .replacingOccurrences(of: "/", with: "%2F", options: .literal)
    }.joined(separator: "/")
  }

  /// The parts of a string; nil if it has another number of them.
  public init?(_ text: String, count: Int) {
    // By scalars: a slash and a mark behind it are one character.
    parts = text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
      .map { Substring($0) }
    if parts.count != count { return nil }
    parts.reverse()
  }

  /// The next part; nil if it is none of this type.
  public mutating func next<Part: IDPart>() -> Part? {
    guard let part = parts.popLast() else { return nil }
    return Part(
      _idText: part.replacingOccurrences(of: "%2F", with: "/", options: .literal)
        .replacingOccurrences(of: "%25", with: "%", options: .literal))
  }
}

/// A type that a part of an id may have: `String`, an integer or `UUID`.
public protocol IDPart {
  /// The part as text.
  var _idText: String { get }
  /// The part with a text; nil if there is none.
  init?(_idText: String)
}

extension IDPart where Self: FixedWidthInteger {
  /// The digits.
  public var _idText: String { String(self) }
  /// nil if the text is no number.
  public init?(_idText: String) { self.init(_idText, radix: 10) }
}

extension Int: IDPart {}
extension Int8: IDPart {}
extension Int16: IDPart {}
extension Int32: IDPart {}
extension Int64: IDPart {}
extension UInt: IDPart {}
extension UInt8: IDPart {}
extension UInt16: IDPart {}
extension UInt32: IDPart {}
extension UInt64: IDPart {}

extension String: IDPart {
  /// The string.
  public var _idText: String { self }
  /// The string.
  public init?(_idText: String) { self = _idText }
}

extension UUID: IDPart {
  /// 36 characters.
  public var _idText: String { uuidString }
  /// nil if the text is no UUID.
  @_disfavoredOverload
  public init?(_idText: String) { self.init(uuidString: _idText) }
}
