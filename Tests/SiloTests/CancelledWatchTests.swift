// Watching that ends while states arrive.

import DflatTestSupport
import Platform
import Silo
import Testing

@Suite("Cancelled watching", .endsSometime)
struct CancelledWatchTests {
  @Test("Tasks that watch may be cancelled at any moment")
  func anyMoment() async throws {
    let users = Silos(.memory)[User.self]
    let isOver = Atomic(false)
    // As many states as the watching tasks take time for, however fast the machine is.
    let writer = _Concurrency.Task {
      var count = 0
      while !isOver.load(ordering: .acquiring) {
        try await users.save(User(id: count % 7, name: "\(count)"))
        count += 1
      }
      return count
    }
    for _ in 0..<(isLongRun ? 1_500 : 150) {
      let changes = users.changes()
      let watching = _Concurrency.Task { for await _ in changes {} }
      await _Concurrency.Task.yield()
      watching.cancel()
      await watching.value
    }
    isOver.store(true, ordering: .releasing)
    let count = try await writer.value
    #expect(try await users.count() == min(count, 7))
  }
}
