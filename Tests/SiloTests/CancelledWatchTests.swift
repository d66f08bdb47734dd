// Watching that ends while states arrive.

import DflatTestSupport
import Silo
import Testing

@Suite("Cancelled watching", .timeLimit(.minutes(3)))
struct CancelledWatchTests {
  @Test("Tasks that watch may be cancelled at any moment")
  func anyMoment() async throws {
    let silos = Silos(.memory)
    let users = silos[User.self]
    let writer = _Concurrency.Task {
      for number in 0..<3_000 { try await users.save(User(id: number % 7, name: "\(number)")) }
    }
    for _ in 0..<1_500 {
      let changes = users.changes()
      let watching = _Concurrency.Task { for await _ in changes {} }
      await _Concurrency.Task.yield()
      watching.cancel()
      await watching.value
    }
    try await writer.value
    #expect(try await users.count() == 7)
  }
}
