// A writer is killed, and the file has what it told. `make verify` kills more.

import DflatTestSupport
import DflatVerification
import Testing

@Suite("Killed processes")
struct KillTests {
  @Test("Nothing that was told to be committed is lost, nothing is half there")
  func kills() throws {
    let seed = testSeed()
    try withDirectory { directory in
      var run = KillRun(in: directory, command: verifyCommand, seed: seed)
      for _ in 0..<(isLongRun ? 1000 : 8) {
        for fault in try run.kill() { Issue.record("\(fault)") }
      }
      #expect(run.acknowledged > 0)
    }
  }

  @Test("A migration goes on after each kill: every object is there once, old or new")
  func migrations() throws {
    let seed = testSeed()
    try withDirectory { directory in
      var run = MigrationKillRun(in: directory, command: verifyCommand, seed: seed)
      repeat {
        for fault in try run.migrate() { Issue.record("\(fault)") }
      } while run.kills < (isLongRun ? 300 : 6)
    }
  }
}
