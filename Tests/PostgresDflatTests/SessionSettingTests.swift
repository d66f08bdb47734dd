// Settings of a role or a database that would change what transactions promise.

import Dflat
import DflatTestSupport
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Sessions whose defaults an administrator has changed", .endsSometime)
struct SessionSettingTests {
  @Test("A fetch waits for no writer, though transactions are deferrable by default")
  func deferrable() async throws {
    try await withSchema { schema in
      var configuration = PostgresWorkspace.Configuration()
      configuration.schema = schema
      // As if it were set for the role.
      let dflat = try await PostgresWorkspace.open(
        TestCluster.shared().url.setting(
          "options", to: "-cdefault_transaction_deferrable%3Don"), configuration: configuration)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      let writer = try PlainConnection()
      try writer.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
      try writer.run("UPDATE \"\(schema)\".note SET p = p")
      let counts = Log<Int>()
      let fetching = onOwnThread { counts.add(dflat.fetch(for: Note.self).all().count) }
      fetching.expect("the fetch, beside an open transaction")
      try writer.run("ROLLBACK")
      #expect(counts.events == [1])
      await dflat.shutdown()
    }
  }
}
