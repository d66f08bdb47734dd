// FloorDoc: a BenchDoc in the form of a C program, with direct encoding and decoding.
//
// Equal work: the bytes equal those of Dflat's generated code (`bench smoke` compares them), so
// rows have the same size and the same position in the file. Written for this one schema:
//
//  - Encoding writes directly into a fixed buffer, back to front, without builder, slots or a
//    search for shared vtables: the two tables of an object can never share one.
//  - Decoding follows offsets without checking them. The floor trusts its file, Dflat does not: the
//    cost of checking is part of the measurement.

/// Bytes owned elsewhere, as `char *` and a length; nil if the field is absent.
struct FloorBytes {
  var start: UnsafeRawPointer?
  var count = 0

  var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
}

struct FloorDoc {
  var title = FloorBytes()
  var tag = FloorBytes()
  /// 0 for none, 1 for a text, 2 for images: the union's tag.
  var kind: UInt8 = 0
  var text = FloorBytes()
  var images: UnsafeMutablePointer<FloorBytes>?
  var imageCount = 0
  var hasPos = false
  var x: Float = 0
  var y: Float = 0
  var z: Float = 0
  var color: Int8 = 0
  var priority: Int32 = 0
}

/// The buffer for encoding one row after another.
struct FloorEncoder {
  private static let capacity = 1 << 16
  private let memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
  private var head = FloorEncoder.capacity

  var used: Int { FloorEncoder.capacity &- head }

  func free() {
    memory.deallocate()
  }

  /// The finished row; valid until the next one is encoded. A row of this schema is much smaller
  /// than the buffer.
  mutating func encode(_ doc: borrowing FloorDoc) -> UnsafeRawBufferPointer {
    start()
    let title = string(doc.title)
    var content = 0
    if doc.kind == 1 {
      content = table(field: doc.text.start == nil ? 0 : string(doc.text))
    } else if doc.kind == 2 {
      content = table(field: doc.imageCount == 0 ? 0 : strings(doc.images!, doc.imageCount))
    }
    let tag = doc.tag.start == nil ? 0 : string(doc.tag)

    let end = startTable()
    var pos = 0
    if doc.hasPos {
      pad(before: 12, to: 4)
      head &-= 12
      memory.storeBytes(of: doc.x, toByteOffset: head, as: Float.self)
      memory.storeBytes(of: doc.y, toByteOffset: head &+ 4, as: Float.self)
      memory.storeBytes(of: doc.z, toByteOffset: head &+ 8, as: Float.self)
      pos = used
    }
    let titleField = reference(title)
    let contentField = content == 0 ? 0 : reference(content)
    let tagField = tag == 0 ? 0 : reference(tag)
    var priority = 0
    if doc.priority != 0 {
      pad(before: 4, to: 4)
      push(doc.priority)
      priority = used
    }
    var color = 0
    if doc.color != 0 {
      push(doc.color)
      color = used
    }
    var kind = 0
    if doc.kind != 0 {
      push(doc.kind)
      kind = used
    }
    let table = startVTable()
    @inline(__always) func distance(_ place: Int) -> UInt16 {
      place == 0 ? 0 : UInt16(truncatingIfNeeded: table &- place)
    }
    // Slots: pos, color, title, content's tag, content, tag, priority. Empty ones at the end are
    // omitted.
    let slots =
      priority != 0 ? 7 : tagField != 0 ? 6 : contentField != 0 ? 5 : 3
    if slots > 6 { push(distance(priority)) }
    if slots > 5 { push(distance(tagField)) }
    if slots > 4 { push(distance(contentField)) }
    if slots > 3 { push(distance(kind)) }
    push(distance(titleField))
    push(distance(color))
    push(distance(pos))
    push(UInt16(truncatingIfNeeded: table &- end))
    push(UInt16(truncatingIfNeeded: 4 &+ 2 &* slots))
    endVTable(of: table)
    return finish(table, alignment: 4)
  }

  /// Discards the last row.
  @inline(__always)
  mutating func start() {
    head = FloorEncoder.capacity
  }

  /// The aligned position at which a table's fields begin.
  @inline(__always)
  mutating func startTable() -> Int {
    pad(before: 0, to: 4)
    return used
  }

  /// Space for a table's reference to its vtable; returns the table's position.
  @inline(__always)
  mutating func startVTable() -> Int {
    pad(before: 4, to: 4)
    head &-= 4
    return used
  }

  @inline(__always)
  mutating func endVTable(of table: Int) {
    memory.storeBytes(
      of: Int32(truncatingIfNeeded: used &- table),
      toByteOffset: FloorEncoder.capacity &- table, as: Int32.self)
  }

  @inline(__always)
  mutating func finish(_ table: Int, alignment: Int) -> UnsafeRawBufferPointer {
    pad(before: 4, to: alignment)
    push(UInt32(truncatingIfNeeded: used &+ 4 &- table))
    return UnsafeRawBufferPointer(start: memory + head, count: used)
  }

  /// A table with one reference; 0 if it is absent.
  private mutating func table(field: Int) -> Int {
    let end = startTable()
    let place = field == 0 ? 0 : reference(field)
    let table = startVTable()
    if place != 0 { push(UInt16(truncatingIfNeeded: table &- place)) }
    push(UInt16(truncatingIfNeeded: table &- end))
    push(UInt16(place == 0 ? 4 : 6))
    endVTable(of: table)
    return table
  }

  private mutating func strings(_ values: UnsafeMutablePointer<FloorBytes>, _ count: Int) -> Int {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: count) { places in
      for index in 0..<count { places[index] = string(values[index]) }
      for index in stride(from: count &- 1, through: 0, by: -1) { _ = reference(places[index]) }
      push(UInt32(truncatingIfNeeded: count))
      return used
    }
  }

  mutating func string(_ bytes: FloorBytes) -> Int {
    pad(before: bytes.count &+ 1, to: 4)
    head &-= bytes.count &+ 1
    if let start = bytes.start {
      (memory + head).copyMemory(from: start, byteCount: bytes.count)
    }
    memory.storeBytes(of: 0, toByteOffset: head &+ bytes.count, as: UInt8.self)
    push(UInt32(truncatingIfNeeded: bytes.count))
    return used
  }

  mutating func reference(_ place: Int) -> Int {
    pad(before: 4, to: 4)
    push(UInt32(truncatingIfNeeded: used &+ 4 &- place))
    return used
  }

  @inline(__always)
  mutating func push<T: FixedWidthInteger>(_ value: T) {
    head &-= MemoryLayout<T>.size
    memory.storeBytes(of: value, toByteOffset: head, as: T.self)
  }

  @inline(__always)
  mutating func pad(before size: Int, to alignment: Int) {
    var padding = (0 &- (used &+ size)) & (alignment &- 1)
    while padding > 0 {
      push(UInt8(0))
      padding &-= 1
    }
  }
}
