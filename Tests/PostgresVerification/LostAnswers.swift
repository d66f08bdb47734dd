// LostAnswers: commits whose answers are lost for longer than a workspace looks them up.
//
//  - Threads append numbers to texts, in several workspaces, which reach the server through a
//    proxy. It loses the answer to some commits, and then all look-ups for a while.
//  - In the end each number that was reported as committed is stored once, each that was refused is
//    not, and one of unknown outcome is stored at most once. No other error may come.

import Dflat
import DflatTestSupport
public import DflatVerification
import Dispatch
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport

/// A run in which answers are lost.
public final class LostAnswers: Sendable {
  private struct Counts {
    var committed: Set<Int> = []
    var refused: Set<Int> = []
    var unknown: Set<Int> = []
    /// Those of `performChanges`, to which the error hook does not say which one is meant.
    var failed: Set<Int> = []
    var reports = 0
    var violations: [Violation] = []
  }

  private static let keys: UInt64 = 4
  private let url: String
  private let proxy: ServerProxy
  private let counts = Mutex(Counts())
  private let number = Atomic<Int>(0)
  private let isOver = Atomic<Bool>(false)

  /// - Parameter url: The connection string of a server.
  public init(url: String, seed: UInt64) throws {
    self.url = url
    let losses = Losses(seed: seed)
    proxy = try ServerProxy(to: url) { Filter(losses) }
  }

  /// How many transactions there were.
  public var transactions: Int { number.load(ordering: .relaxed) }

  /// What became of them.
  public var summary: String {
    counts.withLock {
      "\($0.committed.count) transactions committed, \($0.unknown.count + $0.reports) of unknown "
        + "outcome, \($0.refused.count) refused"
    }
  }

  /// Runs for some seconds.
  public func violations(after seconds: Double) throws -> [Violation] {
    let workspaces = (0..<3).map { workspace($0) }
    let ended = DispatchSemaphore(value: 0)
    for dflat in workspaces {
      for call in 0..<2 {
        Thread { [self] in
          while !isOver.load(ordering: .acquiring) { append(in: dflat, queued: call == 1) }
          ended.signal()
        }.start()
      }
    }
    Thread.sleep(forTimeInterval: seconds)
    isOver.store(true, ordering: .releasing)
    for _ in 0..<(2 * workspaces.count) { ended.wait() }
    for dflat in workspaces { dflat.shutdown() }
    proxy.close()
    return try check()
  }

  private func workspace(_ number: Int) -> PostgresWorkspace {
    var configuration = PostgresWorkspace.Configuration()
    configuration.reconnectTimeout = .milliseconds(100)
    configuration.sharesCommits = number == 1
    configuration.writerLimit = number == 2 ? 2 : 1
    let dflat = PostgresWorkspace(proxy.url, configuration: configuration)
    dflat.errorHandler = { [weak self] error in self?.note(error) }
    return dflat
  }

  /// An error that no caller gets.
  private func note(_ error: any Error) {
    let cause = (error as? StorageError)?.cause
    counts.withLock { counts in
      if cause == .unknownOutcome { counts.reports += 1 }
      if ![.unknownOutcome, .conflict, .busy, .cannotOpen].contains(cause) {
        counts.violations.append(Violation(.unexpectedError, "\(error)"))
      }
    }
  }

  private func append(in dflat: PostgresWorkspace, queued: Bool) {
    let number = number.add(1, ordering: .relaxed).newValue
    let key = UInt64(number) % Self.keys
    if queued {
      let done = DispatchSemaphore(value: 0)
      dflat.performChanges(
        [Note.self],
        changesHandler: { txn in
          let old = dflat.fetch(for: Note.self).where(Note.key == key).first?.text
          let request = NoteChangeRequest.upsertRequest(
            Note(key: key, text: "\(old ?? "") \(number)"))
          do { try txn.submit(request) } catch { txn.abort() }
        },
        completionHandler: { [self] isCommitted in
          counts.withLock {
            _ = isCommitted ? $0.committed.insert(number) : $0.failed.insert(number)
          }
          done.signal()
        })
      done.wait()
      return
    }
    do {
      try dflat.write(Note.self) { txn in
        let old = try txn.fetch(for: Note.self).where(Note.key == key).first
        try txn.upsert(Note(key: key, text: "\(old?.text ?? "") \(number)"))
      }
      counts.withLock { _ = $0.committed.insert(number) }
    } catch {
      let cause = (error as? StorageError)?.cause
      counts.withLock { counts in
        if cause == .unknownOutcome {
          counts.unknown.insert(number)
        } else {
          counts.refused.insert(number)
          // While no look-up arrives, no transaction can begin.
          if ![.conflict, .busy, .cannotOpen].contains(cause) {
            counts.violations.append(Violation(.unexpectedError, "\(error)"))
          }
        }
      }
    }
  }

  private func check() throws -> [Violation] {
    var stored: [Int: Int] = [:]
    let plain = try PlainConnection(url)
    let dflat = PostgresWorkspace(url)
    for note in dflat.fetch(for: Note.self).all() {
      for word in (note.text ?? "").split(separator: " ") {
        stored[Int(word) ?? -1, default: 0] += 1
      }
    }
    dflat.shutdown()
    try plain.run("DROP SCHEMA dflat CASCADE")
    return counts.withLock { counts in
      var found = counts.violations
      func expect(_ isRight: Bool, _ kind: Violation.Kind, _ text: String) {
        if !isRight { found.append(Violation(kind, text)) }
      }
      for number in counts.committed {
        expect(stored[number] == 1, .lostWrite, "\(number) is stored \(stored[number] ?? 0) times")
      }
      for number in counts.refused {
        expect(stored[number] == nil, .unwrittenRead, "\(number) was refused, and is stored")
      }
      let others = counts.unknown.union(counts.failed)
      for number in others {
        expect(stored[number] ?? 0 <= 1, .lostUpdate, "\(number) is stored twice")
      }
      let late = counts.failed.filter { stored[$0] != nil }.count
      expect(
        late <= counts.reports, .completion,
        "\(late) transactions got false and are stored, and \(counts.reports) were reported")
      return found
    }
  }

  /// What the proxy loses.
  private final class Losses: Sendable {
    private let state: Mutex<(random: SeededGenerator, end: UInt64)>

    init(seed: UInt64) { state = Mutex((SeededGenerator(seed: seed), 0)) }

    /// Whether the answer to a commit is lost, and look-ups from then on for a while.
    func losesAnswer() -> Bool {
      state.withLock { state in
        guard MonotonicTime.now > state.end, state.random.oneIn(20) else { return false }
        state.end = MonotonicTime.now + 400_000_000
        return true
      }
    }

    var losesLookUps: Bool { state.withLock { MonotonicTime.now <= $0.end } }
  }

  private final class Filter: ProxyFilter {
    private let losses: Losses
    private let losesAnswer = Atomic<Bool>(false)

    init(_ losses: Losses) { self.losses = losses }

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      if message.statements?.contains("RETURNING seq") == true, losses.losesLookUps { return nil }
      if message.commit != nil, losses.losesAnswer() {
        losesAnswer.store(true, ordering: .releasing)
      }
      return message
    }

    func fromServer(_ message: ProxyMessage) -> ProxyMessage? {
      losesAnswer.load(ordering: .acquiring) ? nil : message
    }
  }
}
