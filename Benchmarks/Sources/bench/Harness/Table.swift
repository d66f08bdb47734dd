// The results as a table for people.

import CSQLiteFloor

enum Table {
  static func printHead(_ options: Options) {
    print(
      "SQLite \(String(cString: sqlite3_libversion())), \(options.runs) runs, medians; ratio = Dflat / floor"
    )
    print(
      pad("case", 17) + right("Dflat ms", 10) + right("floor ms", 10) + right("ratio", 8)
        + right("best", 7) + right("goal", 7) + right("spread", 8) + "   what")
  }

  static func printLine(_ m: Measurement) {
    if let allowance = m.allowance {
      print(
        pad(m.id, 17) + right(decimals(m.microseconds, 1), 10)
          + right(decimals(m.floorMicroseconds, 1), 10) + right("", 15)
          + right(decimals(m.floorMicroseconds + allowance, 1), 7)
          + right(decimals(m.spread * 100, 0) + " %", 8) + (m.missesGoal ? " ! " : "   ") + m.title
          + ", in µs; the goal is the floor's and \(decimals(allowance, 0))")
      return
    }
    print(
      pad(m.id, 17) + right(decimals(m.milliseconds, 2), 10)
        + right(decimals(m.floorMilliseconds, 2), 10) + right(decimals(m.ratio, 2), 8)
        + right(decimals(m.bestRatio, 2), 7) + right(m.goal.map { decimals($0, 2) } ?? "", 7)
        + right(decimals(m.spread * 100, 0) + " %", 8) + (m.missesGoal ? " ! " : "   ") + m.title)
  }

  static func printLine(_ m: MemoryMeasurement) {
    print(
      pad(m.id, 17) + right(megabytes(m.bytes), 10) + right(megabytes(m.floorBytes), 10)
        + right("", 15) + right(megabytes(m.goal), 7) + right(decimals(m.spread * 100, 0) + " %", 8)
        + (m.missesGoal ? " ! " : "   ") + m.title + ", in MB; the rows have "
        + megabytes(m.rowBytes))
  }

  static func printMissedGoals(_ measurements: [Measurement], _ memory: [MemoryMeasurement]) {
    let missed =
      measurements.filter(\.missesGoal).map {
        guard let allowance = $0.allowance else {
          return "\($0.id) (\(decimals($0.ratio, 2)) > \(decimals($0.goal ?? 0, 2)))"
        }
        return "\($0.id) (\(decimals($0.microseconds, 0)) µs > "
          + "\(decimals($0.floorMicroseconds + allowance, 0)) µs)"
      }
      + memory.filter(\.missesGoal).map {
        "\($0.id) (\(megabytes($0.bytes)) MB > \(megabytes($0.goal)) MB)"
      }
    print(missed.isEmpty ? "Every goal is met." : "Goals missed: \(missed.joined(separator: ", "))")
  }

  static func megabytes(_ bytes: Double) -> String {
    decimals(bytes / 1_000_000, 2)
  }
}

/// A number with a fixed count of decimals.
func decimals(_ value: Double, _ count: Int) -> String {
  guard value.isFinite else { return "\(value)" }
  var scale = 1.0
  for _ in 0..<count { scale *= 10 }
  let scaled = Int64((abs(value) * scale).rounded())
  let sign = value < 0 && scaled != 0 ? "-" : ""
  if count == 0 { return sign + String(scaled) }
  let digits = String(scaled % Int64(scale))
  return sign + String(scaled / Int64(scale)) + "."
    + String(repeating: "0", count: count - digits.count) + digits
}

/// Text at the left of a column.
func pad(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

/// Text at the right of a column.
func right(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}
