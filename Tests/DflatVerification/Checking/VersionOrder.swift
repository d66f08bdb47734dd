// VersionOrder: the versions of each key in order, who wrote them, and who saw which.
//
// This is what both kinds of workload come to, and all that the dependency graph needs. Version 0 is the key before anybody wrote
// it; version n was written by `writers[n - 1]`. Transactions are named by their position in the history.

/// The versions of one key.
public struct KeyVersions: Sendable {
  /// The key.
  public let key: Key
  /// Who wrote version 1, 2, …; nil if no committed transaction did.
  public var writers: [Int?] = []
  /// Who saw which version.
  public var reads: [(reader: Int, version: Int)] = []
}

/// The versions of all keys, and what is wrong already before any order is looked for.
public struct VersionOrder: Sendable {
  /// Keys in order.
  public var keys: [KeyVersions] = []
  /// What no order could explain, as far as it is told.
  public private(set) var violations: [Violation] = []

  /// One of a kind explains the next thousand, and telling costs more than finding.
  private static let mostViolations = 100

  mutating func tell(_ kind: Violation.Kind, _ proof: @autoclosure () -> String) {
    if violations.count < Self.mostViolations { violations.append(Violation(kind, proof())) }
  }
}

extension History {
  /// A transaction in words: who, when, what.
  func describe(_ number: Int) -> String {
    let transaction = transactions[number]
    func time(_ moment: UInt64) -> String {
      "\(Int64(bitPattern: moment &- (transactions.first?.called ?? 0)) / 1000) µs"
    }
    let kind = transaction.spaces.map { "transaction over \($0)" } ?? "snapshot"
    let work = transaction.operations.map { operation in
      switch operation {
      case .read(let key, let value): "read \(key) = \(value.map(brief) ?? "nothing")"
      case .append(let key, let number): "append \(number) to \(key)"
      case .write(let key, let value): "write \(key) = \(value)"
      }
    }
    return "T\(number) (\(kind), client \(transaction.client), workspace \(transaction.workspace), "
      + "called \(time(transaction.called)), completed \(time(transaction.completed)), "
      + "\(transaction.outcome)): " + work.prefix(10).joined(separator: "; ")
      + (work.count > 10 ? "; and \(work.count - 10) more" : "")
  }

  private func brief(_ value: CellValue) -> String {
    if value.count <= 6 { return "\(value)" }
    let last = value.suffix(3).map(String.init).joined(separator: ", ")
    return "[\(value.count) numbers, …, \(last)]"
  }
}
