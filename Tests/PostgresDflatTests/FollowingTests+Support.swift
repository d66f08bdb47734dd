// Two workspaces of which one follows the other, and what it is told.

import Dflat
import DflatTestSupport
import PostgresDflat
import PostgresTestSupport

extension FollowingTests {
  /// Calls `body` with two workspaces. The first one follows the second.
  func withTwo(
    _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in },
    _ body: (_ dflat: PostgresWorkspace, _ other: PostgresWorkspace, _ schema: String) async throws
      -> Void
  ) async throws {
    try await withTwoWorkspaces(configure) { dflat, other, schema in
      try await other.write(Note.self) { try $0.insert(Note(key: 0, text: "first")) }
      try await body(dflat, other, schema)
    }
  }

  func change(
    _ number: Int32, in dflat: PostgresWorkspace,
    _ body: @escaping @Sendable (inout Post._Draft) -> Void
  ) async throws {
    try await dflat.write(Post.self) { try $0.update(where: Post.number == number) { body(&$0) } }
  }

  /// The texts of a live result's notes after each change.
  func watch(
    _ result: FetchedResult<Note>, in dflat: PostgresWorkspace
  ) -> (Log<[String]>, any WorkspaceSubscription) {
    let log = Log<[String]>()
    let subscription = dflat.subscribe(fetchedResult: result) { notes in
      log.add(notes.map { $0.text ?? "" })
    }
    return (log, subscription)
  }
}
