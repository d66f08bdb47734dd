// KeyTable: a few objects under each of many 64-bit keys.
//
// Each changed row is looked up here, and most rows have no observer: that look-up must cost no more than one access to a small array. So entries are stored contiguously, and beside them is a hash table of their indices with open addressing, at most half full. A missing key is detected by reading four bytes.
//
// Keys are multiplied by a random odd number, and the upper bits of the product are the slot: keys could be chosen to collide only by someone who knows the number. Invariants:
//
//  - each entry has one slot, at or behind its home slot, with no empty slot in between;
//  - no entry is without objects.

struct KeyTable<Element: AnyObject>: ~Copyable {
  private struct Entry {
    let key: UInt64
    var few: Few<Element>
  }

  private static var nobody: UInt32 { .max }

  private var entries: [Entry] = []
  /// Indices of entries, hashed by their keys. The capacity is a power of two.
  private var places: [UInt32] = []
  private let multiplier = UInt64.random(in: .min ... .max) | 1

  var isEmpty: Bool { entries.isEmpty }

  /// The objects under a key.
  @inline(__always)
  subscript(key: UInt64) -> Few<Element> {
    let entry = find(key)
    return entry == Self.nobody ? .none : entries[Int(entry)].few
  }

  mutating func insert(_ key: UInt64, _ element: Element) {
    let known = find(key)
    if known != Self.nobody { return entries[Int(known)].few.insert(element) }
    entries.append(Entry(key: key, few: .one(element)))
    if entries.count * 2 > places.count {
      rebuild(max(8, places.count * 2))
    } else {
      settle(entries.count - 1)
    }
    _checkInvariants()
  }

  mutating func remove(_ key: UInt64, _ element: Element) {
    let known = Int(find(key))
    if known == Self.nobody { return }
    entries[known].few.remove(element)
    if !entries[known].few.isEmpty { return }
    vacate(place(of: known))
    // The last entry moves into the gap.
    let last = entries.count - 1
    if known != last {
      places[place(of: last)] = UInt32(known)
      entries[known] = entries[last]
    }
    entries.removeLast()
    if places.count > 64, entries.count * 8 < places.count { rebuild(places.count / 2) }
    _checkInvariants()
  }

  func forEach(_ body: (Element) -> Void) {
    for entry in entries { entry.few.forEach(body) }
  }

  // MARK: Slots

  /// The home slot of a key.
  @inline(__always)
  private func home(_ key: UInt64) -> Int {
    // The upper n bits, in a table with 2^n slots.
    Int(truncatingIfNeeded: (key &* multiplier) >> UInt64(places.count.leadingZeroBitCount + 1))
  }

  /// The index of the entry with a key.
  @inline(__always)
  private func find(_ key: UInt64) -> UInt32 {
    if entries.isEmpty { return Self.nobody }
    return places.withUnsafeBufferPointer { places in
      entries.withUnsafeBufferPointer { entries in
        var place = home(key)
        while true {
          let entry = places[place]
          if entry == Self.nobody || entries[Int(entry)].key == key { return entry }
          place = (place + 1) & (places.count - 1)
        }
      }
    }
  }

  /// The slot of an entry.
  private func place(of entry: Int) -> Int {
    var place = home(entries[entry].key)
    while places[place] != UInt32(entry) { place = (place + 1) & (places.count - 1) }
    return place
  }

  /// Assigns a slot to an entry.
  private mutating func settle(_ entry: Int) {
    var place = home(entries[entry].key)
    while places[place] != Self.nobody { place = (place + 1) & (places.count - 1) }
    places[place] = UInt32(entry)
  }

  /// Empties a slot, and moves up the entries that could not be found behind it.
  private mutating func vacate(_ place: Int) {
    let mask = places.count - 1
    var hole = place
    var next = (hole + 1) & mask
    while places[next] != Self.nobody {
      let home = home(entries[Int(places[next])].key)
      if (next - home) & mask >= (next - hole) & mask {
        places[hole] = places[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    places[hole] = Self.nobody
  }

  private mutating func rebuild(_ count: Int) {
    places = [UInt32](repeating: Self.nobody, count: count)
    for entry in entries.indices { settle(entry) }
  }

  /// Traps, in debug builds, if an invariant in the header of this file is violated. Of large tables, it checks the middle only.
  func _checkInvariants() {
    #if DEBUG
      let middle = entries.count / 2
      for entry in max(0, middle - 16)..<min(entries.count, middle + 16) {
        precondition(find(entries[entry].key) == UInt32(entry), "an entry is not in its slot")
        precondition(!entries[entry].few.isEmpty, "an entry is without objects")
      }
    #endif
  }
}

/// A few objects; mostly one.
enum Few<Element: AnyObject> {
  case none
  case one(Element)
  case many([Element])

  var isEmpty: Bool {
    if case .none = self { true } else { false }
  }

  mutating func insert(_ element: Element) {
    switch self {
    case .none: self = .one(element)
    case .one(let other): self = .many([other, element])
    case .many(var elements):
      self = .none
      elements.append(element)
      self = .many(elements)
    }
  }

  mutating func remove(_ element: Element) {
    switch self {
    case .none: break
    case .one(let other): if other === element { self = .none }
    case .many(var elements):
      self = .none
      // The order of the elements has no meaning.
      if let index = elements.firstIndex(where: { $0 === element }) {
        elements.swapAt(index, elements.count - 1)
        elements.removeLast()
      }
      self = elements.isEmpty ? .none : .many(elements)
    }
  }

  @inline(__always)
  func forEach(_ body: (Element) -> Void) {
    switch self {
    case .none: break
    case .one(let element): body(element)
    case .many(let elements): for element in elements { body(element) }
    }
  }
}
