// Soundness: verification as a yes or no, for rows that are almost always sound.
//
// It accepts nothing that `verify` would refuse; what it does not accept is verified to learn why. All positions are sums of
// few 32-bit numbers, so they cannot overflow a 64-bit Int; each is compared with the buffer's length before it is read.

import FlatBuffersRuntime

extension LayoutPlan {
  /// Whether bytes are a sound buffer whose root is the plan's. False means that `verify` is to be asked.
  func isSound(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress, bytes.count >= 8, bytes.count <= Int(Int32.max),
      Int.bitWidth == 64
    else { return false }
    var walk = Walk(start: start, end: bytes.count)
    return isSound(0, at: walk.load(0, as: UInt32.self), &walk, depth: 0)
  }

  /// A buffer, and how much work is left before it is handed to the bounded verifier.
  struct Walk {
    let start: UnsafeRawPointer
    let end: Int
    var tables = 10_000
    var strings = 10_000

    @inline(__always)
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ position: Int, as type: T.Type) -> Int {
      Int(start.loadUnaligned(fromByteOffset: position, as: T.self))
    }

    /// Where the offset at a position leads, with room for a count there; −1 if nowhere.
    @inline(__always)
    func follow(_ position: Int) -> Int {
      let distance = load(position, as: UInt32.self)
      return distance != 0 && position &+ distance <= end &- 4 ? position &+ distance : -1
    }

    @inline(__always)
    func isString(at position: Int) -> Bool {
      let target = follow(position)
      guard target >= 0 else { return false }
      let last = target &+ 4 &+ load(target, as: UInt32.self)
      return last < end && load(last, as: UInt8.self) == 0
    }

    /// Whether the vector whose count is at a position lies in the buffer.
    @inline(__always)
    func isVector(at target: Int, stride: Int) -> Bool {
      // Strides are those of schemas, at most 16 bits, so the product fits as well.
      load(target, as: UInt32.self) &* stride <= end &- target &- 4
    }
  }

  private func isSound(_ table: Int, at position: Int, _ walk: inout Walk, depth: Int) -> Bool {
    let end = walk.end
    guard position > 0, position <= end &- 4, depth < 64, walk.tables > 0 else { return false }
    walk.tables &-= 1
    let vtable = position &- walk.load(position, as: Int32.self)
    guard vtable >= 0, vtable <= end &- 4 else { return false }
    let vtableSize = walk.load(vtable, as: UInt16.self)
    let size = walk.load(vtable &+ 2, as: UInt16.self)
    guard vtableSize >= 4, vtableSize & 1 == 0, size >= 4, vtable &+ vtableSize <= end,
      position &+ size <= end
    else { return false }
    let span = tables[table]
    var next = Int(span.start)
    while next < Int(span.end) {
      let check = checks.baseAddress.unsafelyUnwrapped + next
      next &+= 1
      let field = Int(check.pointee.offset)
      if field >= vtableSize { continue }
      let distance = walk.load(vtable &+ field, as: UInt16.self)
      if distance == 0 { continue }
      guard distance >= 4, distance &+ Int(check.pointee.size) <= size else { return false }
      let place = position &+ distance
      switch check.pointee.operation {
      case .scalar: break
      case .string:
        if !walk.isString(at: place) { return false }
      case .table:
        let target = walk.follow(place)
        guard target >= 0,
          isSound(Int(check.pointee.target), at: target, &walk, depth: depth &+ 1)
        else { return false }
      case .union:
        let tagField = field &- 2
        let tagDistance = walk.load(vtable &+ tagField, as: UInt16.self)
        if tagDistance == 0 { continue }
        guard tagDistance >= 4, tagDistance < size else { return false }
        let tag = walk.load(position &+ tagDistance, as: UInt8.self)
        if tag == 0 { continue }
        guard
          isSound(union: Int(check.pointee.target), tag, at: place, &walk, depth: depth &+ 1)
        else { return false }
      case .vector:
        let target = walk.follow(place)
        guard target >= 0, walk.isVector(at: target, stride: Int(check.pointee.stride)) else {
          return false
        }
      case .stringVector:
        let target = walk.follow(place)
        guard target >= 0, walk.isVector(at: target, stride: 4) else { return false }
        let count = walk.load(target, as: UInt32.self)
        // Many references to few strings are bounded by the verifier.
        guard count <= walk.strings else { return false }
        walk.strings &-= count
        for index in 0..<count where !walk.isString(at: target &+ 4 &+ 4 &* index) { return false }
      case .tableVector:
        let target = walk.follow(place)
        guard target >= 0, walk.isVector(at: target, stride: 4) else { return false }
        for index in 0..<walk.load(target, as: UInt32.self) {
          let element = walk.follow(target &+ 4 &+ 4 &* index)
          guard element >= 0,
            isSound(Int(check.pointee.target), at: element, &walk, depth: depth &+ 1)
          else { return false }
        }
      case .unionVector: return false
      }
    }
    return true
  }

  private func isSound(
    union: Int, _ tag: Int, at place: Int, _ walk: inout Walk, depth: Int
  ) -> Bool {
    let span = unions[union]
    for index in Int(span.start)..<Int(span.end) where Int(members[index].tag) == tag {
      let member = members[index]
      switch member.kind {
      case .string: return walk.isString(at: place)
      case .structure:
        let target = walk.follow(place)
        return target >= 0 && target &+ Int(member.detail) <= walk.end
      case .table:
        let target = walk.follow(place)
        return target >= 0 && isSound(Int(member.detail), at: target, &walk, depth: depth)
      }
    }
    // A member that this version of the schema does not know is never read.
    return true
  }
}
