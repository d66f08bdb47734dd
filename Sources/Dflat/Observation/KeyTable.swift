// KeyTable: a few objects under each of many 64-bit keys.
//
// Each changed row is looked up here, and most rows have no observer: that look-up must cost no
// more than one access to a small array. So entries are stored contiguously, and beside them is a
// hash table of their indices with open addressing, at most half full. A missing key is detected by
// reading four bytes.
//
// Keys are multiplied by a random odd number, and the upper bits of the product are the slot: keys
// can be chosen to collide only if the number is known. Invariants:
//
//  - each entry has one slot, at or behind its home slot, with no empty slot in between;
//  - no entry is without objects.

struct KeyTable<Element: AnyObject>: ~Copyable {
  private struct Entry {
    let key: UInt64
    var elements: SmallSet<Element>
  }

  private static var empty: UInt32 { .max }

  private var entries: [Entry] = []
  /// Indices of entries, hashed by their keys. The capacity is a power of two.
  private var slots: [UInt32] = []
  private let multiplier = UInt64.random(in: .min ... .max) | 1

  var isEmpty: Bool { entries.isEmpty }

  /// The objects under a key.
  @inline(__always)
  subscript(key: UInt64) -> SmallSet<Element> {
    let entry = find(key)
    return entry == Self.empty ? .none : entries[Int(entry)].elements
  }

  mutating func insert(_ key: UInt64, _ element: Element) {
    let known = find(key)
    if known != Self.empty { return entries[Int(known)].elements.insert(element) }
    entries.append(Entry(key: key, elements: .one(element)))
    if entries.count * 2 > slots.count {
      rebuild(max(8, slots.count * 2))
    } else {
      settle(entries.count - 1)
    }
    _checkInvariants()
  }

  mutating func remove(_ key: UInt64, _ element: Element) {
    let known = Int(find(key))
    if known == Self.empty { return }
    entries[known].elements.remove(element)
    if !entries[known].elements.isEmpty { return }
    vacate(slot(of: known))
    // The last entry moves into the gap.
    let last = entries.count - 1
    if known != last {
      slots[slot(of: last)] = UInt32(known)
      entries[known] = entries[last]
    }
    entries.removeLast()
    if slots.count > 64, entries.count * 8 < slots.count { rebuild(slots.count / 2) }
    _checkInvariants()
  }

  func forEach(_ body: (Element) -> Void) {
    for entry in entries { entry.elements.forEach(body) }
  }

  // MARK: Slots

  /// The home slot of a key.
  @inline(__always)
  private func home(_ key: UInt64) -> Int {
    // The upper n bits, in a table with 2^n slots.
    Int(truncatingIfNeeded: (key &* multiplier) >> UInt64(slots.count.leadingZeroBitCount + 1))
  }

  /// The index of the entry with a key.
  @inline(__always)
  private func find(_ key: UInt64) -> UInt32 {
    if entries.isEmpty { return Self.empty }
    return slots.withUnsafeBufferPointer { slots in
      entries.withUnsafeBufferPointer { entries in
        var slot = home(key)
        while true {
          let entry = slots[slot]
          if entry == Self.empty || entries[Int(entry)].key == key { return entry }
          slot = (slot + 1) & (slots.count - 1)
        }
      }
    }
  }

  /// The slot of an entry.
  private func slot(of entry: Int) -> Int {
    var slot = home(entries[entry].key)
    while slots[slot] != UInt32(entry) { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  /// Assigns a slot to an entry.
  private mutating func settle(_ entry: Int) {
    var slot = home(entries[entry].key)
    while slots[slot] != Self.empty { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = UInt32(entry)
  }

  /// Empties a slot, and moves up the entries that could not be found behind it.
  private mutating func vacate(_ slot: Int) {
    let mask = slots.count - 1
    var hole = slot
    var next = (hole + 1) & mask
    while slots[next] != Self.empty {
      let home = home(entries[Int(slots[next])].key)
      if (next - home) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = Self.empty
  }

  private mutating func rebuild(_ count: Int) {
    slots = [UInt32](repeating: Self.empty, count: count)
    for entry in entries.indices { settle(entry) }
  }

  /// Traps, in debug builds, if an invariant in the header of this file is violated. Of large
  /// tables, it checks the middle only.
  func _checkInvariants() {
    #if DEBUG
      let middle = entries.count / 2
      for entry in max(0, middle - 16)..<min(entries.count, middle + 16) {
        precondition(find(entries[entry].key) == UInt32(entry), "an entry is not in its slot")
        precondition(!entries[entry].elements.isEmpty, "an entry is without objects")
      }
    #endif
  }
}

/// A few objects; mostly one.
enum SmallSet<Element: AnyObject> {
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
