// A client in Swift 5 mode compiles without changes, and works.

import DflatTestSupport
import SwiftFiveClient
import Testing

@Suite("A client in Swift 5 mode")
struct SwiftFiveTests {
  @Test("It captures arbitrary values, names protocols without `any`, and works")
  func client() async throws {
    let path = try makeTemporaryDirectory() + "/five.db"
    let keeper = Keeper(path: path)
    #expect(
      keeper.run() == [
        "five 0", "five 1", "five 2", "success true 3", "2", "1", "2", "0", "1", "2", "none",
        "dark", "dark", "7", "down", "4", "5", "xxx",
      ])
    #expect(await keeper.runAsync(path: path))
  }
}
