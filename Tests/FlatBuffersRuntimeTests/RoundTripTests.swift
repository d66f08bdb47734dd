// Round trips: the readers return what the builder has written, construct by construct.

import FlatBuffersRuntime
import Testing

@Suite("Round trips")
struct RoundTripTests {
  /// Builds a buffer whose root table has the fields that `add` adds, and reads it.
  func withTable(
    slots: Int, children: (FlatBufferBuilder) -> [FlatBufferBuilder.Offset] = { _ in [] },
    add: (FlatBufferBuilder, [FlatBufferBuilder.Offset]) -> Void,
    read: (TableReader) throws -> Void
  ) throws {
    let builder = FlatBufferBuilder(capacity: 0)
    let offsets = children(builder)
    builder.startTable(slotCount: slots)
    add(builder, offsets)
    builder.finish(builder.endTable())
    try read(#require(TableReader(root: builder.bytes)))
  }

  @Test("Scalars of every kind keep their value")
  func scalars() throws {
    try withTable(slots: 11) { builder, _ in
      builder.add(Int64.min, at: 4, default: 0)
      builder.add(UInt64.max, at: 6, default: 0)
      builder.add(-Double.pi, at: 8, default: 0)
      builder.add(Int32.min, at: 10, default: 0)
      builder.add(UInt32.max, at: 12, default: 0)
      builder.add(Float.pi, at: 14, default: 0)
      builder.add(Int16.min, at: 16, default: 0)
      builder.add(UInt16.max, at: 18, default: 0)
      builder.add(Int8.min, at: 20, default: 0)
      builder.add(UInt8.max, at: 22, default: 0)
      builder.add(true, at: 24, default: false)
    } read: { table in
      #expect(table.scalar(at: 4, default: Int64(0)) == .min)
      #expect(table.scalar(at: 6, default: UInt64(0)) == .max)
      #expect(table.scalar(at: 8, default: 0.0) == -Double.pi)
      #expect(table.scalar(at: 10, default: Int32(0)) == .min)
      #expect(table.scalar(at: 12, default: UInt32(0)) == .max)
      #expect(table.scalar(at: 14, default: Float(0)) == .pi)
      #expect(table.scalar(at: 16, default: Int16(0)) == .min)
      #expect(table.scalar(at: 18, default: UInt16(0)) == .max)
      #expect(table.scalar(at: 20, default: Int8(0)) == .min)
      #expect(table.scalar(at: 22, default: UInt8(0)) == .max)
      #expect(table.scalar(at: 24, default: false) == true)
    }
  }

  @Test("A default is left out and read back; only identical bits count as the default")
  func defaults() throws {
    try withTable(slots: 5) { builder, _ in
      builder.add(Int32(7), at: 4, default: 7)
      builder.add(-0.0, at: 6, default: 0.0)
      builder.add(Double.nan, at: 8, default: .nan)
      builder.add(true, at: 10, default: true)
      builder.add(Int32(0), at: 12, default: 7)
    } read: { table in
      #expect(!table.contains(4))
      #expect(table.scalar(at: 4, default: Int32(7)) == 7)
      #expect(table.scalar(at: 6, default: 0.0).sign == .minus)
      #expect(!table.contains(8))
      #expect(!table.contains(10))
      #expect(table.scalar(at: 12, default: Int32(7)) == 0)
    }
  }

  @Test("An optional scalar distinguishes nil from every value")
  func optionalScalars() throws {
    try withTable(slots: 3) { builder, _ in
      builder.add(Int32?.some(0), at: 4)
      builder.add(Int32?.none, at: 6)
      builder.add(Bool?.some(false), at: 8)
    } read: { table in
      #expect(table.scalar(at: 4) == Int32(0))
      #expect(table.scalar(at: 6) as Int32? == nil)
      #expect(table.scalar(at: 8) == false)
    }
  }

  @Test(
    "Strings keep their bytes",
    arguments: [
      "", "a", "abc", "abcd", "fifteen bytes..", "sixteen bytes...", "žluťoučký 🐎\u{1} kůň",
    ])
  func strings(text: String) throws {
    try withTable(slots: 3) { builder in
      [builder.string(text), builder.string(Optional(text)), builder.string(String?.none)]
    } add: { builder, offsets in
      builder.add(offsets[0], at: 4)
      builder.add(offsets[1], at: 6)
      builder.add(offsets[2], at: 8)
    } read: { table in
      #expect(table.string(at: 4) == text)
      #expect(table.string(at: 6) == text)
      #expect(table.string(at: 8) == nil)
      let bytes = try #require(table.utf8(at: 4))
      #expect(bytes.elementsEqual(text.utf8))
      #expect((bytes.baseAddress! + bytes.count).load(as: UInt8.self) == 0)
    }
  }

  @Test("Invalid UTF-8 is repaired when read as a string, and kept when read as bytes")
  func invalidUTF8() throws {
    let broken: [UInt8] = [0x61, 0xFF, 0xC3, 0x62]
    try withTable(slots: 1) { builder in
      broken.withUnsafeBytes { [builder.string(utf8: $0)] }
    } add: { builder, offsets in
      builder.add(offsets[0], at: 4)
    } read: { table in
      #expect(table.string(at: 4) == "a\u{FFFD}\u{FFFD}b")
      let bytes = try #require(table.utf8(at: 4))
      #expect(bytes.elementsEqual(broken))
    }
  }

  @Test("A struct is inline in its table; bytes without members are zero")
  func structures() throws {
    try withTable(slots: 2) { builder, _ in
      builder.addStructure(at: 4, size: 24, alignment: 8) { memory in
        memory.storeBytes(of: Int16(-5), as: Int16.self)
        memory.storeBytes(of: 2.5, toByteOffset: 8, as: Double.self)
        memory.storeBytes(of: UInt8(9), toByteOffset: 16, as: UInt8.self)
      }
    } read: { table in
      let structure = try #require(table.structure(at: 4, size: 24))
      #expect(structure.position % 8 == 0)
      #expect(structure.scalar(at: 0) == Int16(-5))
      #expect(structure.scalar(at: 2) == Int16(0))
      #expect(structure.scalar(at: 4) == Int32(0))
      let inner = structure.structure(at: 8, size: 16)
      #expect(inner.scalar(at: 0) == 2.5)
      #expect(inner.scalar(at: 8) == UInt8(9))
      #expect(table.structure(at: 6, size: 24) == nil)
      #expect(table.structure(at: 4, size: 25) == nil, "larger than the table is malformed")
    }
  }

  @Test("Vectors of scalars keep their elements, for any count")
  func scalarVectors() throws {
    for count in 0..<9 {
      let doubles = (0..<count).map { Double($0) * 1.5 }
      let shorts = (0..<count).map { Int16($0 * -7) }
      let flags = (0..<count).map { $0 % 3 == 0 }
      try withTable(slots: 4) { builder in
        [builder.vector(doubles), builder.vector(shorts), builder.vector(flags)]
      } add: { builder, offsets in
        for (slot, offset) in offsets.enumerated() { builder.add(offset, at: 4 + 2 * slot) }
      } read: { table in
        let first = try #require(table.vector(at: 4, stride: 8))
        #expect(first.position % 8 == 0)
        #expect(first.scalars() == doubles)
        #expect((0..<first.count).map { first.scalar($0) as Double } == doubles)
        #expect(first.elementBytes.count == count * 8)
        #expect(table.vector(at: 6, stride: 2)?.scalars() == shorts)
        #expect(table.vector(at: 8, stride: 1)?.scalars() == flags)
        #expect(table.vector(at: 10, stride: 1) == nil)
      }
    }
  }

  @Test("Vectors of strings, structs and tables; nested vectors")
  func otherVectors() throws {
    let builder = FlatBufferBuilder()
    let strings = builder.vector(["one", "", "three"])
    let structs = builder.vector(count: 3, size: 12, alignment: 4) { index, memory in
      memory.storeBytes(of: Int32(index), toByteOffset: 4, as: Int32.self)
    }
    builder.startVector(count: 2)
    for outer in 0..<2 {
      builder.startVector(count: 0)
      for inner in 0...outer { builder.push(builder.string("\(outer).\(inner)")) }
      let names = builder.endVector()
      builder.startTable(slotCount: 1)
      builder.add(names, at: 4)
      builder.push(builder.endTable())
    }
    let tables = builder.endVector()
    builder.startTable(slotCount: 3)
    builder.add(strings, at: 4)
    builder.add(structs, at: 6)
    builder.add(tables, at: 8)
    builder.finish(builder.endTable())

    let root = try #require(TableReader(root: builder.bytes))
    let readStrings = try #require(root.vector(at: 4, stride: 4))
    #expect(readStrings.strings() == ["one", "", "three"])
    #expect(readStrings.string(2) == "three")
    #expect(root.string(atPosition: readStrings.position(of: 0)) == "one")
    let readStructs = try #require(root.vector(at: 6, stride: 12))
    #expect((0..<3).map { readStructs.structure($0).scalar(at: 4) as Int32 } == [0, 1, 2])
    let readTables = try #require(root.vector(at: 8, stride: 4))
    let names = (0..<2).map { readTables.table($0)?.vector(at: 4, stride: 4)?.strings() }
    #expect(names == [["0.0"], ["1.0", "1.1"]])
  }

  @Test("A struct behind an offset: a union's value, an element of a vector of unions, a root")
  func indirectStructures() throws {
    let builder = FlatBufferBuilder()
    func pair(_ value: Int64) -> FlatBufferBuilder.Offset {
      builder.indirectStructure(size: 16, alignment: 8) {
        $0.storeBytes(of: value, toByteOffset: 8, as: Int64.self)
      }
    }
    let one = pair(1)
    let vector = builder.vector([one, .none, pair(2)])
    builder.startTable(slotCount: 2)
    builder.add(one, at: 4)
    builder.add(vector, at: 6)
    builder.finish(builder.endTable())
    let root = try #require(TableReader(root: builder.bytes))
    #expect(root.indirectStructure(at: 4, size: 16)?.scalar(at: 8) == Int64(1))
    let elements = try #require(root.vector(at: 6, stride: 4))
    #expect(elements.indirectStructure(2, size: 16)?.scalar(at: 8) == Int64(2))
    #expect(elements.count == 3)

    builder.reset()
    builder.finish(pair(3))
    #expect(builder.bytes.count == 24)
    #expect(StructReader(root: builder.bytes, size: 16)?.scalar(at: 8) == Int64(3))
    #expect(StructReader(root: builder.bytes, size: 17) == nil)
  }

  @Test("File identifiers and size prefixes", arguments: [false, true])
  func headers(sizePrefixed: Bool) throws {
    let builder = FlatBufferBuilder()
    builder.startTable(slotCount: 1)
    builder.add(Int64(5), at: 4, default: 0)
    builder.finish(builder.endTable(), fileIdentifier: "POST", sizePrefixed: sizePrefixed)
    let bytes = builder.bytes
    #expect(bytes.count % 8 == 0)
    #expect(TableReader.hasFileIdentifier("POST", in: bytes, sizePrefixed: sizePrefixed))
    #expect(!TableReader.hasFileIdentifier("PAST", in: bytes, sizePrefixed: sizePrefixed))
    let table = sizePrefixed ? TableReader(sizePrefixedRoot: bytes) : TableReader(root: bytes)
    let value = try #require(table).scalar(at: 4, default: Int64(0))
    #expect(value == 5)
    if sizePrefixed {
      #expect(bytes.loadUnaligned(as: UInt32.self) == UInt32(bytes.count - 4))
    }
  }
}
