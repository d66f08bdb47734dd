// What was done, what came out, and how long it took.

/// Runs `body`, then prints `what` with the time that it took, a remark about the result, and some lines of it.
public func timed<T>(
  _ what: String, _ body: () async throws -> T, remark: (T) -> String = { _ in "" },
  lines: (T) -> [String] = { _ in [] }
) async rethrows -> T {
  let clock = ContinuousClock()
  let start = clock.now
  let result = try await body()
  let microseconds = Int((clock.now - start) / .microseconds(1))
  let fraction = String(microseconds % 1000 / 10)
  let time = "\(microseconds / 1000).\(fraction.count < 2 ? "0" : "")\(fraction) ms"
  let remark = remark(result)
  print("\(time.padded(to: 12))  \(what)\(remark.isEmpty ? "" : ": " + remark)")
  for line in lines(result) { print("                \(line)") }
  return result
}

extension String {
  /// With blanks before it.
  public func padded(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
