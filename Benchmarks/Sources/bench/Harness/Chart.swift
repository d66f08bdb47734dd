// The chart in the README: one bar per case, from the floor's line at 1× to the case's ratio.
//
// The axis is logarithmic, so that twice as fast and twice as slow are equally far from the floor,
// and cases near it stay legible beside those that are a hundred times faster. It is legible on
// white and on black: see `SVG`.

import Foundation

struct Chart {
  private static let nameWidth = 200.0
  private static let plotWidth = 560.0
  private static let valueWidth = 60.0
  private static let rowHeight = 20.0
  private static let headingHeight = 34.0

  private var svg: SVG
  private let axis: LogarithmicAxis

  /// Cases with a goal, in the given order.
  static func svg(_ measurements: [Measurement]) -> String {
    let rows = measurements.filter { $0.goal != nil }
    let height =
      96 + headingHeight * Double(FloorKind.allCases.count) + rowHeight * Double(rows.count)
    var chart = Chart(
      svg: SVG(width: nameWidth + plotWidth + valueWidth, height: height),
      axis: LogarithmicAxis(
        rows.flatMap { [$0.ratio, $0.goal, $0.upstream, $0.grdb].compactMap { $0 } },
        from: nameWidth, length: plotWidth))
    chart.draw(rows)
    return chart.svg.finish()
  }

  private mutating func draw(_ rows: [Measurement]) {
    svg.text(
      "Time as a multiple of the floor: left of 1× is faster, right is slower", 12, 22, "title")
    drawLegend()
    var top = 56.0
    for floor in FloorKind.allCases {
      let group = rows.filter { $0.floor == floor }
      if group.isEmpty { continue }
      svg.text(floor.heading, 12, top + 22, "heading")
      top += Self.headingHeight
      let bottom = top + Self.rowHeight * Double(group.count)
      for mark in axis.marks {
        svg.line(axis.place(mark), top, axis.place(mark), bottom, mark == 1 ? "floor" : "grid")
      }
      for m in group {
        draw(m, middle: top + Self.rowHeight / 2)
        top += Self.rowHeight
      }
    }
    for mark in axis.marks {
      svg.text(mark == 1 ? "floor" : axis.label(mark), axis.place(mark), top + 18, "tick")
    }
  }

  private mutating func draw(_ m: Measurement, middle: Double) {
    let (floor, end) = (axis.place(1), axis.place(m.ratio))
    svg.text(m.id, Self.nameWidth - 12, middle + 4, "name")
    // A case that equals the floor still has a visible bar.
    svg.rectangle(
      min(floor, end) - 0.5, middle - 6, abs(end - floor) + 1, 12, m.missesGoal ? "over" : "bar")
    if let goal = m.goal {
      svg.line(axis.place(goal), middle - 8, axis.place(goal), middle + 8, "goal")
    }
    if let grdb = m.grdb { svg.diamond(axis.place(grdb), middle, 5, "grdb") }
    if let upstream = m.upstream { svg.circle(axis.place(upstream), middle, 4.5, "upstream") }
    svg.text(
      decimals(m.ratio, m.ratio < 0.1 ? 3 : 2), Self.nameWidth + Self.plotWidth + 48, middle + 4,
      "name")
  }

  private mutating func drawLegend() {
    var x = 12.0
    func advance(_ text: String) -> Double { 34 + 6.6 * Double(text.count) }
    for (style, text) in [("bar", "Dflat"), ("over", "Dflat, misses its goal")] {
      svg.rectangle(x, 36, 16, 12, style)
      svg.text(text, x + 22, 46, "note")
      x += advance(text)
    }
    svg.line(x + 4, 34, x + 4, 50, "goal")
    svg.text("goal", x + 14, 46, "note")
    x += advance("goal")
    svg.circle(x + 4, 42, 4.5, "upstream")
    svg.text("upstream Dflat", x + 16, 46, "note")
    x += advance("upstream Dflat")
    svg.diamond(x + 4, 42, 5, "grdb")
    svg.text("GRDB", x + 16, 46, "note")
  }
}

/// An axis on which equal factors have equal distances. It includes 1 and every given value.
private struct LogarithmicAxis {
  private let start: Double
  private let end: Double
  private let origin: Double
  private let length: Double

  init(_ values: [Double], from origin: Double, length: Double) {
    start = log10(min(values.min() ?? 1, 0.5)) - 0.05
    end = log10(max(values.max() ?? 1, 2)) + 0.05
    self.origin = origin
    self.length = length
  }

  /// The distance from the left edge of the image.
  func place(_ value: Double) -> Double {
    origin + length * (log10(value) - start) / (end - start)
  }

  /// 1, 2 and 5 of each power of ten from a tenth to ten; beyond that the powers alone.
  var marks: [Double] {
    let powers = (Int(start.rounded(.down))...Int(end.rounded(.up))).map { pow(10, Double($0)) }
    return powers.flatMap { $0 >= 0.1 && $0 < 10 ? [$0, 2 * $0, 5 * $0] : [$0] }
      .filter { (start...end).contains(log10($0)) }
  }

  func label(_ mark: Double) -> String {
    decimals(mark, mark < 0.1 ? 2 : mark < 1 ? 1 : 0) + "×"
  }
}
