// The verifier: which buffers it accepts, and the messages of its errors.

import FlatBuffersRuntime
import Testing

@Suite("Verifier")
struct VerifierTests {
  /// A table with a string (4), an Int64 (6), a vector of strings (8), a nested table with a string
  /// (10) and a union (types 12, values 14).
  static func sample() -> [UInt8] {
    let builder = FlatBufferBuilder()
    let name = builder.string("name")
    let tags = builder.vector(["a", "bc"])
    let inner = builder.string("inner")
    builder.startTable(slotCount: 1)
    builder.add(inner, at: 4)
    let child = builder.endTable()
    builder.startTable(slotCount: 6)
    builder.add(Int64(5), at: 6, default: 0)
    builder.add(name, at: 4)
    builder.add(tags, at: 8)
    builder.add(child, at: 10)
    builder.add(child, at: 14)
    builder.add(UInt8(1), at: 12, default: 0)
    builder.finish(builder.endTable())
    return [UInt8](builder.bytes)
  }

  static func check(_ bytes: UnsafeRawBufferPointer) throws(VerificationError) {
    var verifier = Verifier(bytes)
    let root = try verifier.root()
    try verifier.string(at: 4, in: root, required: true)
    try verifier.scalar(at: 6, size: 8, in: root)
    try verifier.stringVector(at: 8, in: root)
    if let child = try verifier.enterTable(at: 10, in: root) {
      try verifier.string(at: 4, in: child)
      verifier.leaveTable()
    }
    if try verifier.union(typeAt: 12, valueAt: 14, in: root) == 1 {
      if let child = try verifier.enterTable(at: 14, in: root) {
        try verifier.string(at: 4, in: child)
        verifier.leaveTable()
      }
    }
  }

  /// The reason why the sample is rejected after `damage`, or nil if it is accepted.
  func reason(_ damage: (inout [UInt8], TableReader) -> Void) throws -> String? {
    let sound = Self.sample()
    var bytes = sound
    sound.withUnsafeBytes { damage(&bytes, TableReader(root: $0)!) }
    return bytes.withUnsafeBytes { bytes -> String? in
      do throws(VerificationError) {
        try Self.check(bytes)
        return nil
      } catch {
        return error.description
      }
    }
  }

  @Test("A valid buffer is accepted") func sound() throws {
    #expect(try reason { _, _ in } == nil)
  }

  @Test("The error for a string that ends outside names the offset and the size") func longString()
    throws
  {
    let size = Self.sample().count
    var offset = 0
    let text = try reason { bytes, root in
      let position = root.locate(4, size: 4)
      offset = position + Int(root.bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
      bytes[offset + 1] = 1
    }
    #expect(text == "string at offset \(offset) ends outside the buffer's \(size) bytes")
  }

  @Test("A string without its NUL") func unterminated() throws {
    let text = try reason { bytes, root in
      let string = root.utf8(at: 4)!
      bytes[string.baseAddress! - root.bytes.baseAddress! + string.count] = 1
    }
    #expect(text?.hasSuffix("is not followed by a NUL in the buffer") == true)
  }

  @Test("Offsets that are null or lead outside") func offsets() throws {
    let size = Self.sample().count
    var position = 0
    let outside = try reason { bytes, root in
      position = root.locate(10, size: 4)
      bytes[position + 1] = 0x10
    }
    #expect(outside?.contains("offset \(position) refers to a table 4") == true)
    #expect(outside?.hasSuffix("outside the buffer's \(size) bytes") == true)
    let missing = try reason { bytes, root in
      position = root.locate(8, size: 4)
      for index in 0..<4 { bytes[position + index] = 0 }
    }
    #expect(missing == "the vector that offset \(position) refers to is missing")
  }

  @Test("Fields that do not fit, and missing required fields") func fields() throws {
    let size = Self.sample().count
    var root = 0
    let misplaced = try reason { bytes, table in
      root = table.position
      bytes[table.vtable + 7] = 0x70
    }
    #expect(
      misplaced == "field 6 of the table at offset \(root) ends outside the buffer's \(size) bytes")
    let missing = try reason { bytes, table in bytes[table.vtable + 4] = 0 }
    #expect(missing == "the table at offset \(root) lacks the required field 4")
  }

