// FailingServer: a server with a standby, which fails again and again while programs use it.

import DflatTestSupport
import Dispatch
import Foundation
import Platform
public import PostgresTestSupport

/// A server that crashes, and whose standby takes over, while a run goes on.
public final class FailingServer: Sendable {
  /// How often it has failed.
  public struct Counts: Sendable {
    /// Crashes of the server that could write, which then started again.
    public var crashes = 0
    /// How many of them ended its first process without a chance to end the others.
    public var kills = 0
    /// Crashes of the standby, which then started again.
    public var standbyCrashes = 0
    /// Crashes after which the standby took over.
    public var failovers = 0
    /// How often the standby took over, and the old primary came back.
    public var returns = 0
  }

  /// What may still happen during a run.
  public struct Plan: Sendable {
    /// Crashes, of one of the two servers.
    public var crashes: Int
    /// Failovers.
    public var failovers: Int
    /// Failovers after which the old primary comes back for a while.
    public var returns: Int

    /// Some crashes and failovers.
    public init(crashes: Int, failovers: Int, returns: Int = 0) {
      self.crashes = crashes
      self.failovers = failovers
      self.returns = returns
    }

    var isDone: Bool { crashes <= 0 && failovers <= 0 && returns <= 0 }
  }

  /// The server and its standby.
  public let cluster: ReplicatedCluster
  private let total = Mutex(Counts())
  private let random: Mutex<SeededGenerator>

  /// Starts both servers.
  public init(seed: UInt64) throws {
    cluster = try ReplicatedCluster()
    random = Mutex(SeededGenerator(seed: seed))
  }

  /// How often it has failed so far.
  public var counts: Counts { total.withLock { $0 } }

  /// Runs `body` while the server fails.
  /// - Parameter plan: What happens at most; the order is random.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of `body`, and of a server that does not start again.
  public func failing<R>(_ plan: Plan, during body: () throws -> R) throws -> R {
    let course = Course()
    let ended = DispatchSemaphore(value: 0)
    Thread { [self] in
      do { try fail(plan) { course.isStopped.load(ordering: .acquiring) } } catch {
        course.failure.withLock { $0 = error }
      }
      ended.signal()
    }.start()
    let result = Result { try body() }
    course.isStopped.store(true, ordering: .releasing)
    ended.wait()
    if let error = course.failure.withLock({ $0 }) { throw error }
    return try result.get()
  }

  /// What `failing` shares with the thread on which the server fails.
  private final class Course: Sendable {
    let isStopped = Atomic<Bool>(false)
    let failure = Mutex<(any Error)?>(nil)
  }

  private func fail(_ plan: Plan, until isStopped: () -> Bool) throws {
    var plan = plan
    while !plan.isDone, try awaitServer(isStopped) {
      let pause = random.withLock { Int.random(in: 0...600, using: &$0) }
      let deadline = ContinuousClock.now + .milliseconds(pause)
      while ContinuousClock.now < deadline, !isStopped() { usleep(2000) }
      if isStopped() { return }
      let kind = random.withLock { random in
        Int.random(in: 0..<max(1, plan.crashes + plan.failovers + plan.returns), using: &random)
      }
      if kind < plan.failovers {
        plan.failovers -= 1
        try cluster.failOver()
        total.withLock { $0.failovers += 1 }
        try cluster.restoreStandby()
      } else if kind < plan.failovers + plan.returns {
        plan.returns -= 1
        try cluster.failOver {
          let deadline = ContinuousClock.now + .seconds(3)
          while ContinuousClock.now < deadline, !isStopped() { usleep(20_000) }
        }
        total.withLock { $0.returns += 1 }
        try cluster.restoreStandby()
      } else {
        plan.crashes -= 1
        crash()
      }
    }
  }

  private func crash() {
    let (isStandby, isKill) = random.withLock { ($0.oneIn(12), $0.oneIn(2)) }
    if isStandby {
      if cluster.crashStandby(SIGQUIT) { total.withLock { $0.standbyCrashes += 1 } }
    } else if cluster.crash(isKill ? SIGKILL : SIGQUIT) {
      total.withLock {
        $0.crashes += 1
        if isKill { $0.kills += 1 }
      }
    }
  }

  /// Returns when a server can write; false if the run has ended before.
  private func awaitServer(_ isStopped: () -> Bool) throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while !isStopped() {
      if (try? PlainConnection(cluster.url)) != nil { return true }
      if ContinuousClock.now > deadline { throw ServerDown() }
      usleep(10_000)
    }
    return false
  }
}

/// The server has crashed, and does not start again.
struct ServerDown: Error {}
