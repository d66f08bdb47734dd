// Checksums of sample objects.

extension Checksum {
  @inline(__always)
  mutating func add(_ pos: Vec3?) {
    guard let pos else { return add(UInt64(11)) }
    add(pos.x)
    add(pos.y)
    add(pos.z)
  }

  @inline(__always)
  mutating func add(_ content: Content?) {
    switch content {
    case nil: add(UInt64(13))
    case .textContent(let content): add(content.text)
    case .imageContent(let content): for image in content.images { add(image) }
    }
  }
}
