// FlatBufferBuilder: writes a buffer back to front, into memory that it reuses.
//
//   memory:  [ free ............ | written ]      `head` is the first written byte
//            0                   head      capacity
//
//  - An Offset counts from the end of the memory, because the end never moves. A uoffset in the
//    buffer is the difference of two Offsets.
//  - Alignment is relative to the end. Finishing pads the buffer to the largest alignment used, so
//    each part is also aligned relative to the start of the finished buffer.
//  - All padding is zeroed, and nothing depends on addresses or on the previous contents of the
//    memory: the same calls write the same bytes.
//  - After a few uses nothing allocates: the memory, the slots, the stack of vectors and the list
//    of vtables are reused.

/// Builds FlatBuffers buffers, one at a time, in the same memory.
///
/// Children come before their parent: write strings, vectors and nested tables first, then
/// `startTable`, the fields, `endTable`, and finally `finish`. For byte-identical encodings,
/// **write children in slot order, then add fields by descending size of their inline value, and by
/// slot within a size** (an offset is 4 bytes wide; a struct counts by its alignment).
///
///     let title = builder.string("first post")
///     builder.startTable(slotCount: 2)
///     builder.add(title, at: 4)
///     builder.add(priority, at: 6, default: Int32(0))
///     builder.finish(builder.endTable())
///     send(builder.bytes)
///     builder.reset()
///
/// The order of calls is checked: adding a field outside of a table, opening a table inside an open
/// one, finishing twice, or growing beyond 2 GiB - 1 is a fatal error with a message. A builder
/// must be used by one thread at a time.
public final class FlatBufferBuilder {
  /// A reference to an object that was already written, for use by objects that are written later.
  ///
  /// It belongs to the builder that returned it, until that builder is reset.
  @frozen
  public struct Offset: Equatable, Sendable {
    /// The distance of the object's start from the end of the buffer, in bytes.
    public let rawValue: UInt32

    /// Creates an offset from its distance from the end of the buffer.
    @inlinable @inline(__always)
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Refers to nothing: a field is left out, or an element of a vector of unions is empty.
    @inlinable @inline(__always)
    public static var none: Offset { Offset(rawValue: 0) }
  }

  // Calls that are inlined into other modules access everything below. A builder is used by one
  // thread at a time and calls no foreign code while it accesses a property, so exclusivity holds
  // without runtime checks.

  @exclusivity(unchecked) @usableFromInline var memory: UnsafeMutableRawPointer
  @exclusivity(unchecked) @usableFromInline var capacity: Int
  @exclusivity(unchecked) @usableFromInline var head: Int
  /// The largest alignment of anything written so far.
  @exclusivity(unchecked) @usableFromInline var minimumAlignment = 4

  /// `used` when the open table was started, or -1 if no table is open.
  @exclusivity(unchecked) @usableFromInline var tableStart = -1
  /// Per slot of the open table: `used` at the field's start, or 0 if it was not added. All are 0
  /// while no table is open.
  @exclusivity(unchecked) @usableFromInline var slots: UnsafeMutablePointer<UInt32>
  @exclusivity(unchecked) @usableFromInline var slotCapacity: Int
  /// The number of slots of the open table; 0 if no table is open.
  @exclusivity(unchecked) @usableFromInline var slotCount = 0

  /// The elements of the open vectors. Each open vector begins with an entry that contains
  /// `vectorStart` of the enclosing one.
  @exclusivity(unchecked) @usableFromInline var stack: UnsafeMutablePointer<UInt32>
  @exclusivity(unchecked) @usableFromInline var stackCapacity: Int
  @exclusivity(unchecked) @usableFromInline var stackCount = 0
  /// The start of the innermost open vector's elements on the stack, or 0 if none is open.
  @exclusivity(unchecked) @usableFromInline var vectorStart = 0

  /// A ring buffer of the most recent distinct vtables: the sizes that they begin with, and their
  /// offsets.
  @exclusivity(unchecked) @usableFromInline
  var vtables: UnsafeMutablePointer<(sizes: UInt32, offset: UInt32)>
  @exclusivity(unchecked) @usableFromInline var vtableCount = 0

  @exclusivity(unchecked) @usableFromInline var isFinished = false

  @exclusivity(unchecked) @usableFromInline var firstRefusal: String?
  /// Whether the buffer would have become too large, so that nothing of it was kept.
  @exclusivity(unchecked) @usableFromInline var isOverflown = false
  /// Whether the buffer is refused because it would have become too large.
  package var isTooLarge: Bool { isOverflown }
  /// The largest size of a buffer.
  @usableFromInline let maximumSize: Int
  /// Whether a larger buffer is refused. If not, it is a mistake of the program.
  let refusesMore: Bool
  /// How many tables enclose the one that is written next, as far as `nested` counts them.
  @exclusivity(unchecked) @usableFromInline var nesting = 0
  /// The greatest nesting that is written. It is a little more than the verifier accepts, whose
  /// error names the place, and keeps values that are nested without end from overflowing the
  /// stack, also where the buffer is used later.
  @usableFromInline static var mostNesting: Int { 72 }

  /// The reason why the buffer must not be stored, if a writer has refused a value that does not
  /// fit its field.
  @inlinable
  public var refusal: String? { firstRefusal }

