// CommitProxy: a server's socket that loses a COMMIT, or the answer to it.

import Dispatch
import Platform
import PostgresTestSupport

final class CommitProxy: Sendable {
  private let proxy: ServerProxy
  private let losses: Losses

  /// The connection string of the proxy.
  var url: String { proxy.url }

  /// The number of commits that did not end as usual.
  var lostCommits: Int { losses.lost.load(ordering: .relaxed) }

  /// The number of times that it was asked in vain what became of a commit.
  var lostLookUps: Int { losses.lostLookUps.load(ordering: .relaxed) }

  init() throws {
    let losses = Losses()
    self.losses = losses
    proxy = try ServerProxy { Filter(losses: losses) }
  }

  /// Loses the next commit. No transaction is open.
  func loseNextCommit(_ loss: FaultTests.Loss) { losses.next.withLock { $0 = loss } }

  /// From now on all look-ups arrive.
  func findLookUps() { losses.nextLookUps.withLock { $0 = 0 } }

  func close() { proxy.close() }

  /// What all connections share.
  private final class Losses: Sendable {
    let next = Mutex<FaultTests.Loss?>(nil)
    let lost = Atomic<Int>(0)
    /// How many of the next look-ups are lost.
    let nextLookUps = Mutex(0)
    let lostLookUps = Atomic<Int>(0)
    /// Signalled when a write transaction begins.
    let nextTransaction = DispatchSemaphore(value: 0)

    func losesLookUp() -> Bool {
      let isLost = nextLookUps.withLock { count in
        defer { count = max(0, count - 1) }
        return count > 0
      }
      if isLost { lostLookUps.add(1, ordering: .relaxed) }
      return isLost
    }
  }

  private final class Filter: ProxyFilter {
    private let losses: Losses
    private let prepared = PreparedTexts()
    private let losesAnswer = Atomic<Bool>(false)

    init(losses: Losses) {
      self.losses = losses
    }

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      if prepared.statement(runBy: message)?.hasPrefix("BEGIN ISOLATION LEVEL SERIALIZABLE") == true
      {
        losses.nextTransaction.signal()
      }
      if message.statements?.contains("RETURNING seq") == true, losses.losesLookUp() { return nil }
      guard message.commit != nil,
        let loss = losses.next.withLock({ $0.take() })
      else { return message }
      losses.lost.add(1, ordering: .relaxed)
      while losses.nextTransaction.wait(timeout: .now()) == .success {}
      switch loss {
      case .ofAnswer, .ofAnswerAndLookUps, .ofAnswerAndAllLookUps:
        if loss == .ofAnswerAndLookUps { losses.nextLookUps.withLock { $0 = 6 } }
        if loss == .ofAnswerAndAllLookUps { losses.nextLookUps.withLock { $0 = .max } }
        losesAnswer.store(true, ordering: .releasing)
        return message
      case .ofStatement: return nil
      case .delay:
        // The client learns of the end of the connection; the server gets the statement when the
        // client has gone on.
        connection.loseClient()
        let hasGoneOn = losses.nextTransaction.wait(timeout: .now() + .seconds(60)) == .success
        return hasGoneOn ? message : nil
      }
    }

    func fromServer(_ message: ProxyMessage) -> ProxyMessage? {
      losesAnswer.load(ordering: .acquiring) ? nil : message
    }
  }
}
