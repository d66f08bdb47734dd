// The effects of a workspace's settings: those passed to SQLite, and the limits of its readers.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteDflat
import Testing

@Suite("Settings")
struct ConfigurationTests {
  @Test("The settings reach SQLite, and statements are reported with their times")
  func settings() throws {
    try withTemporaryFile(
      .file,
      configure: {
        $0.synchronous = .full
        $0.writerCacheSize = 3 << 20
        $0.readerCacheSize = 1 << 20
        $0.tracesStatements = true
      }
    ) { workspace in
      try workspace.store([post(1)])
      #expect(workspace.posts.all().count == 1)
      var statements: [String] = []
      for case .statement(let sql, let duration) in workspace.takeEvents() {
        #expect(duration >= .zero && duration < .seconds(60))
        statements.append(sql)
      }
      #expect(statements.contains("PRAGMA main.cache_size = -3072"))
      #expect(statements.contains("PRAGMA main.cache_size = -1024"))
      #expect(statements.contains("PRAGMA synchronous = 2"))
      #expect(statements.contains("COMMIT"))
      #expect(statements.contains { $0.hasPrefix("INSERT INTO \"blog__post_v1_0\"") })
      #expect(statements.contains { $0.hasPrefix("SELECT") })
    }
  }

  @Test("No more readers are opened than the settings allow, and idle ones are closed")
  func readers() throws {
    func openings(_ workspace: TemporaryFile) -> Int {
      workspace.takeEvents().count {
        if case .statement("PRAGMA main.cache_size = -1024", _) = $0 { true } else { false }
      }
    }
    try withTemporaryFile(configure: {
      $0.readerLimit = 2
      $0.readerCacheSize = 1 << 20
      $0.tracesStatements = true
    }) { workspace in
      try workspace.store([post(1)])
      DispatchQueue.concurrentPerform(iterations: 16) { _ in
        for _ in 0..<20 { #expect(workspace.posts.all().count == 1) }
      }
      // One more connection pins a state during reads in quick succession.
      #expect((1...3).contains(openings(workspace)))
    }
    try withTemporaryFile(configure: {
      $0.readerIdleLifetime = .milliseconds(20)
      $0.readerCacheSize = 1 << 20
      $0.tracesStatements = true
    }) { workspace in
      try workspace.store([post(1)])
      #expect(workspace.posts.all().count == 1)
      #expect(openings(workspace) == 1)
      // A closed reader is opened again.
      let isOpenedAgain = eventually {
        Thread.sleep(forTimeInterval: 0.06)
        return workspace.posts.all().count == 1 && openings(workspace) > 0
      }
      #expect(isOpenedAgain)
    }
  }
}
