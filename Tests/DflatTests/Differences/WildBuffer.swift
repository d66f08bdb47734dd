// WildBuffer: random buffers of a layout, in orders and forms that our builder never produces.
//
// A buffer consists of pieces (tables, vtables, vectors, strings, structs) that refer to each
// other. Parents come before their children, since offsets lead forwards; otherwise the order is
// arbitrary, and a vtable may be anywhere. These properties vary:
//
//  - vtables: shared or not; before, behind or far away from their tables; as short as possible,
//    down to their own size and to 0, or with zeros at the end; with a right or wrong size of the
//    table;
//   - the order of fields in a table and of pieces in the buffer, the gaps between them, and the
//     content of gaps;
//   - pieces that are referenced several times;
//   - unknown tags, tags without a value, values without a tag, and null elements of vectors.
//
// Everything is aligned as C++ requires. `mutated` then changes a few bytes.

import DflatTestSupport

@testable import Dflat

struct WildBuffer {
  private struct Piece {
    var bytes: [UInt8] = []
    var alignment = 4
    /// The byte of the piece that is aligned.
    var anchor = 0
    /// The positions of the offsets, and the pieces that they lead to.
    var children: [(place: Int, piece: Int)] = []
    /// For a table, the piece that its first four bytes refer to.
    var vtable = -1
  }

  private enum Sort: Hashable {
    case string, table(String), structure(String)
  }

  private var random: SeededGenerator
  private var pieces: [Piece] = []
  /// Finished pieces that may be referenced again.
  private var shared: [Sort: [Int]] = [:]
  private var vtables: [[UInt8]: Int] = [:]
  /// The number of pieces that may still be added.
  private var budget: Int

  private init(_ random: SeededGenerator) {
    self.random = random
    budget = 0
    budget = below(8) == 0 ? 120 : 4 + below(24)
  }

  /// A buffer that C++ accepts, with few exceptions.
  static func make(_ layout: TableLayout, _ random: inout SeededGenerator) -> [UInt8] {
    var buffer = WildBuffer(random)
    let root = buffer.table(layout, depth: buffer.below(200) == 0 ? 66 : 5)
    let bytes = buffer.laidOut(root)
    random = buffer.random
    return bytes
  }

  private mutating func below(_ bound: Int) -> Int {
    Int(truncatingIfNeeded: ((random.next() &>> 32) &* UInt64(bound)) &>> 32)
  }

  private mutating func finish(_ piece: Piece, _ sort: Sort?) -> Int {
    pieces.append(piece)
    if let sort { shared[sort, default: []].append(pieces.count - 1) }
    return pieces.count - 1
  }

  /// An existing piece, or nil.
  private mutating func again(_ sort: Sort) -> Int? {
    guard below(6) == 0, let known = shared[sort] else { return nil }
    return known[below(known.count)]
  }

  // MARK: Tables

  private struct Field {
    let offset: Int
    let bytes: [UInt8]
    let alignment: Int
    var child = -1
  }

  private mutating func table(_ layout: TableLayout, depth: Int) -> Int {
    if let known = again(.table(layout.name)) { return known }
    budget -= 1
    var fields: [Field] = []
    // A deep chain has one table per level to keep the buffer small.
    let isThin = depth > 8
    for property in layout.properties {
      let isWanted = isThin ? property.name == "next" : budget > 0 && below(5) > 1
      if isWanted || property.isRequired { fields += self.fields(property, depth) }
    }
    fields.shuffle(using: &random)
    var piece = Piece(bytes: [0, 0, 0, 0])
    var entries = [Int](repeating: 0, count: layout.slotCount + (below(6) == 0 ? below(4) : 0))
    for field in fields {
      let gap = below(12) == 0 ? below(3) : 0
      pad(&piece, to: field.alignment, gaps: gap)
      piece.alignment = max(piece.alignment, field.alignment)
      entries[(field.offset - 4) / 2] = piece.bytes.count
      if field.child >= 0 { piece.children.append((piece.bytes.count, field.child)) }
      piece.bytes += field.bytes
    }
    piece.vtable = vtable(entries, size: piece.bytes.count)
    return finish(piece, .table(layout.name))
  }

