// More snapshots at a time than there are readers, and objects of one workspace in another.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteDflat
import Testing

@Suite("Many snapshots")
struct ManySnapshotsTests {
  @Test("Snapshots that wait for each other are all open")
  func waitForEachOther() async throws {
    try await beyondTasks {
      try withTemporaryFile { file in
        try file.store([post(1)])
        let dflat = file.dflat
        let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 12
        let open = DispatchSemaphore(value: 0)
        let go = DispatchSemaphore(value: 0)
        let all = DispatchGroup()
        for _ in 0..<count {
          all.enter()
          Thread.detachNewThread {
            dflat.fetchWithinASnapshot {
              #expect(dflat.fetch(for: Post.self).all().count == 1)
              open.signal()
              go.wait()
            }
            all.leave()
          }
        }
        for _ in 0..<count { open.expect("a snapshot") }
        for _ in 0..<count { go.signal() }
        all.expect("the snapshots")
      }
    }
  }

  @Test("An object of another workspace of the file is caught up with")
  func foreignObject() throws {
    try withTemporaryFile { file in
      for number in 1...20 { try file.store([post(Int32(number))]) }
      let object = try #require(file.posts.where(Post.number == 7).first)
      let other = file.secondWorkspace()
      try other.change(7) { $0.likes = 99 }
      let log = Log<Int32?>()
      let subscription = other.watch(object, log)
      // Delivered in the order of the type's transactions.
      try other.change(8) { $0.likes = 1 }
      #expect(log.events.count == 1)
      subscription.cancel()
      other.dflat.shutdown()
    }
  }
}
