// Soundness: verification with a yes or no result, for rows that are almost always sound.
//
// It accepts nothing that `verify` would reject. Buffers that it does not accept are verified to
// learn the reason. All positions are sums of few 32-bit numbers, so they cannot overflow a 64-bit
// Int; each is compared with the buffer's length before it is read.

import FlatBuffersRuntime

extension LayoutPlan {
  /// One property of a table, reduced to what the check needs.
  struct Part {
    var offset: UInt16
    var operation: Check.Operation
    /// The inline size.
    var size: Int32
    /// The table or union that it refers to, or the stride of a vector.
    var detail: Int32

    init(_ check: Check) {
      offset = UInt16(check.offset)
      size = check.size
      operation = check.operation
      detail = check.operation == .vector ? check.stride : check.target
    }
  }

  /// Whether bytes are a sound buffer with this plan's root table. False means that `verify` must
  /// decide.
  @inline(__always)
  func isSound(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress, bytes.count >= 8, bytes.count <= Int(Int32.max),
      Int.bitWidth == 64
    else { return false }
    var walk = Walk(start: start, end: bytes.count)
    return isSound(0, at: walk.load(0, as: UInt32.self), &walk, depth: 0)
  }

  /// A buffer, and the remaining work before the bounded verifier takes over.
  struct Walk {
    let start: UnsafeRawPointer
    let end: Int
    var tables = 10_000
    var strings = 10_000
    /// How many bytes parts may have that are not referred to by the root table itself: see
    /// `Verifier`.
    var bytes: Int

    init(start: UnsafeRawPointer, end: Int) {
      self.start = start
      self.end = end
      bytes = Verifier.mostUnfolded(end)
    }

    @inline(__always)
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ position: Int, as type: T.Type) -> Int {
      Int(start.loadUnaligned(fromByteOffset: position, as: T.self))
    }

    /// The target of the offset at a position, if a count fits there; otherwise 0.
    @inline(__always)
    func follow(_ position: Int) -> Int {
      let distance = load(position, as: UInt32.self)
      return distance != 0 && position &+ distance <= end &- 4 ? position &+ distance : 0
    }

    /// Whether a field of the root table refers to a string.
    @inline(__always)
    func isString(at position: Int) -> Bool { length(ofStringAt: position) >= 0 }

    /// Whether an element of a vector, or a field of a table below the root, refers to a string.
    @inline(__always)
    mutating func isInnerString(at position: Int) -> Bool {
      let length = length(ofStringAt: position)
      return length >= 0 && unfold(length)
    }

    /// How many bytes the string has that the offset at a position refers to; −1 if it does not.
    @inline(__always)
    private func length(ofStringAt position: Int) -> Int {
      let distance = load(position, as: UInt32.self)
      let target = position &+ distance
      guard distance != 0, target <= end &- 4 else { return -1 }
      let length = load(target, as: UInt32.self)
      let last = target &+ 4 &+ length
      return last < end && load(last, as: UInt8.self) == 0 ? length : -1
    }

    /// Whether the vector whose count is at a position is inside the buffer.
    @inline(__always)
    mutating func isVector(at target: Int, stride: Int, isInner: Bool) -> Bool {
      // Strides in schemas have at most 16 bits, so the product fits.
      let size = load(target, as: UInt32.self) &* stride
      return size <= end &- target &- 4 && (!isInner || unfold(size))
    }

