// Laying fields over rows with untrusted content.

import DflatTestSupport
import FlatBuffersRuntime
import Foundation
import Testing

@testable import Dflat

@Suite("Overlays")
struct OverlayTests {
  @Test("An overlay of any readable bytes is readable")
  func hostileRows() throws {
    withSeed { random in
      var accepted = 0
      for _ in 0..<(isLongRun ? 300 : 20) {
        let item = RandomItems.item(&random)
        let changes = RandomItems.item(&random)
        let fields = randomFields(&random)
        for _ in 0..<300 {
          let bytes = mutated([UInt8](item.toData()), &random)
          guard let damaged = try? Kit.Item(verifying: Data(bytes)) else { continue }
          accepted += 1
          check(fields, of: changes, over: damaged, random.seed)
        }
      }
      #expect(accepted > 100)
    }
  }

  @Test("A patched row is readable, whatever overlaps the values that were overwritten")
  func hostilePatches() throws {
    let layout = Post._schema.layout
    withSeed { random in
      var (patched, refused) = (0, 0)
      for _ in 0..<(isLongRun ? 2_000 : 60) {
        let post = Post(
          site: "s", number: 1, status: .draft, likes: 7, place: Blog.Place(lat: 1, lon: 2),
          author: Blog.Author(handle: "h", name: "n"), tags: ["a", "b"],
          attachment: .photo(Blog.Photo(path: "p", width: 3)), isPinned: true)
        for _ in 0..<400 {
          let bytes = mutated([UInt8](post.toData()), &random)
          guard let damaged = try? Post(verifying: Data(bytes)) else { continue }
          let any = Int32.random(in: 1...(.max), using: &random)
          let likes = random.pick([1, 4, 8, 60, -1, .max, any])
          let bits = UInt64.random(in: 1...(.max), using: &random) >> random.pick([0, 32, 56])
          let values = Post(
            site: "", number: 0, status: .archived, likes: likes,
            place: Blog.Place(lat: Double(bitPattern: bits), lon: Double(bitPattern: bits)),
            isPinned: true)
          var fields = FieldSet.none
          for property in layout.properties
          where ["status", "likes", "place"].contains(property.name) && random.oneIn(2) {
            fields.insert(property.offset)
          }
          let new = values._row
          new.withBytes { values in
            let overlay = Overlay(fields, values, over: damaged._row, as: layout)
            let changes = overlay.changes()
            guard changes.isDifferent, changes.areInline else { return }
            guard let row = overlay.patched(damaged._row, changes) else { return refused += 1 }
            patched += 1
            if row.withBytes({ (try? layout.verify($0)) == nil }) {
              Issue.record("DFLAT_SEED=\(random.seed): \(bytes) cannot be read any more")
            }
            for property in layout.properties {
              let isChanged = changes.fields.contains(property.offset)
              // NaN equals nothing.
              if isChanged, property.name == "place", Double(bitPattern: bits).isNaN { continue }
              let source = isChanged ? new : damaged._row
              if source.read({ old in row.read { property.isEqual(old, $0) } }) { continue }
              Issue.record("DFLAT_SEED=\(random.seed): \(property.name) of \(bytes) has changed")
            }
          }
          withExtendedLifetime(damaged) {}
        }
      }
      #expect(patched > 1_000 && refused > 0, "\(patched), \(refused)")
    }
  }

