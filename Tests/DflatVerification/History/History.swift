// History: the transactions of a run, by all clients.
//
// Processes pass on theirs as a file of numbers.

public import Foundation

/// What all clients of a run observed.
public struct History: Sendable {
  /// The transactions, in no particular order.
  public var transactions: [TransactionRecord]
  /// Errors outside transactions: unexpected errors, and transactions that never completed.
  public var complaints: [String] = []

  /// Creates a history of some transactions.
  public init(_ transactions: [TransactionRecord] = []) {
    self.transactions = transactions
  }

  /// Adds another history.
  public mutating func merge(_ other: History) {
    transactions += other.transactions
    complaints += other.complaints
  }
}

/// The file is not a history.
public struct UnreadableHistory: Error {}

extension History {
  /// All transactions, without the complaints, as bytes for another process on this machine.
  public func encoded() -> Data {
    var numbers: [Int64] = []
    for transaction in transactions {
      numbers += [
        Int64(transaction.client), Int64(transaction.workspace), transaction.outcome.rawValue,
        Int64(transaction.called), Int64(transaction.returned), Int64(transaction.began),
        Int64(transaction.ended), Int64(transaction.completed),
        Int64(transaction.spaces?.count ?? -1),
      ]
      numbers += (transaction.spaces ?? []).map(Int64.init)
      numbers.append(Int64(transaction.operations.count))
      for operation in transaction.operations {
        switch operation {
        case .read(let key, let value):
          numbers += [0, Int64(key.space), key.number, Int64(value?.count ?? -1)]
          numbers += value ?? []
        case .append(let key, let number):
          numbers += [1, Int64(key.space), key.number, number]
        case .write(let key, let value):
          numbers += [2, Int64(key.space), key.number, Int64(value.count)]
          numbers += value
        case .observe(let family, let value):
          numbers += [3, 0, family, Int64(value.count)]
          numbers += value
        }
      }
    }
    return numbers.withUnsafeBytes { Data($0) }
  }

  /// Decodes the result of `encoded`.
  public init(encoded data: Data) throws {
    var numbers = [Int64](repeating: 0, count: data.count / 8)
    _ = numbers.withUnsafeMutableBytes { data.copyBytes(to: $0) }
    var rest = numbers[...]
    func next() throws -> Int64 {
      guard let number = rest.popFirst() else { throw UnreadableHistory() }
      return number
    }
    func list(_ count: Int64) throws -> [Int64]? {
      if count < 0 { return nil }
      guard count <= rest.count else { throw UnreadableHistory() }
      defer { rest = rest.dropFirst(Int(count)) }
      return Array(rest.prefix(Int(count)))
    }
    transactions = []
    while !rest.isEmpty {
      let client = try Int(next())
      let workspace = try Int(next())
      let outcome = try Outcome(rawValue: next())
      let times = try (0..<5).map { _ in UInt64(try next()) }
      let spaces = try list(next())?.map { Int($0) }
      let record = TransactionRecord(client: client, workspace: workspace, spaces: spaces)
      guard let outcome else { throw UnreadableHistory() }
      record.outcome = outcome
      (record.called, record.returned, record.completed) = (times[0], times[1], times[4])
      (record.began, record.ended) = (times[2], times[3])
      for _ in 0..<(try next()) {
        let kind = try next()
        let key = try Key(Int(next()), next())
        switch kind {
        case 0: record.operations.append(.read(key, try list(next())))
        case 1: record.operations.append(.append(key, try next()))
        case 2: record.operations.append(.write(key, try list(next()) ?? []))
        case 3:
          record.operations.append(.observe(family: key.number, try list(next()) ?? []))
        default: throw UnreadableHistory()
        }
      }
      transactions.append(record)
    }
  }
}
