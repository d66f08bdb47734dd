// Case: one line of the benchmark, and how its two sides are run.
//
// A side is a closure that does its own preparation, times only the work itself, and returns what it found. Sides of a case
// keep true:
//
//  - both do the same logical work on equal data: their checksums are compared after each run;
//  - a side that writes gets a fresh copy of a prepared file in each run;
//  - a side that reads never uses a file that the other side has open: connections of one process
//    share their locks;
//  - files are opened, statements prepared and caches filled before the clock starts, on both sides;
//  - the clock stops at the last commit. A checkpoint is inside it only where a transaction follows
//    that has to wait for it. Where the last one counts, it is told apart as `settled`.

/// What one run of one side took and found.
struct Outcome {
  var nanoseconds: UInt64
  /// The same, until the checkpoint had ended that the last commit made necessary.
  var settledNanoseconds: UInt64?
  var checksum: Checksum
}

typealias Side = () throws -> Outcome

/// What the floor of a case is.
enum FloorKind: CaseIterable {
  /// A hand-written program that calls SQLite's C interface, or plain C where nothing is stored.
  case handWritten
  /// The same program without what is measured: without observers, without snapshots, or fetching everything again.
  case without
  /// The same program over a file of SQLite.
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
  /// What is measured, for people.
  let title: String
  /// The greatest ratio to the floor that is good enough; nil if none is asked for.
  var goal: Double?
  /// How many microseconds above the floor are good enough, where that is asked for instead; the case is then about one
  /// operation and its time.
  var allowance: Double?
  /// What others reach against such a floor.
  var upstream: Double?
  var grdb: Double?
  /// For cases that take long.
  var mostRuns: Int?
  var floor = FloorKind.handWritten
  /// Makes both sides; what they share is prepared here.
  let sides: @Sendable (Fixture) throws -> (ours: Side, floor: Side)
}

/// A side's run did something other than the floor's.
struct Disagreement: Error, CustomStringConvertible {
  let description: String
}

extension Case {
  /// The id of the figure that includes the checkpoint.
  var settledID: String { id + "-settled" }

  /// Runs both sides alternately, `runs` times each after one run to warm up. The side that begins
  /// changes from run to run.
  /// - Returns: The case's figure, and the one with the checkpoint if the case has one.
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

  /// The same case under the name of its second figure. What others reach was measured to the
  /// commit.
  private var settled: Case {
    Case(
      id: settledID, title: title + ", and its checkpoint", goal: goal, allowance: allowance,
      mostRuns: mostRuns, floor: floor, sides: sides)
  }
}
