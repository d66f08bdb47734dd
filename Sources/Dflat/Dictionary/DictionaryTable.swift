// DictionaryTable: a hash table of the entries in a dictionary's memory.
//
// Entries are stored contiguously, in the order in which their keys were added; beside them is a
// table of slots with open addressing, at most three quarters full. A slot has a tag, which is a
// byte of its key's hash, and the index of an entry. The tags are contiguous, so a missing key is
// detected by reading tags only. That matters for a program that reads one value after another from
// the disk: each read begins with such a look-up, and everything else has left the processor's
// cache since the last one. Invariants:
//
//  - each entry has one slot, at or behind its home slot, with no empty slot in between;
//  - no two entries have the same key.
//
// Single entries are never removed. Only everything is removed, or everything before a change: then
// the table is rebuilt.

/// A key. Keys are equal if their bytes are, as in the storage. Its hash is computed once.
struct DictionaryKey: Hashable, Sendable {
  let text: String
  /// Computed by the store that the key is for: other stores use other hashes.
  fileprivate let hash: UInt64

  /// The tag in the key's slot: bits of the hash that do not determine the home slot.
  fileprivate var tag: UInt8 {
    @inline(__always) get { UInt8(truncatingIfNeeded: hash) | 0x80 }
  }

  @inline(__always)
  init(_ text: String, _ hash: TextHash) {
    self.init(text, text.withBytes { hash($0) })
  }

  /// A key with a hash that was computed already or, in tests, was chosen.
  @inline(__always)
  init(_ text: String, _ hash: UInt64) {
    self.text = text
    self.hash = hash
  }

  @inline(__always)
  static func == (left: DictionaryKey, right: DictionaryKey) -> Bool {
    left.hash == right.hash
      && left.text.withBytes { left in right.text.withBytes { equalBytes(left, $0) } }
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

struct DictionaryTable: Sendable {
  struct Entry {
    let key: DictionaryKey
    var contents = DictionaryContents.absent
    /// The number of the change that made it; 0 if it was read, and -1 if the key is unknown.
    var change: Int64 = -1
    /// The committed row; -1 if it is not known. One that cannot be read has no contents.
    var row: Int64 = -1
    /// Its index in `pending`, if `batch` is the current one.
    var place = 0
    var batch = -1
  }

  private var entries: ContiguousArray<Entry> = []
  /// For each slot the tag of its key; 0 if the slot is empty. The capacity is a power of two.
  private var tags: [UInt8] = []
  /// For each slot that is not empty, the index of its entry.
  private var numbers: [UInt32] = []
  /// Incremented when keys are added or removed. While it is unchanged, a key that was missing is
  /// still missing.
  private(set) var revision = 0

  /// The indices of all entries.
  var indices: Range<Int> { entries.indices }

  subscript(index: Int) -> Entry {
    @inline(__always) _read { yield entries[index] }
    @inline(__always) _modify { yield &entries[index] }
  }

  /// The index of the entry with a key.
  @inline(__always)
  func find(_ key: DictionaryKey) -> Int? {
    if entries.isEmpty { return nil }
    return tags.withUnsafeBufferPointer { tags in
      var slot = Self.home(key, tags.count)
      while tags[slot] != 0 {
        if tags[slot] == key.tag {
          let index = Int(truncatingIfNeeded: numbers[slot])
          if entries[index].key == key { return index }
        }
        slot = (slot &+ 1) & (tags.count &- 1)
      }
      return nil
    }
  }

  /// The index of the entry with a key. Adds an entry if there is none.
  mutating func findOrMake(_ key: DictionaryKey) -> Int {
    find(key) ?? make(Entry(key: key))
  }

  /// Adds an entry for a key that had none.
  /// - Returns: Its index.
  @discardableResult
  mutating func make(_ entry: consuming Entry) -> Int {
    let key = entry.key
    let index = entries.count
    precondition(index <= UInt32.max, "the dictionary has more than four billion keys")
    entries.append(entry)
    revision &+= 1
    if entries.count * 4 > tags.count * 3 {
      rebuild(max(8, tags.count * 2))
    } else {
      settle(index, key)
    }
    _checkInvariants()
    return index
  }

  /// Removes the entries for which `isOld` is true.
  /// - Returns: The removed entries, which the caller must release where no lock is held.
  mutating func remove(where isOld: (Entry) -> Bool) -> ContiguousArray<Entry> {
    let all = entries
    entries.removeAll(where: isOld)
    revision &+= 1
    rebuild(tags.count)
    _checkInvariants()
    return all
  }

  // MARK: Slots

  /// The home slot of a key: the upper n bits, in a table with 2^n slots.
  @inline(__always)
  private static func home(_ key: DictionaryKey, _ count: Int) -> Int {
    Int(truncatingIfNeeded: key.hash &>> UInt64(truncatingIfNeeded: count.leadingZeroBitCount &+ 1))
  }

  /// Assigns a slot to an entry.
  private mutating func settle(_ index: Int, _ key: DictionaryKey) {
    var slot = Self.home(key, tags.count)
    while tags[slot] != 0 { slot = (slot &+ 1) & (tags.count &- 1) }
    tags[slot] = key.tag
    numbers[slot] = UInt32(truncatingIfNeeded: index)
  }

  private mutating func rebuild(_ count: Int) {
    tags = [UInt8](repeating: 0, count: count)
    numbers = [UInt32](repeating: 0, count: count)
    for index in entries.indices { settle(index, entries[index].key) }
  }

  /// Traps, in debug builds, if an invariant in the header of this file is violated. Of large
  /// tables, it checks the middle only.
  func _checkInvariants() {
    #if DEBUG
      let middle = entries.count / 2
      for index in max(0, middle - 16)..<min(entries.count, middle + 16) {
        precondition(find(entries[index].key) == index, "an entry is not in its slot")
      }
      precondition(entries.count * 4 <= tags.count * 3, "the hash table is too full")
    #endif
  }
}
