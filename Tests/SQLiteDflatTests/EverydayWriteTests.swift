// What fields with Swift types of their own, and required ones, write; what they refuse; what they make of rows of others.

import DflatTestSupport
import FlatBuffersRuntime
import Foundation
import SQLiteDflat
import Testing

@Suite("Writing fields with Swift types of their own")
struct EverydayWriteTests {
  private static let table = Order._schema.table

  /// The schema as flatc takes it.
  private func withSchema<R>(_ body: (URL) throws -> R) throws -> R {
    let directory = URL(fileURLWithPath: try makeTemporaryDirectory())
    defer { try? FileManager.default.removeItem(at: directory) }
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "DflatTestSupport/Schemas/everyday.fbs")
    let attributes = ["primary", "indexed", "unique", "v", "swift", "swift_name"]
      .map { "attribute \"\($0)\";\n" }.joined()
    // flatc knows defaults of strings for few languages only.
    let text = try String(contentsOf: source, encoding: .utf8)
      .replacingOccurrences(of: " = \"none\"", with: "")
    let schema = directory.appending(path: "everyday.fbs")
    try (attributes + text).write(to: schema, atomically: false, encoding: .utf8)
    // With strings in unions, flatc prints JSON by the compiled schema only.
    let compile = Process()
    compile.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compile.arguments = ["flatc", "--binary", "--schema", "-o", directory.path, schema.path]
    try compile.run()
    compile.waitUntilExit()
    #expect(compile.terminationStatus == 0)
    return try body(directory.appending(path: "everyday.bfbs"))
  }

  @Test("Other languages read plain numbers, texts and bytes")
  func flatc() throws {
    try withTemporaryWorkspace { workspace in
      try EverydayTests.store(in: workspace)
      let rows = try withSchema { try flatcReads([4], in: Self.table, $0, of: workspace) }
      let order = try #require(rows.first)
      #expect(order["id"] as? String == "AB000000-0000-0000-0000-000000000003")
      #expect(order["number"] as? Int == 3)
      #expect(order["created"] as? Int64 == 1_700_000_000_750)
      #expect(order["seen"] as? Double == 1_700_000_000 - 0.375)
      #expect(order["took"] as? Int == 4500)
      #expect(order["price"] as? Int == 300 && order["code"] as? String == "small")
      #expect(order["count"] as? Int == 60 && order["total_bytes"] as? Int == 3 << 40)
      #expect(order["picture"] as? [Int] == [1, 2, 3])
      #expect(order["sizes"] as? [Int] == [], "required, and so there")
      #expect((order["parts"] as? [Any])?.isEmpty == true)
      let visit = try #require(order["visit"] as? [String: Any])
      #expect(visit["at"] as? Int64 == 1_700_000_003_000 && visit["seconds"] as? Double == 0.25)
      #expect(visit["count"] as? Int == -3)
      let customer = try #require(order["customer"] as? [String: Any])
      #expect(customer["born"] as? Int == 1_699_999_900 && customer["site"] as? String == "c:3")
    }
  }

  /// The message of what `change` makes a submit throw; nil if it is stored.
  private func refusal(
    _ workspace: TemporaryWorkspace, _ change: @escaping (Shop.OrderChangeRequest) -> Void
  ) throws -> String? {
    let outcome = try workspace.write([Order.self]) { txn -> String? in
      let request = try #require(Shop.OrderChangeRequest.changeRequest(EverydayTests.order(1)))
      change(request)
      do { try txn.submit(request) } catch let error as StorageError {
        #expect(error.cause == .invalidValue)
        // The transaction goes on, and the request can be corrected.
        request.count = 7
        request.changed = nil
        request.took = .zero
        request.visit.count = 0
        request.customer.visits = []
        request.subject = .text("u")
        request.sizes = []
        try txn.submit(request)
        return error.message
      }
      return nil
    }
    #expect(outcome.isCommitted)
    return outcome.result ?? nil
  }

  @Test("What does not fit is refused by name, and nothing is lost")
  func refusals() throws {
    try withTemporaryWorkspace { workspace in
      try EverydayTests.store(in: workspace)
      #expect(
        try refusal(workspace) { $0.count = 256 }
          == "the object cannot be stored: count is 256, which a field of type UInt8 cannot hold")
      #expect(try refusal(workspace) { $0.count = -1 } != nil)
      #expect(try refusal(workspace) { $0.changed = Date(timeIntervalSince1970: 1e15) } != nil)
      #expect(try refusal(workspace) { $0.took = .seconds(Int64.max) } != nil)
      #expect(try refusal(workspace) { $0.visit.count = 1 << 15 }?.contains("count") == true)
      #expect(try refusal(workspace) { $0.sizes = [1, 1 << 15] }?.contains("sizes") == true)
      #expect(
        try refusal(workspace) {
          $0.customer.visits = [Shop.Visit(at: .init(timeIntervalSince1970: .nan))]
        } != nil)
      #expect(
        try refusal(workspace) { $0.subject = nil }
          == "the object cannot be stored: subject is nil, and the schema requires it")
      #expect(try refusal(workspace) { $0.count = 255 } == nil)
      let stored = workspace.dflat.fetch(for: Order.self).where(Order.number == 1)
      #expect(stored.map(\.count) == [255] && stored.map(\.subject) == [.text("u")])
    }
  }

  @Test("Objects are found by keys of such types, and by no value that a key cannot hold")
  func keys() async throws {
    try await withTemporaryWorkspace { workspace in
      try EverydayTests.store(in: workspace)
      let dflat = workspace.dflat
      #expect(dflat.find(Order.self, (EverydayTests.id(3), 3))?.title == "order 3")
      #expect(dflat.find(Order.self, EverydayTests.order(4).id)?.number == 4)
      #expect(dflat.find(Order.self, (EverydayTests.id(3), 1 << 40)) == nil)
      let title = try await dflat.read { context in
        try context.find(Order.self, (id: EverydayTests.id(2), number: 2))?.title
      }
      #expect(title == "order 2")
    }
  }

  @Test("A changed copy keeps that a value does not fit")
  func copies() async throws {
    try await withTemporaryWorkspace { workspace in
      let refused = [
        EverydayTests.order(1).with { $0.count = 256 },
        EverydayTests.order(1).with { $0.count = 256 }.with { $0.title = "other" },
      ]
      for object in refused {
        await #expect(throws: StorageError.self) {
          try await workspace.dflat.write(Order.self) { try $0.insert(object) }
        }
      }
    }
  }

  @Test("Objects that were made with what does not fit are not stored", arguments: [false, true])
  func refusedObjects(isUpsert: Bool) async throws {
    try await withTemporaryWorkspace { workspace in
      try EverydayTests.store(in: workspace)
      var builder = Shop.OrderBuilder(from: EverydayTests.order(1))
      builder.count = 300
      let object = builder.build()
      await #expect(throws: StorageError.self) {
        try await workspace.dflat.write(Order.self) { txn in
          if isUpsert { try txn.upsert(object) } else { try txn.insert(object) }
        }
      }
      let outcome = try workspace.write([Order.self]) { txn in
        _ = try? txn.submit(
          isUpsert
            ? Shop.OrderChangeRequest.upsertRequest(object)
            : Shop.OrderChangeRequest.creationRequest(object))
      }
      #expect(outcome.isCommitted)
      let counts = workspace.dflat.fetch(for: Order.self).where(Order.number == 1).map(\.count)
      #expect(counts == [20])
    }
  }

  @Test("A value of the dictionary that does not fit is reported, and the old one stays on disk")
  func dictionary() throws {
    try withTemporaryWorkspace { workspace in
      var dictionary = workspace.dflat.dictionary
      dictionary["page", Shop.URLNote.self] = Shop.URLNote(page: 7)
      dictionary["page", Shop.URLNote.self] = Shop.URLNote(page: 1 << 40)
      dictionary.synchronize()
      let errors = workspace.takeErrors().map { "\($0)" }
      #expect(errors.count == 1 && errors[0].contains("page is 1099511627776"), "\(errors)")
      let second = workspace.secondWorkspace()
      #expect(second.dflat.dictionary["page", Shop.URLNote.self]?.page == 7)
      second.dflat.shutdown()
    }
  }

  /// Stores a row that has a key and whatever `fill` adds.
  private func tamper(
    _ workspace: TemporaryWorkspace, _ number: Int32,
    _ fill: (FlatBufferBuilder) -> [(FlatBufferBuilder.Offset, Int)] = { _ in [] }
  ) throws {
    let builder = FlatBufferBuilder()
    let id = "not a UUID \(number)"
    let children = fill(builder) + [(builder.string(id), 4)]
    builder.startTable(slotCount: 25)
    for (child, place) in children { builder.add(child, at: place) }
    builder.add(number, at: 6, default: 0)
    builder.finish(builder.endTable())
    let hex = builder.bytes.map { String(format: "%02x", $0) }.joined()
    try workspace.tamper(
      "INSERT INTO \(Self.table) (__pk0, __pk1, p) VALUES ('\(id)', \(number), x'\(hex)')")
  }

  @Test("A row without what is required, and with what cannot be read, is read and told")
  func oldRows() throws {
    try withTemporaryWorkspace { workspace in
      try EverydayTests.store(in: workspace)
      try tamper(workspace, 20) { builder in
        let links = builder.vector(["a:", "", "b:"])
        return [(builder.string("not a number"), 20), (builder.string("?"), 24), (links, 32)]
      }
      let old = try #require(
        workspace.dflat.fetch(for: Order.self).where(Order.number == 20).first)
      #expect(old.title == "" && old.customer == Shop.Customer._empty && old.sizes == [])
      #expect(old.visit == Shop.Visit() && old.parts == [] && old.subject == nil)
      #expect(old.id == UUID.unreadable && old.total == nil && old.code == Code.none)
      #expect(old.links.map(\.absoluteString) == ["a:", "b:"])
      #expect(workspace.dflat.fetch(for: Order.self).where(Order.title == "").count == 2)
      let problems = old.fieldProblems.map(\.description)
      #expect(
        problems == [
          "id holds \"not a UUID 20\", which cannot be read",
          "title is required and missing",
          "total holds \"not a number\", which cannot be read",
          "code holds \"?\", which cannot be read",
          "links[1] holds \"\", which cannot be read",
          "sizes is required and missing",
          "customer is required and missing",
          "visit is required and missing",
          "subject is required and missing",
          "parts is required and missing",
        ])
    }
  }

  @Test("An update of such a row writes what is required, and keeps what it did not set")
  func updatesOfOldRows() throws {
    try withTemporaryWorkspace { workspace in
      try EverydayTests.store(in: workspace)
      try tamper(workspace, 20) { [($0.string("not a number"), 20)] }
      try tamper(workspace, 21)
      // A field that only a newer schema knows stays, too.
      try tamper(workspace, 22) { [($0.string("newer"), 52)] }
      for number in 20...22 {
        let old = try #require(
          workspace.dflat.fetch(for: Order.self).where(Order.number == number).first)
        try workspace.write([Order.self]) { txn in
          let request = try #require(Shop.OrderChangeRequest.changeRequest(old))
          if number == 20 { request.count = 5 } else { request.picture = Data([1]) }
          try txn.submit(request)
        }
      }
      let rows = try withSchema { try flatcReads([11, 12, 13], in: Self.table, $0, of: workspace) }
      #expect(
        try workspace.sqlite3("SELECT hex(p) FROM \(Self.table) WHERE __pk1 = 22")
          .contains("6E65776572"))
      for row in rows {
        #expect(row["title"] as? String == "" && (row["sizes"] as? [Any])?.isEmpty == true)
        #expect((row["parts"] as? [Any])?.isEmpty == true && row["visit"] != nil)
        #expect((row["customer"] as? [String: Any])?["name"] as? String == "")
      }
      #expect(rows.first?["total"] as? String == "not a number")
      #expect(rows.first?["count"] as? Int == 5 && rows.last?["picture"] as? [Int] == [1])
    }
  }

  @Test("A creation request without a word has empty values of all that is required")
  func emptyCreation() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.write([Order.self]) { txn in
        let request = Shop.OrderChangeRequest.creationRequest()
        #expect(throws: StorageError.self) { try txn.submit(request) }
        request.subject = .text("")
        try txn.submit(request)
      }
      let rows = try withSchema { try flatcReads([1], in: Self.table, $0, of: workspace) }
      let row = try #require(rows.first)
      #expect(row["title"] as? String == "" && row["visit"] != nil && row["sizes"] != nil)
      #expect((row["customer"] as? [String: Any])?["name"] as? String == "")
      #expect(row["created"] == nil && row["price"] == nil, "defaults are left out")
    }
  }
}
