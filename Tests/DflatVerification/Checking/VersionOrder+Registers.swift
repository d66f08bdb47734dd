// Registers: every version has a unique number, its last one, and a writer has read the version
// that it replaces.
//
// So each version names its predecessor, and the versions of a key form a chain. A key that is
// written without being read is written once. If two committed versions name the same predecessor,
// an update was lost.

extension VersionOrder {
  private struct Version {
    let number: Int64
    let previous: Int64
    let writer: Int
  }

  /// The versions of the keys of a history in which keys are read and replaced. Number 0 stands for
  /// a key that was never written.
  public init(registers history: History) {
    self.init()
    var versions: [Key: [Version]] = [:]
    var refused: [Int64: Int] = [:]
    var intermediate: [Int64: Int] = [:]
    var reads: [Key: [(reader: Int, version: Int64)]] = [:]

    for (number, transaction) in history.transactions.enumerated() {
      let isCommitted = transaction.outcome == .committed
      var seen: [Key: Int64] = [:]
      var written: [Key: CellValue] = [:]
      for operation in transaction.operations {
        switch operation {
        case .append: preconditionFailure("a workload of registers appends nothing")
        case .observe: continue
        case .write(let key, let value):
          if let replaced = written.updateValue(value, forKey: key) {
            intermediate[replaced.last ?? 0] = number
          }
        case .read(let key, let value):
          guard isCommitted else { continue }
          if let mine = written[key] {
            if mine != value {
              tell(
                .ownWrite, "\(key) was read as \(value ?? [])\n  " + history.describe(number))
            }
            continue
          }
          let version = value?.last ?? 0
          if let before = seen.updateValue(version, forKey: key), before != version {
            tell(
              .incompatibleReads,
              "two versions of \(key) were read in one transaction\n  "
                + history.describe(number))
          }
          reads[key, default: []].append((number, version))
        }
      }
      for (key, value) in written {
        let version = value.last ?? 0
        if isCommitted {
          versions[key, default: []].append(
            Version(number: version, previous: seen[key] ?? 0, writer: number))
        } else {
          refused[version] = number
        }
      }
    }

    for key in Set(versions.keys).union(reads.keys).sorted() {
      keys.append(KeyVersions(key: key))
      let order = chain(key, versions[key] ?? [], history)
      let beyondForks = Set((versions[key] ?? []).map(\.number)).subtracting(order.keys)
      for (reader, version) in reads[key] ?? [] {
        if let position = order[version] {
          keys[keys.count - 1].reads.append((reader, position))
        } else if !beyondForks.contains(version) {
          let (kind, writer): (Violation.Kind, Int?) =
            if let writer = refused[version] {
              (.abortedRead, writer)
            } else if let writer = intermediate[version] {
              (.intermediateRead, writer)
            } else {
              (.unwrittenRead, nil)
            }
          tell(
            kind,
            ([reader] + [writer].compactMap { $0 }).reduce("\(key) was read as \(version)") {
              $0 + "\n  " + history.describe($1)
            })
        }
      }
    }
  }

  /// Puts the versions of the last key in order.
  /// - Returns: The position of each version; 0 is the key before any write.
  private mutating func chain(
    _ key: Key, _ versions: [Version], _ history: History
  ) -> [Int64: Int] {
    var following: [Int64: Version] = [:]
    for version in versions {
      guard let other = following.updateValue(version, forKey: version.previous) else { continue }
      tell(
        .lostUpdate,
        "version \(version.previous) of \(key) was replaced twice\n  "
          + history.describe(other.writer) + "\n  " + history.describe(version.writer))
    }
    var order: [Int64: Int] = [0: 0]
    var last: Int64 = 0
    while let next = following[last], order[next.number] == nil {
      keys[keys.count - 1].writers.append(next.writer)
      order[next.number] = keys[keys.count - 1].writers.count
      last = next.number
    }
    return order
  }
}
