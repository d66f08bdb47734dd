// Hostile bytes: nothing traps, nothing outside of the bytes is read, and buffers that the verifier
// accepts are read completely.
//
// The bytes are adjacent to inaccessible pages, so that reading one byte too far crashes the test
// process.

import FlatBuffersRuntime
import SeededRandom
import Testing

@Suite("Hostile bytes")
struct HostileBytesTests {
  /// A buffer of a few hundred bytes with a value in every field.
  static func sample(of schema: Schema) -> (bytes: [UInt8], batch: TableLayout) {
    let item = schema.makeItem()
    var generator = SeededGenerator(seed: 7)
    let items = (0..<3).map { _ in generator.table(item, depth: 1) }
    let batch = Schema.batch(of: item)
    let builder = FlatBufferBuilder()
    builder.finish(builder.encode(.record([.vector(items)]), batch))
    return ([UInt8](builder.bytes), batch)
  }

  /// Reads everything, verifies, and returns whether the verifier accepted the bytes.
  @discardableResult
  static func examine(_ bytes: UnsafeRawBufferPointer, _ batch: TableLayout) throws -> Bool {
    var tolerant = Decoder(isStrict: false, budget: 5000)
    if let root = TableReader(root: bytes) { _ = try? tolerant.table(root, batch) }
    var verifier = Verifier(bytes, maxTables: 1000)
    do {
      try verifier.check(verifier.root(), batch)
    } catch {
      #expect(error.offset >= 0 && error.offset <= bytes.count && !error.reason.isEmpty)
      return false
    }
    var strict = Decoder(budget: .max)
    _ = try strict.table(#require(TableReader(root: bytes)), batch)
    return true
  }

  @Test("Every byte changed to several values", arguments: Schema.all)
  func mutation(schema: Schema) throws {
    let (sound, batch) = Self.sample(of: schema)
    let memory = GuardedBytes(capacity: sound.count)
    #expect(try Self.examine(memory.placing(sound), batch))
    var accepted = 0
    for index in sound.indices {
      let byte = sound[index]
      for value in [0, 1, 0x7F, 0x80, 0xFF, byte &+ 1, byte &- 1, byte &+ 4, byte ^ 0x10] {
        var bytes = sound
        bytes[index] = value
        if try Self.examine(memory.placing(bytes), batch) { accepted += 1 }
      }
    }
    #expect(accepted > 0 && accepted < sound.count * 9, "mutations are harmless and harmful ones")
  }

  @Test("Cut at every length", arguments: Schema.all)
  func truncation(schema: Schema) throws {
    let (sound, batch) = Self.sample(of: schema)
    let memory = GuardedBytes(capacity: sound.count)
    for length in 0..<sound.count {
      try Self.examine(memory.placing(Array(sound.prefix(length))), batch)
      try Self.examine(memory.placing(Array(sound.prefix(length)), atEnd: false), batch)
      try Self.examine(memory.placing(Array(sound.suffix(length))), batch)
    }
    #expect(TableReader(root: UnsafeRawBufferPointer(start: nil, count: 0)) == nil)
  }

  @Test("Offsets and sizes replaced by extreme ones, several at once", arguments: Schema.all)
  func extremes(schema: Schema) throws {
    let seed = testSeed()
    var generator = SeededGenerator(seed: seed)
    let (sound, batch) = Self.sample(of: schema)
    let memory = GuardedBytes(capacity: sound.count)
    let words: [UInt32] = [
      0, 1, 3, 4, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF_FFFC, 0x4000_0000,
      UInt32(sound.count), UInt32(sound.count - 4),
    ]
    for _ in 0..<2000 {
      var bytes = sound
      for _ in 0..<1 + generator.below(3) {
        let position = generator.below(sound.count / 4) * 4
        let word = words[generator.below(words.count)]
        bytes.withUnsafeMutableBytes {
          $0.storeBytes(of: word, toByteOffset: position, as: UInt32.self)
        }
      }
      do {
        try Self.examine(memory.placing(bytes), batch)
      } catch {
        Issue.record("\(error), DFLAT_SEED=\(seed)")
      }
    }
  }

  @Test("Bytes without any meaning")
  func noise() throws {
    let seed = testSeed()
    var generator = SeededGenerator(seed: seed)
    let memory = GuardedBytes(capacity: 256)
    let batch = Schema.batch(of: Schema.trees.makeItem())
    for _ in 0..<5000 {
      // Small numbers, because large ones are rejected immediately.
      let bytes = (0..<generator.below(200)).map { _ in
        UInt8(truncatingIfNeeded: generator.chance(1, in: 2) ? 0 : generator.below(48))
      }
      try Self.examine(memory.placing(bytes), batch)
    }
  }

  @Test("Any nonzero byte is a true Bool")
  func bools() throws {
    let builder = FlatBufferBuilder()
    let flags = builder.vector([true, false, true])
    builder.startTable(slotCount: 3)
    builder.add(flags, at: 4)
    builder.addStructure(at: 6, size: 1, alignment: 1) { $0.storeBytes(of: 1, as: UInt8.self) }
    builder.add(true, at: 8, default: false)
    builder.finish(builder.endTable())
    var bytes = [UInt8](builder.bytes)
    try bytes.withUnsafeMutableBytes { memory in
      let root = try #require(TableReader(root: UnsafeRawBufferPointer(memory)))
      let vector = try #require(root.vector(at: 4, stride: 1))
      memory[vector.position] = 0x80
      memory[vector.position + 2] = 2
      memory[root.locate(6, size: 1)] = 0xFF
      memory[root.locate(8, size: 1)] = 3
      #expect(vector.scalars() == [true, false, true])
      #expect(vector.scalar(0) == true)
      #expect(root.structure(at: 6, size: 1)?.scalar(at: 0) == true)
      #expect(root.scalar(at: 8, default: false) == true)
    }
  }
}
