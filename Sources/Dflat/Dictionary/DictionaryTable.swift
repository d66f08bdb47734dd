// DictionaryTable: the entries of a dictionary's memory, found by their keys.
//
// Entries lie one behind another, in the order in which their keys came; beside them is a table of places with open addressing, at
// most three quarters full. A place has a tag, which is a byte of its key's hash, and the number of an entry. The tags lie together, so
// that a key that is not there is seen to be missing without touching more than them: where a program reads one value after another
// from the disk, that is the way of each, and everything else has left the processor's cache since the last. It keeps true:
//
//  - each entry has one place, at or behind its own, with none that is empty in between;
//  - no two entries have one key.
//
// Single entries are never removed. What is removed is everything, or everything before a change: then the table is made anew.

/// A key. Keys are equal if their bytes are, as in the storage. Its hash is made once.
struct DictionaryKey: Hashable, Sendable {
  let text: String
  /// Made by the store that the key is for: keys of other stores have others.
  fileprivate let hash: UInt64

  /// What a place says of it: of its hash, what does not say where it belongs.
  fileprivate var tag: UInt8 {
    @inline(__always) get { UInt8(truncatingIfNeeded: hash) | 0x80 }
  }

  @inline(__always)
  init(_ text: String, _ hash: TextHash) {
    self.init(text, text.withBytes { hash($0) })
  }

  /// With a hash that was made already, or, in tests, was chosen.
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
    /// The number of the change that made it; 0 if it was read, and -1 if the key is not known at all.
    var change: Int64 = -1
    /// The row that is committed; -1 if it is not known.
    var row: Int64 = -1
    /// Where in `pending` it waits, if `batch` is the present one.
    var place = 0
    var batch = -1
  }

  private var entries: ContiguousArray<Entry> = []
  /// Of each place the tag of its key; 0 if it is empty. Their count is a power of two.
  private var tags: [UInt8] = []
  /// Of each place that is not empty the number of its entry.
  private var numbers: [UInt32] = []
  /// How often keys came or went. As long as it is the same, a key that was not there is not there.
  private(set) var revision = 0

  /// The numbers of all entries.
  var indices: Range<Int> { entries.indices }

  subscript(index: Int) -> Entry {
    @inline(__always) _read { yield entries[index] }
    @inline(__always) _modify { yield &entries[index] }
  }

  /// The number of the entry with a key.
  @inline(__always)
  func find(_ key: DictionaryKey) -> Int? {
    if entries.isEmpty { return nil }
    return tags.withUnsafeBufferPointer { tags in
      var place = Self.home(key, tags.count)
      while tags[place] != 0 {
        if tags[place] == key.tag {
          let index = Int(truncatingIfNeeded: numbers[place])
          if entries[index].key == key { return index }
        }
        place = (place &+ 1) & (tags.count &- 1)
      }
      return nil
    }
  }

  /// The number of the entry with a key, which is made if there is none.
  mutating func findOrMake(_ key: DictionaryKey) -> Int {
    find(key) ?? make(Entry(key: key))
  }

  /// Takes in the entry of a key that had none.
  /// - Returns: Its number.
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
  /// - Returns: Those, to be let go of where no lock is held.
  mutating func remove(where isOld: (Entry) -> Bool) -> ContiguousArray<Entry> {
    let all = entries
    entries.removeAll(where: isOld)
    revision &+= 1
    rebuild(tags.count)
    _checkInvariants()
    return all
  }

  // MARK: Places

  /// Where a key belongs: of a table with 2^n places, the upper n bits.
  @inline(__always)
  private static func home(_ key: DictionaryKey, _ count: Int) -> Int {
    Int(truncatingIfNeeded: key.hash &>> UInt64(truncatingIfNeeded: count.leadingZeroBitCount &+ 1))
  }

  /// Gives an entry its place.
  private mutating func settle(_ index: Int, _ key: DictionaryKey) {
    var place = Self.home(key, tags.count)
    while tags[place] != 0 { place = (place &+ 1) & (tags.count &- 1) }
    tags[place] = key.tag
    numbers[place] = UInt32(truncatingIfNeeded: index)
  }

  private mutating func rebuild(_ count: Int) {
    tags = [UInt8](repeating: 0, count: count)
    numbers = [UInt32](repeating: 0, count: count)
    for index in entries.indices { settle(index, entries[index].key) }
  }

  /// Traps, in debug builds, if what the head of this file promises is not so. Of large tables, the middle is enough.
  func _checkInvariants() {
    #if DEBUG
      let middle = entries.count / 2
      for index in max(0, middle - 16)..<min(entries.count, middle + 16) {
        precondition(find(entries[index].key) == index, "an entry is not in its place")
      }
      precondition(entries.count * 4 <= tags.count * 3, "the table of places is too full")
    #endif
  }
}

extension String {
  /// Calls `body` with the bytes, in place if that is possible.
  @inline(__always)
  fileprivate func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    let result = utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
    if let result { return result }
    // One that another language has made.
    var copy = self
    return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }
}
