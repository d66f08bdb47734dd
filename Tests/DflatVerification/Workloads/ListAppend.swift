// List-append: lists that grow and are read. A read shows the order of all appends so far, so this
// workload finds most.

import DflatTestSupport

/// Appends and reads over a few lists at a time; long lists are replaced by new ones.
public struct ListAppend: Workload {
  /// `list-append`.
  public let name = "list-append"
  /// Lists.
  public let keyUse = KeyUse.lists
  private let spaces: Int

  /// Creates the workload over this many spaces.
  public init(spaces: Int) {
    self.spaces = spaces
  }

  /// Reads and appends one to four times, in a transaction or as a snapshot; some transactions
  /// abort.
  public func step(_ client: inout Client) -> Step {
    // A pair of groups serves 16 steps of each client.
    let base = Int64(client.position / 16) * 2
    if client.random.oneIn(5) {
      let keys = (0..<Int.random(in: 1...4, using: &client.random)).map { _ in
        key(0..<self.spaces, base, &client)
      }
      let group = client.random.oneIn(3) ? base : nil
      return .snapshot { reader in
        for key in keys { try reader.read(key) }
        if let group { try reader.read(group: group, in: keys[0].space) }
      }
    }
    let spaces = client.someSpaces(of: spaces, atMost: 3)
    var work: [Work] = (0..<Int.random(in: 1...4, using: &client.random)).map { _ in
      let key = key(spaces, base, &client)
      switch Int.random(in: 0..<10, using: &client.random) {
      case 0: return .readGroup(key.group, key.space)
      case 1...4: return .read(key)
      default: return .append(key, client.newNumber())
      }
    }
    if client.random.oneIn(20) { work.append(.abort) }
    return .transaction(spaces: spaces) { [work] access in
      for work in work { try work.run(access) }
    }
  }

  private func key<S: Collection<Int>>(_ spaces: S, _ base: Int64, _ client: inout Client) -> Key {
    Key(client.random.pick(spaces), base * 4 + Int64.random(in: 0..<6, using: &client.random))
  }

  private enum Work {
    case read(Key)
    case readGroup(Int64, Int)
    case append(Key, Int64)
    case abort

    func run(_ access: RecordedAccess) throws {
      switch self {
      case .read(let key): try access.read(key)
      case .readGroup(let group, let space): try access.read(group: group, in: space)
      case .append(let key, let number): try access.append(key, number)
      case .abort: throw WantsAbort()
      }
    }
  }
}
