// Random tests: how long they run, and what names the seed of one that fails.

import Platform
public import Testing

/// Whether long random runs were requested: `DFLAT_LONG=1 swift test`.
public let isLongRun = getenv("DFLAT_LONG").map { String(cString: $0) } == "1"

/// Runs a random test; every issue in it names the seed.
public func withSeed<R>(
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (inout SeededGenerator) throws -> R
) rethrows -> R {
  var random = SeededGenerator(seed: testSeed())
  do { return try body(&random) } catch {
    Issue.record(
      "failed with DFLAT_SEED=\(random.seed): \(error)", sourceLocation: sourceLocation)
    throw error
  }
}
