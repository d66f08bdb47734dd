// What was done, and how long it took.

import Foundation

/// Runs `body`, and prints `what` with the time that it took and a remark about the result.
func timed<T>(_ what: String, _ remark: (T) -> String = { _ in "" }, _ body: () throws -> T) rethrows
  -> T
{
  let clock = ContinuousClock()
  let start = clock.now
  let result = try body()
  line(what, remark(result), clock.now - start)
  return result
}

/// Runs `body`, and prints `what` with the time that it took and a remark about the result.
func timed<T>(
  _ what: String, _ remark: (T) -> String = { _ in "" },
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
) async rethrows -> T {
  let clock = ContinuousClock()
  let start = clock.now
  let result = try await body()
  line(what, remark(result), clock.now - start)
  return result
}

private func line(_ what: String, _ remark: String, _ duration: Duration) {
  let milliseconds = duration / .milliseconds(1)
  let time = String(format: "%8.2f ms", milliseconds)
  print("\(time)  \(what)\(remark.isEmpty ? "" : ": " + remark)")
}
