// GroupTable: finds the group of a row by the values of its keys.
//
// Keys are bytes: for each value its kind, then the number's eight bytes, or the text's length and
// bytes. An open hash table has the indexes of the groups; the keys are in one array. Invariants:
//
//  - A slot is empty or has the index of a group plus one.
//  - At most half of the slots are taken.
//
// A key that is one integer is found by a table of its own, without its bytes; they are written
// when its group appears.

import FlatBuffersRuntime

struct GroupTable {
  private var slots = [UInt32](repeating: 0, count: 64)
  private var hashes: [UInt64] = []
  private var keys: [UInt8] = []
  private var ends: [Int] = []
  private var scratch: [UInt8] = []
  private let hash = TextHash()
  /// For keys of one integer: the slots, and the numbers of the groups in them.
  private var numberSlots = [UInt32](repeating: 0, count: 64)
  private var numbers: [(number: Int64, group: UInt32)] = []

  /// The number of groups.
  var count: Int { ends.count }

  /// The index of the group with some keys, from 0 up in the order of their first appearance.
  @inline(__always)
  mutating func group(_ values: Slice<UnsafeBufferPointer<ColumnValue>>) -> Int {
    if values.count == 1, case .integer(let number) = values[values.startIndex] {
      let slot = numberSlots[place(of: number)]
      if slot != 0 { return Int(numbers[Int(slot) - 1].group) }
      return addNumber(number, values)
    }
    return groupByBytes(values)
  }

  /// The slot with a number, or the empty one in which it belongs.
  @inline(__always)
  private func place(of number: Int64) -> Int {
    let mask = numberSlots.count &- 1
    // The multiplication moves what distinguishes numbers to the upper bits.
    let product = UInt64(bitPattern: number) &* 0x9E37_79B9_7F4A_7C15
    var place = Int(truncatingIfNeeded: product >> 32) & mask
    while numberSlots[place] != 0, numbers[Int(numberSlots[place]) - 1].number != number {
      place = (place &+ 1) & mask
    }
    return place
  }

  @inline(never)
  private mutating func addNumber(
    _ number: Int64, _ values: Slice<UnsafeBufferPointer<ColumnValue>>
  ) -> Int {
    let group = groupByBytes(values)
    numbers.append((number, UInt32(group)))
    numberSlots[place(of: number)] = UInt32(numbers.count)
    if numbers.count * 2 > numberSlots.count {
      numberSlots = [UInt32](repeating: 0, count: numberSlots.count * 2)
      for (index, entry) in numbers.enumerated() {
        numberSlots[place(of: entry.number)] = UInt32(index + 1)
      }
    }
    return group
  }

  private mutating func groupByBytes(_ values: Slice<UnsafeBufferPointer<ColumnValue>>) -> Int {
    scratch.removeAll(keepingCapacity: true)
    for value in values { append(value) }
    return groupOfScratch()
  }

  /// The index of the group that has the keys of a group of another table.
  mutating func group(like group: Int, of other: GroupTable) -> Int {
    scratch.removeAll(keepingCapacity: true)
    scratch += other.keyBytes(of: group)
    return groupOfScratch()
  }

  /// The index of the group with the keys in `scratch`.
  private mutating func groupOfScratch() -> Int {
    let hash = scratch.withUnsafeBytes { self.hash($0) }
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] != 0 {
      let group = Int(slots[slot]) - 1
      if hashes[group] == hash, isKey(of: group) { return group }
      slot = (slot + 1) & (slots.count - 1)
    }
    keys += scratch
    ends.append(keys.count)
    hashes.append(hash)
    slots[slot] = UInt32(ends.count)
    if ends.count * 2 > slots.count { grow() }
    return ends.count - 1
  }

  private mutating func append(_ value: ColumnValue) {
    switch value {
    case .null: scratch.append(0)
    case .integer(let number): append(1, UInt64(bitPattern: number))
    // −0 equals 0.
    case .real(let number): append(2, (number + 0).bitPattern)
    case .text(let bytes):
      append(3, UInt64(bytes.count))
      scratch += bytes
    }
  }

  private mutating func append(_ kind: UInt8, _ bits: UInt64) {
    scratch.append(kind)
    // Faster than to append a buffer of eight.
    var rest = bits.littleEndian
    for _ in 0..<8 {
      scratch.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  private func isKey(of group: Int) -> Bool {
    let start = group == 0 ? 0 : ends[group - 1]
    return keys.withUnsafeBytes { keys in
      scratch.withUnsafeBytes {
        equalBytes($0, UnsafeRawBufferPointer(rebasing: keys[start..<ends[group]]))
      }
    }
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 2)
    for (group, hash) in hashes.enumerated() {
      var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = UInt32(group + 1)
    }
  }

  /// The keys of a group as bytes, which are those of equal keys in other tables.
  func keyBytes(of group: Int) -> ArraySlice<UInt8> {
    keys[(group == 0 ? 0 : ends[group - 1])..<ends[group]]
  }

  /// The values of a group; nil if one is unknown.
  /// - Parameter types: The types of the values.
  func key(of group: Int, _ types: [ValueType]) -> KeyValues? {
    let values = keys(of: group, types)
    return KeyValues(count: types.count) { values[$0] }
  }

  /// The keys of a group; nil for unknown ones.
  /// - Parameter types: The types of the keys.
  func keys(of group: Int, _ types: [ValueType]) -> [Value?] {
    var place = group == 0 ? 0 : ends[group - 1]
    return keys.withUnsafeBytes { keys in
      func number() -> UInt64 {
        defer { place += 8 }
        return keys.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      }
      return types.map { type in
        let kind = keys[place]
        place += 1
        switch kind {
        case 0: return nil
        case 1: return ColumnValue.integer(Int64(bitPattern: number())).constant(type)
        case 2: return .real(Double(bitPattern: number()))
        default:
          let count = Int(number())
          defer { place += count }
          return .string(String(decoding: keys[place..<place + count], as: UTF8.self))
        }
      }
    }
  }
}
