// The chart of scaling: a curve for each kind of work, with the ratio to the floor over the number
// of objects. Flat is good.

enum ScalingChart {
  static func svg(_ curves: [Scaling.Curve]) -> String {
    let (left, top, width, height) = (52.0, 50.0, 400.0, 220.0)
    let ratios = curves.flatMap { $0.points.map(\.measurement.bestRatio) }
    let greatest = max(2, (ratios.max() ?? 2) * 1.1)
    func x(_ index: Int) -> Double {
      left + width * (Double(index) + 0.3) / (Double(Scaling.sizes.count) - 0.4)
    }
    func y(_ ratio: Double) -> Double { top + height * (1 - ratio / greatest) }
    var svg = SVG(width: left + width + 410, height: top + height + 44)
    svg.text("Ratio to the floor as the table grows; flat is good", 12, 22, "title")
    var mark = 0.0
    while mark <= greatest {
      svg.line(left, y(mark), left + width, y(mark), mark == 1 ? "floor" : "grid")
      svg.text(decimals(mark, 1) + "×", left - 8, y(mark) + 4, "name")
      mark += greatest > 4 ? 1 : 0.5
    }
    for (index, count) in Scaling.sizes.enumerated() {
      svg.text(Scaling.grouped(count), x(index), top + height + 20, "tick")
    }
    svg.text("objects in the table", left + width / 2, top + height + 37, "tick")
    for (index, curve) in curves.enumerated() {
      let points = curve.points.enumerated().map { (x: x($0), y: y($1.measurement.bestRatio)) }
      svg.path(points, "curve c\(index)")
      for point in points { svg.circle(point.x, point.y, 3.5, "d\(index)") }
      let line = top + 14 + 22 * Double(index)
      svg.circle(left + width + 18, line - 4, 4, "d\(index)")
      svg.text(curve.title, left + width + 28, line, "note")
    }
    return svg.finish()
  }
}