  private mutating func fields(_ property: Property, _ depth: Int) -> [Field] {
    let offset = property.offset
    func reference(_ child: Int) -> [Field] {
      [Field(offset: offset, bytes: [0, 0, 0, 0], alignment: 4, child: child)]
    }
    switch property.kind {
    case .scalar(let type, _):
      return [Field(offset: offset, bytes: scalar(type.size), alignment: type.size)]
    case .enumeration(let layout, _):
      let size = layout().type.size
      return [Field(offset: offset, bytes: scalar(size), alignment: size)]
    case .structure(let layout):
      return [
        Field(offset: offset, bytes: noise(layout().size), alignment: layout().alignment)
      ]
    case .string: return reference(string())
    case .table(let layout): return depth > 0 ? reference(table(layout(), depth: depth - 1)) : []
    case .union(let layout): return union(layout(), offset, depth)
    case .vector(.union(let layout)): return unions(layout(), offset, depth)
    case .vector(let element): return reference(vector(element, depth))
    case .array: return []
    }
  }

  private mutating func vtable(_ entries: [Int], size: Int) -> Int {
    var count = entries.count
    if below(4) > 0 { while count > 0, entries[count - 1] == 0 { count -= 1 } }
    var bytes: [UInt8] = []
    func add(_ value: Int) { bytes += [UInt8(value & 0xFF), UInt8(value >> 8)] }
    if count == 0, below(2) == 0 {
      add(below(4) == 0 ? 0 : 2)
    } else {
      add(4 + 2 * count)
      add(below(16) == 0 ? below(65_536) : size)
      for entry in entries.prefix(count) { add(entry) }
    }
    if let known = vtables[bytes], below(4) > 0 { return known }
    let piece = finish(Piece(bytes: bytes, alignment: 2), nil)
    vtables[bytes] = piece
    return piece
  }

  // MARK: Unions

  private mutating func union(_ layout: UnionLayout, _ offset: Int, _ depth: Int) -> [Field] {
    let member = layout.members[below(layout.members.count)]
    let form = below(12)
    // A tag without a value is rejected if the member is a struct, so there are few of those.
    let isStruct = if case .structure = member.kind { true } else { false }
    let tag = form == 0 ? 200 : form == 1 ? 0 : member.tag
    var fields = [Field(offset: offset - 2, bytes: [tag], alignment: 1)]
    if form == 2 { fields = [] }
    if form == 3, !isStruct || below(8) == 0 { return fields }
    guard let child = self.member(member, depth) else { return [] }
    return fields + [Field(offset: offset, bytes: [0, 0, 0, 0], alignment: 4, child: child)]
  }

  private mutating func unions(_ layout: UnionLayout, _ offset: Int, _ depth: Int) -> [Field] {
    var tags: [UInt8] = []
    var children: [Int] = []
    for _ in 0..<below(4) {
      let member = layout.members[below(layout.members.count)]
      guard let child = self.member(member, depth) else { continue }
      switch below(10) {
      case 0:
        tags.append(0)
        children.append(below(2) == 0 ? -1 : child)
      case 1:
        tags.append(200)
        children.append(child)
      default:
        tags.append(member.tag)
        children.append(child)
      }
    }
    let tagVector = finish(vector(count: tags.count, tags, alignment: 1), nil)
    return [
      Field(offset: offset - 2, bytes: [0, 0, 0, 0], alignment: 4, child: tagVector),
      Field(offset: offset, bytes: [0, 0, 0, 0], alignment: 4, child: references(children)),
    ]
  }

  private mutating func member(_ member: UnionLayout.Member, _ depth: Int) -> Int? {
    switch member.kind {
    case .table(let layout): depth > 0 ? table(layout(), depth: depth - 1) : nil
    case .structure(let layout): structure(layout())
    default: string()
    }
  }

  // MARK: Leaves

  private mutating func structure(_ layout: StructLayout) -> Int {
    if let known = again(.structure(layout.name)) { return known }
    budget -= 1
    return finish(
      Piece(bytes: noise(layout.size), alignment: layout.alignment), .structure(layout.name))
  }

  private mutating func string() -> Int {
    if let known = again(.string) { return known }
    budget -= 1
    let length = below(3) == 0 ? 0 : below(12)
    let text = noise(length)
    return finish(
      Piece(bytes: word(length) + text + [0]), .string)
  }

  private mutating func vector(_ element: Property.Kind, _ depth: Int) -> Int {
    let count = below(4)
    switch element {
    case .string:
      return references(elements(count) { $0.string() })
    case .table(let layout):
      return references(depth > 0 ? elements(count) { $0.table(layout(), depth: depth - 1) } : [])
    default:
      let size = element.inlineSize
      let alignment = if case .structure(let layout) = element { layout().alignment } else { size }
      return finish(vector(count: count, noise(size * count), alignment: alignment), nil)
    }
  }

