// What the command knows of the terminal.

import Foundation
import Platform

/// Where the output goes.
struct Terminal {
  /// The width of the terminal in columns; nil if the output goes elsewhere: it is not cut then.
  var width: Int?
  /// Whether a person can answer questions.
  var canAsk = false
  /// Shows how far something is; nil if standard error goes elsewhere.
  var activity: ActivityLine?

  /// The terminal of this process.
  static var standard: Terminal {
    Terminal(
      width: isatty(STDOUT_FILENO) == 1 ? measuredWidth(STDOUT_FILENO) : nil,
      canAsk: isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
      activity: isatty(STDERR_FILENO) == 1
        ? ActivityLine(
          width: measuredWidth(STDERR_FILENO), write: StandardError.write) : nil)
  }

  private static func measuredWidth(_ descriptor: Int32) -> Int {
    var size = winsize()
    if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      return Int(size.ws_col)
    }
    return getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? 80
  }
}

/// Lines of columns.
struct TextTable {
  private let names: [String]
  private var rows: [[String]] = []

  init(_ names: [String]) { self.names = names.map { Self.plain($0) } }

  mutating func add(_ row: [String]) { rows.append(row.map { Self.plain($0) }) }

  /// Without what would move the cursor, or change the direction of the line.
  /// - Parameter keepsLines: Whether it may have several lines.
  static func plain(_ text: String, keepsLines: Bool = false) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n" where keepsLines, "\t" where keepsLines: result.unicodeScalars.append(scalar)
      case "\n": result += "⏎"
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value): result += "·"
      case "\u{061C}", "\u{200E}", "\u{200F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}":
        result += "·"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The table, with lines cut to a width; nil for whole lines.
  func text(width: Int?) -> String {
    let all = [names] + rows
    var widths = names.indices.map { column in
      all.map { column < $0.count ? $0[column].columns : 0 }.max() ?? 0
    }
    if let width { Self.shrink(&widths, to: width) }
    return all.map { row in
      var line = ""
      for (column, size) in widths.enumerated() {
        let cell = column < row.count ? row[column] : ""
        let shown =
          cell.columns > size ? String(cell.prefix(columns: max(size - 1, 0))) + "…" : cell
        let isLast = column == widths.count - 1
        line += isLast ? shown : shown + String(repeating: " ", count: size - shown.columns + 2)
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }

  /// Makes the widest columns narrower until all of them fit.
  private static func shrink(_ widths: inout [Int], to width: Int) {
    let least = 8
    func total() -> Int { widths.reduce(0, +) + 2 * max(widths.count - 1, 0) }
    while total() > width, let widest = widths.max(), widest > least {
      let excess = total() - width
      let places = widths.indices.filter { widths[$0] == widest }
      let second = widths.filter { $0 < widest }.max() ?? least
      let step = max(1, min(widest - max(second, least), excess / places.count))
      for place in places { widths[place] -= step }
    }
    // Columns that do not fit at all are left out.
    while widths.count > 1, total() > width { widths.removeLast() }
  }
}
