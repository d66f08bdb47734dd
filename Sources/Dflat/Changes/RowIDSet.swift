// RowIDSet: the rows that a transaction has changed.
//
// Programs go through objects in order, so neighbours come one after another: ids are kept as bits of words, and the word used
// last stays at hand. It keeps true that no word is empty, and that the word at hand has at least the bits of its place among the
// others.

struct RowIDSet {
  /// Words that are not at hand, by the id's upper bits.
  private var words: [Int64: UInt64] = [:]
  /// Its index: at first one that no id has.
  private var index = Int64.min
  private var word: UInt64 = 0

  mutating func insert(_ id: Int64) {
    if id >> 6 != index {
      if index != .min { words[index] = word }
      index = id >> 6
      word = words[index] ?? 0
    }
    word |= 1 << UInt64(id & 63)
    _checkInvariants()
  }

  func contains(_ id: Int64) -> Bool {
    let bits = id >> 6 == index ? word : words.isEmpty ? 0 : words[id >> 6] ?? 0
    return bits & (1 << UInt64(id & 63)) != 0
  }

  /// Traps, in debug builds, if what the head of this file promises is not so.
  func _checkInvariants() {
    #if DEBUG
      precondition((word == 0) == (index == .min), "a word at hand is empty, or is nobody's")
      precondition(words[.min] == nil && words[index].map { $0 & ~word == 0 } ?? true)
    #endif
  }
}