  /// The children of a vector; a few are null.
  private mutating func elements(_ count: Int, _ make: (inout WildBuffer) -> Int) -> [Int] {
    (0..<count).map { _ in below(40) == 0 ? -1 : make(&self) }
  }

  private func vector(count: Int, _ bytes: [UInt8], alignment: Int) -> Piece {
    Piece(bytes: word(count) + bytes, alignment: max(4, alignment), anchor: alignment > 4 ? 4 : 0)
  }

  private mutating func references(_ children: [Int]) -> Int {
    budget -= 1
    var piece = vector(
      count: children.count, [UInt8](repeating: 0, count: 4 * children.count), alignment: 4)
    for (index, child) in children.enumerated() where child >= 0 {
      piece.children.append((4 + 4 * index, child))
    }
    // C++ reads a null string as the four zeros of its offset, which must be followed by another
    // zero.
    if children.contains(-1) { piece.bytes.append(0) }
    return finish(piece, nil)
  }

  private mutating func scalar(_ size: Int) -> [UInt8] {
    below(3) == 0 ? Array(word(below(4)) + word(0))[0..<size].map { $0 } : noise(size)
  }

  private mutating func noise(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  private func word(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private mutating func pad(_ piece: inout Piece, to alignment: Int, gaps: Int) {
    let wanted = piece.bytes.count + gaps * alignment
    let end = (wanted + alignment - 1) / alignment * alignment
    piece.bytes +=
      below(2) == 0
      ? noise(end - piece.bytes.count)
      : [UInt8](repeating: 0, count: end - piece.bytes.count)
  }

  // MARK: Laying out

  private mutating func laidOut(_ root: Int) -> [UInt8] {
    var places = [Int](repeating: -1, count: pieces.count)
    var waiting = [Int](repeating: 0, count: pieces.count)
    for piece in pieces { for child in piece.children { waiting[child.piece] += 1 } }
    // Pieces without parents that are not laid out yet: initially the root and all vtables.
    var ready = pieces.indices.filter { waiting[$0] == 0 }
    var bytes: [UInt8] = [0, 0, 0, 0]
    while !ready.isEmpty {
      let next = ready.swapRemove(below(ready.count))
      let piece = pieces[next]
      let alignment = piece.alignment
      var place = bytes.count + (below(8) == 0 ? below(3) * alignment : 0)
      while (place + piece.anchor) % alignment != 0 || piece.anchor > 0 && place % 4 != 0 {
        place += 1
      }
      bytes +=
        below(2) == 0
        ? noise(place - bytes.count) : [UInt8](repeating: 0, count: place - bytes.count)
      places[next] = place
      bytes += piece.bytes
      for child in piece.children {
        waiting[child.piece] -= 1
        if waiting[child.piece] == 0 { ready.append(child.piece) }
      }
    }
    func store(_ value: Int, at place: Int) {
      bytes.replaceSubrange(place..<place + 4, with: word(value))
    }
    store(places[root], at: 0)
    for (index, piece) in pieces.enumerated() {
      for child in piece.children {
        let place = places[index] + child.place
        store(places[child.piece] - place, at: place)
      }
      if piece.vtable >= 0 { store(places[index] - places[piece.vtable], at: places[index]) }
    }
    // C++ accepts no shorter buffer.
    if below(16) > 0 { while bytes.count < 12 { bytes.append(0) } }
    return bytes
  }
}

extension WildBuffer {
  /// A buffer with a few bytes changed or cut off.
  static func mutated(_ good: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = good
    for _ in 0..<random.pick([1, 1, 2, 3]) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes[place] = 0
      case 2: bytes[place] &+= random.pick([1, 2, 4, 8])
      case 3: bytes[place] &-= random.pick([1, 2, 4, 8])
      case 4:
        // Replaces an offset by another one or by null.
        let place = place & ~3
        let other = Int.random(in: 0..<bytes.count, using: &random) & ~3
        for index in 0..<4 where place + index < bytes.count && other + index < bytes.count {
          bytes[place + index] = bytes[other + index]
        }
      case 5:
        let place = place & ~3
        for index in place..<min(place + 4, bytes.count) { bytes[index] = 0 }
      case 6:
        let place = place & ~1
        for index in place..<min(place + 2, bytes.count) {
          bytes[index] = random.pick([0, 2, 4, 6, 255])
        }
      default:
        bytes.removeLast(Int.random(in: 0...min(12, bytes.count - 1), using: &random))
      }
    }
    return bytes
  }
}

extension Array {
  /// Removes an element without keeping the order.
  fileprivate mutating func swapRemove(_ index: Int) -> Element {
    swapAt(index, count - 1)
    return removeLast()
  }
}
