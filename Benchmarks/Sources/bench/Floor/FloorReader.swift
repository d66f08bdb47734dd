// FloorReader: reads a row in place, following its offsets without checking them.

/// A table inside a row.
struct FloorReader {
  let table: UnsafeRawPointer
  private let vtable: UnsafeRawPointer
  private let vtableSize: Int

  @inline(__always)
  init(table: UnsafeRawPointer) {
    self.table = table
    vtable = table - Int(table.loadUnaligned(as: Int32.self))
    vtableSize = Int(vtable.loadUnaligned(as: UInt16.self))
  }

  /// The root table of a row.
  @inline(__always)
  init(row: UnsafeRawPointer) {
    self.init(table: row + Int(row.loadUnaligned(as: UInt32.self)))
  }

  /// The position of a field; nil if it is absent.
  @inline(__always)
  func field(_ offset: Int) -> UnsafeRawPointer? {
    if offset >= vtableSize { return nil }
    let distance = vtable.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
    return distance == 0 ? nil : table + Int(distance)
  }

  @inline(__always)
  func scalar<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> T {
    field(offset)?.loadUnaligned(as: T.self) ?? 0
  }

  @inline(__always)
  func bytes(_ offset: Int) -> FloorBytes {
    guard let field = field(offset) else { return FloorBytes() }
    return FloorReader.bytes(at: field)
  }

  @inline(__always)
  static func bytes(at reference: UnsafeRawPointer) -> FloorBytes {
    let start = reference + Int(reference.loadUnaligned(as: UInt32.self))
    return FloorBytes(start: start + 4, count: Int(start.loadUnaligned(as: UInt32.self)))
  }

  @inline(__always)
  func reader(_ offset: Int) -> FloorReader? {
    guard let field = field(offset) else { return nil }
    return FloorReader(table: field + Int(field.loadUnaligned(as: UInt32.self)))
  }

  @inline(__always)
  func vector(_ offset: Int) -> (start: UnsafeRawPointer, count: Int)? {
    guard let field = field(offset) else { return nil }
    let start = field + Int(field.loadUnaligned(as: UInt32.self))
    return (start + 4, Int(start.loadUnaligned(as: UInt32.self)))
  }
}

// The fields of a BenchDoc by their vtable offsets.
extension FloorReader {
  var priority: Int32 { scalar(16) }
  var color: Int8 { scalar(6) }
  var kind: UInt8 { scalar(10) }
  var title: FloorBytes { bytes(8) }
  var tag: FloorBytes { bytes(14) }
  var pos: (Float, Float, Float)? {
    guard let field = field(4) else { return nil }
    return (
      field.loadUnaligned(as: Float.self), field.loadUnaligned(fromByteOffset: 4, as: Float.self),
      field.loadUnaligned(fromByteOffset: 8, as: Float.self)
    )
  }

  /// The row's fields, still inside the row. `images` has space for the maximum number of images.
  @inline(__always)
  func doc(images: UnsafeMutablePointer<FloorBytes>) -> FloorDoc {
    var doc = FloorDoc()
    doc.title = title
    doc.tag = tag
    doc.kind = kind
    doc.color = color
    doc.priority = priority
    if let (x, y, z) = pos { (doc.hasPos, doc.x, doc.y, doc.z) = (true, x, y, z) }
    if doc.kind == 1, let content = reader(12) { doc.text = content.bytes(4) }
    if doc.kind == 2, let (start, count) = reader(12)?.vector(4) {
      doc.images = images
      doc.imageCount = count
      for index in 0..<count { images[index] = FloorReader.bytes(at: start + 4 * index) }
    }
    return doc
  }
}
