// PlaceWatcher: a workspace that only follows, while the processes of a run write.
//
// Its live results must end as what is stored, whatever was lost on the way: notifications,
// connections, servers.

import Dflat
import DflatTestSupport
import DflatVerification
import Platform
import PostgresDflat

/// Live results of all spaces that are objects.
final class PlaceWatcher: Sendable {
  private let dflat: PostgresWorkspace
  private let shown: ShownCells
  private let subscriptions: [any WorkspaceSubscription]

  /// The values that the live results have shown last, by space and key.
  private final class ShownCells: Sendable {
    private let cells = Mutex<[Int: [Int64: [Int64]]]>([:])

    func show(_ values: [Int64: [Int64]], in space: Int) {
      cells.withLock { $0[space] = values }
    }

    func values(in space: Int) -> [Int64: [Int64]]? { cells.withLock { $0[space] } }
  }

  /// Begins to follow.
  init(_ place: ServerPlace) throws {
    let dflat = try place.openWorkspace()
    // While the server is down it reports reads that fail, which are repeated.
    dflat.errorHandler = { _ in }
    let shown = ShownCells()
    self.dflat = dflat
    self.shown = shown
    func follow<C: Cell>(_ type: C.Type, _ space: Int) -> any WorkspaceSubscription {
      let result = dflat.fetch(for: type).all()
      shown.show(Self.values(result), in: space)
      return dflat.subscribe(fetchedResult: result) { shown.show(Self.values($0), in: space) }
    }
    subscriptions = cellTypes.enumerated().map { follow($1, $0) }
  }

  private static func values<C: Cell>(_ result: FetchedResult<C>) -> [Int64: [Int64]] {
    Dictionary(uniqueKeysWithValues: result.map { ($0.key, $0.values) })
  }

  /// Ends, when all writers have.
  /// - Returns: The spaces whose results do not become what is stored.
  func end() -> [Violation] {
    func isCurrent<C: Cell>(_ type: C.Type, _ space: Int) -> Bool {
      guard let stored = try? dflat.read({ try $0.fetch(for: type).all() }) else { return false }
      return Self.values(stored) == shown.values(in: space)
    }
    let wrong = cellTypes.enumerated().filter { space, type in
      !eventually { isCurrent(type, space) }
    }
    for subscription in subscriptions { subscription.cancel() }
    dflat.shutdown()
    return wrong.map {
      Violation(.lostWrite, "the live result of \($1) does not become what is stored")
    }
  }
}
