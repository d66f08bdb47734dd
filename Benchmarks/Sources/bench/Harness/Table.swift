// The results as a text table.

enum Table {
  static func printColumns(ours: String) {
    print(
      pad("case", 21) + right(ours, 10) + right("floor ms", 10) + right("ratio", 8)
        + right("best", 7) + right("goal", 7) + right("spread", 8) + "   what")
  }

  static func printLine(_ m: Measurement) {
    if let goal = m.microsecondGoal {
      print(
        pad(m.id, 21) + right(decimals(m.microseconds, 1), 10)
          + right(decimals(m.floorMicroseconds, 1), 10) + right("", 15)
          + right(decimals(goal, 1), 7)
          + right(decimals(m.spread * 100, 0) + " %", 8) + (m.missesGoal ? " ! " : "   ") + m.title
          + ", in µs"
          + (m.allowance.map { "; the goal is the floor's and \(decimals($0, 0))" } ?? ""))
      return
    }
    print(
      pad(m.id, 21) + right(decimals(m.milliseconds, 2), 10)
        + right(decimals(m.floorMilliseconds, 2), 10) + right(decimals(m.ratio, 2), 8)
        + right(decimals(m.bestRatio, 2), 7) + right(m.goal.map { decimals($0, 2) } ?? "", 7)
        + right(decimals(m.spread * 100, 0) + " %", 8) + (m.missesGoal ? " ! " : "   ") + m.title)
  }
}
