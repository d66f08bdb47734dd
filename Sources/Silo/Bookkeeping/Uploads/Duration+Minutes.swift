// Longer durations: pauses of uploads and ages of values are given in minutes, hours and days.

extension Duration {
  /// Some minutes of 60 seconds.
  public static func minutes(_ minutes: some BinaryInteger) -> Duration { .seconds(60) * minutes }
  /// Some minutes of 60 seconds.
  public static func minutes(_ minutes: Double) -> Duration { .seconds(60 * minutes) }
  /// Some hours of 60 minutes.
  public static func hours(_ hours: some BinaryInteger) -> Duration { .seconds(3600) * hours }
  /// Some hours of 60 minutes.
  public static func hours(_ hours: Double) -> Duration { .seconds(3600 * hours) }
  /// Some days of 24 hours each, whatever the calendar says.
  public static func days(_ days: some BinaryInteger) -> Duration { .seconds(86_400) * days }
  /// Some days of 24 hours each, whatever the calendar says.
  public static func days(_ days: Double) -> Duration { .seconds(86_400 * days) }
}
