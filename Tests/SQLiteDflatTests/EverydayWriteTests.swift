// Fields with Swift types of their own, and required fields: what they write, what they refuse, and
// how rows from other programs are read.

import DflatTestSupport
import FlatBuffersRuntime
import Foundation
import SQLiteDflat
import Testing

@Suite("Writing fields with Swift types of their own")
struct EverydayWriteTests {
  private static let table = Order._schema.table

  /// The schema in the form that flatc accepts.
  private func withSchema<R>(_ body: (URL) throws -> R) throws -> R {
    let directory = URL(fileURLWithPath: try makeTemporaryDirectory())
    defer { try? FileManager.default.removeItem(at: directory) }
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "DflatTestSupport/Schemas/everyday.fbs")
    let attributes = ["primary", "indexed", "unique", "v", "swift", "swift_name"]
      .map { "attribute \"\($0)\";\n" }.joined()
    // flatc supports string defaults for few languages only.
    let text = try String(contentsOf: source, encoding: .utf8)
      .replacingOccurrences(of: " = \"none\"", with: "")
    let schema = directory.appending(path: "everyday.fbs")
    try (attributes + text).write(to: schema, atomically: false, encoding: .utf8)
    // For strings in unions, flatc prints JSON only from the compiled schema.
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
    try withTemporaryFile { workspace in
      try Orders.store(in: workspace)
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

  /// Stores a row that has a key and whatever `fill` adds.
  private func tamper(
    _ workspace: TemporaryFile, _ number: Int32,
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

  @Test("A row without required fields, or with unreadable ones, is read and reported")
  func oldRows() throws {
    try withTemporaryFile { workspace in
      try Orders.store(in: workspace)
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

  @Test("An update of such a row writes the required fields, and keeps unset ones")
  func updatesOfOldRows() throws {
    try withTemporaryFile { workspace in
      try Orders.store(in: workspace)
      try tamper(workspace, 20) { [($0.string("not a number"), 20)] }
      try tamper(workspace, 21)
      // A field of a newer schema stays, too.
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

  @Test("A creation request without values has empty values for all required fields")
  func emptyCreation() throws {
    try withTemporaryFile { workspace in
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

  @Test("A dictionary value that does not fit is reported, and the old one stays on disk")
  func dictionary() throws {
    try withTemporaryFile { workspace in
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
}
