// VersionOrder: the versions of each key in order, with their writers and readers.
//
// Both kinds of workload are reduced to this; it is all that the dependency graph needs. Version 0
// is the key before any write; version n was written by `writers[n - 1]`. Transactions are
// identified by their position in the history.

/// The versions of one key.
public struct KeyVersions: Sendable {
  /// The key.
  public let key: Key
  /// The writers of version 1, 2, …; nil if it was not a committed transaction.
  public var writers: [Int?] = []
  /// The readers of each version.
  public var reads: [(reader: Int, version: Int)] = []
}

/// The versions of all keys, and the violations found before looking for an order.
public struct VersionOrder: Sendable {
  /// Keys in order.
  public var keys: [KeyVersions] = []
  /// Violations that no order could explain, up to a limit.
  public private(set) var violations: [Violation] = []

  /// One violation of a kind represents the next thousand, and describing them costs more than
  /// finding them.
  private static let mostViolations = 100

  mutating func tell(_ kind: Violation.Kind, _ proof: @autoclosure () -> String) {
    if violations.count < Self.mostViolations { violations.append(Violation(kind, proof())) }
  }
}

extension History {
  /// Describes a transaction: its client, time and accesses.
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
      case .observe(let family, let value): "saw family \(family) = \(brief(value))"
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
