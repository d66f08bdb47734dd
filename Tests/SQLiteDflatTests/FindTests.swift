// One object by its primary key.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Finding by primary key")
struct FindTests {
  /// Generic code names the key by its type.
  private func find<Element: Atom>(_ object: Element, in dflat: some Workspace) -> Element? {
    dflat.find(Element.self, object.id)
  }

  @Test("It is the fetch by key: the same statement, without a plan")
  func statement() throws {
    var statements: [String] = []
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { workspace in
      try workspace.store([post(1)])
      func trace(_ body: () -> Void) -> [String] {
        _ = workspace.takeEvents()
        body()
        return workspace.takeEvents().compactMap {
          if case .statement(let sql, _) = $0, sql.contains("__pk") { sql } else { nil }
        }
      }
      // Which of them reads, or is answered from a pinned state, is the same for both.
      let fetched = trace { _ = workspace.posts.where(Post.site == "s" && Post.number == 1) }
      let found = trace { _ = workspace.dflat.find(Post.self, ("s", 1)) }
      #expect(fetched == found && found.count == 1)
      statements += found
    }
    #expect(statements.first?.contains("__pk0") == true)
  }
}
