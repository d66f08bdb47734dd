// Keys for which the server's index has no room, written by one program and read by others.

import Dflat
import DflatTestSupport
import Foundation
import PostgresDflat
import PostgresTestSupport
import Testing

private typealias Label = Guild.Label

@Suite("Long keys on a server")
struct LongKeyTests {
  /// Texts that no compression makes short, and that begin alike.
  private static let long = String(
    decoding: (0..<5000).map { _ in UInt8.random(in: 98...122) }, as: UTF8.self)

  private func names(_ dflat: some Workspace, from first: String) -> [String] {
    dflat.fetch(for: Label.self)
      .where(Label.name >= first, orderBy: [Label.name.ascending]).map(\.name)
  }

  @Test("A program that knows a table with short keys finds the first long one", arguments: [0, 1])
  func firstOne(existing: Int) async throws {
    try await withTwoWorkspaces { dflat, other, schema in
      let (long, next) = (Self.long + "b", Self.long + "c")
      if existing > 0 { try await other.write(Label.self) { try $0.insert(Label(name: "a")) } }
      #expect(names(dflat, from: "") == (existing > 0 ? ["a"] : []))
      try await other.write(Label.self) { txn in
        try txn.insert(Label(name: next, rank: 1))
        try txn.insert(Label(name: long, rank: 2))
      }
      let isInOrder = names(dflat, from: "b") == [long, next]
      #expect(isInOrder)
      #expect(dflat.find(Label.self, long)?.rank == 2)
      await #expect(throws: StorageError.self) {
        try await dflat.write(Label.self) { try $0.insert(Label(name: next)) }
      }
      let plain = try PlainConnection()
      let stored = try plain.run(
        """
        SELECT octet_length(pk0) <= 2600, position('\\xff'::bytea IN pk0) > 0, \
        right(encode(pk0, 'hex'), 64) = encode(sha256('\(long)'::bytea), 'hex') \
        FROM "\(schema)"."guild__label" WHERE octet_length(pk0) > 1 ORDER BY rowid
        """)
      #expect(stored.map { $0[0] } == ["t", "t"] && stored.map { $0[1] } == ["t", "t"])
      #expect(stored.map { $0[2] } == ["f", "t"])
    }
  }

  @Test("Another program finds long names in the dictionary")
  func dictionary() async throws {
    try await withTwoWorkspaces { dflat, other, _ in
      var theirs = other.dictionary(namespace: Self.long)
      theirs[Self.long + "1"] = 1
      theirs[Self.long + "2"] = 2
      theirs.synchronize()
      let ours = dflat.dictionary(namespace: Self.long)
      #expect(ours[Self.long + "1"] == 1)
      #expect(Set(ours.keys) == [Self.long + "1", Self.long + "2"])
    }
  }

  @Test("Programs that write the first long keys at the same time lose nothing")
  func together() async throws {
    try await withSchema { schema in
      let workspaces = (0..<4).map { _ in postgresWorkspace(schema: schema) }
      try await workspaces[0].write(Label.self) { try $0.insert(Label(name: "a")) }
      try await withThrowingTaskGroup { group in
        for (number, dflat) in workspaces.enumerated() {
          group.addTask {
            for round in 0..<5 {
              try await dflat.write(Label.self) { txn in
                try txn.upsert(Label(name: Self.long + "\(round)", rank: Int32(number)))
                try txn.insert(Label(name: Self.long + "\(round) \(number)"))
              }
            }
          }
        }
        try await group.waitForAll()
      }
      var expected: [String] = []
      for round in 0..<5 {
        expected.append("\(Self.long)\(round)")
        for number in 0..<4 { expected.append("\(Self.long)\(round) \(number)") }
      }
      for dflat in workspaces {
        let isInOrder = names(dflat, from: "b") == expected
        #expect(isInOrder)
        #expect(dflat.fetch(for: Label.self).all().count == 1 + 5 + 20)
        await dflat.shutdown()
      }
    }
  }
}
