// Writes whose task is cancelled while they wait for other transactions.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import Testing

@Suite("Cancelled writes")
struct CancelledWriteTests {
  /// Blocks the queue of a type until it is told to end, or released.
  private final class Hold: Sendable {
    private let mayEnd = DispatchSemaphore(value: 0)

    init(_ dflat: any Workspace, _ types: [Any.Type]) async {
      await withCheckedContinuation { isInside in
        dflat.performChanges(
          types,
          changesHandler: { [mayEnd] _ in
            isInside.resume()
            // Without a timeout: it must block for as long as the operations that the test expects
            // take.
            mayEnd.wait()
          }, completionHandler: nil)
      }
    }

    deinit { mayEnd.signal() }

    func letGo() { mayEnd.signal() }
  }

  /// Runs tasks on a single thread, one job at a time.
  private final class OneThread: TaskExecutor {
    private let queue = DispatchQueue(label: "tasks, one at a time")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns when all tasks are suspended.
    func untilAllWait() async {
      await withCheckedContinuation { done in queue.async { done.resume() } }
    }
  }

  /// Runs `body` on threads that other tests do not occupy, and with a long timeout for blocked
  /// operations.
  private func onOwnThreads(
    _ engine: TestEngine, targetQueue: DispatchQueue? = nil,
    _ body: @Sendable (TemporaryWorkspace) async throws -> Void
  ) async throws {
    let settings = TestSettings(targetQueue: targetQueue)
    try await withTemporaryWorkspace(engine, settings: settings) { workspace in
      try await withTaskExecutorPreference(TaskQueue()) {
        try await body(workspace)
        await workspace.dflat.shutdown()
      }
    }
  }

  @Test(
    "A queued write returns at once, never runs, and no transaction waits for it any more",
    arguments: TestEngine.all)
  func waiting(engine: TestEngine) async throws {
    try await onOwnThreads(engine) { workspace in
      let dflat = workspace.dflat
      let thread = OneThread()
      try workspace.store([])
      let hold = await Hold(dflat, [Post.self])
      let didRun = Mutex(false)
      let task = Task(executorPreference: thread) {
        try await dflat.write(Post.self, Note.self) { _ in didRun.withLock { $0 = true } }
      }
      await thread.untilAllWait()
      let behind = DispatchSemaphore(value: 0)
      let hasRun = Mutex(false)
      dflat.performChanges(
        [Note.self], changesHandler: { _ in hasRun.withLock { $0 = true } },
        completionHandler: { _ in behind.signal() })
      #expect(!hasRun.withLock { $0 })
      task.cancel()
      // The queue of posts is still blocked here.
      await #expect(throws: CancellationError.self) { try await task.value }
      try await beyondTasks { try behind.wait(for: "the transaction that stood behind it") }
      hold.letGo()
      try await dflat.write(Post.self, Note.self) { try $0.insert(post(1)) }
      #expect(!didRun.withLock { $0 })
      #expect(workspace.posts.all().count == 1)
    }
  }

  @Test(
    "A write that is ready and waits for a thread returns at once, too", arguments: TestEngine.all)
  func ready(engine: TestEngine) async throws {
    let queue = DispatchQueue(label: "busy")
    try await onOwnThreads(engine, targetQueue: queue) { workspace in
      let dflat = workspace.dflat
      let mayEnd = DispatchSemaphore(value: 0)
      queue.async { mayEnd.expect("that it may end") }
      let didRun = Mutex(false)
      let thread = OneThread()
      let task = Task(executorPreference: thread) {
        try await dflat.write(Post.self) { _ in didRun.withLock { $0 = true } }
      }
      await thread.untilAllWait()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      mayEnd.signal()
      try await dflat.write(Post.self) { try $0.insert(post(1)) }
      #expect(!didRun.withLock { $0 })
    }
  }

  @Test("So does a write that waits for a migration", arguments: TestEngine.all)
  func migrating(engine: TestEngine) async throws {
    try await onOwnThreads(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.storeFirst((0..<3).map(Letters.old))
      let hold = await Hold(dflat, [V1.Letter.self])
      dflat.migrateWhenUsed(Letters.toSecond())
      let thread = OneThread()
      let task = Task(executorPreference: thread) { try await dflat.write(V2.Letter.self) { _ in } }
      await thread.untilAllWait()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      hold.letGo()
      // Nothing was migrated for the cancelled write.
      try workspace.write([V1.Letter.self]) { _ in }
      #expect(workspace.firstLetters.count == 3)
      #expect(workspace.reopened().firstLetters.count == 3)
    }
  }

  /// Which transactions have run.
  private final class Record: Sendable {
    let ran = Mutex<[Int32]>([])
    let order = Mutex<[Int]>([])
  }

  @Test(
    "Whenever writes are cancelled, the others run in order, and every write ends",
    arguments: TestEngine.all)
  func randomly(engine: TestEngine) async throws {
    for round in 0..<(isLongRun ? 200 : 12) {
      try await onOwnThreads(engine) { workspace in
        var random = SeededGenerator(seed: UInt64(round))
        let dflat = workspace.dflat
        let executor = TaskQueue()
        let record = Record()
        let count = 60
        let hold = await Hold(dflat, [Note.self])
        var tasks: [(task: Task<Bool, any Error>, isCancelled: Bool)] = []
        let hasCalled = DispatchSemaphore(value: 0)
        for number in 0..<count {
          let isBoth = Bool.random(using: &random)
          if Int.random(in: 0..<4, using: &random) == 0 {
            dflat.performChanges(
              [Post.self], changesHandler: { _ in record.order.withLock { $0.append(number) } },
              completionHandler: nil)
            continue
          }
          let isCancelled = Bool.random(using: &random)
          let new = post(Int32(number))
          let task = Task(executorPreference: executor) {
            hasCalled.signal()
            if isBoth {
              try await dflat.write(Post.self, Note.self) { txn in
                try txn.insert(new)
                record.ran.withLock { $0.append(new.number) }
              }
            } else {
              try await dflat.write(Post.self) { txn in
                try txn.insert(new)
                record.ran.withLock { $0.append(new.number) }
              }
            }
            return true
          }
          tasks.append((task, isCancelled))
          try await beyondTasks { hasCalled.waitForTurn() }
          if isCancelled, Bool.random(using: &random) { task.cancel() }
        }
        hold.letGo()
        for (task, isCancelled) in tasks where isCancelled { task.cancel() }
        var committed = 0
        for (task, isCancelled) in tasks {
          do { committed += try await task.value ? 1 : 0 } catch {
            #expect(error is CancellationError && isCancelled, "seed \(round): \(error)")
          }
        }
        try workspace.write([Post.self]) { _ in }
        #expect(workspace.posts.all().count == committed, "seed \(round)")
        let second = workspace.reopened()
        #expect(second.posts.all().count == committed, "seed \(round)")
        withExtendedLifetime(second) {}
        await dflat.shutdown()
        #expect(record.order.withLock { $0 == $0.sorted() }, "seed \(round)")
        #expect(committed <= record.ran.withLock { $0.count }, "seed \(round)")
      }
    }
  }
}
