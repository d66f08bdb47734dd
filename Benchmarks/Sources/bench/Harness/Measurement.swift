// Measurement: the result of a case, computed from all its runs.
//
// The ratio is that of the two medians. On a busy machine a disturbance often affects only one
// side, so the ratio of the fastest runs, which are likely undisturbed, is reported as well.

struct Measurement {
  let id: String
  let title: String
  let goal: Double?
  /// The acceptable number of microseconds above the floor; such a case measures the time of a
  /// single operation.
  let allowance: Double?
  /// The greatest acceptable number of microseconds, likewise.
  let limit: Double?
  let upstream: Double?
  let grdb: Double?
  let floor: FloorKind
  let runs: Int
  let milliseconds: Double
  let floorMilliseconds: Double
  let ratio: Double
  /// The ratio of the fastest runs.
  let bestRatio: Double
  /// The spread of the single runs' ratios: the interquartile range, relative to the ratio.
  let spread: Double

  /// The times of each side's runs, in milliseconds.
  struct Times {
    let ours: Double
    let floor: Double

    init(_ ours: UInt64, _ floor: UInt64) {
      self.ours = Double(ours) / 1e6
      self.floor = Double(floor) / 1e6
    }
  }

  init(_ source: Case, _ times: [Times]) {
    id = source.id
    title = source.title
    goal = source.goal
    allowance = source.allowance
    limit = source.limit
    upstream = source.upstream
    grdb = source.grdb
    floor = source.floor
    runs = times.count
    milliseconds = median(times.map(\.ours))
    floorMilliseconds = median(times.map(\.floor))
    ratio = milliseconds / floorMilliseconds
    bestRatio = (times.map(\.ours).min() ?? .nan) / (times.map(\.floor).min() ?? .nan)
    let ratios = times.map { $0.ours / $0.floor }.sorted()
    spread = (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / ratio
  }

  var missesGoal: Bool {
    if let goal, !(ratio <= goal) { return true }
    if let microsecondGoal, !(microseconds <= microsecondGoal) { return true }
    return false
  }

  /// The goal of a case that measures the time of a single operation; nil for all others.
  var microsecondGoal: Double? { limit ?? allowance.map { floorMicroseconds + $0 } }

  var microseconds: Double { milliseconds * 1000 }
  var floorMicroseconds: Double { floorMilliseconds * 1000 }
}

func median(_ values: [Double]) -> Double {
  quantile(values.sorted(), 0.5)
}

/// A quantile of sorted values, with linear interpolation.
func quantile(_ sorted: [Double], _ part: Double) -> Double {
  guard let last = sorted.indices.last else { return .nan }
  let place = Double(last) * part
  let lower = Int(place)
  let upper = min(lower + 1, last)
  return sorted[lower] + (sorted[upper] - sorted[lower]) * (place - Double(lower))
}