  @Test("Impossible vtables") func vtables() throws {
    let odd = try reason { bytes, table in bytes[table.vtable] = 7 }
    #expect(odd?.hasSuffix("has the impossible size 7") == true)
    let outside = try reason { bytes, table in bytes[table.vtable + 1] = 0x70 }
    #expect(outside?.contains("has the impossible size 28") == true)
    let away = try reason { bytes, table in bytes[table.position + 3] = 0x70 }
    #expect(away?.contains("is outside the buffer's") == true)
    // The stated size of a table is not checked, as in the C++ verifier.
    #expect(try reason { bytes, table in bytes[table.vtable + 2] = 2 } == nil)
    #expect(try reason { bytes, table in bytes[table.vtable + 3] = 0x70 } == nil)
    let empty = UnsafeRawBufferPointer(start: nil, count: 0)
    #expect(throws: VerificationError.self) { try Self.check(empty) }
  }

  /// A table at the end of a buffer, its vtable before it.
  private static func empty(_ vtable: [UInt8]) -> [UInt8] {
    [4 + UInt8(vtable.count), 0, 0, 0] + vtable + [UInt8(vtable.count), 0, 0, 0]
  }

  @Test(
    "A table without fields may have a vtable with only its own size, in any position",
    arguments: [
      // As Google's Swift builder writes it, as the C++ verifier accepts it, as other builders
      // write it.
      empty([2, 0]), empty([0, 0]), empty([4, 0, 4, 0]),
      // Trailing zero entries, and a table whose stated size is 0.
      empty([8, 0, 4, 0, 0, 0, 0, 0]), empty([4, 0, 0, 0]), empty([4, 0, 0xFF, 0xFF]),
      // The vtable after the table, at the end of the buffer.
      [4, 0, 0, 0, 0xFC, 0xFF, 0xFF, 0xFF, 2, 0],
      // The table's reference to the vtable is zero and is also the vtable.
      [4, 0, 0, 0, 0, 0, 0, 0],
    ])
  func emptyTables(bytes: [UInt8]) throws {
    let memory = GuardedBytes(capacity: bytes.count)
    for atEnd in [true, false] {
      let bytes = memory.placing(bytes, atEnd: atEnd)
      let table = try #require(TableReader(root: bytes))
      var verifier = Verifier(bytes)
      #expect(try verifier.root().position == table.position)
      #expect(table.fieldCount == 0)
      #expect(table.objectSize >= 4 && table.position + table.objectSize <= bytes.count)
      for field in [4, 6, 8, 100, 65_534] {
        #expect(!table.contains(field) && table.locate(field, size: 4) == 0)
        #expect(try verifier.locate(field, size: 8, in: table) == 0)
        #expect(table.string(at: field) == nil)
      }
      #expect(table.core == nil)
    }
  }

