// Overlays of tables: kept fields, new fields, the position of the old buffer, and whether flatc
// reads them.

import FlatBuffersRuntime
import Testing

@Suite("Overlay tables")
struct OverlayTableTests {
  /// The schema of the newest program. The programs below know only the first three fields.
  private static let schema = Schema(
    name: "overlay",
    text: """
      struct Wide (force_align: 16) { a: ulong; b: ulong; }
      table Inner { text: string; }
      table Item { number: int; name: string; flag: bool; extra: string; inner: Inner; wide: Wide; }
      root_type Item;
      """, makeItem: { TableLayout("Item", []) })

  private func original() -> [UInt8] {
    let builder = FlatBufferBuilder()
    let name = builder.string("a name")
    let extra = builder.string("kept")
    let text = builder.string("deep")
    builder.startTable(slotCount: 1)
    builder.add(text, at: 4)
    let inner = builder.endTable()
    builder.startTable(slotCount: 6)
    builder.addStructure(at: 14, size: 16, alignment: 16) {
      $0.storeBytes(of: 1, as: UInt64.self)
      $0.storeBytes(of: 2, toByteOffset: 8, as: UInt64.self)
    }
    builder.add(Int32(7), at: 4, default: 0)
    builder.add(name, at: 6)
    builder.add(extra, at: 10)
    builder.add(inner, at: 12)
    builder.finish(builder.endTable())
    return [UInt8](builder.bytes)
  }

  /// Gives the table a new name and flag, and keeps the other fields if they are in the core.
  private func renamed(_ bytes: [UInt8], _ name: String) throws -> [UInt8] {
    try bytes.withUnsafeBytes { bytes in
      let old = try #require(TableReader(root: bytes))
      let core = old.core ?? 0..<bytes.count
      let builder = FlatBufferBuilder()
      let text = builder.string(name)
      let overlay = try #require(
        builder.startTable(over: old, core: core, slotCount: 3, inlineSize: 32) {
          $0 != 6 && $0 != 8
        })
      builder.add(text, at: 6)
      builder.add(true, at: 8, default: false)
      builder.finish(builder.endTable(overlay))
      return [UInt8](builder.bytes)
    }
  }

  @Test("Kept fields read as before, however often other fields are replaced")
  func stays() throws {
    var bytes = original()
    #expect(bytes.withUnsafeBytes { TableReader(root: $0)?.core } == nil)
    var sizes: Set<Int> = []
    for round in 0..<20 {
      bytes = try renamed(bytes, "name \(round % 10)")
      sizes.insert(bytes.count)
      try bytes.withUnsafeBytes { bytes in
        let table = try #require(TableReader(root: bytes))
        #expect(table.scalar(at: 4, default: Int32(0)) == 7)
        #expect(table.string(at: 6) == "name \(round % 10)")
        #expect(table.scalar(at: 8, default: false))
        #expect(table.string(at: 10) == "kept")
        let inner: TableReader? = table.table(at: 12)
        #expect(inner?.string(at: 4) == "deep")
        let core = try #require(table.core)
        #expect(core.count == original().count && core.lowerBound % 64 == 0)
        #expect(bytes[core].elementsEqual(original()))
        #expect(table.fieldCount == 6)
      }
    }
    #expect(sizes.count == 1)
  }

  @Test("flatc reads them", .enabled(if: Flatc.isInstalled, "flatc is not installed"))
  func flatc() throws {
    let bytes = try renamed(renamed(original(), "first"), "second")
    let json = try bytes.withUnsafeBytes { try Flatc.json(of: $0, Self.schema) }
    let text = String(decoding: json, as: UTF8.self).filter { !$0.isWhitespace }
    #expect(
      text == """
        {"number":7,"name":"second","flag":true,"extra":"kept","inner":{"text":"deep"},\
        "wide":{"a":1,"b":2}}
        """)
  }

  @Test("A table that would be too wide is not opened")
  func tooWide() throws {
    let builder = FlatBufferBuilder()
    builder.startTable(slotCount: 1)
    builder.addStructure(at: 4, size: 65_000, alignment: 1) { _ in }
    builder.finish(builder.endTable())
    do {
      let bytes = builder.bytes
      let old = try #require(TableReader(root: bytes))
      let other = FlatBufferBuilder()
      #expect(
        other.startTable(
          over: old, core: 0..<bytes.count, slotCount: 3, inlineSize: 600, stays: { _ in true })
          == nil)
      // No table was opened, so the builder can be used.
      other.startTable(slotCount: 0)
      other.finish(other.endTable())
    }
  }
}
