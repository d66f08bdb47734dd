// Case: one line of the benchmark, and how its two sides are run.
//
// A side is a closure that does its own preparation, times only the work itself, and returns what it found. Sides of a case
// keep true:
//
//  - both do the same logical work on equal data: their checksums are compared after each run;
//  - a side that writes gets a fresh copy of a prepared file in each run;
//  - files are opened, statements prepared and caches filled before the clock starts, on both sides.

/// What one run of one side took and found.
struct Outcome {
  var nanoseconds: UInt64
  var checksum: Checksum
}

typealias Side = () throws -> Outcome

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
  /// Makes both sides; what they share is prepared here.
  let sides: @Sendable (Fixture) throws -> (ours: Side, floor: Side)
}

/// A side's run did something other than the floor's.
struct Disagreement: Error, CustomStringConvertible {
  let description: String
}

extension Case {
  /// Runs both sides alternately, `runs` times each after one run to warm up. Who begins changes from run to run.
  func measure(_ fixture: Fixture, runs: Int) throws -> Measurement {
    let (ours, floor) = try sides(fixture)
    let runs = min(runs, mostRuns ?? runs)
    var times: [(ours: Double, floor: Double)] = []
    for run in 0...runs {
      var mine: Outcome
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
      times.append((Double(mine.nanoseconds) / 1e6, Double(other.nanoseconds) / 1e6))
      if times.count == runs { break }
    }
    return Measurement(self, times)
  }
}
