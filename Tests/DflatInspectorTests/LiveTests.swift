// What is committed is shown as it happens.

import DflatTestSupport
import DflatTools
import Foundation
import Platform
import SQLiteDflat
import Testing

@testable import DflatInspector

@Suite("The inspector's list of commits")
struct LiveTests {
  /// The changes of the next answer about what happens.
  private func next(
    _ client: Client, since: Int
  ) throws -> (last: Int, changes: [[String: Any]]) {
    var answer: [String: Any] = [:]
    let end = ContinuousClock.now + .seconds(600)
    repeat {
      answer = try client.answer(["ask": "live", "since": since])
    } while (answer["last"] as? Int ?? 0) <= since && .now < end
    let events = answer["events"] as? [[String: Any]] ?? []
    return (
      answer["last"] as? Int ?? 0, events.flatMap { $0["changes"] as? [[String: Any]] ?? [] }
    )
  }

  @Test("A commit of another process arrives, with the object and what changed")
  func otherProcess() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        let start = try client.answer(["ask": "live", "since": -1])
        #expect(start["isFollowing"] as? Bool == true && start["last"] as? Int == 0)
        try library.store("Post", #"{"id":2,"title":"Bread","likes":41,"author":"ada"}"#)
        let first = try next(client, since: 0)
        #expect(first.changes.count == 1)
        let change = try #require(first.changes.first)
        #expect(change["kind"] as? String == "updated" && change["key"] as? [String] == ["2"])
        let fields = try #require(change["fields"] as? [[String: String]])
        #expect(fields == [["name": "likes", "old": "40", "new": "41"]])
        try library.sqlite3("DELETE FROM library__post WHERE rowid = 1")
        let second = try next(client, since: first.last)
        #expect(second.changes.map { $0["kind"] as? String } == ["deleted"])
        #expect(second.changes.map { $0["key"] as? [String] } == [["1"]])
        let types = try client.answer(["ask": "types"])["types"] as? [[String: Any]]
        #expect(types?.map { $0["rows"] as? Int } == [2, 2])
      }
    }
  }

  @Test("The transactions of the program's own workspace arrive, and types that are new")
  func ownWorkspace() throws {
    try withTemporaryFile { file in
      let inspector = try Inspector.start(file.dflat)
      defer { inspector.stop() }
      let client = try Client(inspector)
      let types = try client.answer(["ask": "types"])["types"] as? [Any]
      #expect(types?.isEmpty == true)
      _ = try client.answer(["ask": "live", "since": -1])
      try file.store([post(1, likes: 3)])
      let first = try next(client, since: 0)
      #expect(first.changes.isEmpty || first.changes[0]["kind"] as? String == "inserted")
      try file.change(1) { $0.likes = 4 }
      var changes = try next(client, since: first.last).changes
      if changes.first?["kind"] as? String == "inserted" { changes.removeFirst() }
      #expect(changes.last?["key"] as? [String] == ["s", "1"])
      let rows = try client.answer(["ask": "rows", "type": Post._schema.table])
      #expect((rows["rows"] as? [Any])?.count == 1)
    }
  }

  @Test("A change names its table, as types of several namespaces may share a name")
  func namesakes() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/items.db"
    func store(_ namespace: String, _ json: String) throws {
      let schema = "\(directory)/\(namespace).fbs"
      try "namespace \(namespace); table Item { id: int (primary); } root_type Item;"
        .write(toFile: schema, atomically: true, encoding: .utf8)
      let job = try Import(into: path, type: "\(namespace).Item", schemas: [schema])
      var rest: Data? = Data(json.utf8)
      _ = try job.run(reading: {
        defer { rest = nil }
        return rest
      })
    }
    try store("Alpha", #"{"id":1}"#)
    try store("Beta", #"{"id":1}"#)
    let inspector = try Inspector.start(file: path)
    defer { inspector.stop() }
    let client = try Client(inspector)
    _ = try client.answer(["ask": "live", "since": -1])
    try store("Beta", #"{"id":2}"#)
    let change = try #require(try next(client, since: 0).changes.first)
    #expect(change["type"] as? String == "Item" && change["table"] as? String == "beta__item")
  }

  @Test("Numbers of objects are those after a commit as soon as it is announced")
  func counts() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        var commits = try #require(
          try client.answer(["ask": "live", "since": -1])["commits"] as? Int)
        for number in 1...5 {
          _ = try client.answer(["ask": "types"])
          try library.store(posts: [100 + number])
          let known = commits
          while commits == known {
            commits =
              try client.answer(["ask": "live", "since": 1000, "commits": known])["commits"]
              as? Int ?? 0
          }
          let types = try client.answer(["ask": "types"])["types"] as? [[String: Any]]
          #expect(types?.map { $0["rows"] as? Int } == [2, 3 + number])
        }
      }
    }
  }

  @Test("A commit is announced before it is known what it changed")
  func announcement() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        let start = try client.answer(["ask": "live", "since": -1])
        let commits = try #require(start["commits"] as? Int)
        try library.store("Post", #"{"id":2,"title":"Bread","likes":41,"author":"ada"}"#)
        // No event of it is waited for.
        let answer = try client.answer(["ask": "live", "since": 1000, "commits": commits])
        #expect(answer["commits"] as? Int ?? 0 > commits)
        #expect((answer["events"] as? [Any])?.isEmpty == true)
      }
    }
  }

  @Test("A large commit is counted, and not listed object by object")
  func largeCommit() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        _ = try client.answer(["ask": "live", "since": -1])
        try library.store(posts: 100..<1100)
        var count = 0
        var listed = 0
        var since = 0
        while count < 1000 {
          let answer = try client.answer(["ask": "live", "since": since])
          since = try #require(answer["last"] as? Int)
          for event in answer["events"] as? [[String: Any]] ?? [] {
            count += event["count"] as? Int ?? 0
            listed += (event["changes"] as? [Any])?.count ?? 0
          }
        }
        #expect(count == 1000 && listed <= 200 * since)
      }
    }
  }

  @Test("Objects that are not kept in memory are reported without their fields")
  func digests() throws {
    try withLibrary { library in
      let file = try DataFile.open(library.path)
      defer { file.close() }
      let stop = StopSignal()
      let seen = Mutex<[ObjectChange]>([])
      try file.follow(
        every: 1, keeping: 0, until: stop,
        began: {
          try library.store("Post", #"{"id":2,"title":"Bread","likes":41,"author":"ada"}"#)
          try library.sqlite3("DELETE FROM library__post WHERE rowid = 1")
        }
      ) { changes in
        seen.withLock { $0 += changes.changes }
        if seen.withLock({ $0.count }) >= 2 { stop.stop() }
      }
      let changes = seen.withLock { $0 }.sorted { $0.row < $1.row }
      #expect(changes.map(\.kind) == [.deleted, .updated])
      #expect(changes.map(\.key) == [[], ["2"]] && changes.allSatisfy { $0.fields.isEmpty })
    }
  }

  @Test("An inspector that stops answers those that wait")
  func stopping() throws {
    try withLibrary { library in
      let inspector = try Inspector.start(file: library.path)
      let client = try Client(inspector)
      let start = try client.answer(["ask": "live", "since": -1])
      #expect(start["isFollowing"] as? Bool == true)
      let socket = try Socket(port: inspector.port)
      socket.send(client.request("POST", client.path + "ask", body: #"{"ask":"live","since":0}"#))
      // Answered after the one before it was read.
      _ = try client.answer(["ask": "types"])
      inspector.stop()
      let reply = Client.reply(socket.readAll())
      #expect([0, 200, 503].contains(reply.status))
    }
  }
}
