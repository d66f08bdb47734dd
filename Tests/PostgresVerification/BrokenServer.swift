// BrokenServer: a proxy that loses commits, and can break what the engine relies on.
//
// With a defect, the engine behaves as if it were written wrong in a known way; the verification
// has to notice that. The defects exist only here: the proxy rewrites what the engine and the
// server tell each other. Without a defect, the proxy loses commits and their answers, which the
// engine has to cope with.

import DflatTestSupport
import Platform
import PostgresTestSupport

/// A way in which an engine could be wrong.
public enum ServerDefect: String, CaseIterable, Sendable {
  /// Transactions are READ COMMITTED.
  case readCommitted
  /// Transactions are REPEATABLE READ: each sees one state, and write skew is possible.
  case repeatableRead
  /// A commit whose answer was lost is taken for done.
  case guessesCommitted
  /// A commit whose answer was lost is taken for not done.
  case guessesLost
  /// A transaction that was refused because of others does not run again.
  case neverRunsAgain
}

/// A proxy to a server.
public final class BrokenServer: Sendable {
  private let proxy: ServerProxy
  private let losses: Losses

  /// The connection string of the proxy.
  public var url: String { proxy.url }

  /// How many commits, or their answers, were lost.
  public var lostCommits: Int { losses.lost.load(ordering: .relaxed) }

  /// - Parameters:
  ///   - url: The connection string of the server.
  ///   - defect: What is broken; nil for nothing.
  ///   - seed: The seed of what is lost.
  ///   - commitsPerLoss: One of so many commits is lost, or its answer, and the first one; nil for
  ///     none.
  public init(
    before url: String? = nil, _ defect: ServerDefect?, seed: UInt64, commitsPerLoss: Int?
  ) throws {
    let losses = Losses(seed: seed, commitsPerLoss: commitsPerLoss)
    self.losses = losses
    proxy = try ServerProxy(to: url) { Filter(defect: defect, losses: losses) }
  }

  /// Refuses new connections.
  public func close() { proxy.close() }

  /// What all connections share.
  private final class Losses: Sendable {
    let lost = Atomic<Int>(0)
    /// The number of the last transaction of each row of the ledger that tried to commit.
    let numbers = Mutex<[String: String]>([:])
    private let random: Mutex<(generator: SeededGenerator, isFirst: Bool)>
    private let commitsPerLoss: Int?

    init(seed: UInt64, commitsPerLoss: Int?) {
      random = Mutex((SeededGenerator(seed: seed), true))
      self.commitsPerLoss = commitsPerLoss
    }

    /// Whether a commit is lost, and whether it arrives before its answer is. The first one always
    /// is.
    func next() -> (isLost: Bool, arrives: Bool) {
      guard let commitsPerLoss else { return (false, true) }
      return random.withLock { random in
        defer { random.isFirst = false }
        return (
          random.generator.oneIn(commitsPerLoss) || random.isFirst, random.generator.oneIn(2)
        )
      }
    }
  }

  private final class Filter: ProxyFilter {
    private let defect: ServerDefect?
    private let losses: Losses
    private let losesAnswer = Atomic<Bool>(false)

    init(defect: ServerDefect?, losses: Losses) {
      self.defect = defect
      self.losses = losses
    }

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      if var statement = message.preparation?.statement {
        rewrite(&statement)
        return message.preparing(statement)
      }
      guard var statements = message.statements else { return message }
      if let commit = message.commit {
        losses.numbers.withLock { $0[commit.row] = "\(commit.number)" }
        let (isLost, arrives) = losses.next()
        if isLost {
          losses.lost.add(1, ordering: .relaxed)
          if !arrives { return nil }
          losesAnswer.store(true, ordering: .releasing)
        }
      }
      rewrite(&statements)
      var message = message
      message.statements = statements
      return message
    }

    private func rewrite(_ statements: inout String) {
      switch defect {
      case .readCommitted: isolate("READ COMMITTED", &statements)
      case .repeatableRead: isolate("REPEATABLE READ", &statements)
      case .guessesLost: statements.replace("RETURNING seq", with: "RETURNING -1")
      case .guessesCommitted:
        let fence = /VALUES \('([^']*)', 0, 1\) ON CONFLICT \(workspace\) DO UPDATE SET fence/
        if let row = statements.firstMatch(of: fence)?.1,
          let number = losses.numbers.withLock({ $0[String(row)] })
        {
          statements.replace("RETURNING seq", with: "RETURNING \(number)")
        }
      case .neverRunsAgain, nil: break
      }
    }

    private func isolate(_ level: String, _ statements: inout String) {
      statements.replace("ISOLATION LEVEL SERIALIZABLE", with: "ISOLATION LEVEL \(level)")
      statements.replace("ELSE 'serializable'", with: "ELSE '\(level.lowercased())'")
    }

    func fromServer(_ message: ProxyMessage) -> ProxyMessage? {
      if losesAnswer.load(ordering: .acquiring) { return nil }
      guard defect == .neverRunsAgain, message.type == UInt8(ascii: "E") else { return message }
      // The engine does not know this error.
      var message = message
      for code in ["C40001", "C40P01", "C23505"] {
        message.body.replace(Array(code.utf8) + [0], with: Array("CXX999".utf8) + [0])
      }
      return message
    }
  }
}
