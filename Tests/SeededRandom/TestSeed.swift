// Where the seeds of random tests come from.

import Platform

/// The seed of a random test: `DFLAT_SEED=…`, or a new one for each run.
public func testSeed() -> UInt64 {
  getenv("DFLAT_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0...UInt64.max)
}
