// Programmer errors stop the program, with a message that names the call.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteDflat
import Testing

@Suite("Misuse")
struct MisuseTests {
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
