// The benchmark program for Empire; see ProgramCases.swift for its arguments.

@main
struct BenchEmpire {
  static func main() {
    ProgramCases(
      name: "bench-empire", column: "Empire ms", output: "empire.json",
      cases: [.insert, .getEach, .get, .range, .rangeOfMany, .scan, .delete, .durable, .grow]
    ).run { isSmoke, body in
      let fixture = try Fixture(few: isSmoke ? 300 : 10_000, many: isSmoke ? 2_000 : 1_000_000)
      defer { try? fixture.removeFiles() }
      try body(fixture)
    }
  }
}
