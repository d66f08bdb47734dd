// Workload: the clients' operations, and the invariants that must hold besides the order of
// transactions.

public import DflatTestSupport

/// One operation of a client.
public enum Step: Sendable {
  /// A transaction over spaces. If its body throws, it is rolled back.
  case transaction(spaces: [Int], body: @Sendable (RecordedAccess) throws -> Void)
  /// A snapshot.
  case snapshot(body: @Sendable (RecordedReader) throws -> Void)
  /// Keys that are read one by one, each individually.
  case lookUps([Key])
}

/// A client that generates its steps.
public struct Client: Sendable {
  /// Its number, unique among all processes, from 0.
  public let number: Int
  /// The number of steps so far.
  public internal(set) var position = 0
  /// Its random numbers.
  public var random: SeededGenerator
  private var issued: Int64 = 0

  init(number: Int, seed: UInt64) {
    self.number = number
    random = SeededGenerator(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
  }

  /// A number that no other client uses and that this one never used: it identifies versions.
  public mutating func newNumber() -> Int64 {
    issued += 1
    return Int64(number + 1) << 32 | issued
  }

  /// Some of the spaces, at least one, in any order, sometimes with a duplicate.
  mutating func someSpaces(of count: Int, atMost most: Int) -> [Int] {
    var spaces = Array(0..<count).shuffled(using: &random)
    spaces.removeLast(count - Int.random(in: 1...min(most, count), using: &random))
    if random.oneIn(8) { spaces.append(spaces[0]) }
    return spaces
  }
}

/// A usage pattern that has to stay consistent.
public protocol Workload: Sendable {
  /// Its name on the command line.
  var name: String { get }
  /// How it uses keys.
  var keyUse: KeyUse { get }
  /// The initial writes before the clients begin; nil if there are none.
  func setUp(_ client: inout Client) -> Step?
  /// The next step of a client.
  func step(_ client: inout Client) -> Step
  /// Every key that may have been written, for the final reads.
  func keys(after history: History) -> [Key]
  /// The violations of the workload's own invariants.
  func invariantViolations(_ history: History) -> [Violation]
}

extension Workload {
  /// Nothing.
  public func setUp(_ client: inout Client) -> Step? { nil }

  /// The keys that appear in the history.
  public func keys(after history: History) -> [Key] {
    var keys: Set<Key> = []
    for transaction in history.transactions {
      for operation in transaction.operations {
        switch operation {
        case .read(let key, _), .append(let key, _), .write(let key, _): keys.insert(key)
        case .observe: continue
        }
      }
    }
    return keys.sorted()
  }

  /// None.
  public func invariantViolations(_ history: History) -> [Violation] { [] }
}

/// All workloads for stores with this number of spaces.
public func allWorkloads(spaces: Int) -> [any Workload] {
  [
    ListAppend(spaces: spaces), Register(spaces: spaces), Bank(spaces: spaces),
    Ring(spaces: spaces), LongFork(spaces: spaces), Families(spaces: spaces),
  ]
}
