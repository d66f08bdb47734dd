// SoundnessMemo: the vtables of rows that were found sound, for scans of many rows.
//
// Rows of one type have few different vtables. What the check of a row learns from its vtable
// alone, where the strings, tables and vectors are and how far the fields reach, holds for every
// row with the same vtable. Of the next such row only the size and what the root table refers to
// are checked. It accepts what `LayoutPlan.isSound` accepts, and nothing else.
//
// A vtable is remembered if it fits into four words, and if the table has at most eight strings,
// and eight other parts that refer to something. All other rows are checked as a whole.

import FlatBuffersRuntime

struct SoundnessMemo: ~Copyable {
  private struct Words {
    var (first, second, third, fourth): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// The words of which only the first bytes are set.
    init(bytes: Int) {
      func word(_ index: Int) -> UInt64 {
        let bytes = min(8, max(0, bytes - 8 * index))
        return bytes == 8 ? .max : (1 << UInt64(8 * bytes)) - 1
      }
      (first, second, third, fourth) = (word(0), word(1), word(2), word(3))
    }

    @inline(__always)
    func masked(by mask: Words) -> Words {
      var words = self
      words.first &= mask.first
      words.second &= mask.second
      words.third &= mask.third
      words.fourth &= mask.fourth
      return words
    }

    @inline(__always)
    func equals(_ other: Words) -> Bool {
      (first ^ other.first) | (second ^ other.second) | (third ^ other.third)
        | (fourth ^ other.fourth) == 0
    }
  }

  private struct Entry {
    /// A vtable; the bytes behind its end are 0.
    var words = Words(bytes: 0)
    /// The bits of the words that belong to the vtable.
    var mask = Words(bytes: 0)
    /// The distances of the strings from the start of the table, in 16 bits each.
    var strings: (UInt64, UInt64) = (0, 0)
    /// The other parts that refer to something, as their indices in the table and 1, in 8 bits
    /// each. At most eight.
    var others: UInt64 = 0
    /// How far the fields reach from the start of the table. No row has room for an empty entry.
    var reach = Int.max
  }

  private static let width = MemoryLayout<Words>.size
  private static let entryBits: UInt64 = 3

  private let plan: LayoutPlan
  private let state: UnsafeMutablePointer<State>

  private struct State {
    /// The entries, placed by the first word; nil for the first rows of a scan.
    var entries: UnsafeMutablePointer<Entry>?
    var seen = 0
  }

  init(_ plan: LayoutPlan) {
    self.plan = plan
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    state.pointee.entries?.deallocate()
    state.deallocate()
  }

  /// Whether a row is sound. False means that `verify` must decide.
  @inline(__always)
  func isSound(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let entries = state.pointee.entries, let start = bytes.baseAddress, bytes.count >= 8,
      bytes.count <= Int(Int32.max)
    else { return isSoundAtFirst(bytes) }
    let walk = LayoutPlan.Walk(start: start, end: bytes.count)
    let position = walk.load(0, as: UInt32.self)
    guard position > 0, position <= walk.end &- 4 else { return false }
    let vtable = position &- walk.load(position, as: Int32.self)
    guard vtable >= 0, vtable <= walk.end &- Self.width else { return plan.isSound(bytes) }
    let words = (start + vtable).loadUnaligned(as: Words.self)
    let entry = entries + Self.place(words.first)
    guard words.masked(by: entry.pointee.mask).equals(entry.pointee.words),
      entry.pointee.reach <= walk.end &- position
    else { return remember(words, vtable, walk, bytes, entry) }
    return areStrings(entry.pointee.strings.0, position, walk)
      && areStrings(entry.pointee.strings.1, position, walk)
      && (entry.pointee.others == 0
        || areOthers(entry.pointee.others, position, vtable, walk))
  }

  @inline(__always)
  private func areStrings(_ distances: UInt64, _ table: Int, _ walk: LayoutPlan.Walk) -> Bool {
    var rest = distances
    while rest != 0 {
      if !walk.isString(at: table &+ Int(rest & 0xFFFF)) { return false }
      rest >>= 16
    }
    return true
  }

  private func areOthers(
    _ parts: UInt64, _ table: Int, _ vtable: Int, _ walk: LayoutPlan.Walk
  ) -> Bool {
    var walk = walk
    walk.tables &-= 1
    let first = plan.parts.baseAddress.unsafelyUnwrapped + Int(plan.tables[0].start)
    var rest = parts
    while rest != 0 {
      let part = first + Int(rest & 0xFF) - 1
      let distance = walk.load(vtable &+ Int(part.pointee.offset), as: UInt16.self)
      if !plan.isSound(part, at: distance, of: table, vtable, &walk, depth: 0) { return false }
      rest >>= 8
    }
    return true
  }

  @inline(__always)
  private static func place(_ word: UInt64) -> Int {
    Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> (64 - entryBits))
  }

  /// Queries for single rows need no entries.
  @inline(never)
  private func isSoundAtFirst(_ bytes: UnsafeRawBufferPointer) -> Bool {
    state.pointee.seen += 1
    if state.pointee.seen == 4 {
      let count = 1 << Int(Self.entryBits)
      let entries = UnsafeMutablePointer<Entry>.allocate(capacity: count)
      entries.initialize(repeating: Entry(), count: count)
      state.pointee.entries = entries
    }
    return plan.isSound(bytes)
  }

  /// Checks a whole row, and remembers its vtable if it is sound.
  @inline(never)
  private func remember(
    _ words: Words, _ vtable: Int, _ walk: LayoutPlan.Walk, _ bytes: UnsafeRawBufferPointer,
    _ entry: UnsafeMutablePointer<Entry>
  ) -> Bool {
    guard plan.isSound(bytes) else { return false }
    let size = walk.load(vtable, as: UInt16.self)
    // A vtable may state a size of 0; it would not be told from others.
    guard size >= 4, size <= Self.width else { return true }
    var made = Entry()
    made.reach = 4
    var count = 0
    let table = plan.tables[0]
    for index in Int(table.start)..<Int(table.end) {
      let part = plan.parts[index]
      let field = Int(part.offset)
      if field >= size { continue }
      let distance = walk.load(vtable &+ field, as: UInt16.self)
      if distance == 0 { continue }
      made.reach = max(made.reach, distance + Int(part.size))
      if part.operation == .scalar { continue }
      if part.operation != .string {
        guard made.others >> 56 == 0 else { return true }
        made.others = made.others << 8 | UInt64(index - Int(table.start) + 1)
        continue
      }
      guard count < 8 else { return true }
      let shifted = UInt64(distance) << UInt64(16 * (count % 4))
      if count < 4 { made.strings.0 |= shifted } else { made.strings.1 |= shifted }
      count += 1
    }
    made.mask = Words(bytes: size)
    made.words = words.masked(by: made.mask)
    entry.pointee = made
    return true
  }
}
