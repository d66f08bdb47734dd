// FlatBufferBuilder: writes a buffer back to front, into memory that it keeps.
//
//   memory:  [ free ............ | written ]      `head` is the first written byte
//            0                   head      capacity
//
//  - An Offset counts from the end of the memory, because the end never moves. A uoffset in the
//    buffer is the difference of two such counts.
//  - Alignment is relative to the end, and finishing pads the whole to the largest alignment used,
//    so each part is aligned from the start of the finished buffer too.
//  - Every byte of padding is written as zero, and nothing depends on addresses or on what the
//    memory held before: the same calls give the same bytes.
//  - After a few uses nothing allocates: memory, slots, the stack of vectors and the list of
//    vtables stay.

/// Builds FlatBuffers buffers, one after the other, in the same memory.
///
/// Children come before their parent: write strings, vectors and nested tables first, then
/// `startTable`, the fields, `endTable`, and at last `finish`. For encodings that are equal byte by
/// byte, **children are written in slot order, then fields are added by descending size of their
/// inline value, and by slot within a size** (an offset is 4 bytes wide; a struct counts by its
/// alignment).
///
///     let title = builder.string("first post")
///     builder.startTable(slotCount: 2)
///     builder.add(title, at: 4)
///     builder.add(priority, at: 6, default: Int32(0))
///     builder.finish(builder.endTable())
///     send(builder.bytes)
///     builder.reset()
///
/// The order of calls is checked: adding outside of a table, opening a table inside an open one,
/// finishing twice, or growing beyond 2 GiB - 1 stops the program with a message. A builder is for
/// one thread at a time.
public final class FlatBufferBuilder {
  /// Something already written to the builder, to be referred to by what is written later.
  ///
  /// It belongs to the builder that made it, until that builder's `reset`.
  @frozen
  public struct Offset: Equatable, Sendable {
    /// The distance of the thing's start from the end of the buffer, in bytes.
    public let rawValue: UInt32

    /// An offset by its distance from the end of the buffer.
    @inlinable @inline(__always)
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Refers to nothing: a field is left out, an element of a vector of unions is empty.
    @inlinable @inline(__always)
    public static var none: Offset { Offset(rawValue: 0) }
  }

  // Everything below is touched in each call from modules that this one is inlined into; a builder
  // is for one thread at a time and calls no code of others while it holds a field, so exclusivity
  // holds without a check.

  @exclusivity(unchecked) @usableFromInline var memory: UnsafeMutableRawPointer
  @exclusivity(unchecked) @usableFromInline var capacity: Int
  @exclusivity(unchecked) @usableFromInline var head: Int
  /// The largest alignment that anything written so far asked for.
  @exclusivity(unchecked) @usableFromInline var minimumAlignment = 4

  /// `used` when the open table was started, or -1 if no table is open.
  @exclusivity(unchecked) @usableFromInline var tableStart = -1
  /// Per slot of the open table: `used` at the field's start, or 0 if it was not added. All are 0
  /// while no table is open.
  @exclusivity(unchecked) @usableFromInline var slots: UnsafeMutablePointer<UInt32>
  @exclusivity(unchecked) @usableFromInline var slotCapacity: Int
  /// How many slots the open table has; 0 if no table is open.
  @exclusivity(unchecked) @usableFromInline var slotCount = 0

  /// The elements of the open vectors. Each open vector begins with an entry that holds
  /// `vectorStart` of the one around it.
  @exclusivity(unchecked) @usableFromInline var stack: UnsafeMutablePointer<UInt32>
  @exclusivity(unchecked) @usableFromInline var stackCapacity: Int
  @exclusivity(unchecked) @usableFromInline var stackCount = 0
  /// Where the innermost open vector's elements begin on the stack, or 0 if none is open.
  @exclusivity(unchecked) @usableFromInline var vectorStart = 0

  /// The most recent different vtables, a ring: their sizes as they begin, and where they are.
  @exclusivity(unchecked) @usableFromInline
  var vtables: UnsafeMutablePointer<(sizes: UInt32, offset: UInt32)>
  @exclusivity(unchecked) @usableFromInline var vtableCount = 0

  @exclusivity(unchecked) @usableFromInline var isFinished = false

  /// Why what is written must not be kept, if its writer said so: a value does not fit its field.
  @exclusivity(unchecked) public private(set) var refusal: String?

