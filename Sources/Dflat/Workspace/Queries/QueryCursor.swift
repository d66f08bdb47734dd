// QueryCursor: where a page of a query ends, to be kept and sent.
//
// A cursor has the values of the sort keys and the row id of the last object of a page, so the next
// page begins behind that object also if objects were inserted or deleted meanwhile, or if that
// object is gone. It names its query by a hash, so that it is not used for another one.

/// Where the next page of a query begins.
///
/// It may be stored or sent as JSON, as one text. It belongs to one query, with its condition and
/// its order, and to the objects of one storage.
public struct QueryCursor: Hashable, Sendable {
  private let query: UInt64
  private let values: [CursorValue]
  private let id: Int64
  /// How many objects the query's limit still allows.
  let remaining: Int?

  /// - Parameter query: The fingerprint of the query.
  init(_ position: RowPosition, of query: UInt64, remaining: Int?) {
    self.query = query
    values = position.values.map(CursorValue.init)
    id = position.id
    self.remaining = remaining
  }

  /// The position in the order of a query.
  /// - Parameter fingerprint: That of the query.
  /// - Throws: `QueryError` if the cursor belongs to another query.
  func position(in query: Query, _ fingerprint: UInt64) throws -> RowPosition {
    let values = values.map(\.value)
    guard self.query == fingerprint, values.count == query.order.count,
      zip(values, query.order).allSatisfy({ $1.accepts($0) })
    else {
      throw QueryError(
        .foreignCursor,
        "a cursor for \(query.schema.layout.swiftName) was made by a query with another condition or "
          + "order, or by another version of the schema",
        "begin again without a cursor")
    }
    return RowPosition(values: values, id: id)
  }
}

extension QueryCursor: Codable {
  /// Reads the text that `encode(to:)` has written.
  /// - Throws: `DecodingError` if it is another text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parts = try container.decode(String.self).split(
      separator: ".", omittingEmptySubsequences: false)
    let values = parts.dropFirst(3).map { CursorValue($0) }
    guard parts.count >= 3, let query = UInt64(parts[0], radix: 16), let id = Int64(parts[1]),
      let remaining = parts[2].isEmpty ? .some(nil) : Int(parts[2]).map(Optional.init),
      remaining ?? 0 >= 0, values.allSatisfy({ $0 != nil })
    else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "this text is no cursor of a page; begin without one")
    }
    self.query = query
    self.id = id
    self.remaining = remaining
    self.values = values.compactMap { $0 }
  }

  /// Writes one text: a program in a language whose numbers have fewer bits can pass it on.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    let parts =
      [String(query, radix: 16), "\(id)", remaining.map { "\($0)" } ?? ""]
      + values.map(\.text)
    try container.encode(parts.joined(separator: "."))
  }
}

/// A value of a sort key.
private enum CursorValue: Hashable {
  case unknown
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  /// The bits.
  case real(UInt64)
  case text([UInt8])

  init(_ value: Value?) {
    switch value {
    case nil: self = .unknown
    case .bool(let value)?: self = .bool(value)
    case .integer(let value)?: self = .integer(value)
    case .unsigned(let value)?: self = .unsigned(value)
    case .real(let value)?: self = .real(value.bitPattern)
    case .string(let value)?: self = .text(Array(value.utf8))
    }
  }

  var value: Value? {
    switch self {
    case .unknown: nil
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .unsigned(let value): .unsigned(value)
    case .real(let bits): .real(Double(bitPattern: bits))
    case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
    }
  }

  /// A letter for the type, and the value in hexadecimal digits.
  var text: String {
    switch self {
    case .unknown: "n"
    case .bool(let value): value ? "b1" : "b0"
    case .integer(let value): "i" + String(value, radix: 16)
    case .unsigned(let value): "u" + String(value, radix: 16)
    case .real(let bits): "r" + String(bits, radix: 16)
    case .text(let bytes):
      "t" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }

  /// nil if the text is none that `text` gives.
  init?(_ text: Substring) {
    let digits = text.dropFirst()
    func known<T>(_ value: T?, _ make: (T) -> CursorValue) -> CursorValue? { value.map(make) }
    let value: CursorValue? =
      switch text.first {
      case "n": digits.isEmpty ? .unknown : nil
      case "b": digits == "1" ? .bool(true) : digits == "0" ? .bool(false) : nil
      case "i": known(Int64(digits, radix: 16)) { .integer($0) }
      case "u": known(UInt64(digits, radix: 16)) { .unsigned($0) }
      case "r": known(UInt64(digits, radix: 16)) { .real($0) }
      case "t": known(Self.bytes(digits)) { .text($0) }
      default: nil
      }
    guard let value else { return nil }
    self = value
  }

  private static func bytes(_ digits: Substring) -> [UInt8]? {
    let nibbles: [Int] = digits.compactMap(\.hexDigitValue)
    guard nibbles.count == digits.count, nibbles.count % 2 == 0 else { return nil }
    return stride(from: 0, to: nibbles.count, by: 2).map { (place: Int) -> UInt8 in
      UInt8(nibbles[place] << 4 | nibbles[place + 1])
    }
  }
}

extension Query {
  /// A hash of the type, the condition and the order, which is the same in every process.
  var fingerprint: UInt64 {
    var text = schema.table + "\n" + (condition?.storedText(in: schema) ?? "")
    for term in order {
      text += "\n\(term.type.rawValue)\(term.isDescending ? " descending " : " ")"
      text += term.positions.map { "by positions \($0.text) " } ?? ""
      text += term.node.storedText(in: schema)
    }
    // FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
    return text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

extension OrderTerm {
  /// Whether a value can be one that is compared.
  fileprivate func accepts(_ value: Value?) -> Bool {
    switch value {
    case nil: true
    case .integer?:
      positions != nil || ![.string, .float, .double, .uint64, .bool].contains(type)
    case .bool?: positions == nil && type == .bool
    case .unsigned?: positions == nil && type == .uint64
    case .real(let value)?: positions == nil && type.isReal && !value.isNaN
    case .string?: positions == nil && type == .string
    }
  }
}

extension ValueType {
  fileprivate var isReal: Bool { self == .float || self == .double }
}
