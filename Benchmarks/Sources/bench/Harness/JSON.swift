// Case results as JSON.

enum JSON {
  /// One object per line, so that two runs can be compared line by line.
  static func list(_ objects: [String]) -> String {
    "[\n" + objects.map { "  " + $0 }.joined(separator: ",\n") + "\n]\n"
  }

  static func object(_ m: Measurement) -> String {
    if let goal = m.microsecondGoal {
      return "{\"id\": \"\(m.id)\", \"value\": \(decimals(m.microseconds, 1)), "
        + "\"unit\": \"microseconds\", \"goal\": \(decimals(goal, 1)), "
        + "\"floorValue\": \(decimals(m.floorMicroseconds, 1)), \"runs\": \(m.runs), "
        + "\"spread\": \(decimals(m.spread, 4))}"
    }
    let goal = m.goal.map { decimals($0, 2) } ?? "null"
    return "{\"id\": \"\(m.id)\", \"milliseconds\": \(decimals(m.milliseconds, 4)), "
      + "\"floorMilliseconds\": \(decimals(m.floorMilliseconds, 4)), "
      + "\"ratio\": \(decimals(m.ratio, 4)), \"goal\": \(goal), \"runs\": \(m.runs), "
      + "\"spread\": \(decimals(m.spread, 4))}"
  }
}
