// KeyList: many primary keys of one type, as values.
//
// Keys of one integer are kept as plain numbers. A key as `KeyValues` has a list for the fields of
// a compound key, whose reference is counted wherever the key goes; for look-ups by thousands that
// is a part of their time.

/// Primary keys as values, in the order of the caller's keys.
@usableFromInline package enum KeyList: Sendable {
  /// Keys of one integer field.
  case integers([Int64])
  /// Other keys; nil for those that no object can have.
  case values([KeyValues?])
}

extension KeyList: RandomAccessCollection {
  /// 0.
  @inlinable
  package var startIndex: Int { 0 }

  /// The number of keys.
  @inlinable
  package var endIndex: Int {
    switch self {
    case .integers(let numbers): numbers.count
    case .values(let keys): keys.count
    }
  }

  /// The key at a place; nil if no object can have it.
  @inlinable
  package subscript(place: Int) -> KeyValues? {
    switch self {
    case .integers(let numbers): KeyValues(first: .integer(numbers[place]), rest: [])
    case .values(let keys): keys[place]
    }
  }
}

extension EntitySchema {
  /// Keys as values.
  @inlinable
  func values<Key: PrimaryKey>(of keys: [Key]) -> KeyList {
    let fields = primaryKey[...]
    var numbers: [Int64] = []
    numbers.reserveCapacity(keys.count)
    for key in keys {
      guard let value = key._keyValues(in: fields), case .integer(let number) = value.first,
        value.rest.isEmpty
      else { return .values(keys.map { $0._keyValues(in: fields) }) }
      numbers.append(number)
    }
    return .integers(numbers)
  }
}

extension KeyList {
  /// Those of some places whose key is at no place before; all that no object can have.
  @usableFromInline
  func firstPlaces(among places: [Int]) -> [Int] {
    switch self {
    case .integers(let numbers):
      var seen = Set<Int64>(minimumCapacity: places.count)
      return places.filter { seen.insert(numbers[$0]).inserted }
    case .values(let keys):
      var seen: Set<KeyValues> = []
      return places.filter { place in keys[place].map { seen.insert($0).inserted } ?? true }
    }
  }
}
