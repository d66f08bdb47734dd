// Conversions between Swift types and field values.

public import Foundation

/// A type that a property of a `CloudKitWebRecord` may have.
///
/// A type with a raw value needs no implementation:
///
///     enum Grade: Int, CloudKitJSONField { case low, high }
public protocol CloudKitJSONField {
  /// The kind of its values in CloudKit.
  static var cloudKitKind: CloudKitJSONValue.Kind { get }
  /// The field value; nil if CloudKit cannot represent it.
  var cloudKitValue: CloudKitJSONValue? { get }
  /// Creates a value from a field; nil if the field is not of this type.
  init?(cloudKitValue: CloudKitJSONValue)
}

extension String: CloudKitJSONField {
  /// `STRING`.
  public static var cloudKitKind: CloudKitJSONValue.Kind { .string }
  /// The text.
  public var cloudKitValue: CloudKitJSONValue? { .string(self) }
  /// The text of a string.
  public init?(cloudKitValue: CloudKitJSONValue) {
    guard case .string(let text) = cloudKitValue else { return nil }
    self = text
  }
}

extension CloudKitJSONField where Self: FixedWidthInteger {
  /// `INT64`.
  public static var cloudKitKind: CloudKitJSONValue.Kind { .int64 }
  /// The number; nil if it does not fit `Int64`.
  public var cloudKitValue: CloudKitJSONValue? { Int64(exactly: self).map { .int64($0) } }
  /// A whole number that fits this type.
  public init?(cloudKitValue: CloudKitJSONValue) {
    guard case .int64(let number) = cloudKitValue else { return nil }
    self.init(exactly: number)
  }
}

extension Int: CloudKitJSONField {}
extension Int8: CloudKitJSONField {}
extension Int16: CloudKitJSONField {}
extension Int32: CloudKitJSONField {}
extension Int64: CloudKitJSONField {}
extension UInt: CloudKitJSONField {}
extension UInt8: CloudKitJSONField {}
extension UInt16: CloudKitJSONField {}
extension UInt32: CloudKitJSONField {}
extension UInt64: CloudKitJSONField {}

/// CloudKit has no Boolean type; stored as 0 or 1.
extension Bool: CloudKitJSONField {
  /// `INT64`.
  public static var cloudKitKind: CloudKitJSONValue.Kind { .int64 }
  /// 1 for true.
  public var cloudKitValue: CloudKitJSONValue? { .int64(self ? 1 : 0) }
  /// Accepts 0 and 1 only.
  public init?(cloudKitValue: CloudKitJSONValue) {
    switch cloudKitValue {
    case .int64(0): self = false
    case .int64(1): self = true
    default: return nil
    }
  }
}

extension CloudKitJSONField where Self: BinaryFloatingPoint {
  /// `DOUBLE`.
  public static var cloudKitKind: CloudKitJSONValue.Kind { .double }
  /// The number; nil if it is not finite.
  public var cloudKitValue: CloudKitJSONValue? { isFinite ? .double(Double(self)) : nil }
  /// A number, including a whole one; nil if it is too large.
  public init?(cloudKitValue: CloudKitJSONValue) {
    switch cloudKitValue {
    case .double(let number):
      self.init(number)
      if !isFinite { return nil }
    case .int64(let number): self.init(number)
    default: return nil
    }
  }
}

extension Double: CloudKitJSONField {}
extension Float: CloudKitJSONField {}

/// Stored in milliseconds; smaller differences are lost.
extension Date: CloudKitJSONField {
  /// `TIMESTAMP`.
  public static var cloudKitKind: CloudKitJSONValue.Kind { .timestamp }
  /// The date; nil if its milliseconds do not fit `Int64`.
  public var cloudKitValue: CloudKitJSONValue? {
    let milliseconds = (timeIntervalSince1970 * 1000).rounded()
    return Int64(exactly: milliseconds) == nil ? nil : .timestamp(self)
  }
  /// A date.
  public init?(cloudKitValue: CloudKitJSONValue) {
    guard case .timestamp(let date) = cloudKitValue else { return nil }
    self = date
  }
}

extension Data: CloudKitJSONField {
  /// `BYTES`.
  public static var cloudKitKind: CloudKitJSONValue.Kind { .bytes }
  /// The bytes.
  public var cloudKitValue: CloudKitJSONValue? { .bytes(self) }
  /// Bytes.
  public init?(cloudKitValue: CloudKitJSONValue) {
    guard case .bytes(let data) = cloudKitValue else { return nil }
    self = data
  }
}

/// Stored as text.
extension UUID: CloudKitJSONField {
  /// `STRING`.
  public static var cloudKitKind: CloudKitJSONValue.Kind { .string }
  /// Its text.
  public var cloudKitValue: CloudKitJSONValue? { .string(uuidString) }
  /// The text of an identifier.
  public init?(cloudKitValue: CloudKitJSONValue) {
    guard case .string(let text) = cloudKitValue else { return nil }
    self.init(uuidString: text)
  }
}

extension CloudKitJSONReference: CloudKitJSONField {
  /// `REFERENCE`.
  public static var cloudKitKind: CloudKitJSONValue.Kind { .reference }
  /// The link.
  public var cloudKitValue: CloudKitJSONValue? { .reference(self) }
  /// A link.
  public init?(cloudKitValue: CloudKitJSONValue) {
    guard case .reference(let reference) = cloudKitValue else { return nil }
    self = reference
  }
}

extension CloudKitJSONLocation: CloudKitJSONField {
  /// `LOCATION`.
  public static var cloudKitKind: CloudKitJSONValue.Kind { .location }
  /// The place.
  public var cloudKitValue: CloudKitJSONValue? { .location(self) }
  /// A place.
  public init?(cloudKitValue: CloudKitJSONValue) {
    guard case .location(let location) = cloudKitValue else { return nil }
    self = location
  }
}

/// A list. Lists of lists cannot be written.
extension Array: CloudKitJSONField where Element: CloudKitJSONField {
  /// The kind of the elements.
  public static var cloudKitKind: CloudKitJSONValue.Kind { Element.cloudKitKind }
  /// The elements; nil if one of them cannot be represented or is a list.
  public var cloudKitValue: CloudKitJSONValue? {
    var values: [CloudKitJSONValue] = []
    for element in self {
      guard let value = element.cloudKitValue else { return nil }
      if case .list = value { return nil }
      values.append(value)
    }
    return .list(Element.cloudKitKind, values)
  }
  /// A list whose elements are of the type.
  public init?(cloudKitValue: CloudKitJSONValue) {
    guard case .list(_, let values) = cloudKitValue else { return nil }
    self = []
    for value in values {
      guard let element = Element(cloudKitValue: value) else { return nil }
      append(element)
    }
  }
}

extension CloudKitJSONField where Self: RawRepresentable, RawValue: CloudKitJSONField {
  /// The kind of the raw value.
  public static var cloudKitKind: CloudKitJSONValue.Kind { RawValue.cloudKitKind }
  /// The raw value.
  public var cloudKitValue: CloudKitJSONValue? { rawValue.cloudKitValue }
  /// A raw value of one of the type's cases.
  public init?(cloudKitValue: CloudKitJSONValue) {
    guard let rawValue = RawValue(cloudKitValue: cloudKitValue) else { return nil }
    self.init(rawValue: rawValue)
  }
}
