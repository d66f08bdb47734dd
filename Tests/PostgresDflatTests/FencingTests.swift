// Programs that begin after a failover, while the old primary is back.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("An old primary that is back when a program begins", .endsSometime)
struct FencingTests {
  private static let commits = "SELECT sum(seq) FROM dflat._dflat_commits"

  /// A workspace knows nothing of what others of its process have seen, as if it were another
  /// process.
  private func workspace(
    _ url: String, fencingFile: String? = nil,
    _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in }
  ) -> PostgresWorkspace {
    var configuration = PostgresWorkspace.Configuration()
    configuration.reconnectTimeout = .seconds(10)
    configuration.fencingFile = fencingFile
    configure(&configuration)
    return PostgresWorkspace(url, configuration: configuration)
  }

  /// Calls `body` after a failover to an asynchronous standby. The old primary, which is the first
  /// one in the connection string, has one commit, and the new one has two.
  private func afterFailover(
    fencingFile: String? = nil,
    _ body: (_ cluster: ReplicatedCluster, _ url: String, _ old: PlainConnection) async throws ->
      Void
  ) async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    let url = cluster.asynchronousURL
    let dflat = workspace(url, fencingFile: fencingFile)
    try await increment(1, in: dflat)
    try cluster.hidePrimary()
    try cluster.promoteStandby()
    try await increment(1, in: dflat, attempts: 1000)
    await dflat.shutdown()
    let old = try PlainConnection(cluster.showOldPrimary())
    #expect(try old.run(Self.commits) == [["1"]])
    try await body(cluster, url, old)
  }

  @Test("A program that begins asks all hosts, and uses the newest primary")
  func otherHosts() async throws {
    try await afterFailover { cluster, url, old in
      let new = try PlainConnection(cluster.primaryURL)
      let later = workspace(url)
      #expect(later.fetch(for: Note.self).all().first?.text == "xx")
      try await increment(1, in: later)
      #expect(try old.run(Self.commits) == [["1"]])
      #expect(try new.run(Self.commits) == [["3"]])
      await later.shutdown()
    }
  }

  @Test("A program that has asked all hosts asks again when it has lost a connection")
  func soonAfter() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    let dflat = workspace(cluster.asynchronousURL)
    try await increment(1, in: dflat)
    try cluster.hidePrimary()
    try cluster.promoteStandby()
    let old = try PlainConnection(cluster.showOldPrimary())
    try await increment(1, in: dflat, attempts: 1000)
    #expect(try old.run(Self.commits) == [["1"]])
    #expect(try PlainConnection(cluster.primaryURL).run(Self.commits) == [["2"]])
    await dflat.shutdown()
  }

  @Test("A transaction that is open on the old primary is not committed there afterwards")
  func openTransaction() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    let dflat = workspace(cluster.asynchronousURL) { $0.writerLimit = 2 }
    try await dflat.write(Note.self, Post.self) { txn in
      try txn.insert(Note(key: 1, text: "x"))
      try txn.insert(post(1))
    }
    let old = try PlainConnection(cluster.primaryURL)
    let (hasRead, mayWrite) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let runs = Atomic<Int>(0)
    let writing = onOwnThread {
      try dflat.write(Note.self) { txn in
        let note = try txn.fetch(for: Note.self).where(Note.key == 1).first
        if runs.add(1, ordering: .relaxed).newValue == 1 {
          hasRead.signal()
          mayWrite.expect("the failover")
        }
        try txn.upsert(Note(key: 1, text: (note?.text ?? "") + "x"))
      }
    }
    hasRead.expect("the read")
    try cluster.promoteStandby()
    // The connections that are idle are lost, and the workspace learns of the new primary.
    try old.run(
      """
      SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity \
      WHERE application_name = 'dflat' AND state = 'idle'
      """)
    try await dflat.write(Post.self, attempts: 1000) { txn in
      try txn.update(where: Post.number == 1) { $0.likes = 7 }
    }
    mayWrite.signal()
    writing.expect("the transaction")
    #expect(runs.load(ordering: .relaxed) == 2)
    #expect(try old.run(Self.commits) == [["1"]])
    #expect(dflat.fetch(for: Note.self).all().map(\.text) == ["xx"])
    await dflat.shutdown()
  }

  @Test("A standby of the new primary knows that the old one was left behind")
  func standby() async throws {
    try await afterFailover { cluster, url, old in
      // It is in the directory of neither of the two.
      let third = try cluster.addStandby()
      defer { third.end() }
      cluster.endPrimary()
      let later = workspace(url.addingHost(third.directory))
      let error = await #expect(throws: StorageError.self) { try await increment(1, in: later) }
      #expect("\(error as Any)".contains("left behind by a failover"), "\(error as Any)")
      #expect(try old.run(Self.commits) == [["1"]])
      await later.shutdown()
    }
  }

  @Test("A file keeps what was used, where no other host can be asked")
  func file() async throws {
    try await withTemporaryDirectory { directory in
      let file = "\(directory)/fence"
      try await afterFailover(fencingFile: file) { cluster, url, old in
        cluster.endPrimary()
        let later = workspace(url, fencingFile: file)
        let error = await #expect(throws: StorageError.self) { try await increment(1, in: later) }
        #expect(error?.cause == .cannotOpen, "\(error as Any)")
        #expect("\(error as Any)".contains("left behind by a failover"), "\(error as Any)")
        #expect(try old.run(Self.commits) == [["1"]])
        await later.shutdown()
        // Without the file it cannot know.
        let unaware = workspace(url)
        try await increment(1, in: unaware)
        #expect(try old.run(Self.commits) == [["2"]])
        await unaware.shutdown()
      }
    }
  }

  @Test(
    "A file that is none, or of another server, is refused",
    arguments: [
      "something else", "dflat-fence 1 1", "",
    ])
  func otherFile(text: String) async throws {
    try await withTemporaryDirectory { directory in
      try await withSchema { schema in
        let file = "\(directory)/fence"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let dflat = postgresWorkspace(schema: schema) { $0.fencingFile = file }
        let error = await #expect(throws: StorageError.self) { try await increment(1, in: dflat) }
        #expect(error?.cause == .cannotOpen, "\(error as Any)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        await dflat.shutdown()
        try FileManager.default.removeItem(atPath: file)
        let next = postgresWorkspace(schema: schema) { $0.fencingFile = file }
        try await increment(1, in: next)
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("dflat-fence "))
        await next.shutdown()
      }
    }
  }
}

/// Calls `body` with the path of a directory that is removed afterwards.
private func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
  let directory = FileManager.default.temporaryDirectory.path + "/" + newSchema()
  try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: directory) }
  try await body(directory)
}

extension String {
  /// The connection string with one more host, a directory.
  fileprivate func addingHost(_ directory: String) -> String {
    replacing("&user=", with: ",\(directory)&user=")
  }
}
