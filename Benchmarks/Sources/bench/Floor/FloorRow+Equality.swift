// Compares two rows: their bytes, and if those differ their fields, in place.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension FloorBytes {
  /// Absent equals absent only.
  @inline(__always)
  func equals(_ other: FloorBytes) -> Bool {
    if count != other.count { return false }
    guard let start, let otherStart = other.start else { return start == other.start }
    return memcmp(start, otherStart, count) == 0
  }
}

extension FloorRow {
  @inline(__always)
  func hasSameContent(as other: FloorRow) -> Bool {
    if count == other.count && memcmp(bytes, other.bytes, count) == 0 { return true }
    return FloorRow.hasSameFields(reader, other.reader)
  }

  private static func hasSameFields(_ left: FloorReader, _ right: FloorReader) -> Bool {
    switch (left.pos, right.pos) {
    case (nil, nil): break
    case (let a?, let b?): if a != b { return false }
    default: return false
    }
    if left.color != right.color || !left.title.equals(right.title) { return false }
    if left.kind != right.kind || left.priority != right.priority { return false }
    if !left.tag.equals(right.tag) { return false }
    guard let a = left.reader(12), let b = right.reader(12) else { return true }
    if left.kind == 1 { return a.bytes(4).equals(b.bytes(4)) }
    let images = a.vector(4)
    let others = b.vector(4)
    if images?.count != others?.count { return false }
    guard let images, let others else { return true }
    for index in 0..<images.count
    where !FloorReader.bytes(at: images.start + 4 * index).equals(
      FloorReader.bytes(at: others.start + 4 * index))
    {
      return false
    }
    return true
  }
}
