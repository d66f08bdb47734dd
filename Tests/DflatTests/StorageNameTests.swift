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
      let name = index.columns[0].name
      #expect(schema.column(named: name)?.reader.field.path == name)
    }
    #expect(!schema.indexes.isEmpty)
    for text in ["", "f4_", "f4__", "f4__f", "f30000", "f4__type", "f4__u1__f4", "f8__nocase"] {
      #expect(schema.column(named: text) == nil)
    }
  }

  @Test(
    "The name of a compound index lists its columns, and no field is called so",
    arguments: [
      ("x__f6__x__f10", ["f6", "f10"]),
      ("x__f14__f4__x__f6__nocase", ["f14__f4", "f6__nocase"]),
      ("x__f6__nocase", ["f6__nocase"]),
      ("x__f20__u1__f4__x__f20__type", ["f20__u1__f4", "f20__type"]),
      ("f6", ["f6"]),
    ])
  func compoundNames(text: String, columns: [String]) {
    #expect(EntitySchema.columnNames(ofIndex: text) == columns)
    #expect(EntitySchema.isStorageName(text) == (text == "f6"))
  }

  @Test(
    "Other names are no indexes",
    arguments: [
      "", "x", "x__", "x__f6_", "x__x", "x__f6__x", "f6__x__f10", "x__f", "x__f6__nocase__f10",
      "x__nocase", "x_f6", "f6__nocase", "y__f6", "x__f6__x__nocase", "x__type",
    ])
  func noIndexes(text: String) {
    #expect(EntitySchema.columnNames(ofIndex: text).isEmpty)
  }

  @Test("The name of a full-text index lists its columns and their tokenizers")
  func fullTextNames() throws {
    let names: [(String, [SearchTokenizer], [String])] = [
      ("fulltext__porter__x__f6__x__f14__f4", [.porter, .porter], ["f6", "f14__f4"]),
      ("fulltext__tokens__x__f6__trigram", [.trigram], ["f6"]),
      (
        "fulltext__tokens__x__f6__porter__x__f14__u1__f4__portercjk__x__f8__unicode61",
        [.porter, .porterCJK, .unicode61], ["f6", "f14__u1__f4", "f8"]
      ),
    ]
    for (name, tokenizers, columns) in names {
      let index = try #require(EntitySchema.fullTextIndex(named: name))
      #expect(index.tokenizers == tokenizers && index.columns == columns)
      #expect(FullTextIndex.name(columns, tokenizers) == name)
    }
    for other in [
      "fulltext__trigram__x__f6", "fulltext__tokens__x__f6", "fulltext__porter__x__f6__porter",
      "fulltext__tokens__x__f6__icu", "fulltext__porter", "fulltext__x__f6", "fulltext__tokens__x",
      "fulltext__tokens__x__f6__porter", "fulltext__tokens__x__x__porter", "fulltext__", "f6",
    ] {
      #expect(EntitySchema.fullTextIndex(named: other) == nil, "\(other)")
    }
  }
}
