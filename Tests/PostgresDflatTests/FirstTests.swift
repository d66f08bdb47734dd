import Dflat
import DflatTestSupport
import PostgresTestSupport
import Testing

@Test func first() async throws {
  try await withTemporaryWorkspace(.postgres) { workspace in
    let post = try await workspace.dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
    print(post)
    print(workspace.dflat.fetch(for: Note.self).all())
  }
}
