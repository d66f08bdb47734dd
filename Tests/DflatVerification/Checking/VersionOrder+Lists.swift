// Lists: every append has a unique number, so a list that was read shows all versions of its key so
// far, in order.
//
// The longest list read from a key is the order; every other one must be a prefix of it. The work
// is linear in the amount of data read.

extension VersionOrder {
  /// The versions of the keys of a history in which keys are only appended to.
  ///
  /// - Parameter history: It must end with reads of all keys after everything else had completed: a
  ///   write missing there is lost.
  public init(lists history: History) {
    var longest: [Key: CellValue] = [:]
    var writers: [Key: [Int64: Int]] = [:]
    for (number, transaction) in history.transactions.enumerated() {
      for operation in transaction.operations {
        switch operation {
        case .read(let key, let value):
          guard transaction.outcome == .committed else { continue }
          if let value, value.count >= longest[key]?.count ?? 0 { longest[key] = value }
        case .append(let key, let value):
          if writers[key, default: [:]].updateValue(number, forKey: value) != nil {
            preconditionFailure("the workload appends \(value) to \(key) twice")
          }
        case .write: preconditionFailure("a workload of lists writes no registers")
        case .observe: continue
        }
      }
    }
    self.init()
    var positions: [Key: Int] = [:]
    for (key, written) in writers.sorted(by: { $0.key < $1.key }) {
      positions[key] = keys.count
      keys.append(KeyVersions(key: key))
      order(key, longest[key] ?? [], written, history)
    }
    for (number, transaction) in history.transactions.enumerated()
    where transaction.outcome == .committed {
      addReads(of: number, transaction, history, longest, positions)
    }
  }

  /// The writers of the last key's versions.
  private mutating func order(
    _ key: Key, _ list: CellValue, _ written: [Int64: Int], _ history: History
  ) {
    var seen: Set<Int64> = []
    for value in list {
      guard let writer = written[value] else {
        tell(.unwrittenRead, "\(key) holds \(value), which was never written")
        keys[keys.count - 1].writers.append(nil)
        continue
      }
      if !seen.insert(value).inserted {
        tell(
          .incompatibleReads, "\(key) holds \(value) twice\n  " + history.describe(writer))
      }
      if history.transactions[writer].outcome != .committed {
        tell(
          .abortedRead,
          "\(key) holds \(value) of a transaction that was not committed\n  "
            + history.describe(writer))
      }
      let isCommitted = history.transactions[writer].outcome == .committed
      keys[keys.count - 1].writers.append(isCommitted ? writer : nil)
    }
    for (value, writer) in written.sorted(by: { $0.key < $1.key })
    where !seen.contains(value) && history.transactions[writer].outcome == .committed {
      tell(
        .lostWrite, "\(key) has not \(value), which was committed\n  " + history.describe(writer))
    }
  }

  private mutating func addReads(
    of number: Int, _ transaction: TransactionRecord, _ history: History,
    _ longest: [Key: CellValue], _ positions: [Key: Int]
  ) {
    var own: [Key: [Int64]] = [:]
    for operation in transaction.operations {
      switch operation {
      case .append(let key, let value): own[key, default: []].append(value)
      case .write, .observe: continue
      case .read(let key, let value):
        let value = value ?? []
        let mine = own[key] ?? []
        guard value.suffix(mine.count).elementsEqual(mine) else {
          tell(
            .ownWrite,
            "a read of \(key) does not end with what the transaction itself appended\n  "
              + history.describe(number))
          continue
        }
        if !value.elementsEqual((longest[key] ?? []).prefix(value.count)) {
          tell(
            .incompatibleReads,
            "\(key) was read as \(value), which is no beginning of \(longest[key] ?? [])\n  "
              + history.describe(number))
          continue
        }
        guard let position = positions[key] else { continue }
        keys[position].reads.append((number, value.count - mine.count))
      }
    }
  }
}
