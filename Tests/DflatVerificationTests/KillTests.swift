// A writer is killed, and the file has everything that it reported. `make verify` kills more often.

import DflatTestSupport
import DflatVerification
import Testing

@Suite("Killed processes")
struct KillTests {
  @Test("No transaction that was reported as committed is lost, and none is there in part")
  func kills() throws {
    let seed = testSeed()
    try withTemporaryDirectory { directory in
      var run = KillRun(in: directory, command: verifyCommand, seed: seed)
      for _ in 0..<(isLongRun ? 1000 : 8) {
        for fault in try run.kill() { Issue.record("\(fault)") }
      }
      #expect(run.acknowledged > 0)
    }
  }

  @Test(
    "A migration continues after each kill: every object is there once, old or new",
    arguments: killedMigrations.map { type(of: $0).name })
  func migrations(name: String) throws {
    let migration = try #require(killedMigrations.first { type(of: $0).name == name })
    let seed = testSeed()
    try withTemporaryDirectory { directory in
      var run = MigrationKillRun(
        migration, in: directory, command: verifyCommand, seed: seed)
      repeat {
        for fault in try run.migrate() { Issue.record("\(fault)") }
      } while run.kills < (isLongRun ? 300 : 6)
    }
  }

  @Test("Every committed upload is applied by the server once, and in order")
  func uploads() async throws {
    let seed = testSeed()
    // The run blocks its thread until its tasks have ended.
    let (faults, applied) = try await beyondTasks {
      try withTemporaryDirectory { directory in
        var run = try UploadKillRun(in: directory, command: verifyCommand, seed: seed)
        var faults: [String] = []
        for _ in 0..<(isLongRun ? 2000 : 10) { faults += try run.kill() }
        faults += try run.finish()
        return (faults, run.applied)
      }
    }
    #expect(faults.isEmpty && applied > 0)
  }
}
