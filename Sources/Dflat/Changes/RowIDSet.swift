// RowIDSet: the rows that a transaction has changed.
//
// Programs mostly go through objects in order, so changed row ids are often neighbours. They are
// kept as bits of words, and the word used last is cached. Invariants: no word is empty, and the
// cached word has at least the bits of its entry in the dictionary.

struct RowIDSet {
  /// The words that are not cached, by the upper bits of the ids.
  private var words: [Int64: UInt64] = [:]
  /// The index of the cached word; initially a value that no id has.
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

  /// Traps, in debug builds, if the invariants at the head of this file are violated.
  func _checkInvariants() {
    #if DEBUG
      precondition((word == 0) == (index == .min), "the cached word is empty, or has no index")
      precondition(words[.min] == nil && words[index].map { $0 & ~word == 0 } ?? true)
    #endif
  }
}
