// The forms of Date and Duration: a number of time units in a `long`, or seconds in a `double`.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The unit of a stored time.
public protocol StoredTimeUnit: SendableMetatype {
  /// The number of units in a second; a power of ten up to 10⁹.
  static var perSecond: Int64 { get }
}

/// The units that schemas support.
public enum TimeUnits {
  /// Whole seconds.
  public enum Seconds: StoredTimeUnit {
    /// One.
    @inlinable public static var perSecond: Int64 { 1 }
  }
  /// Thousandths of a second.
  public enum Milliseconds: StoredTimeUnit {
    /// 10³.
    @inlinable public static var perSecond: Int64 { 1_000 }
  }
  /// Millionths of a second.
  public enum Microseconds: StoredTimeUnit {
    /// 10⁶.
    @inlinable public static var perSecond: Int64 { 1_000_000 }
  }
  /// Billionths of a second.
  public enum Nanoseconds: StoredTimeUnit {
    /// 10⁹.
    @inlinable public static var perSecond: Int64 { 1_000_000_000 }
  }
}

/// Compared by the stored time, which is a whole number of the field's unit.
extension Date: DflatFriendlyValue {
  /// As milliseconds; a field stores it in its own unit.
  public static var _valueType: ValueType { .int64 }
  /// As milliseconds; a field stores it in its own unit.
  public var _value: Value { .integer(DateForm<TimeUnits.Milliseconds>.stored(self) ?? 0) }
}

/// Compared by the stored time, which is a whole number of the field's unit.
extension Duration: DflatFriendlyValue {
  /// As nanoseconds; a field stores it in its own unit.
  public static var _valueType: ValueType { .int64 }
  /// As nanoseconds; a field stores it in its own unit.
  public var _value: Value { .integer(DurationForm<TimeUnits.Nanoseconds>.stored(self) ?? 0) }
}

/// The form of a `Date` in a `long`: a number of units since 1970, rounded to the nearest.
public enum DateForm<Unit: StoredTimeUnit>: StoredForm {
  /// The date for a stored number.
  public static func value(_ stored: Int64) -> Date? {
    Date(timeIntervalSince1970: Double(stored) / Double(Unit.perSecond))
  }
  /// The number of units; nil if it does not fit.
  public static func stored(_ value: Date) -> Int64? {
    Int64(exactly: (value.timeIntervalSince1970 * Double(Unit.perSecond)).rounded())
  }
  /// 1970. Never used, since every number can be read.
  public static var unreadable: Date { Date(timeIntervalSince1970: 0) }
  /// Whether the date is before or after all dates that fit.
  public static func conversionFailure(_ value: Date) -> ConversionFailure {
    value.conversionFailure
  }
  /// The date and time.
  public static func text(_ value: Date) -> String { value.text }
}

/// The form of a `Date` in a `double`: seconds since 1970.
public enum DateSecondsForm: StoredForm {
  /// The date; nil if the number is NaN.
  public static func value(_ stored: Double) -> Date? {
    stored.isNaN ? nil : Date(timeIntervalSince1970: stored)
  }
  /// The seconds; nil if they are NaN.
  public static func stored(_ value: Date) -> Double? {
    value.timeIntervalSince1970.isNaN ? nil : value.timeIntervalSince1970
  }
  /// 1970.
  public static var unreadable: Date { Date(timeIntervalSince1970: 0) }
  /// Only NaN does not fit.
  public static func conversionFailure(_ value: Date) -> ConversionFailure {
    value.conversionFailure
  }
  /// The date and time.
  public static func text(_ value: Date) -> String { value.text }
}

extension Date {
  /// The date and time, or the seconds if there is no such calendar date: `description` traps for
  /// some values.
  fileprivate var text: String {
    timeIntervalSince1970.magnitude < 1e11
      ? description : "\(timeIntervalSince1970) seconds since 1970"
  }

  fileprivate var conversionFailure: ConversionFailure {
    timeIntervalSince1970.isNaN
      ? .unordered : timeIntervalSince1970 < 0 ? .tooSmall : .tooGreat
  }
}

/// The form of a `Duration` in a `long`: a number of units, rounded to the nearest.
public enum DurationForm<Unit: StoredTimeUnit>: StoredForm {
  /// 10¹⁸ in a second.
  private static var attosecondsPerUnit: Int64 { 1_000_000_000_000_000_000 / Unit.perSecond }

  /// The duration for a stored number.
  public static func value(_ stored: Int64) -> Duration? {
    let (seconds, rest) = stored.quotientAndRemainder(dividingBy: Unit.perSecond)
    return Duration(
      secondsComponent: seconds, attosecondsComponent: rest * attosecondsPerUnit)
  }
  /// The number of units; nil if it does not fit.
  public static func stored(_ value: Duration) -> Int64? {
    let (seconds, attoseconds) = value.components
    let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: attosecondsPerUnit)
    let rounding: Int64 =
      rest.magnitude >= attosecondsPerUnit.magnitude / 2 + attosecondsPerUnit.magnitude % 2
      ? rest.signum() : 0
    let (units, isTooGreat) = seconds.multipliedReportingOverflow(by: Unit.perSecond)
    let (sum, overflows) = units.addingReportingOverflow(whole + rounding)
    return isTooGreat || overflows ? nil : sum
  }
  /// Zero. Never used, since every number can be read.
  public static var unreadable: Duration { .zero }
  /// Whether the duration is less or greater than all durations that fit.
  public static func conversionFailure(_ value: Duration) -> ConversionFailure {
    value < .zero ? .tooSmall : .tooGreat
  }
}

/// The form of a `Duration` in a `double`: seconds.
public enum DurationSecondsForm: StoredForm {
  /// The duration; nil if the number is NaN or infinite, or exceeds the range of `Duration`.
  public static func value(_ stored: Double) -> Duration? {
    guard stored.magnitude < 9e18 else { return nil }
    let seconds = stored.rounded(.towardZero)
    return Duration(
      secondsComponent: Int64(seconds), attosecondsComponent: Int64((stored - seconds) * 1e18))
  }
  /// The seconds, as precisely as `Double` allows.
  public static func stored(_ value: Duration) -> Double? {
    let (seconds, attoseconds) = value.components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
  /// Zero.
  public static var unreadable: Duration { .zero }
  /// Every duration fits.
  public static func conversionFailure(_ value: Duration) -> ConversionFailure { .unordered }
}
