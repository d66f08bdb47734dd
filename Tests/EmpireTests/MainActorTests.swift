// A client whose module is isolated to the main actor compiles without isolation annotations and
// works: closures that it passes to the library run on the main actor exactly when they should.

import DflatTestSupport
import MainActorRecords
import Testing

@Suite("A client whose module is isolated to the main actor")
@MainActor
struct MainActorTests {
  private func makeLedger() throws -> Ledger {
    try Ledger(path: makeTemporaryDirectory())
  }

  @Test("Its records are written and read in the background")
  func background() async throws {
    #expect(try await makeLedger().useBackground() == ["1 true"])
  }

  @Test("Its records are written and read on the main actor")
  func main() throws {
    #expect(try makeLedger().useMain() == ["began", "true", "2 1 true"])
  }

  @Test("It observes its records")
  func observe() async throws {
    let lines = try await makeLedger().observe()
    #expect(
      lines.filter { $0 != "reported" }.sorted() == ["handled 1", "set 1", "updated 5"])
  }
}
