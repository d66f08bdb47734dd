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

  /// Makes the store of a type.
  private protocol Maker {
    func store<V: Persistable>(of type: V.Type) -> any ValueStore<V>
  }

  private struct MemoryMaker: Maker {
    let memory: MemoryWorkspace
    func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> {
      MemoryValueStore<V>(in: memory)
    }
  }

  private struct WorkspaceMaker: Maker {
    let workspace: any Workspace
    func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> {
      WorkspaceValueStore<V>(workspace)
    }
  }

  private struct EmpireMaker: Maker {
    let empire: Store
    func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> { EmpireValueStore<V>(empire) }
  }

  /// Calls `body` with empty silos.
  func withSilos(_ body: (Silos) async throws -> Void) async throws {
    switch kind {
    case .memory: try await body(silos(MemoryMaker(memory: MemoryWorkspace())))
    case .engine(let engine):
      try await withTemporaryWorkspace(engine) { temporary in
        try await body(
          isCached
            ? silos(WorkspaceMaker(workspace: temporary.workspace)) : silos(temporary.workspace))
      }
    case .empire:
      let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let empire = Store(database: try LockingDatabase(url: directory))
      try await body(silos(EmpireMaker(empire: empire)))
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
  private func silos(_ maker: some Maker) -> Silos {
    Silos(
      store(Task.self, maker), store(User.self, maker), store(Tag.self, maker),
      store(Step.self, maker), store(Folder.self, maker), store(Label.self, maker),
      store(Memo.self, maker), store(Lock.self, maker), store(Everything.self, maker),
      store(Sparse.self, maker))
  }

  private func store<V: Persistable>(_ type: V.Type, _ maker: some Maker) -> any ValueStore<V> {
    let store = maker.store(of: type)
    return isCached ? cached(store) : store
  }

  private func cached<S: ValueStore>(_ store: S) -> any ValueStore<S.Value> {
    CachedValueStore(of: store, limit: 4)
  }
}
