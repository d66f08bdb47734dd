// KnownVTables: what the check of rows has learnt from vtables that it found sound.
//
// Tables of one type have few different vtables. What the check learns from a vtable alone, where
// the strings, tables and vectors are and how far the fields reach, holds for every table with the
// same vtable. Of the next such table only the room, and what it refers to, are checked. This
// accepts what the check of a table accepts that has an unknown vtable, and nothing else.
//
// A vtable is remembered if it fits into four words, and if its table has at most eight strings,
// and eight other parts that refer to something. Invariants:
//
//  - Entries are only added, at most `most` of them, so a search always finds an empty one.
//  - An entry is complete before its `reach` is stored, and does not change afterwards. So threads
//    search without a lock.

import Platform

final class KnownVTables: Sendable {
  /// The first 32 bytes of a vtable; those behind its end are 0.
  struct Words {
    var (first, second, third, fourth): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// The words of which only the first bytes are set.
    fileprivate init(bytes: Int) {
      func word(_ index: Int) -> UInt64 {
        let bytes = min(8, max(0, bytes - 8 * index))
        return bytes == 8 ? .max : (1 << UInt64(8 * bytes)) - 1
      }
      (first, second, third, fourth) = (word(0), word(1), word(2), word(3))
    }

    @inline(__always)
    fileprivate func masked(by mask: Words) -> Words {
      var words = self
      words.first &= mask.first
      words.second &= mask.second
      words.third &= mask.third
      words.fourth &= mask.fourth
      return words
    }

    @inline(__always)
    fileprivate func equals(_ other: Words) -> Bool {
      (first ^ other.first) | (second ^ other.second) | (third ^ other.third)
        | (fourth ^ other.fourth) == 0
    }
  }

  struct Entry: ~Copyable {
    fileprivate var words = Words(bytes: 0)
    /// The index of the table in its plan.
    fileprivate var table = 0
    /// The distances of the strings from the start of the table, in 16 bits each.
    var strings: (UInt64, UInt64) = (0, 0)
    /// The other parts that refer to something, as their indices in the table and 1, in 8 bits
    /// each. At most eight.
    var others: UInt64 = 0
    /// How far the fields reach from the start of the table; 0 in an empty entry.
    let reach = Atomic<Int>(0)
  }

  /// The length of the longest vtable that is remembered.
  static let width = MemoryLayout<Words>.size
  private static let entryBits: UInt64 = 6
  private static let capacity = 1 << Int(entryBits)

  // Only `add` writes to the entries, under the lock; `reach` orders that for threads that read.
  private nonisolated(unsafe) let entries: UnsafeMutablePointer<Entry>
  /// For each length of a vtable the words of which only its bytes are set.
  private let masks: ConstantBuffer<Words>
  private let count = Mutex(0)
  private let most: Int

  /// - Parameter remembers: False for a list that stays empty.
  init(remembers: Bool) {
    most = remembers ? Self.capacity * 3 / 4 : 0
    entries = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity { (entries + index).initialize(to: Entry()) }
    masks = ConstantBuffer((0...Self.width).map { Words(bytes: $0) })
  }

  deinit {
    entries.deinitialize(count: Self.capacity)
    entries.deallocate()
    masks.deallocate()
  }

  /// The entry of a table's vtable, if it is known and its fields fit.
  /// - Parameters:
  ///   - start: The vtable; at least `width` bytes can be read.
  ///   - room: The number of bytes from the start of the table to the end of the buffer.
  @inline(__always)
  func entry(
    at start: UnsafeRawPointer, _ table: Int, room: Int
  ) -> UnsafeMutablePointer<Entry>? {
    var words = start.loadUnaligned(as: Words.self)
    let size = Int(words.first & 0xFFFF)
    if size > Self.width { return nil }
    words = words.masked(by: masks[size])
    var place = Self.place(words, table)
    while true {
      let entry = entries + place
      let reach = entry.pointee.reach.load(ordering: .acquiring)
      if reach == 0 { return nil }
      if entry.pointee.table == table, entry.pointee.words.equals(words) {
        return reach <= room ? entry : nil
      }
      place = (place &+ 1) & (Self.capacity - 1)
    }
  }

  @inline(__always)
  private static func place(_ words: Words, _ table: Int) -> Int {
    let sum =
      words.first &+ 3 &* words.second &+ 5 &* words.third &+ 9 &* words.fourth
      &+ UInt64(truncatingIfNeeded: table)
    return Int(truncatingIfNeeded: (sum &* 0x9E37_79B9_7F4A_7C15) >> (64 - entryBits))
  }

  /// Remembers a vtable that was found sound, if there is room and no other thread has done so.
  /// - Parameters:
  ///   - size: The size that it states, at most `width`.
  ///   - reach: How far the fields reach from the start of the table; greater than 0.
  @inline(never)
  func add(
    at start: UnsafeRawPointer, size: Int, _ table: Int, strings: (UInt64, UInt64), others: UInt64,
    reach: Int
  ) {
    let words = start.loadUnaligned(as: Words.self).masked(by: masks[size])
    var place = Self.place(words, table)
    count.withLock { count in
      if count == most { return }
      while (entries + place).pointee.reach.load(ordering: .relaxed) != 0 {
        let entry = entries + place
        if entry.pointee.table == table, entry.pointee.words.equals(words) { return }
        place = (place + 1) & (Self.capacity - 1)
      }
      let entry = entries + place
      entry.pointee.words = words
      entry.pointee.table = table
      entry.pointee.strings = strings
      entry.pointee.others = others
      entry.pointee.reach.store(reach, ordering: .releasing)
      count += 1
    }
  }
}
