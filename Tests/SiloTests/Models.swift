// The values that most tests use, and the stores that they run on.

import DflatTestSupport
import Empire
import EmpireSilo
import Foundation
import MemoryDflat
import PostgresTestSupport
import Silo
import Testing

@Persistable(
  version: 2, table: "tasks",
  shape:
    "id:U title:S created:D modified:D? isDone:B=false count:I owner:@User tags:@{Tag} steps:@[Step] reviewer:@User?"
)
struct Task: Identifiable, Hashable, Sendable, Codable {
  var id: UUID
  var title: String
  @Indexed var created: Date
  var modified: Date?
  var isDone = false
  @Indexed var count: Int
  var owner: RelatedItem<User>
  var tags: RelatedItems<Tag>
  var steps: RelatedList<Step>
  var reviewer: RelatedItem<User>?

  init(
    id: UUID = UUID(), _ title: String = "", created: Date = Date(timeIntervalSince1970: 0),
    count: Int = 0, owner: RelatedItem<User> = .unresolved(id: 1), tags: RelatedItems<Tag> = [],
    steps: RelatedList<Step> = [], reviewer: RelatedItem<User>? = nil
  ) {
    self.id = id
    self.title = title
    self.created = created
    self.count = count
    self.owner = owner
    self.tags = tags
    self.steps = steps
    self.reviewer = reviewer
  }
}

@Persistable(version: 1, table: "users", shape: "id:I name:S email:S? boss:@User?")
struct User: Identifiable, Hashable, Sendable, Codable {
  var id: Int
  var name: String
  @Unique var email: String?
  var boss: RelatedItem<User>?
}

@Persistable(version: 1, table: "tags", shape: "id:S color:S=red")
struct Tag: Identifiable, Hashable, Sendable, Codable {
  var id: String
  var color = "red"
}

@Persistable(version: 1, table: "steps", shape: "id:Place title:S assignee:@User?")
struct Step: Identifiable, Hashable, Sendable, Codable {
  var id: Place
  var title: String
  var assignee: RelatedItem<User>?
}

/// A kind of store under test.
struct TestStores: Sendable, CustomTestStringConvertible {
  private enum Kind {
    case memory, engine(TestEngine), empire
  }

  let testDescription: String
  private let kind: Kind
  /// Whether each store is behind a cache, which is too small.
  private var isCached = false

  /// All kinds of stores, and some behind a cache.
  static let all: [TestStores] = {
    let plain =
      [
        TestStores(testDescription: "MemoryValueStore", kind: .memory),
        TestStores(testDescription: "EmpireValueStore", kind: .empire),
      ]
      + TestEngine.withServers(TestEngine.embedded).map {
        TestStores(testDescription: "\($0.testDescription) workspace", kind: .engine($0))
      }
    let cached = plain.map { stores in
      TestStores(
        testDescription: "cached \(stores.testDescription)", kind: stores.kind, isCached: true)
    }
    return plain + cached
  }()

  /// Calls `body` with empty silos.
  func withSilos(_ body: (Silos) async throws -> Void) async throws {
    switch kind {
    case .memory:
      let memory = MemoryWorkspace()
      try await body(
        Silos(
          cached(MemoryValueStore<Task>(in: memory)), cached(MemoryValueStore<User>(in: memory)),
          cached(MemoryValueStore<Tag>(in: memory)), cached(MemoryValueStore<Step>(in: memory)),
          cached(MemoryValueStore<Folder>(in: memory)),
          cached(MemoryValueStore<Label>(in: memory)), cached(MemoryValueStore<Memo>(in: memory)),
          cached(MemoryValueStore<Lock>(in: memory))))
    case .engine(let engine):
      try await withTemporaryWorkspace(engine) { temporary in
        try await body(isCached ? cached(temporary.workspace) : silos(temporary.workspace))
      }
    case .empire:
      let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let store = Store(database: try LockingDatabase(url: directory))
      try await body(
        Silos(
          cached(EmpireValueStore<Task>(store)), cached(EmpireValueStore<User>(store)),
          cached(EmpireValueStore<Tag>(store)), cached(EmpireValueStore<Step>(store)),
          cached(EmpireValueStore<Folder>(store)), cached(EmpireValueStore<Label>(store)),
          cached(EmpireValueStore<Memo>(store)), cached(EmpireValueStore<Lock>(store))))
    }
  }

  private func silos(_ workspace: any Workspace) -> Silos {
    let silos = Silos(in: workspace)
    // Rules hold for the types that are known.
    _ = (silos[Folder.self], silos[Label.self], silos[Memo.self], silos[Lock.self])
    return silos
  }

  private func cached(_ workspace: any Workspace) -> Silos {
    Silos(
      cached(WorkspaceValueStore<Task>(workspace)), cached(WorkspaceValueStore<User>(workspace)),
      cached(WorkspaceValueStore<Tag>(workspace)), cached(WorkspaceValueStore<Step>(workspace)),
      cached(WorkspaceValueStore<Folder>(workspace)),
      cached(WorkspaceValueStore<Label>(workspace)),
      cached(WorkspaceValueStore<Memo>(workspace)),
      cached(WorkspaceValueStore<Lock>(workspace)))
  }

  private func cached<Store: ValueStore>(_ store: Store) -> any ValueStore<Store.Value> {
    isCached ? CachedValueStore(of: store, limit: 4) : store
  }
}
