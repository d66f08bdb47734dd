// The builder: canonical bytes, shared vtables, alignment, growth, reuse.

import FlatBuffersRuntime
import SeededRandom
import Testing

@Suite("Builder")
struct BuilderTests {
  @Test("A small table has exactly these bytes")
  func exactBytes() {
    let builder = FlatBufferBuilder()
    let name = builder.string("abc")
    builder.startTable(slotCount: 4)
    builder.add(name, at: 4)
    builder.add(Int16(0x1234), at: 8, default: 0)
    builder.add(Int64(0), at: 10, default: 0)
    builder.finish(builder.endTable())
    #expect(
      [UInt8](builder.bytes) == [
        16, 0, 0, 0,  // the root is 16 bytes further
        0, 0,  // padding
        // The vtable: its size, the table's size, three slots; the fourth is omitted.
        10, 0, 12, 0, 8, 0, 0, 0, 6, 0,
        10, 0, 0, 0,  // the table: its vtable is 10 bytes before it
        0, 0, 0x34, 0x12,  // padding, the short
        4, 0, 0, 0,  // the string is 4 bytes further
        3, 0, 0, 0, 0x61, 0x62, 0x63, 0,
      ])
  }

  @Test("A table that is too large for its offsets is refused, and the builder works on")
  func tooLarge() {
    let builder = FlatBufferBuilder()
    func write(_ count: Int) {
      builder.startTable(slotCount: count)
      for slot in 0..<count { builder.add(Int64(slot), at: 4 + 2 * slot, default: -1) }
      builder.finish(builder.endTable())
    }
    write(8200)
    #expect(builder.refusal?.contains("65535") == true)
    builder.reset()
    write(8100)
    #expect(builder.refusal == nil)
  }

  @Test("The same calls write the same bytes, whatever the memory contained", arguments: Schema.all)
  func canonical(schema: Schema) {
    let seed = testSeed()
    var generator = SeededGenerator(seed: seed)
    let item = schema.makeItem()
    let used = FlatBufferBuilder(capacity: 0)
    for _ in 0..<100 {
      let value = generator.table(item, depth: 1)
      let fresh = FlatBufferBuilder(capacity: 1 << 16)
      fresh.finish(fresh.encode(value, item))
      used.reset()
      used.finish(used.encode(value, item))
      #expect(used.bytes.elementsEqual(fresh.bytes), "DFLAT_SEED=\(seed)")

      // Over memory that is not zero.
      used.reset()
      _ = used.vector([UInt8](repeating: 0xAA, count: 5000))
      used.reset()
      used.finish(used.encode(value, item))
      #expect(used.bytes.elementsEqual(fresh.bytes), "DFLAT_SEED=\(seed)")
    }
  }

  @Test("Tables with the same fields share a vtable; empty slots at the end do not count")
  func sharedVTables() throws {
    let builder = FlatBufferBuilder()
    builder.startVector(count: 5)
    for index in 0..<4 {
      builder.startTable(slotCount: index == 3 ? 40 : 3)
      builder.add(Int32(index + 1), at: 4, default: 0)
      builder.add(index == 2 ? Int32(9) : nil, at: 8)
      builder.push(builder.endTable())
    }
    builder.startTable(slotCount: 0)
    builder.push(builder.endTable())
    let vector = builder.endVector()
    builder.startTable(slotCount: 1)
    builder.add(vector, at: 4)
    builder.finish(builder.endTable())
    let root = try #require(TableReader(root: builder.bytes))
    let read = try #require(root.vector(at: 4, stride: 4))
    let tables = try (0..<5).map { try #require(read.table($0)) }
    #expect(tables.map(\.vtableSize) == [6, 6, 10, 6, 4])
    #expect(tables[0].vtable == tables[1].vtable)
    #expect(tables[0].vtable == tables[3].vtable)
    #expect(root.vtable == tables[0].vtable, "a reference and an Int32 are equally wide")
    #expect(Set(tables.map(\.vtable)).count == 3)
  }

  @Test("A vtable does not depend on the position of its table", arguments: [1, 2, 4, 8])
  func placeIndependentVTables(widest: Int) throws {
    let builder = FlatBufferBuilder()
    builder.startVector(count: 0)
    for length in 0..<20 {
      _ = builder.string(String(repeating: "x", count: length))
      builder.startTable(slotCount: 4)
      if widest >= 8 { builder.add(Int64(1), at: 4, default: 0) }
      if widest >= 4 { builder.add(Int32(1), at: 6, default: 0) }
      if widest >= 2 { builder.add(Int16(1), at: 8, default: 0) }
      builder.add(true, at: 10, default: false)
      builder.push(builder.endTable())
      // A different table in between, whose vtable moves what follows by two bytes.
      builder.startTable(slotCount: 20)
      builder.add(true, at: 4 + 2 * length, default: false)
      _ = builder.endTable()
    }
    let vector = builder.endVector()
    builder.startTable(slotCount: 1)
    builder.add(vector, at: 4)
    builder.finish(builder.endTable())
    let tables = try #require(TableReader(root: builder.bytes)?.vector(at: 4, stride: 4))
    let vtables = try (0..<tables.count).map { try #require(tables.table($0)).vtable }
    #expect(vtables.count == 20 && Set(vtables).count == 1)
  }

  @Test("With very many different vtables, tables are still correct, and recent vtables are shared")
  func manyVTables() throws {
    let builder = FlatBufferBuilder()
    let count = 1000
    builder.startVector(count: count)
    for index in 0..<count {
      for _ in 0..<2 {
        builder.startTable(slotCount: 10)
        for slot in 0..<10 where index >> slot & 1 == 1 {
          builder.add(Int16(index), at: 4 + 2 * slot)
        }
        builder.push(builder.endTable())
      }
    }
    let vector = builder.endVector()
    builder.startTable(slotCount: 1)
    builder.add(vector, at: 4)
    builder.finish(builder.endTable())
    let tables = try #require(TableReader(root: builder.bytes)?.vector(at: 4, stride: 4))
    for index in 0..<count {
      let table = try #require(tables.table(2 * index))
      #expect(tables.table(2 * index + 1)?.vtable == table.vtable)
      for slot in 0..<10 {
        let expected: Int16? = index >> slot & 1 == 1 ? Int16(index) : nil
        #expect(table.scalar(at: 4 + 2 * slot) == expected)
      }
    }
  }

  @Test(
    "Wide alignments hold relative to the buffer's start and in memory",
    arguments: [1, 2, 4, 8, 16, 32, 64])
  func alignment(alignment: Int) throws {
    let builder = FlatBufferBuilder(capacity: 0)
    for header in [nil, "ABCD"] {
      builder.reset()
      let odd = builder.string("xyz")
      let vector = builder.vector(count: 3, size: 64, alignment: alignment) { index, memory in
        #expect(UInt(bitPattern: memory) % UInt(alignment) == 0)
        memory.storeBytes(of: UInt8(index), as: UInt8.self)
      }
      builder.startTable(slotCount: 3)
      builder.addStructure(at: 4, size: 64, alignment: alignment) { _ in }
      builder.add(odd, at: 6)
      builder.add(vector, at: 8)
      builder.finish(builder.endTable(), fileIdentifier: header)
      #expect(builder.bytes.count % max(alignment, 4) == 0)
      let root = try #require(TableReader(root: builder.bytes))
      #expect(try #require(root.structure(at: 4, size: 64)).position % alignment == 0)
      #expect(try #require(root.vector(at: 8, stride: 64)).position % alignment == 0)
    }
  }

  @Test("The builder grows while tables and vectors are open")
  func growth() throws {
    let builder = FlatBufferBuilder(capacity: 0)
    builder.startVector(count: 0)
    for index in 0..<2000 { builder.push(builder.string("string \(index)")) }
    let strings = builder.endVector()
    builder.startTable(slotCount: 500)
    builder.add(strings, at: 4)
    for slot in 1..<500 { builder.add(Int64(slot), at: 4 + 2 * slot) }
    builder.finish(builder.endTable())
    let root = try #require(TableReader(root: builder.bytes))
    let read = try #require(root.vector(at: 4, stride: 4))
    #expect(read.strings() == (0..<2000).map { "string \($0)" })
    for slot in 1..<500 { #expect(root.scalar(at: 4 + 2 * slot) == Int64(slot)) }
  }

  @Test("Raw bytes become a vector")
  func rawVector() throws {
    let builder = FlatBufferBuilder()
    let values: [Double] = [1, 2, 3]
    let vector = values.withUnsafeBytes { builder.vector(bytes: $0, count: 3, alignment: 8) }
    let empty = builder.vector(
      bytes: UnsafeRawBufferPointer(start: nil, count: 0), count: 0, alignment: 8)
    builder.startTable(slotCount: 2)
    builder.add(vector, at: 4)
    builder.add(empty, at: 6)
    builder.finish(builder.endTable())
    let root = try #require(TableReader(root: builder.bytes))
    #expect(root.vector(at: 4, stride: 8)?.scalars() == values)
    #expect(root.vector(at: 6, stride: 8)?.count == 0)
  }

  @Test("After a reset at any point, the builder starts over")
  func reset() throws {
    let builder = FlatBufferBuilder()
    builder.startVector(count: 1)
    builder.push(builder.string("x"))
    builder.startTable(slotCount: 2)
    builder.add(Int32(2), at: 6, default: 0)
    builder.reset()
    builder.startTable(slotCount: 2)
    builder.add(Int32(1), at: 4, default: 0)
    builder.finish(builder.endTable())
    let table = try #require(TableReader(root: builder.bytes))
    #expect(table.scalar(at: 4) == Int32(1) && table.scalar(at: 6) == Int32?.none)
  }

  // Misuse stops the program with a message on standard error.

  @Test("A field outside of a table stops the program")
  func misuseOutsideTable() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      FlatBufferBuilder().add(Int32(1), at: 4, default: 0)
    }
    try expectMessage(result, "a field is added outside of a table")
  }

  @Test("Tables opened within each other stop the program")
  func misuseNested() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let builder = FlatBufferBuilder()
      builder.startTable(slotCount: 1)
      builder.startTable(slotCount: 1)
    }
    try expectMessage(result, "a table is open: its children are written before it is started")
  }

  @Test("Finishing twice stops the program")
  func misuseFinish() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let builder = FlatBufferBuilder()
      builder.startTable(slotCount: 1)
      let root = builder.endTable()
      builder.finish(root)
      builder.finish(root)
    }
    try expectMessage(result, "the buffer is finished; reset the builder first")
  }

  @Test("More than 2 GiB stop the program")
  func misuseSize() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = FlatBufferBuilder().vector(count: 1 << 28, size: 16, alignment: 4) { _, _ in }
    }
    try expectMessage(result, "a buffer has at most 2 GiB - 1 bytes")
  }

  @Test("A builder that refuses what is too large goes on, and gives an empty table")
  func refusedSize() throws {
    let builder = FlatBufferBuilder(refusingMoreThan: 4096)
    func table(_ text: String, _ numbers: [Int64], _ strings: [String]) -> FlatBufferBuilder.Offset
    {
      let text = builder.string(text)
      let numbers = builder.vector(numbers)
      let structures = builder.vector(count: numbers == .none ? 0 : 3, size: 8, alignment: 8) {
        $1.storeBytes(of: UInt64($0), as: UInt64.self)
      }
      let strings = builder.vector(strings)
      builder.startTable(slotCount: 5)
      builder.add(text, at: 4)
      builder.add(numbers, at: 6)
      builder.add(strings, at: 8)
      builder.add(structures, at: 10)
      builder.addStructure(at: 12, size: 16, alignment: 8) { $0.storeBytes(of: 1, as: Int64.self) }
      return builder.endTable()
    }
    let long = String(repeating: "x", count: 10_000)
    let half = String(repeating: "y", count: 1500)
    let tooLarge: [(String, [Int64], [String])] = [
      (long, [1], ["a"]), ("a", Array(repeating: 7, count: 5000), ["a"]), ("a", [1], [long, "b"]),
      (half, [1], [half, half]), (half, Array(repeating: 7, count: 200), [half]),
      ("a", [], Array(repeating: "", count: 2000)),
    ]
    for (text, numbers, strings) in tooLarge {
      builder.reset()
      // As a part of another table, too.
      let inner = table(text, numbers, strings)
      builder.startVector(count: 2)
      builder.push(inner)
      builder.push(table("b", [2], ["c"]))
      let tables = builder.endVector()
      builder.startTable(slotCount: 1)
      builder.add(tables, at: 4)
      builder.finish(builder.endTable())
      #expect(try #require(builder.refusal).contains("4096 bytes"))
      let root = try #require(TableReader(root: builder.bytes))
      #expect(root.locate(4, size: 4) == 0 && builder.bytes.count < 32)
      // The next buffer is as good as any.
      builder.reset()
      builder.finish(table("a", [1, 2], ["b", "c"]))
      #expect(builder.refusal == nil)
      let next = try #require(TableReader(root: builder.bytes))
      #expect(next.string(at: 4) == "a")
      #expect(next.vector(at: 8, stride: 4)?.strings() == ["b", "c"])
    }
  }

  private func expectMessage(_ result: ExitTest.Result?, _ message: String) throws {
    let output = try #require(result).standardErrorContent
    #expect(String(decoding: output, as: UTF8.self).contains(message))
  }

  @Test("A reused builder keeps its memory")
  func steadyState() {
    let builder = FlatBufferBuilder(capacity: 0)
    func encode() -> UnsafeRawPointer? {
      builder.reset()
      let strings = builder.vector(["short", "a string that is too long to be stored inline", ""])
      builder.startTable(slotCount: 40)
      builder.add(strings, at: 4)
      builder.add(Int64(5), at: 82, default: 0)
      builder.finish(builder.endTable())
      return builder.bytes.baseAddress
    }
    let first = encode()
    for _ in 0..<100 { #expect(encode() == first) }
  }
}
