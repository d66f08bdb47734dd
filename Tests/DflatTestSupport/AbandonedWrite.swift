// A write that begins on its task's thread and would have to wait there.

import Dflat
import Dispatch
import Platform
import Testing

extension TestWorkspace {
  /// Lets an asynchronous write begin on its task's thread, and holds it there until another
  /// transaction or connection blocks it. It runs again on a queue, in its position.
  /// - Parameters:
  ///   - block: Blocks it.
  ///   - unblock: Lets it continue.
  public func abandonWrite(
    _ block: () throws -> Void, _ unblock: () throws -> Void
  ) throws {
    let runs = Mutex<[Bool]>([])
    let isInside = DispatchSemaphore(value: 0)
    let mayContinue = DispatchSemaphore(value: 0)
    let hasBegun = DispatchSemaphore(value: 0)
    let isOver = DispatchSemaphore(value: 0)
    let order = Mutex<[String]>([])
    let failure = Mutex<(any Error)?>(nil)
    let dflat = workspace
    Task {
      hasBegun.signal()
      do {
        try await dflat.write(Post.self) { txn in
          let run = runs.withLock { runs in
            runs.append(!isOnWorkspaceQueue())
            return runs.count
          }
          isInside.signal()
          if run == 1 { mayContinue.expect("the transaction that blocks it") }
          try txn.insert(post(7))
          order.withLock { $0.append("awaited") }
        }
      } catch {
        failure.withLock { $0 = error }
      }
      isOver.signal()
    }
    hasBegun.waitForTurn()
    isInside.expect("the first run")
    // The write keeps its position before this transaction.
    let follower = DispatchSemaphore(value: 0)
    dflat.performChanges([Post.self]) { _ in
      order.withLock { $0.append("follower") }
    } completionHandler: { _ in
      follower.signal()
    }
    try block()
    mayContinue.signal()
    isInside.expect("the second run")
    try unblock()
    isOver.expect("the end of the awaited write")
    follower.expect("the follower's completion")
    #expect(failure.withLock { $0 } == nil)
    #expect(runs.withLock { $0 } == [true, false])
    #expect(order.withLock { $0 } == ["awaited", "follower"])
    #expect(posts.all().map(\.number) == [1, 7])
  }
}
