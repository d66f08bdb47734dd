// Programmer errors stop the program, with a message that names the call.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteDflat
import Testing

@Suite("Misuse")
struct MisuseTests {
  @Test("A blocking shutdown on the main queue, for which the workspace's work waits")
  func shutdownOnMainQueue() async {
    let pending = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      await MainActor.run {
        let dflat = SQLiteWorkspace(
          filePath: "/nowhere/a.db", fileProtectionLevel: .noProtection, targetQueue: .main)
        dflat.performChanges([Post.self], changesHandler: { _ in })
        DispatchQueue.global().asyncAfter(deadline: .now() + 20) { exit(EXIT_SUCCESS) }
        dflat.shutdown()
      }
    }
    expectMessage(pending, "shutdown()", "main queue", "give it a completion")
    await #expect(processExitsWith: .success) {
      await MainActor.run {
        let idle = SQLiteWorkspace(
          filePath: "/nowhere/a.db", fileProtectionLevel: .noProtection, targetQueue: .main)
        idle.shutdown()
      }
    }
  }

  @Test("Impossible settings")
  func settings() async {
    let limit = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var configuration = SQLiteWorkspace.Configuration()
      configuration.readerLimit = 0
      _ = SQLiteWorkspace(filePath: "a.db", configuration: configuration)
    }
    expectMessage(limit, "SQLiteWorkspace", "readerLimit of 0")
    let memory = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var configuration = SQLiteWorkspace.Configuration()
      configuration.isReadOnly = true
      _ = SQLiteWorkspace(inMemory: configuration)
    }
    expectMessage(memory, "inMemory", "isReadOnly")
  }
}