  @Test(
    "Null elements of vectors read as an empty string and a table without fields, as in C++")
  func nullElements() throws {
    // The root, with two fields; a vector of two null offsets; a NUL.
    let bytes: [UInt8] =
      [12, 0, 0, 0, 8, 0, 12, 0, 4, 0, 8, 0]
      + [8, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0] + [2, 0, 0, 0] + [UInt8](repeating: 0, count: 9)
    let memory = GuardedBytes(capacity: bytes.count)
    let guarded = memory.placing(bytes)
    var verifier = Verifier(guarded)
    let root = try verifier.root()
    try verifier.stringVector(at: 4, in: root)
    let strings = try #require(root.vector(at: 4, stride: 4))
    #expect(strings.strings() == ["", ""])
    let tables = try #require(try verifier.vector(at: 6, stride: 4, in: root))
    for index in 0..<tables.count {
      let table = try verifier.enterTable(atPosition: tables.position(of: index), isElement: true)
      #expect(table.fieldCount == 0 && tables.table(index)?.position == table.position)
      #expect(root.table(atPosition: tables.position(of: index)) != nil)
      verifier.leaveTable()
      // Only elements may be null.
      #expect(throws: VerificationError.self) {
        try verifier.enterTable(atPosition: tables.position(of: index))
      }
    }
    withExtendedLifetime(memory) {}
  }

  @Test("A union whose value is missing, or whose type is newer, is accepted") func unions() throws
  {
    #expect(try reason { bytes, table in bytes[table.vtable + 14] = 0 } == nil)
    #expect(try reason { bytes, table in bytes[table.vtable + 12] = 0 } == nil)
    #expect(try reason { bytes, table in bytes[table.locate(12, size: 1)] = 99 } == nil)
  }

  @Test("Vectors of unions have as many types as values; an empty element is skipped")
  func unionVectors() throws {
    for (types, isAccepted) in [([UInt8(0), 1], true), ([1], false), ([1, 1], false)] {
      let builder = FlatBufferBuilder()
      let typeVector = builder.vector(types)
      let text = builder.string("x")
      let values = builder.vector([.none, text])
      builder.startTable(slotCount: 2)
      builder.add(typeVector, at: 4)
      builder.add(values, at: 6)
      builder.finish(builder.endTable())
      func verify() throws(VerificationError) {
        var verifier = Verifier(builder.bytes)
        let root = try verifier.root()
        guard let (types, values) = try verifier.unionVector(typesAt: 4, valuesAt: 6, in: root)
        else { return }
        for index in 0..<types.count where (types.scalar(index) as UInt8) != 0 {
          try verifier.string(atPosition: values.position(of: index))
        }
      }
      if isAccepted {
        try verify()
      } else {
        #expect(throws: VerificationError.self) { try verify() }
      }
    }
  }

  @Test("Nesting and the number of tables are bounded") func bounds() throws {
    let builder = FlatBufferBuilder()
    var child = FlatBufferBuilder.Offset.none
    for _ in 0..<10 {
      builder.startTable(slotCount: 1)
      builder.add(child, at: 4)
      child = builder.endTable()
    }
    builder.finish(child)
    func descend(maxDepth: Int, maxTables: Int) throws(VerificationError) -> Int {
      var verifier = Verifier(builder.bytes, maxDepth: maxDepth, maxTables: maxTables)
      var table = try verifier.root()
      var depth = 1
      while let next = try verifier.enterTable(at: 4, in: table) {
        table = next
        depth += 1
      }
      return depth
    }
    #expect(try descend(maxDepth: 10, maxTables: 10) == 10)
    let deep = #expect(throws: VerificationError.self) { try descend(maxDepth: 9, maxTables: 10) }
    #expect(deep?.reason.hasSuffix("is nested deeper than 9 tables") == true)
    let many = #expect(throws: VerificationError.self) { try descend(maxDepth: 10, maxTables: 9) }
    #expect(many?.reason.contains("more tables than are allowed") == true)
  }

  @Test("The work for vectors that are referred to many times is bounded") func sharedParts() {
    let builder = FlatBufferBuilder()
    let strings = builder.vector([String](repeating: "", count: 1000))
    builder.startTable(slotCount: 1)
    builder.add(strings, at: 4)
    let table = builder.endTable()
    let tables = builder.vector([FlatBufferBuilder.Offset](repeating: table, count: 1000))
    builder.startTable(slotCount: 1)
    builder.add(tables, at: 4)
    builder.finish(builder.endTable())
    let error = #expect(throws: VerificationError.self) {
      var verifier = Verifier(builder.bytes, maxTables: 10_000)
      let root = try verifier.root()
      guard let vector = try verifier.vector(at: 4, stride: 4, in: root) else { return }
      for index in 0..<vector.count {
        let child = try verifier.enterTable(atPosition: vector.position(of: index))
        try verifier.stringVector(at: 4, in: child)
        verifier.leaveTable()
      }
    }
    #expect(error?.reason.contains("more parts than are allowed") == true)
  }

  @Test(
    "The bytes of parts that are referred to many times are bounded",
    arguments: [(256, true), (5_000, false)])
  func sharedBytes(length: Int, isAccepted: Bool) throws {
    let text = String(repeating: "x", count: length)
    for isNested in [false, true] {
      let builder = FlatBufferBuilder()
      let string = builder.string(text)
      var element = string
      if isNested {
        builder.startTable(slotCount: 1)
        builder.add(string, at: 4)
        element = builder.endTable()
      }
      let elements = builder.vector([FlatBufferBuilder.Offset](repeating: element, count: 10_000))
      builder.startTable(slotCount: 1)
      builder.add(elements, at: 4)
      builder.finish(builder.endTable())
      func verify() throws(VerificationError) {
        var verifier = Verifier(builder.bytes)
        let root = try verifier.root()
        if !isNested { return try verifier.stringVector(at: 4, in: root) }
        guard let vector = try verifier.vector(at: 4, stride: 4, in: root) else { return }
        for index in 0..<vector.count {
          let table = try verifier.enterTable(atPosition: vector.position(of: index))
          try verifier.string(at: 4, in: table)
          verifier.leaveTable()
        }
      }
      if isAccepted {
        try verify()
      } else {
        let error = #expect(throws: VerificationError.self) { try verify() }
        #expect(error?.reason.contains("counted once for each reference") == true)
      }
    }
  }

  @Test("Struct roots and size prefixes") func roots() throws {
    let builder = FlatBufferBuilder()
    builder.finish(builder.indirectStructure(size: 8, alignment: 4) { _ in }, sizePrefixed: true)
    try Verifier.sizePrefixed(builder.bytes).rootStructure(size: 8)
    #expect(throws: VerificationError.self) {
      try Verifier.sizePrefixed(builder.bytes).rootStructure(size: 9)
    }
    let short = UnsafeRawBufferPointer(rebasing: builder.bytes.dropLast())
    #expect(throws: VerificationError.self) { try Verifier.sizePrefixed(short) }
  }
}
