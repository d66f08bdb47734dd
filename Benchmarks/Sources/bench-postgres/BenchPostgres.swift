// The benchmark program for workspaces on a PostgreSQL server; see ProgramCases.swift for its
// arguments. `bench-postgres growth` measures how cost grows with rows and processes.
//
// It starts a server of its own, with fsync on and a Unix socket only; `POSTGRES_URL` uses an
// existing one.

import Foundation

@main
struct BenchPostgres {
  static let cases: [Case] = [
    .insert, .insertPipeline, .submit, .fetchByKey, .fetchAll, .updateWhere, .transactionEach,
    .processes, .threads, .contended, .callersKeys, .callersObject, .callersInsert, .live,
  ]

  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      if let worker = Worker(arguments) { return try await worker.run() }
      if try Watcher.run(arguments) { return }
      if arguments == ["growth"] { return try Growth.run() }
    } catch { ProgramCases.fail("bench-postgres", error) }
    ProgramCases(
      name: "bench-postgres", column: "Dflat ms", output: "postgres.json", cases: cases
    ).run { isSmoke, body in
      let fixture = try Fixture(few: isSmoke ? 300 : 10_000, many: isSmoke ? 1_000 : 33_334)
      defer { fixture.removeSchemas() }
      try body(fixture)
    }
  }
}
