// The rows of a dictionary's items, whose ids are remembered for long.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Rows of dictionaries")
struct DictionaryRowTests {
  @Test("An item replaces a row only if the row has its key", arguments: TestEngine.all)
  func keyOfRow(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let storage = workspace.dflat._core.engine
      try storage.prepareForWriting()
      let writer = try storage.beginWriting()
      defer { writer.rollback() }
      let schema = DictionaryItem.schema
      let (first, second) = ("color", "a longer key")
      let ids = try [first, second].map { key in
        try DictionaryItem.row(key, in: "", .int(1)).withBytes { try writer.insert(schema, $0) }
      }
      func replace(_ key: String, _ namespace: String, _ value: Int, _ id: Int64) throws -> Bool {
        try writer.update(
          schema, ifStored: DictionaryItem.row(key, in: namespace, .int(value), id: id),
          changing: DictionaryItem.values)
      }
      #expect(try !replace(second, "", 2, ids[0]))
      #expect(try !replace(first, "other", 3, ids[0]))
      #expect(try !replace(first, "", 4, ids[1] + 100))
      #expect(try replace(second, "", 5, ids[1]))
      let found = try writer.rows(.query(DictionaryItem.query(in: "")), mark: .none)
      #expect((0..<found.count).map { DictionaryItem.key(of: found[$0]) } == [first, second])
      let values = try (0..<found.count).map { try DictionaryItem.contents(of: found[$0]) }
      #expect(values.first?.equals(.int(1)) == true && values.last?.equals(.int(5)) == true)
    }
  }
}
