// Conditions on the values of a key or index: a range of its map, and a test of each key in it.

import Dflat

/// A condition on the fields of a sorted map.
struct KeyTest {
  private typealias Code = UnsafeRawBufferPointer
  /// The keys that can pass begin with `least`, with `greatest`, or with codes between them.
  private typealias Bounds = (least: [UInt8], greatest: [UInt8])

  /// A range that contains all keys that can pass.
  let range: KeyRange
  private let types: [ValueType]
  private let test: (Code) -> Bool

  /// - Parameters:
  ///   - predicate: A predicate on some of the fields; nil passes every key.
  ///   - fields: The fields of the map, in its order.
  init(_ predicate: IndexPredicate?, _ fields: [FieldDescriptor]) {
    types = fields.map(\.type)
    let predicate = predicate ?? .and([])
    test = Self.test(predicate, fields)
    var least: [UInt8] = []
    var greatest: [UInt8] = []
    for field in fields {
      let bounds = Self.bounds(predicate, field)
      least += bounds.least
      greatest += bounds.greatest
      // Only behind a single value has the next field a range.
      if bounds.least != bounds.greatest { break }
    }
    range = KeyRange(from: least, through: greatest)
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
    case .oneOf(let field, let constants): return test(anyOf(field, constants), fields)
    case .and(let parts):
      let tests = parts.map { test($0, fields) }
      return { key in tests.allSatisfy { $0(key) } }
    case .or(let parts):
      let tests = parts.map { test($0, fields) }
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
    case .oneOf(field, let constants): return bounds(anyOf(field, constants), field)
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

  private static func anyOf(_ field: FieldDescriptor, _ constants: [Value]) -> IndexPredicate {
    .or(constants.map { .compare(field, .equal, $0) })
  }

  private static func code(_ constant: Value) -> [UInt8] {
    KeyWriter.with({ $0.append(constant) }, \.codes)
  }

  private static func sorted(_ left: [UInt8], _ right: [UInt8]) -> [[UInt8]] {
    [left, right].sorted { $0.lexicographicallyPrecedes($1) }
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
