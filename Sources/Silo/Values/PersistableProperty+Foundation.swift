// Date and Data as properties.

public import Dflat
public import FlatBuffersRuntime
public import Foundation

/// The form of a `Date`: the seconds since 2001 that it consists of, so that every date comes back
/// equal.
package enum ExactDateForm: StoredForm {
  /// The date.
  package static func value(_ stored: Double) -> Date? {
    Date(timeIntervalSinceReferenceDate: stored)
  }
  /// The seconds.
  package static func stored(_ value: Date) -> Double? { value.timeIntervalSinceReferenceDate }
  /// The first moment of 2001.
  package static var unreadable: Date { Date(timeIntervalSinceReferenceDate: 0) }
  /// Every date fits.
  package static func conversionFailure(_ value: Date) -> ConversionFailure { .unordered }
}

extension Date: PersistableScalar {
  /// As seconds since 2001.
  public static var _storedForm: (any StoredForm.Type)? { ExactDateForm.self }
  /// The seconds since 2001.
  @inlinable
  public var _scalar: Double { timeIntervalSinceReferenceDate }
  /// The bits of the seconds.
  @inlinable
  public var _bits: UInt64 { timeIntervalSinceReferenceDate.bitPattern }
  /// The date with these seconds since 2001.
  @inlinable
  public init?(_scalar: Double) { self.init(timeIntervalSinceReferenceDate: _scalar) }
}

extension Data: PersistablePart {
  /// A vector of bytes.
  public static var _form: PropertyForm {
    PropertyForm(.vector(.scalar(.uint8, default: nil)))
  }

  /// Writes the bytes.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty {
    .offset(builder.builder.data(self, required: true))
  }

  /// Reads the bytes.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> Data? {
    table.vector(at: field, stride: 1).map { Data($0.elementBytes) }
  }
}