  /// The largest alignment that a schema can require.
  @usableFromInline static var memoryAlignment: Int { 64 }
  /// The number of recent vtables that are searched for an equal one. It is limited so that buffers
  /// with very many different tables are still built in linear time. A power of two.
  @usableFromInline static var sharedVTables: Int { 128 }

  /// The largest size of the buffers that objects are stored in.
  ///
  /// Unsafe, because only tests change it: each in a process of its own, before anything is built.
  nonisolated(unsafe) package static var greatestSize = flatBufferMaximumSize

  /// Creates an empty builder. `capacity` is in bytes; the builder grows as needed.
  public convenience init(capacity: Int = 1024) {
    self.init(capacity: capacity, maximumSize: flatBufferMaximumSize, refusesMore: false)
  }

  /// Creates an empty builder whose buffers are refused if they would become larger than a size:
  /// see ``refusal``. Such a buffer is a table without fields.
  package convenience init(refusingMoreThan maximumSize: Int) {
    self.init(capacity: 1024, maximumSize: maximumSize, refusesMore: true)
  }

  private init(capacity: Int, maximumSize: Int, refusesMore: Bool) {
    guard capacity >= 0, capacity <= flatBufferMaximumSize else {
      misuse("a builder's capacity must be between 0 and 2 GiB - 1")
    }
    self.maximumSize = maximumSize
    self.refusesMore = refusesMore
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

  /// Discards everything that was written and keeps the memory for the next buffer. May be called
  /// at any point.
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
    if firstRefusal != nil { clearRefusal() }
  }

  @usableFromInline
  func clearRefusal() {
    firstRefusal = nil
    isOverflown = false
  }

  /// Records that a value could not be written as it was given.
  ///
  /// The buffer can still be finished; callers that store buffers check `refusal`.
  ///
  /// - Parameter reason: Which value does not fit which field. Only the first reason is kept.
  public func refuse(_ reason: String) {
    if firstRefusal == nil { firstRefusal = reason }
  }

  /// Writes tables inside of the table that is written next.
  ///
  /// - Parameter write: Writes them.
  /// - Returns: What `write` returns; nothing, and the buffer is refused, if they are nested too
  ///   deeply.
  @inlinable
  public func nested(_ write: () -> Offset) -> Offset {
    if nesting == Self.mostNesting { return refuseNesting() }
    nesting += 1
    defer { nesting -= 1 }
    return write()
  }

  @usableFromInline
  func refuseNesting() -> Offset {
    refuse("its tables are nested deeper than \(Self.mostNesting) tables")
    return .none
  }

  /// The finished buffer. Valid until the next call that changes the builder, at most as long as
  /// the builder lives.
  @inlinable
  public var bytes: UnsafeRawBufferPointer {
    guard isFinished else { misuse("bytes can only be read after finish") }
    return UnsafeRawBufferPointer(start: memory + head, count: used)
  }

  /// The number of bytes written so far.
  @inlinable @inline(__always)
  public var used: Int { capacity &- head }

  /// Completes the buffer.
  ///
  /// - Parameter root: The root table, or a struct written by `indirectStructure`.
  @inlinable
  public func finish(_ root: Offset) {
    checkFinishable(root)
    let destination = allocate(4, alignment: minimumAlignment)
    if isOverflown { return finishOverflown() }
    destination.storeBytes(of: distance(to: root), as: UInt32.self)
    isFinished = true
    _checkInvariants()
  }

  /// Completes a buffer for a file or a stream.
  ///
  /// - Parameters:
  ///   - root: The root table, or a struct written by `indirectStructure`.
  ///   - fileIdentifier: Exactly four bytes of UTF-8 that identify the schema.
  ///   - sizePrefixed: Whether the buffer begins with the size of the rest, for streams.
  public func finish(_ root: Offset, fileIdentifier: String? = nil, sizePrefixed: Bool = false) {
    checkFinishable(root)
    let header = 4 + (fileIdentifier == nil ? 0 : 4) + (sizePrefixed ? 4 : 0)
    pad(before: header, alignment: minimumAlignment)
    if isOverflown { return finishOverflown() }
    if let fileIdentifier {
      guard fileIdentifier.utf8.count == 4 else { misuse("a file identifier has four bytes") }
      let destination = allocate(4, alignment: 1)
      for (index, byte) in fileIdentifier.utf8.enumerated() {
        destination.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
    }
    let destination = allocate(4, alignment: 1)
    destination.storeBytes(of: distance(to: root), as: UInt32.self)
    if sizePrefixed {
      let size = UInt32(used)
      allocate(4, alignment: 1).storeBytes(of: size, as: UInt32.self)
    }
    isFinished = true
    _checkInvariants()
  }

  @inlinable @inline(__always)
  func checkFinishable(_ root: Offset) {
    checkBetweenTables()
    guard vectorStart == 0 else { misuse("finish while a vector is open") }
    guard root != .none else { misuse("finish without a root") }
  }

  @inlinable
  func _checkInvariants() {
    assert(head >= 0 && head <= capacity)
    assert(capacity % Self.memoryAlignment == 0)
    assert(!isFinished || used % minimumAlignment == 0)
    assert(vectorStart <= stackCount && stackCount <= stackCapacity)
    assert(slotCount <= slotCapacity)
    assert(tableStart >= 0 || slotCount == 0 && (0..<slotCapacity).allSatisfy { slots[$0] == 0 })
  }
}
