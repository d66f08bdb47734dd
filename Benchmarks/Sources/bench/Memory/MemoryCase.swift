// Memory: the peak of fetching all objects, compared with the bytes of their rows; and the cost of
// observed results.

import CSQLiteFloor

struct MemoryCase: Sendable {
  let id: String
  /// The measurement over several runs; nil where peaks cannot be measured.
  let measure: @Sendable (_ fixture: Fixture, _ runs: Int) throws -> MemoryMeasurement?

  static let all = [
    MemoryCase(id: "fetch-all-memory", measure: fetchAll),
    MemoryCase(id: "watch-memory", measure: watch),
  ]

  /// The peaks of both sides and the allowed one: 1.3 times the rows' bytes plus 48 bytes per
  /// object.
  @Sendable
  private static func fetchAll(_ fixture: Fixture, _ runs: Int) throws -> MemoryMeasurement? {
    let path = try fixture.template(fixture.many)
    var ours: [Double] = []
    var floor: [Double] = []
    for _ in 0..<min(runs, 3) {
      guard let mine = try PeakMemory.measure(.fetchAll, path),
        let other = try PeakMemory.measure(.floorFetchAll, path)
      else { return nil }
      ours.append(Double(mine))
      floor.append(Double(other))
    }
    let select = try FloorQuery(
      try FloorDatabase(path: path, readOnly: true), "SELECT count(*), sum(length(p)) FROM benchdoc"
    )
    _ = try select.step()
    let objects = Double(select.int64(0))
    let bytes = Double(select.int64(1))
    return MemoryMeasurement(
      id: "fetch-all-memory", title: "peak memory of fetch all 33,334", runs: ours.count,
      bytes: median(ours), floorBytes: median(floor),
      rowBytes: bytes, goal: 1.3 * bytes + 48 * objects,
      spread: ((ours.max() ?? 0) - (ours.min() ?? 0)) / median(ours))
  }
}

extension MemoryCase {
  static let watchers = 100_000

  /// An observed result without rows: at most 1 KiB. There is no floor.
  @Sendable
  private static func watch(_ fixture: Fixture, _ runs: Int) throws -> MemoryMeasurement? {
    var ours: [Double] = []
    for _ in 0..<min(runs, 3) {
      guard let mine = try PeakMemory.measure(.watch, try fixture.template(fixture.few)) else {
        return nil
      }
      ours.append(Double(mine))
    }
    return MemoryMeasurement(
      id: "watch-memory", title: "memory of 100,000 empty results that are watched",
      runs: ours.count, bytes: median(ours), floorBytes: 0, rowBytes: 0,
      goal: 1024 * Double(watchers),
      spread: ((ours.max() ?? 0) - (ours.min() ?? 0)) / median(ours))
  }
}

struct MemoryMeasurement {
  let id: String
  let title: String
  let runs: Int
  let bytes: Double
  let floorBytes: Double
  let rowBytes: Double
  /// The greatest acceptable peak.
  let goal: Double
  let spread: Double

  var missesGoal: Bool { !(bytes <= goal) }
}
