// How cost grows: the same work on 10,000, 100,000 and 1,000,000 objects, compared with the floor.
//
// SQLite itself takes longer on larger tables; the cost that Dflat adds must not grow. So the ratio
// to the floor has to stay within 15 % of that for 10,000 objects. The memory of an insertion must
// not grow with the table either, except for SQLite's own page cache, which fills sooner in a large
// table: it stays within 15 % of the floor's, whatever the size.
//
// The ratios are those of the fastest runs: growth has to be distinguished from disturbances, and
// disturbances only add time.

import Foundation

enum Scaling {
  /// The published sizes, unless the environment has `SIZES=n,n`.
  static let sizes: [Int] = {
    guard let chosen = ProcessInfo.processInfo.environment["SIZES"] else {
      return [10_000, 100_000, 1_000_000]
    }
    return chosen.split(separator: ",").map { Int($0) ?? 0 }
  }()
  /// How far a ratio may rise above that of the smallest size.
  static let tolerance = 0.15

  struct Point {
    let count: Int
    let measurement: Measurement
  }

  struct Curve {
    let id: String
    let title: String
    var points: [Point] = []

    /// The greatest relative rise over the smallest size.
    var rise: Double {
      guard let first = points.first?.measurement.bestRatio else { return .nan }
      return (points.map(\.measurement.bestRatio).max() ?? .nan) / first - 1
    }
  }

  static func run(_ options: Options, _ fixture: Fixture) throws {
    let results = try Results(options)
    print("\(options.runs) runs; ratio of the fastest ones, Dflat / floor")
    print(
      pad("case", 19) + sizes.map { right(grouped($0), 12) }.joined() + right("rise", 9) + "   what"
    )
    var curves: [Curve] = []
    for (index, id) in kinds.enumerated() where options.includes(id) {
      var curve = Curve(id: id, title: cases(sizes[0])[index].title)
      for count in sizes {
        let measurement = try cases(count)[index].measure(fixture, runs: options.runs)[0]
        curve.points.append(Point(count: count, measurement: measurement))
      }
      let ratios = curve.points.map { right(decimals($0.measurement.bestRatio, 2), 12) }.joined()
      print(
        pad(id, 19) + ratios + right(decimals(curve.rise * 100, 0) + " %", 9)
          + (curve.rise <= tolerance ? "   " : " ! ") + curve.title)
      curves.append(curve)
    }
    let memory = options.isComplete ? try insertMemory(fixture) : []
    try results.write(json(curves, memory), to: "scaling.json")
    if options.isComplete { try results.write(ScalingChart.svg(curves), to: "scaling.svg") }
    var missed = curves.filter { !($0.rise <= tolerance) }.map {
      "\($0.id) rises by \(decimals($0.rise * 100, 0)) %"
    }
    if !memory.allSatisfy({ Double($0.ours) <= Double($0.floor) * (1 + tolerance) }) {
      missed.append("memory-insert exceeds the floor's")
    }
    print(missed.isEmpty ? "Every goal is met." : "Goals missed: " + missed.joined(separator: ", "))
  }

  /// The peak memory of inserting 10,000 objects into tables of each size.
  private static func insertMemory(_ fixture: Fixture) throws -> [(ours: Int, floor: Int)] {
    var peaks: [(ours: Int, floor: Int)] = []
    for count in sizes {
      func peak(_ work: PeakMemory.Work) throws -> Int? {
        let path = try fixture.copy(of: try fixture.scaleTemplate(count))
        defer { fixture.discard(path) }
        return try PeakMemory.measure(work, path)
      }
      guard let ours = try peak(.insert), let floor = try peak(.floorInsert) else {
        print("peak memory can be measured on Linux only")
        return []
      }
      peaks.append((ours, floor))
    }
    func line(_ name: String, _ values: [Int]) {
      print(
        pad(name, 19)
          + values.map { right(Table.megabytes(Double($0)), 12) }.joined()
          + right("", 12) + "peak memory of inserting 10,000, in MB")
    }
    line("memory-insert", peaks.map(\.ours))
    line("  of the floor", peaks.map(\.floor))
    return peaks
  }

  private static func json(_ curves: [Curve], _ memory: [(ours: Int, floor: Int)]) -> String {
    var objects: [String] = []
    for curve in curves {
      for point in curve.points {
        let m = point.measurement
        objects.append(
          "{\"id\": \"\(curve.id)\", \"objects\": \(point.count), "
            + "\"milliseconds\": \(decimals(m.milliseconds, 4)), "
            + "\"floorMilliseconds\": \(decimals(m.floorMilliseconds, 4)), "
            + "\"ratio\": \(decimals(m.bestRatio, 4)), \"runs\": \(m.runs), "
            + "\"spread\": \(decimals(m.spread, 4))}")
      }
    }
    for (count, peaks) in zip(sizes, memory) {
      objects.append(
        "{\"id\": \"scaling-insert-memory\", \"objects\": \(count), \"value\": \(peaks.ours), "
          + "\"unit\": \"bytes\", \"floorValue\": \(peaks.floor)}")
    }
    return JSON.list(objects)
  }

  /// Formats 1000000 as 1,000,000.
  static func grouped(_ number: Int) -> String {
    var digits = Array(String(number))
    for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
    return String(digits)
  }
}