  /// Memory is aligned for the widest alignment that schemas may ask for.
  @usableFromInline static var memoryAlignment: Int { 64 }
  /// A table shares its vtable with one of this many before it; more are not searched, so that
  /// buffers with very many different tables are still built in linear time. A power of two.
  @usableFromInline static var sharedVTables: Int { 128 }

  /// Makes an empty builder. `capacity` is in bytes; the builder grows when it must.
  public init(capacity: Int = 1024) {
    guard capacity >= 0, capacity <= flatBufferMaximumSize else {
      misuse("a builder's capacity is between 0 and 2 GiB - 1")
    }
    let rounded = Self.roundedCapacity(max(capacity, 64))
    self.memory = .allocate(byteCount: rounded, alignment: Self.memoryAlignment)
    self.capacity = rounded
    self.head = rounded
    self.slotCapacity = 32
    self.slots = .allocate(capacity: 32)
    slots.initialize(repeating: 0, count: 32)
    self.stackCapacity = 32
    self.stack = .allocate(capacity: 32)
    self.vtables = .allocate(capacity: Self.sharedVTables)
  }

  deinit {
    memory.deallocate()
    slots.deallocate()
    stack.deallocate()
    vtables.deallocate()
  }

  /// Forgets everything written, at any point, and keeps the memory for the next buffer.
  @inlinable
  public func reset() {
    head = capacity
    minimumAlignment = 4
    if slotCount > 0 { slots.update(repeating: 0, count: slotCount) }
    tableStart = -1
    slotCount = 0
    stackCount = 0
    vectorStart = 0
    vtableCount = 0
    isFinished = false
    if refusal != nil { forgetRefusal() }
  }

  @usableFromInline
  func forgetRefusal() { refusal = nil }

  /// Says that what is written is not what its writer was given.
  ///
  /// The buffer can be finished all the same; who keeps buffers looks at `refusal`.
  /// - Parameter reason: What does not fit where. The first one is kept.
  public func refuse(_ reason: String) {
    if refusal == nil { refusal = reason }
  }

  /// The finished buffer. Valid until the next call that changes the builder, and while the builder
  /// lives.
  @inlinable
  public var bytes: UnsafeRawBufferPointer {
    guard isFinished else { misuse("bytes are there after finish") }
    return UnsafeRawBufferPointer(start: memory + head, count: used)
  }

  /// The number of bytes written so far.
  @inlinable @inline(__always)
  public var used: Int { capacity &- head }

  /// Completes the buffer.
  ///
  /// - Parameters:
  ///   - root: The root table, or a struct written by `indirectStructure`.
  ///   - fileIdentifier: Exactly four bytes of UTF-8 that name the schema.
  ///   - sizePrefixed: Whether the buffer begins with the size of what follows, for streams.
  public func finish(_ root: Offset, fileIdentifier: String? = nil, sizePrefixed: Bool = false) {
    checkBetweenTables()
    guard vectorStart == 0 else { misuse("finish while a vector is open") }
    guard root != .none else { misuse("finish without a root") }
    let header = 4 + (fileIdentifier == nil ? 0 : 4) + (sizePrefixed ? 4 : 0)
    pad(before: header, alignment: minimumAlignment)
    if let fileIdentifier {
      guard fileIdentifier.utf8.count == 4 else { misuse("a file identifier has four bytes") }
      let place = allocate(4, alignment: 1)
      for (index, byte) in fileIdentifier.utf8.enumerated() {
        place.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
    }
    let place = allocate(4, alignment: 1)
    place.storeBytes(of: distance(to: root), as: UInt32.self)
    if sizePrefixed {
      let size = UInt32(used)
      allocate(4, alignment: 1).storeBytes(of: size, as: UInt32.self)
    }
    isFinished = true
    _checkInvariants()
  }

  func _checkInvariants() {
    assert(head >= 0 && head <= capacity)
    assert(capacity % Self.memoryAlignment == 0)
    assert(!isFinished || used % minimumAlignment == 0)
    assert(vectorStart <= stackCount && stackCount <= stackCapacity)
    assert(slotCount <= slotCapacity)
    assert(tableStart >= 0 || slotCount == 0 && (0..<slotCapacity).allSatisfy { slots[$0] == 0 })
  }
}
