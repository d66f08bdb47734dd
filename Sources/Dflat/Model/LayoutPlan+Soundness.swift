// Soundness: verification with a yes or no result, for rows that are almost always sound.
//
// It accepts nothing that `verify` would reject. Buffers that it does not accept are verified to
// learn the reason. All positions are sums of few 32-bit numbers, so they cannot overflow a 64-bit
// Int; each is compared with the buffer's length before it is read. What depends on a table's
// vtable alone is learnt once: see KnownVTables.

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

    @inline(__always)
    func isString(at position: Int) -> Bool {
      let distance = load(position, as: UInt32.self)
      let target = position &+ distance
      guard distance != 0, target <= end &- 4 else { return false }
      let last = target &+ 4 &+ load(target, as: UInt32.self)
      return last < end && load(last, as: UInt8.self) == 0
    }

    /// Whether the vector whose count is at a position is inside the buffer.
    @inline(__always)
    func isVector(at target: Int, stride: Int) -> Bool {
      // Strides in schemas have at most 16 bits, so the product fits.
      load(target, as: UInt32.self) &* stride <= end &- target &- 4
    }
  }

  private func isSound(_ table: Int, at position: Int, _ walk: inout Walk, depth: Int) -> Bool {
    let end = walk.end
    // A position is not negative, and a buffer has at least eight bytes.
    guard UInt(bitPattern: position &- 1) < UInt(bitPattern: end &- 4), depth < 64, walk.tables > 0
    else { return false }
    walk.tables &-= 1
    let vtable = position &- walk.load(position, as: Int32.self)
    guard vtable >= 0, vtable <= end &- KnownVTables.width,
      let known = vtables.entry(at: walk.start + vtable, table, room: end &- position)
    else { return isSound(table, at: position, vtable, &walk, depth: depth) }
    return areStrings(known.pointee.strings.0, of: position, walk)
      && areStrings(known.pointee.strings.1, of: position, walk)
      && areSound(known.pointee.others, of: table, at: position, vtable, &walk, depth: depth)
  }

  /// Whether there are strings where a known vtable has some.
  /// - Parameter distances: See `KnownVTables.Entry`.
  @inline(__always)
  private func areStrings(_ distances: UInt64, of position: Int, _ walk: Walk) -> Bool {
    var rest = distances
    while rest != 0 {
      if !walk.isString(at: position &+ Int(rest & 0xFFFF)) { return false }
      rest >>= 16
    }
    return true
  }

  /// Whether what the other parts of a table with a known vtable refer to is sound.
  /// - Parameter others: See `KnownVTables.Entry`.
  @inline(__always)
  private func areSound(
    _ others: UInt64, of table: Int, at position: Int, _ vtable: Int, _ walk: inout Walk,
    depth: Int
  ) -> Bool {
    var rest = others
    while rest != 0 {
      let first = parts.baseAddress.unsafelyUnwrapped + Int(tables[table].start)
      let part = first + (Int(rest & 0xFF) &- 1)
      let distance = walk.load(vtable &+ Int(part.pointee.offset), as: UInt16.self)
      if !isSound(part, at: distance, of: position, vtable, &walk, depth: depth) { return false }
      rest >>= 8
    }
    return true
  }

  /// Whether a table with an unknown vtable is sound. Remembers the vtable if it is.
  @inline(never)
  private func isSound(
    _ table: Int, at position: Int, _ vtable: Int, _ walk: inout Walk, depth: Int
  ) -> Bool {
    let end = walk.end
    guard vtable >= 0, vtable <= end &- 2 else { return false }
    let vtableSize = walk.load(vtable, as: UInt16.self)
    guard vtableSize & 1 == 0, vtable &+ vtableSize <= end else { return false }
    let room = end &- position
    let span = tables[table]
    var lesson = Lesson()
    for index in Int(span.start)..<Int(span.end) {
      let part = parts.baseAddress.unsafelyUnwrapped + index
      let field = Int(part.pointee.offset)
      if field >= vtableSize { continue }
      let distance = walk.load(vtable &+ field, as: UInt16.self)
      if distance == 0 { continue }
      guard distance &+ Int(part.pointee.size) <= room else { return false }
      lesson.note(part.pointee, index - Int(span.start), at: distance)
      if part.pointee.operation == .scalar { continue }
      if !isSound(part, at: distance, of: position, vtable, &walk, depth: depth) { return false }
    }
    // A vtable may state a size of 0 or 2, which is no size.
    if lesson.isComplete, vtableSize >= 4, vtableSize <= KnownVTables.width,
      vtable <= end &- KnownVTables.width
    {
      vtables.add(
        at: walk.start + vtable, size: vtableSize, table, strings: lesson.strings,
        others: lesson.others, reach: lesson.reach)
    }
    return true
  }

  /// What a vtable says about a table, in the form of `KnownVTables.Entry`.
  private struct Lesson {
    var strings: (UInt64, UInt64) = (0, 0)
    var others: UInt64 = 0
    /// A table begins with the distance of its vtable.
    var reach = 4
    /// Whether there was room for all parts.
    var isComplete = true
    private var stringCount = 0

    /// - Parameter index: The part's index in the table.
    mutating func note(_ part: Part, _ index: Int, at distance: Int) {
      reach = max(reach, distance + Int(part.size))
      switch part.operation {
      case .scalar: return
      case .string:
        let shifted = UInt64(distance) << UInt64(16 * (stringCount % 4))
        if stringCount < 4 { strings.0 |= shifted } else { strings.1 |= shifted }
        stringCount += 1
        if stringCount > 8 { isComplete = false }
      default:
        if others >> 56 != 0 || index > 254 { isComplete = false }
        others = others << 8 | UInt64(truncatingIfNeeded: index + 1) & 0xFF
      }
    }
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
    if operation == .string { return walk.isString(at: place) }
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
    if member.kind == .string { return walk.isString(at: place) }
    let target = walk.follow(place)
    guard target != 0 else { return false }
    return member.kind == .table
      ? isSound(Int(member.detail), at: target, &walk, depth: depth)
      : target &+ Int(member.detail) <= walk.end
  }

  /// Whether the table or vector that a part refers to is sound.
  @inline(never)
  private func isSound(_ part: Part, at place: Int, _ walk: inout Walk, depth: Int) -> Bool {
    let target = walk.follow(place)
    guard target != 0 else { return false }
    let detail = Int(part.detail)
    switch part.operation {
    case .table: return isSound(detail, at: target, &walk, depth: depth)
    case .vector: return walk.isVector(at: target, stride: detail)
    case .stringVector:
      guard walk.isVector(at: target, stride: 4) else { return false }
      let count = walk.load(target, as: UInt32.self)
      // The verifier bounds the work for many references to few strings.
      guard count <= walk.strings else { return false }
      walk.strings &-= count
      for index in 0..<count where !walk.isString(at: target &+ 4 &+ 4 &* index) { return false }
      return true
    case .tableVector:
      guard walk.isVector(at: target, stride: 4) else { return false }
      for index in 0..<walk.load(target, as: UInt32.self) {
        let element = walk.follow(target &+ 4 &+ 4 &* index)
        guard element != 0, isSound(detail, at: element, &walk, depth: depth) else { return false }
      }
      return true
    case .unionVector, .scalar, .string, .union: return false
    }
  }
}