  @Test(
    "A number that is also the vtable of a table is not patched",
    arguments: ["leaves", "pet", "none"])
  func numbersAsVTables(user: String) throws {
    let layout = Kit.Item._schema.layout
    let vtable: Int32 = 4 << 16 | 4  // without fields
    let item = Kit.Item(
      name: "n", serial: 1, number: vtable, pet: .dog(Kit.Dog(name: nil)),
      leaves: [Kit.Leaf(weight: 0), Kit.Leaf(weight: 0)])
    var bytes = [UInt8](item.toData())
    func offset(_ name: String) throws -> Int {
      try #require(layout.properties.first { $0.name == name }).offset
    }
    func follow(_ place: Int) -> Int {
      place
        + Int(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) })
    }
    let (number, place) = try bytes.withUnsafeBytes { bytes in
      let table = try #require(TableReader(root: bytes))
      return (
        table.locate(try offset("number"), size: 4),
        table.locate(try offset(user == "none" ? "leaves" : user), size: 4)
      )
    }
    if user != "none" {
      let table = user == "pet" ? follow(place) : follow(follow(place) + 8)
      let distance = Int32(table - number)
      withUnsafeBytes(of: distance.littleEndian) {
        bytes.replaceSubrange(table..<table + 4, with: $0)
      }
    }
    let row = try Kit.Item(verifying: Data(bytes))._row
    let values = Kit.Item(name: "", serial: 0, number: 1)._row
    var fields = FieldSet.none
    fields.insert(try offset("number"))
    values.withBytes { values in
      let overlay = Overlay(fields, values, over: row, as: layout)
      let changes = overlay.changes()
      #expect(changes.isDifferent && changes.areInline)
      let isPatched = overlay.patched(row, changes) != nil
      #expect(isPatched == (user == "none"))
    }
    withExtendedLifetime((row, values)) {}
  }

  @Test("An overlay of a newer schema's row is readable, and so is an overlay of the result")
  func newerHostileRows() throws {
    withSeed { random in
      for _ in 0..<(isLongRun ? 300 : 20) {
        var builder = KIT.ItemBuilder(
          from: KIT.Item.from(data: RandomItems.item(&random).toData()))
        builder.extra = "extra"
        builder.extraNumber = 3
        var bytes = [UInt8](builder.build().toData())
        for _ in 0..<100 {
          let fields = randomFields(&random)
          let changes = RandomItems.item(&random)
          guard let damaged = try? Kit.Item(verifying: Data(mutated(bytes, &random))) else {
            continue
          }
          if let data = check(fields, of: changes, over: damaged, random.seed), data.count < 4_000 {
            bytes = [UInt8](data)
          }
        }
      }
    }
  }

  /// Lays fields over a row, and returns the resulting row if the row is written anew.
  @discardableResult
  private func check(
    _ fields: FieldSet, of changes: Kit.Item, over row: Kit.Item, _ seed: UInt64
  ) -> Data? {
    // A request's own bytes have only the fields that were set.
    var partial = Kit.ItemBuilder(from: changes)
    let plain = Kit.Item(name: "", serial: 0)
    for field in ItemField.all where !fields.contains(field.offset) { field.build(&partial, plain) }
    let layout = Kit.Item._schema.layout
    return partial.build()._row.withBytes { values -> Data? in
      let overlay = Overlay(fields, values, over: row._row, as: layout)
      let difference = overlay.changes()
      if difference.areInline, let patched = overlay.patched(row._row, difference) {
        #expect(patched.withBytes { (try? layout.verify($0)) != nil }, "DFLAT_SEED=\(seed)")
      }
      let builder = FlatBufferBuilder()
      guard overlay.write(difference, to: builder) != nil else { return nil }
      withExtendedLifetime(row) {}
      // Rows that are nested too deeply are refused when they are stored.
      guard (try? layout.verify(builder.bytes)) != nil else {
        Issue.record("DFLAT_SEED=\(seed): what was written cannot be read")
        return nil
      }
      let written = Kit.Item(_row: Row(sound: builder.bytes))
      for field in ItemField.all {
        let source = fields.contains(field.offset) ? changes : row
        // A part that is equal keeps its bytes: it may have -0.0 where the change has 0.0.
        let isEqual = layout.property(at: field.offset).map { property in
          written._row.read { new in source._row.read { property.isEqual(new, $0) } }
        }
        if !field.isSame(written, source), isEqual != true {
          Issue.record("DFLAT_SEED=\(seed): \(row) became \(written), not with \(changes)")
          break
        }
      }
      return Data(builder.bytes)
    }
  }

  private func randomFields(_ random: inout SeededGenerator) -> FieldSet {
    var fields = FieldSet.none
    for _ in 0..<random.pick([1, 2, 10]) { fields.insert(random.pick(ItemField.all).offset) }
    return fields
  }

  private func mutated(_ good: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = good
    for _ in 0..<random.pick([0, 1, 2, 3]) {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = random.pick(
        [0, 4, 8, UInt8.random(in: 0...255, using: &random)])
    }
    return bytes
  }

  @Test("Deprecated fields and newer fields of nested tables are kept")
  func deprecatedAndNested() throws {
    let layout = Kit.Item._schema.layout
    let old = try #require(layout.properties.first { $0.name == "badge" }).offset + 2
    #expect(layout.property(at: old) == nil, "the slot of the deprecated field")
    let branch = try #require(layout.properties.first { $0.name == "branch" }).offset
    let title = try #require(layout.properties.first { $0.name == "title" }).offset
    let row = Row { builder in
      let name = builder.string("n")
      let later = builder.string("later")
      builder.startTable(slotCount: 9)
      builder.add(later, at: 20)
      let inner = builder.endTable()
      builder.startTable(slotCount: layout.slotCount)
      builder.add(name, at: 4)
      builder.add(inner, at: branch)
      builder.add(Int32(41), at: old, default: 0)
      return builder.endTable()
    }
    var fields = FieldSet.none
    fields.insert(title)
    let values = Kit.Item(name: "", serial: 0, title: "new")
    let builder = FlatBufferBuilder()
    values._row.withBytes { values in
      let overlay = Overlay(fields, values, over: row, as: layout)
      let isWritten = overlay.write(overlay.changes(), to: builder) != nil
      #expect(isWritten)
    }
    withExtendedLifetime(row) {}
    let table = try #require(TableReader(root: builder.bytes))
    #expect(table.string(at: title) == "new" && table.string(at: 4) == "n")
    #expect(table.scalar(at: old, default: Int32(0)) == 41)
    let inner: TableReader? = table.table(at: branch)
    #expect(inner?.string(at: 20) == "later")
    try layout.verify(builder.bytes)
  }

  @Test(
    "A missing string of the key is added, even if unknown content keeps the row whole")
  func keyTexts() throws {
    let layout = Kit.Item._schema.layout
    let old = try #require(layout.properties.first { $0.name == "badge" }).offset + 2
    let count = try #require(layout.properties.first { $0.name == "number" }).offset
    for hasUnknown in [false, true] {
      let row = Row { builder in
        builder.startTable(slotCount: layout.slotCount)
        builder.add(Int32(1), at: count, default: 0)
        if hasUnknown { builder.add(Int32(41), at: old, default: 0) }
        return builder.endTable()
      }
      var fields = FieldSet.none
      fields.insert(count)
      var bytes: [UInt8] = []
      Kit.Item(name: "", serial: 0, number: 2)._row.withBytes { values in
        let overlay = Overlay(fields, values, over: row, as: layout)
        let changes = overlay.changes()
        let patched = overlay.patched(row, changes)
        #expect(changes.areInline && patched == nil)
        let builder = FlatBufferBuilder()
        let isWritten = overlay.write(changes, to: builder) != nil
        #expect(isWritten)
        bytes = Array(builder.bytes)
      }
      bytes.withUnsafeBytes { bytes in
        let table = TableReader(root: bytes)
        #expect(table?.string(at: 4) == "" && table?.scalar(at: count) == Int32(2))
        #expect(table?.scalar(at: old) == (hasUnknown ? Int32(41) : nil))
      }
      // An overlay of an overlay does not add it again.
      let again = bytes.withUnsafeBytes { Row(sound: $0) }
      Kit.Item(name: "", serial: 0, number: 3)._row.withBytes { values in
        let overlay = Overlay(fields, values, over: again, as: layout)
        let patched = overlay.patched(again, overlay.changes())
        #expect(patched?.count == again.count)
      }
    }
  }

  @Test("A part that a row refers to many times is not written as many times")
  func sharedBytes() throws {
    let layout = Kit.Item._schema.layout
    let tags = try #require(layout.properties.first { $0.name == "tags" }).offset
    let row = Row { builder in
      let long = builder.string(String(repeating: "x", count: 100_000))
      builder.startVector(count: 9_000)
      for _ in 0..<9_000 { builder.push(long) }
      let vector = builder.endVector()
      builder.startTable(slotCount: layout.slotCount)
      builder.add(vector, at: tags)
      return builder.endTable()
    }
    var fields = FieldSet.none
    fields.insert(4)
    let builder = FlatBufferBuilder()
    Kit.Item(name: "new", serial: 0)._row.withBytes { values in
      let overlay = Overlay(fields, values, over: row, as: layout)
      let isWritten = overlay.write(overlay.changes(), to: builder) != nil
      #expect(isWritten)
    }
    withExtendedLifetime(row) {}
    #expect(builder.used < 2 * row.count)
    let table = try #require(TableReader(root: builder.bytes))
    #expect(table.string(at: 4) == "new")
    #expect(table.vector(at: tags, stride: 4)?.count == 9_000)
  }

  @Test("A field set contains the inserted fields, in tables of any width")
  func fieldSets() {
    var set = FieldSet.none
    #expect(set.isEmpty && !set.contains(4))
    for field in [4, 128, 130, 200, 65_000] {
      #expect(!set.contains(field))
      set.insert(field)
      #expect(set.contains(field) && !set.contains(field + 2 == 130 ? 132 : field + 2))
    }
    #expect(!set.contains(6) && !set.contains(132) && !set.contains(64_998))
    #expect(FieldSet.all.contains(4) && FieldSet.all.contains(65_000))
    var all = FieldSet.all
    all.insert(300)
    #expect(all.contains(302))
  }
}