    /// Counts the bytes of a part. False if there are too many.
    @inline(__always)
    mutating func unfold(_ size: Int) -> Bool {
      bytes &-= size
      return bytes >= 0
    }
  }

  private func isSound(_ table: Int, at position: Int, _ walk: inout Walk, depth: Int) -> Bool {
    let end = walk.end
    guard position > 0, position <= end &- 4, depth < 64, walk.tables > 0 else { return false }
    walk.tables &-= 1
    let vtable = position &- walk.load(position, as: Int32.self)
    guard vtable >= 0, vtable <= end &- 2 else { return false }
    let vtableSize = walk.load(vtable, as: UInt16.self)
    guard vtableSize & 1 == 0, vtable &+ vtableSize <= end else { return false }
    let room = end &- position
    let span = tables[table]
    var next = parts.baseAddress.unsafelyUnwrapped + Int(span.start)
    let last = parts.baseAddress.unsafelyUnwrapped + Int(span.end)
    while next != last {
      let part = next
      next += 1
      let field = Int(part.pointee.offset)
      if field >= vtableSize { continue }
      let distance = walk.load(vtable &+ field, as: UInt16.self)
      if distance == 0 { continue }
      guard distance &+ Int(part.pointee.size) <= room else { return false }
      if part.pointee.operation == .scalar { continue }
      if !isSound(part, at: distance, of: position, vtable, &walk, depth: depth) { return false }
    }
    return true
  }

  /// Whether what a part of a table refers to is sound. The part is no scalar, is there, and lies
  /// in the buffer.
  /// - Parameters:
  ///   - distance: Where the part is, counted from the table's position.
  ///   - vtable: The position of the table's vtable.
  @inline(__always)
  func isSound(
    _ part: UnsafePointer<Part>, at distance: Int, of position: Int, _ vtable: Int,
    _ walk: inout Walk, depth: Int
  ) -> Bool {
    let place = position &+ distance
    let operation = part.pointee.operation
    if operation == .string {
      return depth == 0 ? walk.isString(at: place) : walk.isInnerString(at: place)
    }
    if operation == .union {
      let field = Int(part.pointee.offset)
      let tagDistance = walk.load(vtable &+ field &- 2, as: UInt16.self)
      if tagDistance == 0 { return true }
      guard tagDistance < walk.end &- position else { return false }
      let tag = walk.load(position &+ tagDistance, as: UInt8.self)
      // The value of a member that this version of the schema does not know is never read.
      guard tag != 0, let member = member(tag, of: Int(part.pointee.detail)) else { return true }
      return isSound(member, at: place, &walk, depth: depth &+ 1)
    }
    return isSound(part.pointee, at: place, &walk, depth: depth &+ 1)
  }

  @inline(__always)
  private func isSound(
    _ member: Member, at place: Int, _ walk: inout Walk, depth: Int
  ) -> Bool {
    // The depth is one more than that of the table whose field this is.
    if member.kind == .string {
      return depth == 1 ? walk.isString(at: place) : walk.isInnerString(at: place)
    }
    let target = walk.follow(place)
    guard target != 0 else { return false }
    let detail = Int(member.detail)
    if member.kind == .table { return isSound(detail, at: target, &walk, depth: depth) }
    return target &+ detail <= walk.end && (depth == 1 || walk.unfold(detail))
  }

  /// Whether the table or vector that a part refers to is sound.
  @inline(never)
  private func isSound(_ part: Part, at place: Int, _ walk: inout Walk, depth: Int) -> Bool {
    let target = walk.follow(place)
    guard target != 0 else { return false }
    let detail = Int(part.detail)
    switch part.operation {
    case .table: return isSound(detail, at: target, &walk, depth: depth)
    case .vector: return walk.isVector(at: target, stride: detail, isInner: depth > 1)
    case .stringVector:
      guard walk.isVector(at: target, stride: 4, isInner: depth > 1) else { return false }
      let count = walk.load(target, as: UInt32.self)
      // The verifier bounds the work for many references to few strings.
      guard count <= walk.strings else { return false }
      walk.strings &-= count
      for index in 0..<count
      where !walk.isInnerString(at: target &+ 4 &+ 4 &* index) { return false }
      return true
    case .tableVector:
      guard walk.isVector(at: target, stride: 4, isInner: depth > 1) else { return false }
      for index in 0..<walk.load(target, as: UInt32.self) {
        let element = walk.follow(target &+ 4 &+ 4 &* index)
        guard element != 0, isSound(detail, at: element, &walk, depth: depth) else { return false }
      }
      return true
    case .unionVector, .scalar, .string, .union: return false
    }
  }
}
