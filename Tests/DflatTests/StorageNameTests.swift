// Storage names: which strings name a field, and which field they name.

import Dflat
import DflatTestSupport
import Testing

@Suite("Storage names")
struct StorageNameTests {
  @Test(
    "Names of fields, union members and tags are recognised",
    arguments: [
      "f4", "f10", "f20__type", "f20__u1__f4", "f14__f4__f6", "f20__u1",
    ])
  func names(text: String) {
    #expect(EntitySchema.isStorageName(text))
  }

  @Test(
    "Other strings are not storage names",
    arguments: [
      "", "_", "__", "f", "f4_", "f4__", "__f4", "_f4", "f4_f6", "f4___f6", "f4____f6",
      "f4__type__f6",
      "x4", "f-4", "f4__x6", "type", "u1__f4", "f٤",
    ])
  func others(text: String) {
    #expect(!EntitySchema.isStorageName(text))
  }

  @Test("A schema has readers for its fields only")
  func readers() {
    let schema = Kit.Item._schema
    for index in schema.indexes {
      #expect(schema.reader(for: index.field.path)?.field.path == index.field.path)
    }
    #expect(!schema.indexes.isEmpty)
    for text in ["", "f4_", "f4__", "f4__f", "f30000", "f4__type", "f4__u1__f4"] {
      #expect(schema.reader(for: text) == nil)
    }
  }
}
