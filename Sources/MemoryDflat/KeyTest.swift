// Conditions on the values of a key or index: a range of its map, and a test of each key in it.

import Dflat

/// A condition on the fields of a sorted map.
struct KeyTest {
  private typealias Code = UnsafeRawBufferPointer
  /// The keys that can pass begin with `least`, with `greatest`, or with codes between them.
  private typealias Bounds = (least: [UInt8], greatest: [UInt8])

  /// Ranges that contain all keys that can pass, in ascending order and without a common key.
  let ranges: [KeyRange]
  private let types: [ValueType]
  private let test: (Code) -> Bool

  /// - Parameters:
  ///   - predicate: A predicate on some of the fields; nil passes every key.
  ///   - fields: The fields of the map, in its order.
  init(_ predicate: IndexPredicate?, _ fields: [FieldDescriptor]) {
    types = fields.map(\.type)
    let predicate = predicate ?? .and([])
    test = Self.test(predicate, fields)
    if let points = fields.first.flatMap({ Self.points(predicate, $0) }), points.count != 1 {
      ranges = CodeSet(points).codes.map { KeyRange(from: $0, through: $0) }
      return
    }
    var least: [UInt8] = []
    var greatest: [UInt8] = []
    for field in fields {
      let bounds = Self.bounds(predicate, field)
      least += bounds.least
      greatest += bounds.greatest
      // Only behind a single value has the next field a range.
      if bounds.least != bounds.greatest { break }
    }
    ranges = [KeyRange(from: least, through: greatest)]
  }

  func passes(_ key: SortKey) -> Bool { key.withBytes(test) }

  /// The codes of the first values of a key.
  func values(of key: SortKey, _ count: Int) -> [UInt8] {
    key.withBytes { key in Array(key[..<types.prefix(count).end(in: key)]) }
  }

  /// Null satisfies `isNull` only.
  private static func test(
    _ predicate: IndexPredicate, _ fields: [FieldDescriptor]
  ) -> (Code) -> Bool {
    func value(_ field: FieldDescriptor) -> (Code) -> Code {
      guard let place = fields.firstIndex(of: field) else {
        preconditionFailure("a plan is about a field that its index does not have")
      }
      let before = fields.prefix(place).map(\.type)[...]
      return { key in
        let start = before.end(in: key)
        return Code(rebasing: key[start..<field.type.end(ofCodeAt: start, in: key)])
      }
    }
    switch predicate {
    case .never: return { _ in false }
    case .isNull(let field):
      let value = value(field)
      return { value($0).isNull }
    case .compare(let field, let comparison, let constant):
      let (value, code) = (value(field), code(constant))
      return { key in
        let value = value(key)
        let order = code.withUnsafeBytes { compareBytes(value, $0) }
        return comparison.holds(order, 0) && !value.isNull
      }
    case .bits(let field, let test, let mask):
      let (value, mask) = (value(field), code(mask).withUnsafeBytes(\.integer))
      return { key in
        let (value, common) = (value(key), value(key).integer & mask)
        return !value.isNull && (test == .contains ? common == mask : common != 0)
      }
    case .oneOf(let field, let constants):
      let (value, codes) = (value(field), CodeSet(constants.map(code)))
      return { codes.contains(value($0)) }
    case .and(let parts):
      let tests = parts.map { test($0, fields) }
      return { key in tests.allSatisfy { $0(key) } }
    case .or(let parts):
      let tests = combiningEqualities(parts).map { test($0, fields) }
      return { key in tests.contains { $0(key) } }
    case .search: preconditionFailure("this engine has no full-text index")
    case .contains: preconditionFailure("this engine has no indexes of elements")
    }
  }

