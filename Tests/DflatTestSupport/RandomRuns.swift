// Random tests: how long they run, and where their seeds come from.

import Platform
public import Testing

/// Whether long random runs were requested: `DFLAT_LONG=1 swift test`.
public let isLongRun = environment("DFLAT_LONG") == "1"

/// The seed of a random test: `DFLAT_SEED=…`, or a new one for each run.
public func testSeed() -> UInt64 {
  environment("DFLAT_SEED").flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
}

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

private func environment(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}
