// The stores that every test of what stores promise runs on, as `TestEngine` has the engines.

import DflatTestSupport
import Empire
import EmpireSilo
import Foundation
import MemoryDflat
import PostgresTestSupport
import Silo
import Testing

/// A kind of store under test.
struct TestStores: Sendable, CustomTestStringConvertible {
  private enum Kind {
    case memory, engine(TestEngine), empire
  }

  let testDescription: String
  private let kind: Kind
  /// Whether each store is behind a cache, which is too small.
  private var isCached = false

  /// All kinds of stores, and each behind a cache; those of workspaces in memory only in long runs,
  /// since there is another store in memory.
  static let all: [TestStores] = {
    let plain =
      [
        TestStores(testDescription: "MemoryValueStore", kind: .memory),
        TestStores(testDescription: "EmpireValueStore", kind: .empire),
      ]
      + TestEngine.withServers(TestEngine.embedded).map {
        TestStores(testDescription: "\($0.testDescription) workspace", kind: .engine($0))
      }
    let others = plain.filter { isLongRun || !$0.testDescription.contains("memory workspace") }
    let cached = others.map { stores in
      TestStores(
        testDescription: "cached \(stores.testDescription)", kind: stores.kind, isCached: true)
    }
    return plain + cached
  }()

  private struct MemoryMaker: StoreMaker {
    let memory: MemoryWorkspace
    func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> {
      MemoryValueStore<V>(in: memory)
    }
  }

  private struct WorkspaceMaker: StoreMaker {
    let workspace: any Workspace
    func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> {
      WorkspaceValueStore<V>(workspace)
    }
  }

  private struct EmpireMaker: StoreMaker {
    let empire: Store
    func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> { EmpireValueStore<V>(empire) }
  }

  private struct CachedMaker: StoreMaker {
    let maker: any StoreMaker
    func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> {
      cached(maker.store(of: type))
    }
    private func cached<S: ValueStore>(_ store: S) -> any ValueStore<S.Value> {
      CachedValueStore(of: store, limit: 4)
    }
  }

  /// Calls `body` with what makes stores in one empty domain.
  func withStores(_ body: (any StoreMaker) async throws -> Void) async throws {
    func use(_ maker: any StoreMaker) async throws {
      try await body(isCached ? CachedMaker(maker: maker) : maker)
    }
    switch kind {
    case .memory: try await use(MemoryMaker(memory: MemoryWorkspace()))
    case .engine(let engine):
      try await withTemporaryWorkspace(engine) { temporary in
        try await use(WorkspaceMaker(workspace: temporary.workspace))
      }
    case .empire:
      let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      try await use(EmpireMaker(empire: Store(database: try LockingDatabase(url: directory))))
    }
  }

  /// Calls `body` with empty silos.
  func withSilos(_ body: (Silos) async throws -> Void) async throws {
    try await withStores { maker in
      try await body((maker as? WorkspaceMaker).map { silos($0.workspace) } ?? silos(maker))
    }
  }

  /// Silos in a workspace, as programs mostly have them.
  private func silos(_ workspace: any Workspace) -> Silos {
    let silos = Silos(in: workspace)
    // Rules hold for the types that are known.
    _ = (silos[Folder.self], silos[Label.self], silos[Memo.self], silos[Lock.self])
    return silos
  }

  /// Silos with a store for each type.
  private func silos(_ maker: any StoreMaker) -> Silos {
    Silos(
      maker.store(of: Task.self), maker.store(of: User.self), maker.store(of: Tag.self),
      maker.store(of: Step.self), maker.store(of: Folder.self), maker.store(of: Label.self),
      maker.store(of: Memo.self), maker.store(of: Lock.self), maker.store(of: Everything.self),
      maker.store(of: Sparse.self))
  }
}

/// Makes the store of a type, in one domain for all types.
protocol StoreMaker {
  func store<V: Persistable>(of type: V.Type) -> any ValueStore<V>
}
