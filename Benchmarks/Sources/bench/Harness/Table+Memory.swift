// The parts of the table around the cases: the header, memory, and goals.

import CSQLiteFloor

extension Table {
  static func printHead(_ options: Options) {
    print(
      "SQLite \(String(cString: sqlite3_libversion())), \(options.runs) runs, medians; ratio = Dflat / floor"
    )
    print("SQLite is configured for threads, for both sides (SQLiteProcess.configureForThreads)")
    printColumns(ours: "Dflat ms")
  }

  static func printLine(_ m: MemoryMeasurement) {
    print(
      pad(m.id, 21) + right(megabytes(m.bytes), 10) + right(megabytes(m.floorBytes), 10)
        + right("", 15) + right(megabytes(m.goal), 7) + right(decimals(m.spread * 100, 0) + " %", 8)
        + (m.missesGoal ? " ! " : "   ") + m.title + ", in MB; the rows have "
        + megabytes(m.rowBytes))
  }

  static func printMissedGoals(_ measurements: [Measurement], _ memory: [MemoryMeasurement]) {
    let missed =
      measurements.filter(\.missesGoal).map {
        guard let goal = $0.microsecondGoal else {
          return "\($0.id) (\(decimals($0.ratio, 2)) > \(decimals($0.goal ?? 0, 2)))"
        }
        return "\($0.id) (\(decimals($0.microseconds, 0)) µs > "
          + "\(decimals(goal, 0)) µs)"
      }
      + memory.filter(\.missesGoal).map {
        "\($0.id) (\(megabytes($0.bytes)) MB > \(megabytes($0.goal)) MB)"
      }
    print(missed.isEmpty ? "Every goal is met." : "Goals missed: \(missed.joined(separator: ", "))")
  }

  static func megabytes(_ bytes: Double) -> String {
    decimals(bytes / 1_000_000, 2)
  }
}
