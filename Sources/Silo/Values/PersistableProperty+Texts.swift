// Strings, and what is stored as a string: UUID, URL, Decimal.

public import Dflat
public import FlatBuffersRuntime
public import Foundation
import StandardConformances

/// A type that is stored as a string.
public protocol PersistableText: IndexableProperty, QueryValue {
  /// The form that converts to the string; nil for strings themselves.
  static var _storedForm: (any StoredForm.Type)? { get }
  /// The string.
  var _text: String { get }
  /// The value with a string; nil if there is none.
  init?(_text: String)
}

extension PersistableText {
  /// A string.
  public static var _form: PropertyForm {
    PropertyForm(.string(default: nil), as: _storedForm, isElement: true)
  }
  /// The string.
  public var _constant: Dflat.Value? { .string(_text) }

  /// The string, which the table's writer writes.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty { .text(_text) }

  /// Reads a string.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> Self? {
    guard let text = table.string(at: field) else { return nil }
    return try reading(text)
  }

  /// Compares the stored bytes: those of the length, the lowest one first, and then the text.
  @inlinable
  public static func _precedes(_ left: Self, _ right: Self) -> Bool? {
    let left = left._text.utf8
    let right = right._text.utf8
    if left.count == right.count { return left.lexicographicallyPrecedes(right) }
    return UInt32(left.count).byteSwapped < UInt32(right.count).byteSwapped
  }

  /// Writes a vector of strings.
  @inlinable
  public static func _writeElements(
    _ values: [Self], to builder: CanonicalBuilder
  ) -> FlatBufferBuilder.Offset { builder.builder.vector(values.map { $0._text }) }

  /// Reads a vector of strings.
  @inlinable
  public static func _readElements(_ table: TableReader, at field: Int) throws -> [Self]? {
    try table.vector(at: field, stride: 4)?.strings().map { try reading($0) }
  }

  @inlinable
  static func reading(_ text: String) throws -> Self {
    if let value = Self(_text: text) { return value }
    throw unreadable(text)
  }

  @usableFromInline
  static func unreadable(_ text: String) -> UnreadableValue {
    UnreadableValue("", "is no \(Self.self): \"\(text.prefix(80))\"")
  }
}

extension String: PersistableText, PersistableID {
  /// nil: a string is stored as it is.
  public static var _storedForm: (any StoredForm.Type)? { nil }
  /// The string.
  @inlinable
  public var _text: String { self }
  /// The string.
  @inlinable
  public init?(_text: String) { self = _text }
  /// The empty string.
  @inlinable
  public static var _emptyKey: String? { "" }
}

extension UUID: PersistableText, PersistableID {
  /// As 36 characters.
  public static var _storedForm: (any StoredForm.Type)? { CustomRepresentation<UUID>.self }
  /// 36 characters, in upper case.
  @inlinable
  public var _text: String { uuidString }
  /// nil if it is none.
  @inlinable
  @_disfavoredOverload
  public init?(_text: String) { self.init(uuidString: _text) }
  /// All bits zero.
  public static var _emptyKey: UUID? { .unreadable }
}

extension Decimal: PersistableText {
  /// As digits.
  public static var _storedForm: (any StoredForm.Type)? { CustomRepresentation<Decimal>.self }
  /// The digits.
  public var _text: String { stored }
  /// nil if they are none.
  public init?(_text: String) { self.init(stored: _text) }
}

/// The form of a `URL`: its string; for a URL relative to another one both strings, so that it
/// comes back equal.
package enum RelativeURLForm: StoredForm {
  /// The URL with a string.
  package static func value(_ stored: String) -> URL? { URL(_text: stored) }
  /// The string of a URL.
  package static func stored(_ value: URL) -> String? { value._text }
  /// `about:invalid`.
  package static var unreadable: URL { .unreadable }
  /// Every URL fits.
  package static func conversionFailure(_ value: URL) -> ConversionFailure { .unordered }
}

extension URL: PersistableText {
  /// As strings.
  public static var _storedForm: (any StoredForm.Type)? { RelativeURLForm.self }

  /// The string; for a relative URL its own string and then those of its bases.
  public var _text: String { storedText }

  /// nil if the strings are no URLs.
  @_disfavoredOverload
  public init?(_text: String) { self.init(storedText: _text) }
}
