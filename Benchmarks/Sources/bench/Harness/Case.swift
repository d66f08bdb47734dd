// Case: one line of the benchmark, and how its two sides are run.
//
// A side is a closure that does its own preparation, times only the work itself, and returns a
// checksum of its results. Invariants of the sides of a case:
//
//  - Both do the same logical work on equal data: their checksums are compared after each run.
//  - A side that writes gets a fresh copy of a prepared file in each run.
//  - A side that reads never uses a file that the other side has open: connections of one process
//    share their locks.
//  - Files are opened, statements prepared and caches filled before the clock starts, on both
//    sides.
//  - The clock stops at the last commit. A checkpoint is included only if a later transaction has
//    to wait for it. If the last one matters, the time including it is reported separately as
//    `settled`.

/// The time and the checksum of one run of one side.
struct Outcome {
  var nanoseconds: UInt64
  /// The same, until the end of the checkpoint that the last commit made necessary.
  var settledNanoseconds: UInt64?
  var checksum: Checksum
}

typealias Side = () throws -> Outcome

/// The kind of a case's floor.
enum FloorKind: CaseIterable {
  /// A hand-written program that calls SQLite's C interface, or plain C if nothing is stored.
  case handWritten
  /// The same program without the measured feature: without observers, without snapshots, or
  /// fetching everything again.
  case without
  /// The same program over an SQLite file.
  case sqliteEngine

  /// The heading of such cases in the chart.
  var heading: String {
    switch self {
    case .handWritten: "Beside a hand-written C program"
    case .without: "Beside Dflat without the feature, or fetching everything again"
    case .sqliteEngine: "A workspace in memory, beside one over a file of SQLite"
    }
  }
}

struct Case: Sendable {
  let id: String
  /// A description of the measurement.
  let title: String
  /// The greatest acceptable ratio to the floor; nil if there is no goal.
  var goal: Double?
  /// The acceptable number of microseconds above the floor, if that is the goal instead; the case
  /// then measures the time of a single operation.
  var allowance: Double?
  /// The greatest acceptable number of microseconds, if that is the goal instead; likewise.
  var limit: Double?
  /// The ratios of other libraries to such a floor.
  var upstream: Double?
  var grdb: Double?
  /// For cases that take long.
  var mostRuns: Int?
  var floor = FloorKind.handWritten
  /// Why its instructions are not counted: they say nothing where threads wait for each other in
  /// loops, or if it is about waking a thread. nil if they are.
  var whyNotCounted: String?
  /// Creates both sides; shared preparation happens here.
  let sides: @Sendable (Fixture) throws -> (ours: Side, floor: Side)
}

/// The two sides of a run did different work.
struct Disagreement: Error, CustomStringConvertible {
  let description: String
}

extension Case {
  /// The id of the result that includes the checkpoint.
  var settledID: String { id + "-settled" }

  /// Runs both sides alternately, `runs` times each after one warm-up run. The side that begins
  /// alternates.
  /// - Returns: The case's result, and the one with the checkpoint if the case has one.
  func measure(_ fixture: Fixture, runs: Int) throws -> [Measurement] {
    let (ours, floor) = try sides(fixture)
    let runs = min(runs, mostRuns ?? runs)
    var times: [Measurement.Times] = []
    var settledTimes: [Measurement.Times] = []
    for run in 0...runs {
      let mine: Outcome
      let other: Outcome
      if run % 2 == 0 {
        mine = try ours()
        other = try floor()
      } else {
        other = try floor()
        mine = try ours()
      }
      guard mine.checksum == other.checksum else {
        throw Disagreement(description: "\(id): Dflat and the floor did not do the same work")
      }
      if run == 0 && runs > 1 { continue }
      times.append(Measurement.Times(mine.nanoseconds, other.nanoseconds))
      if let ours = mine.settledNanoseconds, let floor = other.settledNanoseconds {
        settledTimes.append(Measurement.Times(ours, floor))
      }
      if times.count == runs { break }
    }
    var measurements = [Measurement(self, times)]
    if !settledTimes.isEmpty { measurements.append(Measurement(settled, settledTimes)) }
    return measurements
  }

  /// The same case under the name of its second result. The ratios of other libraries were measured
  /// until the commit.
  private var settled: Case {
    Case(
      id: settledID, title: title + ", and its checkpoint", goal: goal, allowance: allowance,
      limit: limit, mostRuns: mostRuns, floor: floor, sides: sides)
  }
}
