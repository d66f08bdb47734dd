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
    MemoryCase(id: "uniqued-memory", measure: uniqued),
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
    let (objects, bytes) = try rows(of: path)
    return MemoryMeasurement(
      id: "fetch-all-memory", title: "peak memory of fetch all 33,334", runs: ours.count,
      bytes: median(ours), floorBytes: median(floor),
      rowBytes: bytes, goal: 1.3 * bytes + 48 * objects,
      spread: ((ours.max() ?? 0) - (ours.min() ?? 0)) / median(ours))
  }

  /// The number of rows, and their bytes.
  private static func rows(of path: String) throws -> (objects: Double, bytes: Double) {
    let select = try FloorQuery(
      try FloorDatabase(path: path, readOnly: true), "SELECT count(*), sum(length(p)) FROM benchdoc"
    )
    _ = try select.step()
    return (Double(select.int64(0)), Double(select.int64(1)))
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

extension MemoryCase {
  /// Objects that were got twice as live ones take the memory of one copy, and of the second list
  /// of references.
  @Sendable
  private static func uniqued(_ fixture: Fixture, _ runs: Int) throws -> MemoryMeasurement? {
    let path = try fixture.template(fixture.many)
    var twice: [Double] = []
    var once: [Double] = []
    for _ in 0..<min(runs, 3) {
      guard let mine = try PeakMemory.measure(.uniquedTwice, path),
        let other = try PeakMemory.measure(.uniquedOnce, path)
      else { return nil }
      twice.append(Double(mine))
      once.append(Double(other))
    }
    return MemoryMeasurement(
      id: "uniqued-memory", title: "33,334 live objects that were fetched twice; floor: once",
      runs: twice.count, bytes: median(twice), floorBytes: median(once),
      rowBytes: try rows(of: path).bytes, goal: 1.1 * median(once),
      spread: ((twice.max() ?? 0) - (twice.min() ?? 0)) / median(twice))
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
