// Agreement with flatc: each side reads what the other side writes, for random objects with every
// construct.

import FlatBuffersRuntime
import Foundation
import SeededRandom
import Testing

@Suite("Agreement with flatc", .enabled(if: Flatc.isInstalled, "flatc is not installed"))
struct FlatcAgreementTests {
  static let objectsPerSchema =
    ProcessInfo.processInfo.environment["DFLAT_LONG"] == "1" ? 10_000 : 2000

  func randomItems(
    _ item: TableLayout, seed: UInt64, negativeZero: Bool = true
  ) -> [Value] {
    var generator = SeededGenerator(seed: seed)
    generator.makesNegativeZero = negativeZero
    return (0..<Self.objectsPerSchema).map { _ in generator.table(item, depth: 1) }
  }

  @Test("flatc reads what the builder writes", arguments: Schema.all)
  func flatcReads(schema: Schema) throws {
    let seed = testSeed()
    let item = schema.makeItem()
    let items = randomItems(item, seed: seed)
    let batch = Schema.batch(of: item)
    let builder = FlatBufferBuilder()
    builder.finish(builder.encode(.record([.vector(items)]), batch))
    let json = try JSONParser.parse(Flatc.json(of: builder.bytes, schema))
    let read = try Value(json, .table(batch))
    expectSame(read, items, "DFLAT_SEED=\(seed)")
  }

  @Test("The readers and the verifier read what flatc writes", arguments: Schema.all)
  func flatcWrites(schema: Schema) throws {
    let seed = testSeed()
    let item = schema.makeItem()
    // flatc treats -0.0 as the default 0.0 and leaves it out.
    let items = randomItems(item, seed: seed, negativeZero: false)
    let batch = Schema.batch(of: item)
    var text = ""
    Value.record([.vector(items)]).write(.table(batch), to: &text)
    let bytes = try Flatc.binary(of: text, schema)
    try bytes.withUnsafeBytes { bytes in
      var verifier = Verifier(bytes)
      try verifier.check(verifier.root(), batch)
      let root = try #require(TableReader(root: bytes))
      var decoder = Decoder(budget: .max)
      expectSame(try decoder.table(root, batch), items, "DFLAT_SEED=\(seed)")
    }
  }

  @Test("File identifiers and size prefixes mean the same", arguments: [false, true])
  func headers(sizePrefixed: Bool) throws {
    let schema = Schema.trees
    let batch = Schema.batch(of: schema.makeItem())
    let value = Value.record([.vector([])])
    let builder = FlatBufferBuilder()
    builder.finish(
      builder.encode(value, batch), fileIdentifier: "TREE", sizePrefixed: sizePrefixed)
    let json = try JSONParser.parse(
      Flatc.json(of: builder.bytes, schema, sizePrefixed: sizePrefixed))
    #expect(try Value(json, .table(batch)) == value)

    let bytes = try Flatc.binary(of: "{\"items\":[]}", schema, sizePrefixed: sizePrefixed)
    try bytes.withUnsafeBytes { bytes in
      #expect(TableReader.hasFileIdentifier("TREE", in: bytes, sizePrefixed: sizePrefixed))
      let root = sizePrefixed ? TableReader(sizePrefixedRoot: bytes) : TableReader(root: bytes)
      var decoder = Decoder()
      #expect(try decoder.table(#require(root), batch) == value)
      var verifier = sizePrefixed ? try Verifier.sizePrefixed(bytes) : Verifier(bytes)
      try verifier.check(verifier.root(), batch)
    }
  }

  private func expectSame(_ batch: Value, _ items: [Value], _ seed: String) {
    guard case .record(let fields) = batch, case .vector(let read)?? = fields.first else {
      Issue.record("no items, \(seed)")
      return
    }
    #expect(read.count == items.count, "\(seed)")
    for (index, (one, other)) in zip(read, items).enumerated() where one != other {
      Issue.record("item \(index) is \(one) and should be \(other), \(seed)")
      return
    }
  }
}

extension Schema: CustomTestStringConvertible {
  var testDescription: String { name }
}
