// UploadRetry: the pauses before an upload is tried again.

/// How long an upload pauses after a failure.
///
/// Pauses outlive the process: the time of the next attempt is stored. If the device's clock is
/// corrected meanwhile, an upload pauses for the longest pause at most.
public struct UploadRetry: Sendable {
  private let first: Duration
  private let longest: Duration
  private let jitter: Double

  /// Pauses that double.
  /// - Parameters:
  ///   - first: The pause after the first failure.
  ///   - longest: The longest pause.
  ///   - jitter: By which part a pause is longer or shorter at random, from 0 to 1, so that many
  ///     clients do not come back at the same moment.
  public static func exponential(
    from first: Duration, to longest: Duration, jitter: Double = 0
  ) -> UploadRetry {
    precondition(
      first > .zero && longest >= first && (0...1).contains(jitter),
      "exponential(from:to:jitter:) was called with pauses from \(first) to \(longest) and a "
        + "jitter of \(jitter)")
    return UploadRetry(first: first, longest: longest, jitter: jitter)
  }

  /// The longest pause in seconds, with all jitter.
  var longestPause: Double { longest / .seconds(1) * (1 + jitter) }

  /// The pause after a failure.
  /// - Parameters:
  ///   - attempt: How many attempts have failed.
  ///   - random: A number from -1 to 1.
  func pause(after attempt: Int, random: Double) -> Duration {
    let doublings = min(max(0, attempt - 1), 62)
    let factor = Double(1 << doublings)
    let pause = min(first / .milliseconds(1) * factor, longest / .milliseconds(1))
    return .milliseconds(pause * (1 + jitter * random))
  }
}
