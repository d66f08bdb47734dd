// Ledger: transactions that depend only on their number, so that a counter in a file shows which
// ones it contains.
//
// There are two streams, each over two types of its own. Transaction n of a stream inserts, updates
// and removes some cells of both types and sets the stream's counter to n; some abort after having
// done so. The state after any of them can be computed, and a file must contain exactly the states
// of its two counters.

import Dflat
import DflatTestSupport
public import SQLiteDflat

/// The transactions for a seed.
public struct Ledger: Sendable {
  /// How many streams there are.
  public static let streams = 2

  /// The cells of the file.
  public typealias State = [Key: Content]

  /// The content of a cell.
  public struct Content: Equatable, Sendable {
    /// The list.
    public let values: [Int64]
    /// A label that is unique among the cells of the type.
    public let label: String?
  }

  private enum Change {
    case put(Key, Content)
    case remove(Key)
  }

  private let seed: UInt64
  private let changesPerTransaction: ClosedRange<Int>
  private let valuesPerCell: Int

  /// - Parameters:
  ///   - seed: The seed of the contents.
  ///   - changesPerTransaction: How many cells each transaction changes.
  ///   - valuesPerCell: How long lists are at most.
  public init(
    seed: UInt64, changesPerTransaction: ClosedRange<Int> = 1...6, valuesPerCell: Int = 20
  ) {
    self.seed = seed
    self.changesPerTransaction = changesPerTransaction
    self.valuesPerCell = valuesPerCell
  }

  /// The spaces of a stream.
  public static func spaces(of stream: Int) -> [Int] { [stream, stream + 2] }

  private static func counter(of stream: Int) -> Key { Key(stream, -1) }

  private func random(_ stream: Int, _ number: Int) -> SeededGenerator {
    var random = SeededGenerator(
      seed: seed ^ UInt64(number) &* 0xA076_1D64_78BD_642F ^ UInt64(stream) << 60)
    _ = random.next()
    return random
  }

  /// Whether a transaction aborts.
  public func aborts(_ stream: Int, _ number: Int) -> Bool {
    var random = random(stream, number)
    return random.oneIn(10)
  }

  private func changes(_ stream: Int, _ number: Int) -> [Change] {
    var random = random(stream, number)
    _ = random.oneIn(10)
    var changes: [Change] = []
    for index in 0..<Int.random(in: changesPerTransaction, using: &random) {
      let key = Key(
        random.pick(Self.spaces(of: stream)), Int64.random(in: 0..<60, using: &random))
      if random.oneIn(4) {
        changes.append(.remove(key))
      } else {
        let count = Int.random(in: 0...valuesPerCell, using: &random)
        let values = (0..<count).map { _ in Int64(bitPattern: random.next()) }
        let label = random.oneIn(5) ? nil : "\(key) \(number) \(index)"
        changes.append(.put(key, Content(values: values, label: label)))
      }
    }
    let counter = Content(values: [Int64(number)], label: nil)
    changes.append(.put(Self.counter(of: stream), counter))
    return changes
  }

  // MARK: The model

  /// The state after a transaction.
  public func apply(_ stream: Int, _ number: Int, to state: inout State) {
    if aborts(stream, number) { return }
    for change in changes(stream, number) {
      switch change {
      case .put(let key, let content): state[key] = content
      case .remove(let key): state[key] = nil
      }
    }
  }

  // MARK: The workspace

  /// Runs a transaction.
  public func perform(
    _ stream: Int, _ number: Int, on dflat: any Workspace,
    _ completion: @escaping @Sendable (Bool) -> Void
  ) {
    dflat.performChanges(
      Self.spaces(of: stream).map { cellTypes[$0] },
      changesHandler: { txn in
        do {
          for change in changes(stream, number) {
            switch change {
            case .put(let key, let content): try cellTypes[key.space].put(key, content, txn)
            case .remove(let key): try cellTypes[key.space].remove(key, txn)
            }
          }
          if aborts(stream, number) { txn.abort() }
        } catch {
          txn.abort()
        }
      }, completionHandler: completion)
  }

  /// The content of a workspace, in one snapshot.
  public static func state(of dflat: any Workspace) -> State {
    dflat.fetchWithinASnapshot {
      cellTypes.enumerated().reduce(into: [:]) {
        $1.element.read(into: &$0, space: $1.offset, dflat)
      }
    }
  }

  /// The number of the last transaction of a stream in a state; 0 if there is none.
  public static func last(_ stream: Int, in state: State) -> Int {
    Int(state[counter(of: stream)]?.values.first ?? 0)
  }

  /// The parts of a state that a stream writes.
  public static func part(_ stream: Int, of state: State) -> State {
    state.filter { spaces(of: stream).contains($0.key.space) }
  }

  /// Describes how a state differs from the expected one; nil if it does not.
  public static func difference(_ found: State, from expected: State) -> String? {
    let keys = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }.sorted()
    guard let first = keys.first else { return nil }
    func words(_ content: Content?) -> String {
      content.map { "\($0.label ?? "no label") with \($0.values.prefix(3))" } ?? "nothing"
    }
    return "\(keys.count) cells differ, \(first) is \(words(found[first])) "
      + "and should be \(words(expected[first]))"
  }
}

extension Cell {
  fileprivate static func put(
    _ key: Key, _ content: Ledger.Content, _ txn: any TransactionContext
  ) throws {
    try txn.submit(
      Request.upsertRequest(object(key, content.values, label: content.label)))
  }

  fileprivate static func remove(_ key: Key, _ txn: any TransactionContext) throws {
    if let request = Request.deletionRequest(object(key, [])) { try txn.submit(request) }
  }

  fileprivate static func read(into state: inout Ledger.State, space: Int, _ dflat: any Workspace) {
    for cell in dflat.fetch(for: Self.self).all() {
      state[Key(space, cell.key)] = Ledger.Content(values: cell.values, label: cell.label)
    }
  }
}