  /// The bounds of the values of a field that can pass.
  private static func bounds(_ predicate: IndexPredicate, _ field: FieldDescriptor) -> Bounds {
    let all: Bounds = ([], end)
    switch predicate {
    case .compare(field, .equal, let constant): return (code(constant), code(constant))
    case .compare(field, .less, let constant), .compare(field, .lessOrEqual, let constant):
      return ([], code(constant))
    case .compare(field, .greater, let constant), .compare(field, .greaterOrEqual, let constant):
      return (code(constant), end)
    case .oneOf(field, let constants):
      let codes = CodeSet(constants.map(code)).codes
      return codes.isEmpty ? (end, []) : (codes[0], codes[codes.count - 1])
    case .isNull(field):
      let code = KeyWriter.with({ $0.append(.null, field.type) }, \.codes)
      return (code, code)
    case .and(let parts):
      return parts.map { bounds($0, field) }.reduce(all) {
        (sorted($0.least, $1.least)[1], sorted($0.greatest, $1.greatest)[0])
      }
    case .or(let parts):
      return parts.map { bounds($0, field) }.reduce((end, [])) {
        (sorted($0.least, $1.least)[0], sorted($0.greatest, $1.greatest)[1])
      }
    default: return all
    }
  }

  /// Greater than the code of any constant. Those of the greatest reals begin with 0xFF.
  private static let end = [UInt8](repeating: 0xFF, count: 9)

  /// The codes of the values of a field that can pass; nil if they are not listed.
  private static func points(
    _ predicate: IndexPredicate, _ field: FieldDescriptor
  ) -> [[UInt8]]? {
    switch predicate {
    case .never: return []
    case .compare(field, .equal, let constant): return [code(constant)]
    case .oneOf(field, let constants): return constants.map(code)
    case .and(let parts):
      return parts.compactMap { points($0, field) }.min { $0.count < $1.count }
    case .or(let parts):
      var all: [[UInt8]] = []
      for part in parts {
        guard let points = points(part, field) else { return nil }
        all += points
      }
      return all
    default: return nil
    }
  }

  /// The parts of a disjunction, with all equalities on one field in one part: it is found among
  /// many by a search.
  private static func combiningEqualities(_ parts: [IndexPredicate]) -> [IndexPredicate] {
    // A map has few fields.
    var equalities: [(field: FieldDescriptor, values: [Value])] = []
    var others: [IndexPredicate] = []
    func add(_ field: FieldDescriptor, _ values: [Value]) {
      if let place = equalities.firstIndex(where: { $0.field == field }) {
        equalities[place].values += values
      } else {
        equalities.append((field, values))
      }
    }
    for part in parts {
      switch part {
      case .compare(let field, .equal, let constant): add(field, [constant])
      case .oneOf(let field, let constants): add(field, constants)
      default: others.append(part)
      }
    }
    return equalities.map { .oneOf($0.field, $0.values) } + others
  }

  private static func code(_ constant: Value) -> [UInt8] {
    KeyWriter.with({ $0.append(constant) }, \.codes)
  }

  private static func sorted(_ left: [UInt8], _ right: [UInt8]) -> [[UInt8]] {
    [left, right].sorted { $0.lexicographicallyPrecedes($1) }
  }
}

/// A set of codes, sorted.
private struct CodeSet {
  let codes: [[UInt8]]

  init(_ codes: [[UInt8]]) {
    var unique: [[UInt8]] = []
    for code in codes.sorted(by: { $0.lexicographicallyPrecedes($1) }) where code != unique.last {
      unique.append(code)
    }
    self.codes = unique
  }

  func contains(_ code: UnsafeRawBufferPointer) -> Bool {
    var low = 0
    var high = codes.count
    while low < high {
      let middle = (low + high) / 2
      let order = codes[middle].withUnsafeBytes { compareBytes($0, code) }
      if order == 0 { return true }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }
}

extension ArraySlice<ValueType> {
  /// The end of the codes of values of these types in a key.
  fileprivate func end(in key: UnsafeRawBufferPointer) -> Int {
    reduce(0) { $1.end(ofCodeAt: $0, in: key) }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether this is the code of null.
  fileprivate var isNull: Bool { allSatisfy { $0 == 0 } }

  /// The integer that this is the code of, as its bits.
  fileprivate var integer: Int64 {
    dropFirst().reduce(self[0] < 0x10 ? -1 : 0) { $0 << 8 | Int64($1) }
  }
}
