// ISO8601: dates and times in the forms of ISO 8601 and RFC 3339 that services send.
//
//     2024-02-29
//     2024-02-29T12:30Z
//     2024-02-29 12:30:00.123456+01:00
//
// Foundation's formats read the beginning of a text and skip the rest, so that an offset in another
// form would be lost without a word. Before 1582 they have days of the Julian calendar, where the
// standard continues the Gregorian one: `0001-01-01` is a usual text for no date.

import Foundation

extension Date {
  /// The date of a text; nil if it has another form, or if there is no such day or time. A day is
  /// its beginning, and a time without a zone is in UTC.
  init?(iso8601 text: String) {
    var reader = ISO8601Reader(text)
    guard let seconds = reader.whole() else { return nil }
    self.init(timeIntervalSince1970: seconds)
  }

  /// The date in UTC, with milliseconds if it has any.
  var iso8601: String {
    let rounded = (timeIntervalSince1970 * 1000).rounded()
    // Other years have more than four digits, or a sign.
    guard rounded >= -62_167_219_200_000, rounded < 253_402_300_800_000 else {
      return formatted(.iso8601)
    }
    let milliseconds = Int(rounded)
    let day = Int((rounded / 86_400_000).rounded(.down))
    let (year, month, dayOfMonth) = ISOCalendar.date(ofDay: day)
    let time = milliseconds - day * 86_400_000
    func digits(_ number: Int, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: count - text.count) + text
    }
    let clock = [time / 3_600_000, time / 60_000 % 60, time / 1000 % 60].map { digits($0, 2) }
    let fraction = time % 1000 == 0 ? "" : "." + digits(time % 1000, 3)
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(dayOfMonth, 2))T"
      + clock.joined(separator: ":") + fraction + "Z"
  }
}

/// The Gregorian calendar, which is continued to all years from 0 on.
private enum ISOCalendar {
  /// The days from the beginning of 1970 to a day; nil if there is no such day.
  static func days(_ year: Int, _ month: Int, _ day: Int) -> Int? {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...12).contains(month), (1...lengths[month - 1]).contains(day) else { return nil }
    return firstDay(of: year) + lengths[..<(month - 1)].reduce(0, +) + day - 1
  }

  /// A year begins so many days behind the beginning of 1970.
  private static func firstDay(of year: Int) -> Int {
    // From the year 0, which is a leap year. The year 1970 begins 719,528 days later.
    let leaps = year == 0 ? 0 : (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1
    return year * 365 + leaps - 719_528
  }

  static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
    // 400 years have 146,097 days.
    var year = (day + 719_528) * 400 / 146_097
    if firstDay(of: year) > day { year -= 1 }
    if firstDay(of: year + 1) <= day { year += 1 }
    var month = 12
    var first = days(year, month, 1) ?? 0
    while first > day {
      month -= 1
      first = days(year, month, 1) ?? day
    }
    return (year, month, day - first + 1)
  }
}

/// Reads a text from its beginning to its end.
private struct ISO8601Reader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  /// The seconds since 1970.
  mutating func whole() -> Double? {
    guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
      let days = ISOCalendar.days(year, month, day)
    else { return nil }
    if rest.isEmpty { return Double(days * 86_400) }
    guard take("T") || take("t") || take(" "), let hour = number(2), take(":"),
      let minute = number(2), minute < 60
    else { return nil }
    var (second, fraction) = (0, 0.0)
    if take(":") {
      guard let number = number(2), let part = self.fraction() else { return nil }
      (second, fraction) = (number, part)
    }
    // The end of a day may be written as an hour, and a minute may have a leap second.
    let isEnd = hour == 24 && minute == 0 && second == 0 && fraction == 0
    guard hour < 24 || isEnd, second <= 60, let offset = zone(), rest.isEmpty else { return nil }
    return Double(days * 86_400 + hour * 3600 + minute * 60 + second - offset) + fraction
  }

  /// What is behind the point of the seconds; 0 without a point.
  private mutating func fraction() -> Double? {
    guard take(".") || take(",") else { return 0 }
    let digits = String(decoding: rest.prefix { Self.isDigit($0) }, as: UTF8.self)
    rest = rest.dropFirst(digits.utf8.count)
    return digits.isEmpty ? nil : Double("0." + digits)
  }

  /// The seconds by which the zone is before UTC.
  private mutating func zone() -> Int? {
    let hasBlank = take(" ")
    if rest.isEmpty { return hasBlank ? nil : 0 }
    if take("Z") || take("z") { return 0 }
    let sign = take("-") ? -1 : 1
    guard sign < 0 || take("+"), let hours = number(2), hours < 24 else { return nil }
    if rest.isEmpty { return sign * hours * 3600 }
    _ = take(":")
    guard let minutes = number(2), minutes < 60 else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private mutating func number(_ count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest = rest.dropFirst()
    return true
  }
}
