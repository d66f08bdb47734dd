// The chart of the README: one bar per case, as long as its ratio to the floor.
//
// Bars begin at zero, so their lengths compare. It is read on white and on black: a media query gives the colours, and those
// without it are legible on both.

enum Chart {
  private static let nameWidth = 150.0
  private static let plotWidth = 620.0
  private static let rowHeight = 34.0
  private static let top = 62.0

  /// Cases with a goal, in the order given.
  static func svg(_ measurements: [Measurement]) -> String {
    let rows = measurements.filter { $0.goal != nil }
    let greatest = rows.flatMap { [$0.ratio, $0.upstream ?? 1, $0.grdb ?? 1] }.max() ?? 2
    let end = max(7.0, greatest * 1.05)
    func x(_ ratio: Double) -> Double { nameWidth + plotWidth * ratio / end }
    let bottom = top + rowHeight * Double(rows.count)
    var svg = SVG(width: nameWidth + plotWidth + 30, height: bottom + 44)
    svg.text(
      "Time as a multiple of a hand-written SQLite C program; shorter is better", 12, 22, "title")
    var legend = 14.0
    svg.rectangle(legend, 36, 18, 9, "bar")
    svg.text("Dflat", legend + 24, 45, "note")
    legend += 78
    svg.rectangle(legend, 36, 18, 9, "over")
    svg.text("Dflat, over its goal", legend + 24, 45, "note")
    legend += 158
    svg.line(legend + 4, 33, legend + 4, 48, "goal")
    svg.text("goal", legend + 12, 45, "note")
    legend += 62
    svg.circle(legend + 4, 41, 5, "upstream")
    svg.text("upstream Dflat", legend + 14, 45, "note")
    legend += 120
    svg.diamond(legend + 4, 41, 4, "grdb")
    svg.text("GRDB", legend + 14, 45, "note")
    for mark in stride(from: 0.0, through: end, by: 1) {
      svg.line(x(mark), top - 4, x(mark), bottom + 4, mark == 1 ? "floor" : "grid")
      svg.text(decimals(mark, 0) + (mark == 0 ? "" : "×"), x(mark), bottom + 20, "tick")
    }
    svg.text("the floor", x(1), bottom + 35, "tick")
    for (index, m) in rows.enumerated() {
      let middle = top + rowHeight * (Double(index) + 0.5)
      svg.text(m.id, nameWidth - 12, middle + 4, "name")
      let from = nameWidth
      svg.rectangle(from, middle - 8, x(m.ratio) - from, 16, m.missesGoal ? "over" : "bar")
      if let goal = m.goal { svg.line(x(goal), middle - 12, x(goal), middle + 12, "goal") }
      if let upstream = m.upstream { svg.circle(x(upstream), middle, 5, "upstream") }
      if let grdb = m.grdb { svg.diamond(x(grdb), middle, 4, "grdb") }
      svg.text(decimals(m.ratio, 2), nameWidth + 6, middle + 4, "value")
    }
    return svg.finish()
  }
}
