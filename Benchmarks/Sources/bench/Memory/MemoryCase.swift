// fetch-all-memory: the peak of fetching everything, against the bytes that the rows have.

import CSQLiteFloor

struct MemoryCase {
  static let fetchAll = MemoryCase(
    id: "fetch-all-memory", title: "peak memory of fetch all 33,334")

  let id: String
  let title: String

  /// The peaks of both sides and the one that is allowed: 1.3 times the rows' bytes and 48 bytes for each object. nil where
  /// peaks cannot be measured.
  func measure(_ fixture: Fixture, runs: Int) throws -> MemoryMeasurement? {
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
      id: id, title: title, runs: ours.count, bytes: median(ours), floorBytes: median(floor),
      rowBytes: bytes, goal: 1.3 * bytes + 48 * objects,
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
  /// The greatest peak that is good enough.
  let goal: Double
  let spread: Double

  var missesGoal: Bool { !(bytes <= goal) }
}
