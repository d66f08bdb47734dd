// The dates of feeds: RFC 822 in RSS, RFC 3339 in Atom. Feeds in the wild take liberties with both.

import Foundation

enum FeedDate {
  /// nil if the text is no date.
  static func date(_ text: String) -> Date? {
    (try? Date.ISO8601FormatStyle(includingFractionalSeconds: false).parse(text))
      ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
      ?? mailDate(text)
  }

  /// `Sat, 07 Sep 2002 00:00:01 GMT`: the name of the day and the seconds may be missing, the year
  /// may have two digits.
  private static func mailDate(_ text: String) -> Date? {
    var parts = text.split { $0 == " " || $0 == "," }[...]
    if let first = parts.first, Int(first) == nil { parts.removeFirst() }
    guard parts.count >= 3, let day = Int(parts[parts.startIndex]),
      let month = months.firstIndex(of: parts[parts.startIndex + 1].prefix(3).lowercased()),
      var year = Int(parts[parts.startIndex + 2]), (0...9999).contains(year),
      (1...31).contains(day)
    else { return nil }
    if year < 100 { year += year < 70 ? 2000 : 1900 }
    let rest = parts.dropFirst(3)
    let time = (rest.first ?? "0:0").split(separator: ":").map { min(Int($0.prefix(2)) ?? 0, 60) }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let date = calendar.date(
      from: DateComponents(
        year: year, month: month + 1, day: day, hour: time.first, minute: time.dropFirst().first,
        second: time.dropFirst(2).first ?? 0))
    return date?.addingTimeInterval(-offset(rest.dropFirst().first ?? "GMT"))
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Seconds east of Greenwich: `+0200`, `EST`. Names that are not known count as Greenwich.
  private static func offset(_ zone: Substring) -> TimeInterval {
    if let sign = zone.first, sign == "+" || sign == "-", zone.count <= 5,
      let number = Int(zone.dropFirst())
    {
      return (sign == "-" ? -1 : 1) * TimeInterval(number / 100 * 3600 + number % 100 * 60)
    }
    let hours = [
      "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    ]
    return TimeInterval(hours[zone.uppercased()] ?? 0) * 3600
  }
}
