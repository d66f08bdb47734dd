// A type's schema in three forms: its layout, the binary schema, and the schema language.

import Dflat
import DflatSchema
import DflatTestSupport
import Testing

@testable import DflatTools

@Suite("Schemas of stored types")
struct SchemaTextTests {
  static let schemas: [EntitySchema] = [
    Post._schema, Kit.Item._schema, KIT.Item._schema, Desk.Memo._schema, Tale.Story._schema,
    Press.Article._schema, PRESS.Article._schema, Tour.Concert._schema, Mixed.Entry._schema,
    Prose.Essay._schema,
  ]

  @Test("A binary schema is read as it was written", arguments: schemas)
  func binary(schema: EntitySchema) throws {
    let written = BinarySchema(schema)
    let read = try BinarySchema(bytes: written.encoded())
    #expect(read == written)
    #expect(read.encoded() == schema.encoded.bytes)
  }

  @Test("The text of a schema is compiled to the same layout", arguments: schemas)
  func text(schema: EntitySchema) throws {
    let written = BinarySchema(schema)
    let text = SchemaText.text(of: written, including: nil)
    let result = SchemaCompiler().compile(source: Array(text.utf8), path: "text.fbs")
    let messages = result.diagnostics.map { $0.rendered() }
    let compiled = try #require(result.schema, "\(messages)\n\(text)")
    let root = try #require(compiled.files.first?.root)
    #expect(compiled.tableName(of: root) == schema.table)
    let entity = try #require(
      CompiledTypes(compiled).entity(inTable: schema.table, references: [], referrers: []))
    #expect(
      BinarySchema(entity).withoutProgramAttributes == written.withoutProgramAttributes, "\(text)")
  }

  @Test("A text whose default is empty keeps it, and a text that is always there has none")
  func emptyDefault() throws {
    let source = """
      table T { id: string (primary); a: string = ""; b: string; c: string (required); }
      root_type T;
      """
    let compiled = try #require(
      SchemaCompiler().compile(source: Array(source.utf8), path: "t.fbs").schema)
    let entity = try #require(
      CompiledTypes(compiled).entity(inTable: "t", references: [], referrers: []))
    let text = SchemaText.text(of: BinarySchema(entity), including: nil)
    for line in [
      "id: string (primary);", "a: string = \"\";", "b: string;", "c: string (required);",
    ] { #expect(text.contains(line), "\(text)") }
  }

  @Test("Damaged binary schemas are errors or schemas, and never crash")
  func damaged() throws {
    let bytes = Kit.Item._schema.encoded.bytes
    withSeed { random in
      for _ in 0..<(isLongRun ? 100_000 : 500) {
        var damaged = bytes
        for _ in 0..<random.pick([1, 2, 8]) {
          damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(
            in: 0...255, using: &random)
        }
        if random.oneIn(4) { damaged.removeLast(Int.random(in: 0..<damaged.count, using: &random)) }
        guard let schema = try? BinarySchema(bytes: damaged) else { continue }
        let text = SchemaText.text(of: schema, including: nil)
        _ = SchemaCompiler().compile(source: Array(text.utf8), path: "text.fbs")
      }
    }
  }
}

extension BinarySchema {
  /// Without what only programs use: Swift types, and references to other entities.
  fileprivate var withoutProgramAttributes: BinarySchema {
    var schema = self
    for object in schema.objects.indices {
      schema.objects[object].attributes.removeAll { $0.name == "references" }
      for field in schema.objects[object].fields.indices {
        schema.objects[object].fields[field].attributes.removeAll {
          ["swift", "references", "ondelete"].contains($0.name)
        }
      }
    }
    return schema
  }
}
