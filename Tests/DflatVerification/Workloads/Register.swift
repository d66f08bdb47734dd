// Register: values that are read and replaced, sometimes depending on the value of another one.

import DflatTestSupport

/// A few registers that every client reads and replaces.
public struct Register: Workload {
  /// `register`.
  public let name = "register"
  /// Registers.
  public let keyUse = KeyUse.registers
  private let spaces: Int
  private let count: Int64 = 12

  /// Creates the workload over this many spaces.
  public init(spaces: Int) {
    self.spaces = spaces
  }

  /// Reads some registers and replaces some of them, not always those that were read first.
  public func step(_ client: inout Client) -> Step {
    let spaces = client.someSpaces(of: spaces, atMost: 3)
    let keys = (0..<Int.random(in: 1...3, using: &client.random)).map { _ in
      Key(client.random.pick(spaces), Int64.random(in: 0..<count, using: &client.random))
    }
    if client.random.oneIn(16) {
      // So many that the store may prefetch more.
      return .lookUps(
        (0..<80).map { _ in
          Key(client.random.pick(spaces), Int64.random(in: 0..<count, using: &client.random))
        })
    }
    if client.random.oneIn(4) { return .snapshot { for key in keys { try $0.read(key) } } }
    let numbers = keys.map { _ in client.random.oneIn(2) ? client.newNumber() : nil }
    let aborts = client.random.oneIn(20)
    return .transaction(spaces: spaces) { access in
      // All reads come first: a write must not depend on a value that is outdated by then.
      for key in keys { try access.read(key) }
      for (key, number) in zip(keys, numbers) {
        if let number { try access.write(key, [number]) }
      }
      if aborts { throw WantsAbort() }
    }
  }
}
