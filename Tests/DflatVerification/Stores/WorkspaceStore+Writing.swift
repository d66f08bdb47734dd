// Calls `write`, which takes its types as separate arguments, with types from a list.

import Dflat
import SQLiteDflat

extension WorkspaceStore {
  /// Runs a transaction on this thread.
  func write(_ spaces: [Int], _ body: (WriteContext) throws -> Void) throws {
    let dflat = dflat
    // The workload of families names one other space.
    let writesFamilies = spaces.contains(cellTypes.count)
    func one<A: Cell>(_ a: A.Type) throws {
      try writesFamilies
        ? dflat.write(a, Verify.Elder.self, Verify.Ward.self, attempts: attempts, body: body)
        : dflat.write(a, attempts: attempts, body: body)
    }
    func two<A: Cell, B: Cell>(_ a: A.Type, _ b: B.Type) throws {
      try dflat.write(a, b, attempts: attempts, body: body)
    }
    func three<A: Cell, B: Cell, C: Cell>(_ a: A.Type, _ b: B.Type, _ c: C.Type) throws {
      try dflat.write(a, b, c, attempts: attempts, body: body)
    }
    let types = Self.types(spaces)
    switch types.count {
    case 1: try one(types[0])
    case 2: try two(types[0], types[1])
    case 3: try three(types[0], types[1], types[2])
    default:
      try dflat.write(
        Verify.Red.self, Verify.Green.self, Verify.Blue.self, Verify.White.self,
        attempts: attempts, body: body)
    }
  }

  /// Runs a transaction and awaits it.
  func write(
    _ spaces: [Int], _ body: @escaping @Sendable (WriteContext) throws -> Void
  ) async throws {
    let dflat = dflat
    // The workload of families names one other space.
    let writesFamilies = spaces.contains(cellTypes.count)
    func one<A: Cell>(_ a: A.Type) async throws {
      try await writesFamilies
        ? dflat.write(a, Verify.Elder.self, Verify.Ward.self, attempts: attempts, body: body)
        : dflat.write(a, attempts: attempts, body: body)
    }
    func two<A: Cell, B: Cell>(_ a: A.Type, _ b: B.Type) async throws {
      try await dflat.write(a, b, attempts: attempts, body: body)
    }
    func three<A: Cell, B: Cell, C: Cell>(_ a: A.Type, _ b: B.Type, _ c: C.Type) async throws {
      try await dflat.write(a, b, c, attempts: attempts, body: body)
    }
    let types = Self.types(spaces)
    switch types.count {
    case 1: try await one(types[0])
    case 2: try await two(types[0], types[1])
    case 3: try await three(types[0], types[1], types[2])
    default:
      try await dflat.write(
        Verify.Red.self, Verify.Green.self, Verify.Blue.self, Verify.White.self,
        attempts: attempts, body: body)
    }
  }

  /// The types of spaces, without duplicates.
  private static func types(_ spaces: [Int]) -> [any Cell.Type] {
    Set(spaces).sorted().filter { $0 < cellTypes.count }.map { cellTypes[$0] }
  }
}
